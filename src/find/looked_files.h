/* What was seen of the files of folders, before packages say whose they are: so that each is looked
 * at once. */
#pragma once

#include "base/set.h"
#include "os/file.h"

struct looked_file {
	char *path;
	struct os_stat stat;
	bool code;  /* it may hold device code */
	bool lasts; /* its changed_ns tells every change (os_tree_list) */
};

/* Start with {0}. */
struct looked_files {
	struct looked_file *items;
	size_t count, capacity;
	struct set by_path;
};

/* Copies from->path. */
int looked_files_add(struct jw_error *err, struct looked_files *files,
					 const struct looked_file *from);
/* NULL: nobody looked there. */
const struct looked_file *looked_files_find(const struct looked_files *files, const char *path);
void looked_files_free(struct looked_files *files);
