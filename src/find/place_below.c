#include "find/place_below.h"

#include <string.h>

#include "base/cancel.h"
#include "base/mem.h"
#include "base/text.h"
#include "os/each.h"
#include "os/file.h"

struct below {
	const struct place_depth *how;
	uint64_t device;
	size_t names;
	bool cut;
	bool marked; /* the folder may be an environment, as far as the names in it tell */
	/* Nearer folders first: where there are too many, the farther ones are left out. */
	struct below_folder {
		char *path;
		size_t level;
	} * folders;
	size_t next, count, capacity;
};

static bool may_hold_environments(const char *name)
{
	static const char *const never[] = {
		"node_modules", "__pycache__", "site-packages", "dist-packages", "proc", "sys", "dev"};

	/* Hidden ones but for projects' .venv; the well-known ones are in the table. */
	if (name[0] == '.')
		return strcmp(name, ".venv") == 0;
	for (size_t i = 0; i < sizeof never / sizeof *never; i++)
		if (!strcmp(name, never[i]))
			return false;
	return true;
}

/* One of these, or something in it, makes a folder an environment (place_list.c). */
static bool may_mark(const char *name)
{
	static const char *const marks[] = {"pyvenv.cfg", "conda-meta", "bin", "python.exe"};

	for (size_t i = 0; i < sizeof marks / sizeof *marks; i++)
		if (text_equal_fold(name, marks[i]))
			return true;
	return false;
}

static int below_later(struct jw_error *err, struct below *below, char *path, size_t level)
{
	if (!path ||
		VEC_ROOM(err, below->folders, below->capacity, below->count, below->how->most_names + 1)) {
		mem_free(path);
		return -1;
	}
	below->folders[below->count++] = (struct below_folder){path, level};
	return 0;
}

/* 1: enough. */
static int below_take(struct jw_error *err, void *context, const char *name,
					  const struct os_stat *stat)
{
	struct below *below = context;
	const struct below_folder folder = below->folders[below->next];

	if (++below->names > below->how->most_names) {
		below->cut = below->marked = true;
		return 1;
	}
	below->marked = below->marked || may_mark(name);
	if (stat->kind != OS_DIRECTORY || !may_hold_environments(name) ||
		(below->how->one_device && stat->device != below->device))
		return 0;
	return below_later(err, below, os_join(err, folder.path, name), folder.level + 1);
}

/* What cannot be listed holds nothing for this account; but it may be an environment. */
static int below_list(struct jw_error *err, struct below *below)
{
	const char *path = below->folders[below->next].path;
	struct jw_error why = {0};

	below->marked = false;
	if (os_is_made_up(path) || os_each(&why, path, below_take, below) >= 0)
		return 0;
	below->marked = true;
	return error_if_memory(err, &why);
}

static int below_next(struct jw_error *err, struct below *below, struct place_list *list,
					  bool *ret_any)
{
	const struct below_folder folder = below->folders[below->next];
	const size_t names = below->names, count = below->count;
	const bool cut = below->cut;
	bool is = false;
	char *envs;
	int result;

	below->marked = true;
	if (cancel_check(err, &list->cancel) ||
		(folder.level < below->how->depth && !cut && below_list(err, below)) ||
		(below->marked && place_add_environment(err, list, NULL, folder.path, &is)))
		return -1;
	if (!is)
		return 0;
	*ret_any = true;
	/* What is in an environment is its own. */
	while (below->count > count)
		mem_free(below->folders[--below->count].path);
	below->names = names;
	below->cut = cut;
	envs = os_join(err, folder.path, "envs");
	if (!envs)
		return -1;
	result = folder.level < below->how->depth && os_exists(envs)
				 ? below_later(err, below, envs, folder.level + 1)
				 : (mem_free(envs), 0);
	return result;
}

int place_below(struct jw_error *err, struct place_list *list, const char *folder,
				const struct place_depth *how, bool *ret_any)
{
	struct below below = {.how = how};
	struct os_stat stat;
	int result;

	*ret_any = false;
	if (os_stat(NULL, folder, &stat))
		return 0;
	below.device = stat.device;
	result = below_later(err, &below, mem_string(err, folder), 0);
	for (; !result && below.next < below.count; below.next++)
		result = below_next(err, &below, list, ret_any);
	if (!result && below.cut)
		result = place_note(err, list,
							"%s has more than %zu names near its top: not all was looked at; "
							"“jitwarm find DIR” looks below DIR",
							folder, how->most_names);
	while (below.count)
		mem_free(below.folders[--below.count].path);
	mem_free(below.folders);
	return result;
}
