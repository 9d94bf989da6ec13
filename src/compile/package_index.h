/* Searches for a wheel in the folders and indexes of pip's configuration. */
#pragma once

#include <stdbool.h>

#include "base/text.h"
#include "compile/http.h"
#include "compile/index_page.h"

enum { VERSION_TEXT = 64 };

struct wheel_wanted {
	const char *package;    /* "nvidia-cuda-nvcc-cu12" */
	struct version version; /* 12.4 means any 12.4.x, 12.4.131 exactly that */
	const char *platform;   /* as in jw_platform: "x86_64-linux" */
};

struct wheel_found {
	char *place;     /* an address, or a file's path */
	bool local;      /* it is a file */
	char sha256[65]; /* "" if the index has no hash */
	char version[VERSION_TEXT];
};

/* The version of a wheel, from its file name, if it is of this package and runs on this platform
 * (PEP 427), and its version is numbers alone; otherwise false. Also for tests. */
bool wheel_name_fits(const struct wheel_wanted *wanted, const char *name,
					 char version[VERSION_TEXT]);

/* The newest that fits, from all places; the first of several with one version. Ignores withdrawn
 * wheels. The failure of a place is reported only if no other place has the wheel.
 * JW_ERR_NOT_FOUND. The caller frees ret_found->place. */
int package_index_find(struct jw_error *err, struct http *http, const struct pip_config *config,
					   const struct wheel_wanted *wanted, struct wheel_found *ret_found);
