/* The measured cost of compiling the modules of real libraries (tests/data/compile-costs). */
#pragma once

#include <stdlib.h>
#include <string.h>

#include "check.h"

#include "base/buf.h"
#include "base/mem.h"
#include "os/file.h"
#include "plan/estimate.h"

enum { COSTS_MAX = 2048 };

struct costs_row {
	struct plan_features features;
	double ptx_bytes, ms, cubin_bytes;
};

/* Reads rows of "form,ptx_bytes,statements,divisions,entries,ms,cubin_bytes", and returns their
 * number. */
static inline size_t costs_read(const char *name, struct costs_row rows[COSTS_MAX])
{
	char *path = keep(mem_printf(JITWARM_SOURCE_DIR "/tests/data/compile-costs/%s.csv", name));
	struct buf file = {0};
	size_t count = 0;

	OK(os_read_file(why, path, 1 << 24, &file));
	for (const char *at = strchr(buf_text(&file), '\n') + 1; *at; at = strchr(at, '\n') + 1) {
		double value[6];

		assert_true(count < COSTS_MAX);
		for (size_t i = 0; i < 6; i++)
			value[i] = strtod(at = strchr(at, ',') + 1, NULL);
		rows[count++] = (struct costs_row){
			.features = {(uint32_t)value[1], (uint32_t)value[2], (uint32_t)value[3], false},
			.ptx_bytes = value[0],
			.ms = value[4],
			.cubin_bytes = value[5],
		};
	}
	buf_free(&file);
	return count;
}
