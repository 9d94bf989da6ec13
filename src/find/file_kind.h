/* Which files can hold device code, by their names. */
#ifndef JW_FIND_FILE_KIND_H
#define JW_FIND_FILE_KIND_H

#include <stdbool.h>

/* Libraries, extension modules, static archives, loose device code (also as .zst). `name` may be a
 * path. */
bool kind_is_code(const char *name);
/* Wheels and conda packages. */
bool kind_is_archive(const char *name);
/* Whether the file at `path`, whose name tells nothing, is an ELF or PE program: executables have
 * no suffix on POSIX. Reads a few bytes. */
bool kind_is_program(const char *path);

#endif
