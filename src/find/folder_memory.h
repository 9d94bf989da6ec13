/* Remembers which names a folder holds that a walk looks at, so that a folder that has not changed
 * is not read again.
 *
 * A folder is known by its device and inode, and unchanged by the time of its last change, which
 * programs cannot set. Not remembered is what could change without it (os_tree_list), and a folder
 * that was changed in the last two seconds: it could change again within its time stamp. It is a
 * cache: a missing, damaged or foreign file counts as empty, and so does, for the superuser, one
 * that another account could write. */
#pragma once

#include "os/file.h"

struct folder_memory;

/* A file's beginning: another version's is left alone. */
enum { FOLDER_MEMORY_HEAD = 16 };
extern const char folder_memory_head[FOLDER_MEMORY_HEAD];

/* `state_dir` NULL: nothing is remembered, and nothing is known. */
int folder_memory_open(struct jw_error *err, const char *state_dir,
					   struct folder_memory **ret_memory);
/* The same from the bytes of such a file (tests, fuzzing); it is not written. */
int folder_memory_parse(struct jw_error *err, const void *data, size_t size,
						struct folder_memory **ret_memory);
/* Whether any folder is known. */
bool folder_memory_knows(const struct folder_memory *memory);
/* What a folder holds, if it is known; the caller frees *ret_names. */
int folder_memory_names(struct jw_error *err, struct folder_memory *memory,
						const struct os_stat *folder, struct os_names *ret_names, bool *ret_known);
/* `folder` is of before the names were read, and `seen_s` (os_now_s) of before that. Where memory
 * is short, they are not remembered. */
void folder_memory_note(struct folder_memory *memory, const struct os_stat *folder, int64_t seen_s,
						const struct os_names *names);
/* Writes what is new, and frees it. After a failure, folders are read again. */
void folder_memory_close(struct folder_memory *memory);
