/* Names of wheels: NAME-VERSION[-BUILD]-PYTHON-ABI-PLATFORM[-LABEL].whl. The parts have no hyphen
 * of their own. Source: the binary distribution format, and PEP 825 for the variant label. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

/* A part of the name, of `size` bytes; text is NULL for an optional part that is not there. */
struct wheel_part {
	const char *text;
	size_t size;
};

struct wheel_name {
	struct wheel_part name, version, build, python, abi, platform, label;
};

/* Reads the name of a file, without folders. False if it is not named like a wheel. The parts point
 * into `file`. */
bool wheel_name_read(const char *file, struct wheel_name *ret_name);
/* Copies a part, cut off if it is longer; "" for one that is not there. Returns `text`. */
const char *wheel_part_text(char *text, size_t size, struct wheel_part part);

/* The platforms of wheels with code for GPUs. */
struct wheel_platform {
	const char *name;    /* as for --platform: linux */
	const char *machine; /* as for jw_platform: x86_64-linux */
	const char *title;   /* Linux x86-64 */
	const char *tag;     /* the end of the platform in a wheel's name: _x86_64 */
};
enum { WHEEL_PLATFORMS = 3 };
extern const struct wheel_platform wheel_platforms[WHEEL_PLATFORMS];
/* Finds the platform with that name. JW_ERR_USAGE if there is none. */
int wheel_platform_read(struct jw_error *err, const char *name,
						const struct wheel_platform **ret_platform);
