/* Errors.
 *
 * Every function that can fail takes `struct jw_error *err` first and returns 0, or -1 with *err
 * filled in. `err` may be NULL if the caller does not need the reason. On failure outputs are
 * untouched.
 *
 * Threads: where its header says nothing else, any number of threads may call a function of
 * include/jitwarm at the same time, and callbacks run on the calling thread. A jw_error belongs to
 * one call at a time. */
#pragma once

#include <stddef.h>

enum jw_code {
	JW_OK = 0,
	JW_ERR_USAGE,       /* an invalid argument */
	JW_ERR_NOT_FOUND,   /* a missing file, package, driver or GPU */
	JW_ERR_IO,          /* the operating system refused: permissions, disk full, ... */
	JW_ERR_FORMAT,      /* damaged or foreign data */
	JW_ERR_LIMIT,       /* larger than the limit */
	JW_ERR_UNSUPPORTED, /* sound, but not supported: a compression, a kind, a platform */
	JW_ERR_DRIVER,      /* NVIDIA's driver reported a failure */
	JW_ERR_BUSY,        /* another process holds a lock */
	JW_ERR_INTERRUPTED, /* the call was cancelled */
};

struct jw_error {
	enum jw_code code;
	char message[1024]; /* one line, UTF-8, no full stop at its end */
};

/* Free texts, lines and results that these functions return. NULL is allowed. A result that has no
 * function of its own is freed with jw_result_free. */
void jw_text_free(char *text);
void jw_lines_free(char **lines, size_t count);
void jw_result_free(void *result);
