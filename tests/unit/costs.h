/* The modules of real libraries and their measured costs (test data, compile-costs). */
#pragma once

#include <stdlib.h>
#include <string.h>

#include "check.h"

#include "base/buf.h"
#include "base/mem.h"
#include "os/env.h"
#include "os/file.h"
#include "plan/estimate.h"

static const struct {
	const char *name;
	size_t modules;
	bool line_info;
} costs_libraries[] = {
	{"tensorflow-2.3.1-windows-sm86", 238, false},
	{"tensorflow-2.10.0-windows-sm86", 1885, false},
	{"xgboost-1.7.6-sm90", 41, true},
	{"ctranslate2-4.6.2-sm90", 24, false},
};
enum { COSTS_LIBRARIES = sizeof costs_libraries / sizeof *costs_libraries, COSTS_MOST = 4096 };

struct costs_row {
	uint64_t ptx_bytes;
	struct plan_features features;
	double compile_ms;
	uint64_t peak_bytes, cubin_bytes;
};

/* "bytes,statements,branches,entries,compile_ms,peak_kib,cubin_bytes" */
static inline struct costs_row costs_read_row(const char *text)
{
	unsigned long long value[7] = {0};

	for (size_t i = 0; i < 7; i++) {
		char *end;

		value[i] = strtoull(text, &end, 10);
		text = *end == ',' ? end + 1 : end;
	}
	return (struct costs_row){
		.ptx_bytes = value[0],
		.compile_ms = (double)value[4],
		.features = {.statements = (uint32_t)value[1], .entries = (uint32_t)value[3]},
		.peak_bytes = value[5] * 1024,
		.cubin_bytes = value[6],
	};
}

/* The folder of the test data; mem_free. */
static inline char *costs_folder(void)
{
	char *data = os_env("JITWARM_TESTDATA");
	char *folder = mem_printf(NULL, "%s/compile-costs",
							  data ? data : JITWARM_SOURCE_DIR "/../shared/testdata");

	mem_free(data);
	return folder;
}

/* The divisions are in another file, in the same order (tests/data/compile-costs). */
static inline void costs_read_divisions(const char *name, struct costs_row *rows, size_t count)
{
	char *path =
		mem_printf(NULL, JITWARM_SOURCE_DIR "/tests/data/compile-costs/ptxas-%s.csv", name);
	struct buf file = {0};
	const char *at;

	assert_int_equal(os_read_file(NULL, path, 1 << 24, &file), 0);
	at = buf_text(&file);
	for (size_t i = 0; i < count; i++) {
		at = strchr(at, '\n') + 1;
		for (int comma = 0; comma < 3; comma++)
			at = strchr(at, ',') + 1;
		rows[i].features.divisions = (uint32_t)strtoul(at, NULL, 10);
	}
	buf_free(&file);
	mem_free(path);
}

/* The number of rows of one of the libraries; `rows` has room for COSTS_MOST. */
static inline size_t costs_read(const char *folder, const char *name, struct costs_row *rows)
{
	char *path = mem_printf(NULL, "%s/%s.csv", folder, name);
	struct buf file = {0};
	size_t count = 0;

	assert_int_equal(os_read_file(NULL, path, 1 << 24, &file), 0);
	for (const char *at = strchr(buf_text(&file), '\n'); at && at[1] && count < COSTS_MOST;
		 at = strchr(at + 1, '\n'))
		rows[count++] = costs_read_row(at + 1);
	buf_free(&file);
	mem_free(path);
	costs_read_divisions(name, rows, count);
	return count;
}
