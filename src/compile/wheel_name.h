/* What wheels are called (PEP 427). */
#pragma once

#include <stdbool.h>

#include "base/package_version.h"

enum { WHEEL_MOST_NAME = 512 };

struct wheel_wanted {
	const char *package;  /* "nvidia-cuda-nvcc-cu12" */
	const char *versions; /* "==12.4.*", "" (package_version_fits) */
	const char *platform; /* as in jw_platform: "x86_64-linux" */
	const char *hashes;   /* a text with the SHA-256 of each file that it may be; NULL: any */
};

/* What a wheel's name says. */
struct wheel_named {
	struct package_version version;
	int rank; /* among those of one version, by the glibc that it needs: the newer one is built with
				 more. 0: for any platform. -1: for another one */
};

/* Whether this is the file name (PEP 427) of a wheel of this package, for this platform or, with
 * rank -1, for another one. */
bool wheel_name_read(const struct wheel_wanted *wanted, const char *name,
					 struct wheel_named *ret_named);
/* A final version before any other one. */
bool wheel_is_newer(const struct wheel_named *a, const struct wheel_named *b);
