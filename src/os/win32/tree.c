/* Windows is asked by path: an open folder spares it nothing. */
#include "os/tree.h"

#include "base/mem.h"

struct os_tree {
	char *path; /* of the folder; NULL: none was entered */
};

int os_tree_open(struct jw_error *err, struct os_tree **ret_tree)
{
	*ret_tree = mem_alloc(err, sizeof **ret_tree);
	return *ret_tree ? 0 : -1;
}

int os_tree_enter(struct jw_error *err, struct os_tree *tree, const char *path,
				  struct os_stat *ret_stat, bool *ret_made_up)
{
	mem_free(tree->path);
	tree->path = NULL;
	if (os_stat(err, path, ret_stat))
		return -1;
	tree->path = mem_string(err, path);
	*ret_made_up = os_is_made_up(path);
	return tree->path ? 0 : -1;
}

int os_tree_list(struct jw_error *err, struct os_tree *tree,
				 bool (*wanted)(const char *name, enum os_kind kind), struct os_names *ret_names)
{
	struct os_names names;
	size_t kept = 0;

	if (os_list(err, tree->path ? tree->path : "", &names))
		return -1;
	for (size_t i = 0; i < names.count; i++) {
		if (!wanted(names.items[i], names.kinds[i])) {
			mem_free(names.items[i]);
			continue;
		}
		names.items[kept] = names.items[i];
		names.kinds[kept++] = names.kinds[i];
	}
	names.count = kept;
	*ret_names = names;
	return 0;
}

int os_tree_stat(struct jw_error *err, struct os_tree *tree, const char *path,
				 struct os_stat *ret_stat)
{
	(void)tree;
	return os_stat(err, path, ret_stat);
}

void os_tree_rest(struct os_tree *tree)
{
	(void)tree;
}

void os_tree_close(struct os_tree *tree)
{
	if (tree)
		mem_free(tree->path);
	mem_free(tree);
}
