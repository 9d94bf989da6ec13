/* pip's own configuration: the package indexes and the settings for requests.
 *
 * Source: pip's documentation, “Configuration”: files of the system, the user and the virtual
 * environment, then PIP_CONFIG_FILE, then variables PIP_*; [global] before the command's section.
 * pip reads [download] for `pip download`; [install] counts here too, since most users write it
 * there. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

enum pip_option {
	PIP_INDEX_URL,
	PIP_EXTRA_INDEX_URL,
	PIP_NO_INDEX,
	PIP_FIND_LINKS,
	PIP_TRUSTED_HOST,
	PIP_CERT,
	PIP_CLIENT_CERT,
	PIP_PROXY,
	PIP_TIMEOUT,
	PIP_RETRIES,
	PIP_OPTIONS
};

enum { PIP_MOST_FILE = 1 << 20 };

struct pip_config {
	char *values[PIP_OPTIONS];        /* as written; NULL: not set. Never empty */
	unsigned char ranks[PIP_OPTIONS]; /* of the section that a value is from */
};

/* Merges one file's text into `config`, over the values of earlier files. JW_ERR_FORMAT names the
 * line. */
int pip_config_parse(struct jw_error *err, struct pip_config *config, const char *text,
					 size_t size);
/* All files and variables, in pip's order. The caller frees with pip_config_free. */
int pip_config_load(struct jw_error *err, struct pip_config *ret_config);
void pip_config_free(struct pip_config *config);

/* A switch, a number. */
bool pip_config_bool(const struct pip_config *config, enum pip_option option);
unsigned pip_config_number(const struct pip_config *config, enum pip_option option,
						   unsigned otherwise);
/* The next of several values between blanks: a copy for the caller, NULL after the last or out of
 * memory. Start with *at = config->values[option]. */
char *pip_config_next(struct jw_error *err, const char **at);
/* “~/…” in the home folder; anything else unchanged. The caller frees it; NULL: out of memory. */
char *pip_config_path(struct jw_error *err, const char *text);
/* The value of an environment variable for the caller to free; NULL: unset or empty. */
char *pip_config_variable(const char *name);
