/* Finds the Python that a user would start, without starting it (on Windows it may be the Store's
 * stub, on a login node it may take seconds), unless it is a script. */
#pragma once

#include <stdbool.h>

#include "base/cancel.h"
#include "base/error.h"

/* Finds the executable of `python3`, else `python`, on PATH, as the user's shell would start it
 * (links not resolved). A script of that name, as pyenv has, is run and asked which one it starts,
 * for ten seconds at most, and skipped if it does not tell; root runs no script that others may
 * replace. JW_ERR_NOT_FOUND. For all functions here, `owner` keeps what they return (base/arena.h).
 */
int python_on_path(struct jw_error *err, void *owner, const struct jw_cancel *cancel,
				   char **ret_executable);

/* Finds an executable's environment: the folder of the pyvenv.cfg beside or above it (*ret_virtual
 * true), else the parent of the real file's folder (the folder itself on Windows). */
int python_prefix(struct jw_error *err, void *owner, const char *executable, char **ret_prefix,
				  bool *ret_virtual);

/* Finds out whether a folder has a file or folder of this name; *ret_has is false if this account
 * cannot see that. */
int python_has_mark(struct jw_error *err, const char *prefix, const char *name, bool *ret_has);

/* Sets *ret_value to the value of `key` in the pyvenv.cfg of that folder; NULL if key or file is
 * missing, or this account may not read it. -1 only if the disk fails. */
int pyvenv_value(struct jw_error *err, void *owner, const char *directory, const char *key,
				 char **ret_value);

/* Returns the next non-empty part of a list such as PATH; NULL at its end. */
char *path_list_next(void *owner, const char **list);
