/* Names of artifacts in a registry: oci://HOST[:PORT]/REPOSITORY[:TAG]. The grammar is that
 * of the OCI Distribution Specification, so that a name can neither leave its place in an address
 * nor end a line. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

enum {
	REFERENCE_HOST = 256,
	REFERENCE_REPOSITORY = 256,
	REFERENCE_TAG = 129,
};

struct reference {
	char host[REFERENCE_HOST]; /* the host with its port */
	char repository[REFERENCE_REPOSITORY];
	char tag[REFERENCE_TAG]; /* "" without a tag */
};

/* Parses a reference. JW_ERR_USAGE with the reason if it is malformed. */
int reference_parse(struct jw_error *err, const char *text, struct reference *ret_reference);
/* Returns whether `plain`, an item of the setting plain-http, means this host, which may have a
 * port: "HOST", "HOST:PORT"; "localhost" and "127.0.0.1" mean this machine by all its names, and
 * all ports. */
bool reference_host_is(const char *host, const char *plain);
bool reference_is_repository(const char *text);
bool reference_is_tag(const char *text);
