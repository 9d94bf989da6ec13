/* The header WWW-Authenticate: how a registry wants to be shown who asks (RFC 9110, and the token
 * protocol of the distribution project). */
#pragma once

#include <stddef.h>

#include "base/error.h"

enum challenge_kind { CHALLENGE_NONE, CHALLENGE_BASIC, CHALLENGE_BEARER };

enum { CHALLENGE_REALM = 1024, CHALLENGE_SERVICE = 256, CHALLENGE_SCOPE = 1024 };

struct challenge {
	enum challenge_kind kind; /* Bearer where both are offered */
	char realm[CHALLENGE_REALM];
	char service[CHALLENGE_SERVICE], scope[CHALLENGE_SCOPE]; /* of Bearer; "" without one */
};

/* `text`: the header's value; several are joined by a comma. JW_ERR_FORMAT: neither kind is in it,
 * or a value is longer than its room. */
int challenge_parse(struct jw_error *err, const char *text, struct challenge *ret_challenge);
