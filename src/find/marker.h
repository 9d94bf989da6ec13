/* Markers of requirements (PEP 508): whether a requirement counts on a platform. */
#pragma once

#include <stdbool.h>

struct marker_place {
	const char *platform; /* linux, linux-aarch64, windows */
	const char *python;   /* "3.11" */
	const char
		*extras; /* those that are installed with the package: "[cuda12,k8s]"; NULL for none */
};

/* Returns whether a marker (the text after ';') is true without an extra, or with one of the
 * extras; false if it is malformed. */
bool marker_holds(const char *marker, const struct marker_place *place);
