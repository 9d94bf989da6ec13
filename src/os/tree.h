/* Folders below each other, and the files in them: each is reached from the folder above it, which
 * stays open. By their paths, the superuser would walk to each of them from the root again, with
 * the same rights (posix/at.h).
 *
 * For the superuser, this thread has the rights of the folder's owner from one of these calls to
 * os_tree_rest, or to a failure; other calls that take a path come after that. */
#pragma once

#include "os/file.h"

struct os_tree;

int os_tree_open(struct jw_error *err, struct os_tree **ret_tree);
/* Enters a folder, which the next two are about until another one is entered; children before
 * siblings is the order in which no way is walked twice. Follows a link. *ret_made_up is as
 * os_is_made_up. After a failure they are about none. */
int os_tree_enter(struct jw_error *err, struct os_tree *tree, const char *path,
				  struct os_stat *ret_stat, bool *ret_made_up);
/* As os_list, of the names that are wanted. Called once for each time that the folder is entered */
int os_tree_list(struct jw_error *err, struct os_tree *tree,
				 bool (*wanted)(const char *name, enum os_kind kind), struct os_names *ret_names);
/* As os_stat, of a path that is a name in the folder. */
int os_tree_stat(struct jw_error *err, struct os_tree *tree, const char *path,
				 struct os_stat *ret_stat);
void os_tree_rest(struct os_tree *tree);
void os_tree_close(struct os_tree *tree);

/* The names in a directory: the part shared by both systems. */

struct named {
	char *name;
	enum os_kind kind;
};
struct named_list {
	struct named *items;
	size_t count, capacity;
};

/* Takes `name` over; NULL: no memory, and err is set. -1, too, from the 4,000,000th name on. */
int names_add(struct jw_error *err, struct named_list *list, char *name, enum os_kind kind);

/* Empties the list: returns its names, sorted, as two arrays, unless `result` is a failure. */
int names_finish(struct jw_error *err, int result, struct named_list *list,
				 struct os_names *ret_names);

/* What is in a directory, one by one. */

/* Calls `take` for each name in a directory with what it is itself: a link is OS_OTHER, whatever it
 * leads to; nor is a link at the end of `path` followed on POSIX. Fills in the kind and
 * the device. A return other than 0 of `take` ends it, and is returned. */
int os_each(struct jw_error *err, const char *path,
			int (*take)(struct jw_error *err, void *context, const char *name,
						const struct os_stat *stat),
			void *context);
