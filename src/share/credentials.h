/* Names and passwords for registries, as docker and podman keep them: in their files, or in
 * programs that these name (docker-credential-NAME).
 *
 * Files, in this order: $REGISTRY_AUTH_FILE; podman's $XDG_RUNTIME_DIR/containers/auth.json and
 * ~/.config/containers/auth.json; docker's $DOCKER_CONFIG/config.json or ~/.docker/config.json. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/cancel.h"
#include "base/error.h"

struct credentials {
	char *user, *password; /* NULL: none are known */
	char *identity;        /* a token that is exchanged for another one; then no password */
};
void credentials_free(struct credentials *credentials);

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

/* Zeros where nothing is known. `timeout_ms` bounds a program's time. */
int credentials_find(struct jw_error *err, const char *host, const char *repository,
					 unsigned timeout_ms, const struct jw_cancel *cancel,
					 struct credentials *ret_credentials);
