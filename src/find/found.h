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
	bool is_pips; /* pip's indexes have packages of its name; false for one of conda's */
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
	bool sources; /* take CUDA C sources (jw_find_options) */
	size_t file_capacity, note_capacity, package_capacity;
	struct found_seen seen;
	uint64_t described_bytes; /* the bytes of packages' records that were read (package_files.h) */
};

void found_open(struct found_list *list);
/* Removes libraries of another system from packages that also have some of this one: wheels for
 * every platform hold both, and no program here loads the others. */
void found_drop_foreign(struct found_list *list);
/* Frees the parts that only the search needs; the caller keeps `found`. */
void found_close(struct found_list *list);

/* Records a file or directory; *ret_new is false if it was already recorded. */
int found_see(struct jw_error *err, struct found_seen *seen, const struct os_stat *stat,
			  bool *ret_new);
void found_seen_free(struct found_seen *seen);
/* Adds the regular file at `path`, which is copied, unless it is already in the list. `package` is
 * from found_package, or NULL. */
int found_file(struct jw_error *err, struct found_list *list, const char *path,
			   const struct os_stat *stat, const struct find_package *package);
/* Returns whether a file may hold device code; asked for names that allow it. */
bool found_may_hold_code(const char *path, enum code_file name, const struct os_stat *stat);
/* Records a trouble for a path that could not be examined, unless it does not exist. */
void found_unseen(struct found_list *list, const char *path, const struct jw_error *why);
/* Adds a package; its strings live as long as `found`. */
int found_package(struct jw_error *err, struct found_list *list, const char *name,
				  const char *version, bool is_pips, struct find_package *ret_package);
/* Returns whether a package of that name is pip's. */
bool found_is_pips(const struct jw_found *found, const char *name);
/* Adds a note. There are at most FOUND_MAX_NOTES of them; troubles are counted without a limit. */
void found_note(struct found_list *list, const char *format, ...) JW_PRINTF(2, 3);
/* Adds a note with the text of `why`, a failure. */
void found_trouble(struct found_list *list, const struct jw_error *why);

/* ---- files below a directory */

/* Adds every file below `directory` that may hold device code (code/code_file.h). Follows links,
 * and enters each directory once. A directory that cannot be read becomes a trouble in the list,
 * and the walk continues. Skips pseudo file systems (/proc), unless `directory` is on one. With
 * `linked`, also adds files that only linkers read. */
int directory_walk(struct jw_error *err, struct found_list *list, const char *directory,
				   const struct find_package *package, bool linked);
