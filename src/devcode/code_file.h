/* Which files may hold device code, by their names: the one list. Whatever searches folders or the
 * records of packages asks here, so that all of it finds the same. A file that somebody names is
 * read whatever its name is.
 */
#pragma once

#include <stdbool.h>

#include "os/file.h"

enum code_file {
	CODE_FILE_OTHER,   /* passed over */
	CODE_FILE_CODE,    /* may hold device code */
	CODE_FILE_PROGRAM, /* has no suffix: may, if code_file_is_program */
};

/* `path` is a path or a name alone. */
enum code_file code_file_by_name(const char *path);
/* Whether the file is an ELF or PE program that may be run. Reads its first bytes, of a regular
 * file only: opening a pipe would wait for its other end. */
bool code_file_is_program(const char *path, const struct os_stat *stat);
/* Whether a folder of that name is searched. */
bool code_folder_is_searched(const char *name);

/* What the name promises ("a wheel"), NULL where it promises nothing: text files are called
 * libc.so, and a .dll may be for another machine. */
const char *code_file_promise(const char *path);
