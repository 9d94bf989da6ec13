/* A project's page in a package index: PEP 503 (HTML) and PEP 691 (JSON).
 *
 * Both readers take a page in memory, and call `file` for each file on it. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

enum { INDEX_PAGE_MOST_BYTES = 64 << 20, INDEX_PAGE_MOST_TEXT = 8192 };

struct index_file {
	const char *name;   /* "nvidia_cuda_nvcc_cu12-12.4.131-py3-none-win_amd64.whl" */
	const char *base;   /* <base href>, to which `url` is relative, or "" */
	const char *url;    /* without its fragment */
	const char *sha256; /* 64 hex digits of either case; NULL: not listed */
	bool yanked;        /* withdrawn by its author (PEP 592) */
};

struct index_reader {
	void *context;
	/* `file` is valid during the call. -1 ends the reading. */
	int (*file)(struct jw_error *err, void *context, const struct index_file *file);
};

/* Links that cannot name a file are skipped. A page without links is valid; JW_ERR_FORMAT only for
 * text that is not HTML (JSON) at all. */
int index_page_read_html(struct jw_error *err, const char *text, size_t size,
						 const struct index_reader *reader);
int index_page_read_json(struct jw_error *err, const char *text, size_t size,
						 const struct index_reader *reader);
