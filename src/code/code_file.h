/* Which files may hold device code, by their names and by their first bytes. Every search of
 * folders or package records uses the one list of names, so all find the same files. A file that a
 * user names is read whatever its name. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "os/file.h"

enum code_file {
	CODE_FILE_OTHER,   /* skipped */
	CODE_FILE_CODE,    /* may hold device code */
	CODE_FILE_LINKED,  /* an object file: may hold device code, but no program loads it */
	CODE_FILE_PROGRAM, /* has no suffix: may hold device code if it is a program
						  (code_file_is_program) */
};

/* `path` is a path or just a name. */
enum code_file code_file_by_name(const char *path);
/* A program has one of these permissions; on Windows no file has any. */
#define CODE_FILE_RUNS 0111u
/* Returns whether the file is an executable ELF or PE program. Reads the first bytes, and only of a
 * regular file, because opening a pipe would block. */
bool code_file_is_program(const char *path, const struct os_stat *stat);
/* Returns whether a platform (jw_platform) loads such a library or program (true), or another
 * system does (false); *ret_either is set if every system reads it. */
bool code_file_is_for(const char *path, const char *platform, bool *ret_either);
/* Returns whether folders with that name are searched. */
bool code_folder_is_searched(const char *name);

/* Returns the kind that the name promises ("a wheel"), or NULL if it promises none: text files are
 * called libc.so, and a .dll may be for another machine. */
const char *code_file_promise(const char *path);

enum kind {
	KIND_NONE, /* unknown */
	KIND_ELF,
	KIND_PE,
	KIND_OBJECT, /* COFF. Its magic is weak, so damage is not reported */
	KIND_FATBIN,
	KIND_CUBIN,
	KIND_PTX,
	KIND_AR, /* a static library: not read */
	KIND_ZIP,
	KIND_TAR,
	KIND_ZSTD,
};

/* The bytes to examine at the start; PTX may begin with a licence. */
enum { KIND_HEAD = 4096 };

/* Returns the kind of a file by its first bytes. */
enum kind kind_of(const uint8_t *head, size_t size);
