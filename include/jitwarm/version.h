/* The version of jitwarm, and how it was built. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* MAJOR changes if programs that run jitwarm break, MINOR if something is added, PATCH
 * otherwise. */
#define JW_VERSION_MAJOR 0
#define JW_VERSION_MINOR 1
#define JW_VERSION_PATCH 0

/* Returns "0.1.0". */
const char *jw_version(void);
/* Returns "gcc 12.2.0". */
const char *jw_build_compiler(void);
/* Returns "RelWithDebInfo", with any sanitizers in parentheses. */
const char *jw_build_type(void);
/* Returns "x86_64-linux". */
const char *jw_platform(void);

/* A library that jitwarm uses, and its version at run time. */
struct jw_component {
	const char *name, *version;
};
/* Finds the component at `index`, sorted by name, from 0 on; false after the last. */
bool jw_component_at(size_t index, struct jw_component *ret_component);
