/* Environment variables of this process. */
#pragma once

#include "base/error.h"

/* The value of an environment variable, UTF-8, or NULL; the caller frees it. */
char *os_env(const char *name);
int os_env_set(struct jw_error *err, const char *name, const char *value); /* value NULL: unset */
