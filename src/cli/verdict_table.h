/* The answer to “would a start compile?” for files, packages, places and GPUs: every command that
 * judges prints it with these functions, so each sentence is written once. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <jitwarm/check.h>
#include <jitwarm/estimate.h>
#include <jitwarm/scan.h>
#include <jitwarm/target.h>

#include "base/buf.h"
#include "base/error.h"
#include "cli/output.h"

/* The facts about one thing on one GPU, or on all of them. */
struct verdict_row {
	const char *kind, *name; /* name is NULL if the GPU names the row */
	struct jw_target target;
	size_t modules; /* modules that the driver compiles */
	size_t cold; /* those of them that are not in its cache; all of them if no cache was examined */
	size_t failing, refused; /* files with which a program fails; those of them of which the driver
								has refused modules */
	bool unsure;             /* it has Tile IR, or code of an unknown kind */
	bool useless;            /* the settings keep the driver from its cache */
	bool harmful;            /* the driver would delete or ignore what the cache holds */
	bool nameless;           /* the names of entries are unknown, so the cache cannot be examined */
	uint64_t ptx_bytes;      /* the size of the cold modules' PTX */
	struct jw_forecast forecast;
	/* Branches of drivers with this answer; 0 as in jw_scan_total. */
	uint32_t driver_from, driver_to;
	bool older_differ; /* no program fails with an older driver, which loads less of the code */
	bool not_run; /* the driver does not run this GPU; driver_from is the first one that does */
	double most_start_s; /* a bound; 0 if there is none */
	/* For VERDICT_COLUMN_CODE: the packages with device code, and the number of files that have it
	 */
	char *const *packages;
	size_t package_count, images;
};

/* Returns the facts about a GPU of a check, or about all of them (result->all). */
struct verdict_row verdict_checked(const struct jw_check_result *result,
								   const struct jw_check_gpu *gpu);

/* Returns the facts about all files of a scan on one GPU. */
struct verdict_row verdict_of_total(const struct jw_scan_total *total);

enum { VERDICT_SENTENCE = 1 << 12 };
/* Returns what separates the next part of a sentence: "; ", or "" at its beginning. */
const char *verdict_separator(const struct buf *line);

/* The details of a sentence. */
enum verdict_detail {
	VERDICT_PTX = 1,   /* "(2.1 MB of PTX)" */
	VERDICT_START = 2, /* "2 to 3 s on one core" */
	VERDICT_PRIME = 4, /* "first start 2 to 3 s, prime 1 s" */
	VERDICT_OF = 8,    /* "5 of 5 modules", also if all of them have to be compiled */
	VERDICT_ALL = 16,  /* prime compiles all of them, also those that a program loads later */
};

/* Writes "1 file will fail; 3 of 5 modules to compile: 2 to 3 s on one core". */
enum style verdict_print(struct buf *text, const struct verdict_row *row, unsigned details);
/* Returns whether everything, or almost everything, is compiled when a program first uses it: “up
 * to” so much. */
bool verdict_is_lazy(enum jw_loading loading, const struct jw_seconds *start);
/* Keeps the driver of the newer CUDA version. */
void verdict_keep_newer(struct jw_driver *newest, const struct jw_driver *driver);
/* Returns whether the time is that of a few tiny kernels in the data of a library that measures or
 * tests something (CUPTI's has 87 bytes), so that one line about all of them is enough. */
bool verdict_is_trifle(const struct jw_seconds *start);

/* Writes what a GPU does with one file: "3 modules to compile (2.1 MB of PTX): 2 to 3 s on one
 * core; 1 piece of code is unusable (damaged)". */
enum style verdict_print_file(struct buf *line, const struct jw_scan_verdicts *verdicts);
/* Writes the drivers for which the total holds, those with which programs fail, and the changes
 * with newer ones. */
void verdict_print_drivers(struct buf *line, const struct jw_scan_total *total);

enum verdict_column {
	VERDICT_COLUMN_KIND,
	VERDICT_COLUMN_NAME,
	VERDICT_COLUMN_GPU,
	VERDICT_COLUMN_ANSWER,  /* the sentence, with the time */
	VERDICT_COLUMN_MODULES, /* "fails", "cannot tell", "3 modules" */
	VERDICT_COLUMN_START,
	VERDICT_COLUMN_CACHE,
	VERDICT_COLUMN_DRIVERS,
	VERDICT_COLUMN_BOUND,
	VERDICT_COLUMN_CODE, /* "torch 2.8.0, vllm 0.9.1, …": without a GPU */
	VERDICT_COLUMNS
};
int verdict_table_print(struct jw_error *err, const struct output *out,
						const enum verdict_column *columns, size_t column_count,
						const struct verdict_row *rows, size_t count);
