/* What proves to a registry who asks: basic authentication, or a token that its realm gives for
 * it. */
#pragma once

#include <stdbool.h>

#include "share/credentials.h"
#include "share/reference.h"
#include "share/web.h"

struct login {
	const struct reference *reference;
	const struct web_hosts *plain;
	const char *base;  /* an address of the registry */
	const char *scope; /* that is asked for, whatever the challenge says; several with blanks */
	struct credentials credentials;
	bool looked;         /* for them */
	char *authorization; /* the header's value; NULL: none yet */
};
void login_free(struct login *login);

/* Answers a challenge: sets `authorization`. The credentials are looked for at the first one. */
int login_answer(struct jw_error *err, struct login *login, struct web *web,
				 const char *challenge_text);
/* The token in a realm's answer. JW_ERR_FORMAT: there is none that a header could hold. The caller
 * frees it. */
int login_parse_token(struct jw_error *err, const char *text, size_t size, char **ret_token);
