/* Environment variables of this process. */
#pragma once

#include "base/error.h"

/* The value of an environment variable, UTF-8, NULL if it is not set; the caller frees it. */
int os_env_read(struct jw_error *err, const char *name, char **ret_value);
/* The same where a variable that memory is too short for may be taken for one that is not set. */
char *os_env(const char *name);
int os_env_set(struct jw_error *err, const char *name, const char *value); /* value NULL: unset */
