/* A package's metadata: METADATA and PKG-INFO (RFC 822 headers, PEP 566). */
#pragma once

#include "base/buf.h"
#include "base/text.h"

enum { METADATA_MAX_BYTES = 16 << 20, METADATA_MAX_REQUIREMENTS = 4096 };

struct metadata {
	char *name, *version; /* NULL if the field is missing */
	struct requirement *requires;
	size_t require_count, require_capacity;
};

/* Reads the header, not the description after the first empty line. Skips malformed fields. Fails
 * only past the limits. */
int metadata_parse(struct jw_error *err, const void *data, size_t size,
				   struct metadata *ret_metadata);
void metadata_free(struct metadata *metadata);

/* Reads one line of `size` bytes at *at, without its line feed or carriage return; false at the
 * end. */
bool metadata_line(const char **at, const char *end, const char **ret_line, size_t *ret_length);

/* ---- names of packages and requirements (PEP 503, PEP 508) */

/* A requirement: "nvidia-cudnn-cu12 (==9.3.0.75) ; extra == 'and-cuda'". */
struct requirement {
	char name[PACKAGE_MAX_NAME];   /* normalised */
	char extras[PACKAGE_MAX_NAME]; /* the extras that it asks for, normalised: "a,b"; "" for no
									  extra */
	char when[PACKAGE_MAX_NAME];   /* the extras that its marker names: "a,b"; "" for no extra */
};

/* Reads the value of a Requires-Dist field. Reads only `extra` of the marker: an installed
 * requirement counts on every platform, and in every version. */
bool requirement_parse(const char *text, struct requirement *ret_requirement);

/* A requirement of a wheel, or as people type it: “torch[opt] (>=2,<3) ; python_version < '3.9'”.
 */
struct required {
	struct requirement is;
	char written[PACKAGE_MAX_NAME];  /* the name as it is written */
	char versions[PACKAGE_MAX_NAME]; /* ">=2,<3"; "" for any */
	char version[PACKAGE_MAX_NAME];  /* the one version that it allows; "" if it allows several */
	const char *marker;              /* points into the text that was read; "" for none */
};

/* Reads a requirement. False if it names an address, or is none. */
bool required_read(const char *text, struct required *ret_required);
/* Returns whether it says nothing but “==VERSION”. */
bool required_is_pin(const struct required *required);
/* Reads a package as a user types it, “jax[cuda12]==0.4.30”; false for anything else: a path,
 * several names, a range, a marker. */
bool requirement_typed(const char *text, struct required *ret_typed);

/* Returns whether the requirement applies to a package for which `extras` ("a,b") are requested. It
 * does if its marker has no extra, one of these, or one about CUDA or a GPU (tensorflow[and-cuda],
 * jax[cuda12]): such a package, if installed beside the framework, serves it. */
bool requirement_applies(const struct requirement *requirement, const char *extras);

/* Returns the package of a project whose name differs: "torch" for "pytorch"; NULL if unknown. */
const char *package_of_project(const char *name);
