/* Whether other accounts could replace a program, or a library, that will run with more rights than
 * theirs. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

/* 0 if nobody but the superuser and the account `owner` (a number; 0: nobody else) can change the
 * file at `path` or make the path lead elsewhere, as owners and permissions of the file, of each
 * folder on the way, and of each link tell. A group's permission to write counts as others', unless
 * it is root's group. `lasting`: it must hold after files have been deleted as well, so that a
 * folder for everyone with the sticky bit (/tmp) is refused.
 *
 * On Windows the access lists decide: administrators, the system, its installer and whoever owns
 * the system's own folder may write; `owner` and `lasting` mean nothing.
 *
 * JW_ERR_IO with the reason, which names the folder or file, also where something
 * cannot be looked at. */
int os_check_private(struct jw_error *err, const char *path, uint32_t owner, bool lasting);
