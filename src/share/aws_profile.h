/* Keys of AWS as its own programs keep them: profiles in files of sections (~/.aws/credentials,
 * ~/.aws/config), and the documents that instances and containers get. All of it may be hostile:
 * what is accepted is printable ASCII without blanks, so that it cannot add a header. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

enum { AWS_TEXT = 256, AWS_TOKEN = 4096 };

struct aws_keys {
	char id[AWS_TEXT], secret[AWS_TEXT]; /* "": none */
	char token[AWS_TOKEN];               /* of a session, "" without one */
	int64_t expires_s;                   /* since 1970-01-01 UTC; 0: never */
};

struct aws_profile {
	struct aws_keys keys;
	char region[64];
	char endpoint[AWS_TEXT];
	char elsewhere[32]; /* a setting that leads to keys and that we do not follow, "" for none */
};

/* Adds what a file says of the profile `name` and `profile` does not have yet. `config`: its
 * sections are called “profile NAME”, except “default”. */
int aws_profile_parse(struct jw_error *err, const char *text, size_t size, const char *name,
					  bool config, struct aws_profile *profile);
/* The JSON document of an instance's or a container's role. */
int aws_keys_parse(struct jw_error *err, const char *text, size_t size, struct aws_keys *ret_keys);
/* "2026-11-22T07:00:00Z"; 0 for anything else. */
int64_t aws_time(const char *text);
/* Printable ASCII without blanks, and not empty. */
bool aws_is_word(const char *text);
