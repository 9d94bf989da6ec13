/* The list that jw_find makes: each file once, notes, packages. */
#pragma once

#include <jitwarm/find.h>

#include "base/set.h"
#include "code/code_file.h"
#include "os/file.h"

enum {
	FOUND_MAX_FILES = 4 << 20,
	FOUND_MAX_SEEN = 8 << 20,
	FOUND_MAX_NOTES = 1000,
	FOUND_MAX_PACKAGES = 1 << 20
};

struct find_package {
	char *name, *version;
};

/* Known (device, inode) pairs: files, and directories that were walked. */
struct found_seen {
	struct set by_key;
	struct found_identity {
		uint64_t device, inode;
	} * items;
	size_t count, capacity;
};

struct found_list {
	struct jw_found *found;
	struct jw_cancel cancel;
	bool sources; /* CUDA C sources are taken (jw_find_options) */
	size_t file_capacity, note_capacity, package_capacity;
	struct found_seen seen;
};

void found_open(struct found_list *list);
/* Frees the parts that only the search needs; the caller keeps `found`. */
void found_close(struct found_list *list);

/* Adds the regular file at `path`, which is copied, unless it is in the list. `package` is from
 * found_package, or NULL. */
int found_file(struct jw_error *err, struct found_list *list, const char *path,
			   const struct os_stat *stat, const struct find_package *package);
/* Whether a file may hold device code, where its name allows it. */
bool found_may_hold_code(const char *path, enum code_file name, const struct os_stat *stat);
/* After a path could not be looked at: a trouble, unless there is nothing. */
void found_unseen(struct found_list *list, const char *path, const struct jw_error *why);
/* Strings that live as long as `found`. */
int found_package(struct jw_error *err, struct found_list *list, const char *name,
				  const char *version, struct find_package *ret_package);
/* Notes are capped at FOUND_MAX_NOTES, the count of troubles is not. */
void found_note(struct found_list *list, const char *format, ...) JW_PRINTF(2, 3);
/* A note about a failure: `why` is its text. */
void found_trouble(struct found_list *list, const struct jw_error *why);

/* Files below a directory. */

/* Adds every file below `directory` that may hold device code (code/code_file.h). Follows links,
 * and enters each directory once. A directory that cannot be read becomes a trouble in the list,
 * and the walk continues. Skips pseudo file systems (/proc), unless `directory` is on one.
 * `linked`: also what only linkers read. */
int directory_walk(struct jw_error *err, struct found_list *list, const char *directory,
				   const struct find_package *package, bool linked);
