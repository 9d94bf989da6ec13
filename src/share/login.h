/* What proves to a registry who asks: basic authentication, or a token that its realm gives for it.
 *
 * Names and passwords are those that docker and podman keep: in their files, or in programs that
 * these name (docker-credential-NAME). Files, in this order: $REGISTRY_AUTH_FILE; podman's
 * $XDG_RUNTIME_DIR/containers/auth.json and ~/.config/containers/auth.json; docker's
 * $DOCKER_CONFIG/config.json or ~/.docker/config.json. Root starts no such program that another
 * account may replace. */
#pragma once

#include <stdbool.h>

#include "net/web.h"
#include "share/reference.h"

struct credentials {
	char *user, *password; /* NULL: none are known */
	char *identity;        /* a token that is exchanged for another one; then no password */
};
void credentials_free(struct credentials *credentials);

struct login {
	const struct reference *reference;
	const struct web_hosts *plain;
	const char *base;  /* an address of the registry */
	const char *scope; /* that is asked for, whatever the challenge says */
	struct credentials credentials;
	bool looked;         /* for them */
	char *authorization; /* the header's value; NULL: none yet */
};
void login_free(struct login *login);

/* Answers a challenge, the value of WWW-Authenticate (several are joined by a comma): sets
 * `authorization`. The credentials are looked for at the first one. */
int login_answer(struct jw_error *err, struct login *login, struct web *web, const char *challenge);

/* ---- parts, for tests */

enum challenge_kind { CHALLENGE_NONE, CHALLENGE_BASIC, CHALLENGE_BEARER };

enum { CHALLENGE_REALM = 1024, CHALLENGE_SERVICE = 256, CHALLENGE_SCOPE = 1024 };

struct challenge {
	enum challenge_kind kind; /* Bearer where both are offered */
	char realm[CHALLENGE_REALM];
	char service[CHALLENGE_SERVICE], scope[CHALLENGE_SCOPE]; /* of Bearer; "" without one */
};
/* How a registry wants to be shown who asks (RFC 9110, and the token protocol of the distribution
 * project). JW_ERR_FORMAT: neither kind is in it, or a value is longer than its room. */
int challenge_parse(struct jw_error *err, const char *text, struct challenge *ret_challenge);

/* What a file says about a host. */
struct credentials_entry {
	struct credentials known;
	char helper[64]; /* the program docker-credential-HELPER knows more; "" */
};
/* `text` is JSON. JW_ERR_FORMAT; a file without a word on that host is no failure. The caller frees
 * ret_entry->known. */
int credentials_parse(struct jw_error *err, const char *text, size_t size, const char *host,
					  const char *repository, struct credentials_entry *ret_entry);
/* What a program answered to “get”. */
int credentials_parse_answer(struct jw_error *err, const char *text, size_t size,
							 struct credentials *ret_credentials);
/* The token in a realm's answer. JW_ERR_FORMAT: none that a header could hold. To be freed. */
int login_parse_token(struct jw_error *err, const char *text, size_t size, char **ret_token);
