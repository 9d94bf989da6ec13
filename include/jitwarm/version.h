/* What this libjitwarm is and what it was built with. */
#ifndef JITWARM_VERSION_H
#define JITWARM_VERSION_H

#include <stddef.h>

/* "0.1.0" */
const char *jw_version(void);
/* "gcc 12.2.0" */
const char *jw_compiler(void);
/* "RelWithDebInfo", with the sanitizers in parentheses where there are some */
const char *jw_build_type(void);
/* "x86_64-linux" */
const char *jw_platform(void);

/* A library that jitwarm stands on, and the version that runs now. */
struct jw_component {
	const char *name, *version;
};
/* *ret_count of them, sorted by name; static. */
const struct jw_component *jw_components(size_t *ret_count);

#endif
