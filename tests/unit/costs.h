/* The modules of real libraries and their measured costs (test data, compile-costs). */
#ifndef JW_TESTS_COSTS_H
#define JW_TESTS_COSTS_H

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
		.features = {(uint32_t)value[1], (uint32_t)value[2], (uint32_t)value[3], false},
		.compile_ms = (double)value[4],
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
	return count;
}

#endif
