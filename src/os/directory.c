/* Directories: the part shared by both systems. */
#include "os/file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "os/clock.h"
#include "os/interrupt.h"
#include "os/path_calls.h"
#include "os/platform.h"
#include "os/processes.h"
#include "os/uv.h"

int os_check_exists(struct jw_error *err, const char *path, bool *ret_there)
{
	struct jw_error why = {0};
	struct os_stat stat;
	const bool there = !os_stat(&why, path, &stat);

	if (!there && error_unless_missing(err, &why))
		return -1;
	*ret_there = there;
	return 0;
}

bool os_exists(const char *path)
{
	struct os_stat stat;

	return !os_stat(NULL, path, &stat);
}

int os_ignore_unreadable(struct jw_error *err, const char *path, const struct jw_error *why)
{
	return (why->code == JW_ERR_IO && !os_is_denied(path)) ? error_copy(err, why) : 0;
}

bool os_is_older(const char *path, int64_t seconds)
{
	struct os_stat stat;

	return !os_stat(NULL, path, &stat) && stat.mtime_ns / 1000000000 < os_now_s() - seconds;
}

char *os_nearest(const char *path)
{
	char *at = mem_string(path);

	while (!os_exists(at)) {
		char *above = os_dir_name(at);
		const bool top = !strcmp(above, at);

		mem_free(at);
		at = above;
		if (top)
			break;
	}
	return at;
}

int os_may_be_folder(struct jw_error *err, const char *path)
{
	char *nearest = os_nearest(path);
	struct os_stat stat;
	int result = 0;

	if (!os_stat(NULL, nearest, &stat) && stat.kind != OS_DIRECTORY)
		result = error_set(err, JW_ERR_USAGE, "%s: not a directory", nearest);
	mem_free(nearest);
	return result;
}

int os_may_make(struct jw_error *err, const char *path)
{
	struct jw_error why = {0};
	struct os_stat stat;
	char *above;
	int result;

	if (!os_may_write(&why, path))
		return os_stat(err, path, &stat) ? -1
			   : stat.kind != OS_DIRECTORY
				   ? error_set(err, JW_ERR_UNSUPPORTED, "%s: not a directory", path)
				   : 0;
	if (why.code != JW_ERR_NOT_FOUND)
		return error_copy(err, &why);
	above = os_dir_name(path);
	if (!above)
		return -1;
	result = strcmp(above, path) != 0 ? os_may_make(err, above) : error_copy(err, &why);
	mem_free(above);
	return result;
}

/* how often a level is made again that other processes remove */
enum { MAX_TRIES = 8 };

/* Makes one level. If an existing directory cannot be made, that is no error: a level above may be
 * read-only. A directory that exists at first and is gone a moment later belongs to another
 * process, which comes and goes. */
static int make_dir(struct jw_error *err, const char *path, uint32_t mode, bool exactly)
{
	struct jw_error why, unknown;
	struct os_stat stat;

	for (int tries = 0; tries < MAX_TRIES; tries++) {
		why = unknown = (struct jw_error){0};
		if (!path_make_dir(&why, path, mode))
			return exactly ? os_set_mode(err, path, mode) : 0;
		if (!os_stat(&unknown, path, &stat) && stat.kind == OS_DIRECTORY)
			return 0;
		if (why.code == JW_ERR_NOT_FOUND || unknown.code != JW_ERR_NOT_FOUND)
			break;
	}
	if (!unknown.code)
		return error_set(err, JW_ERR_NOT_FOUND, "%s: Not a directory", path);
	return error_copy(err, &why);
}

static int make_levels(struct jw_error *err, const char *path, uint32_t mode, bool exactly)
{
	struct jw_error why = {0};
	char *above;
	int result;

	/* Usually only the last level is missing. */
	if (!make_dir(&why, path, mode, exactly))
		return 0;
	if (why.code != JW_ERR_NOT_FOUND)
		return error_copy(err, &why);
	above = os_dir_name(path);
	if (!above)
		return -1;
	if (!strcmp(above, path))
		result = error_copy(err, &why);
	else
		result =
			make_levels(err, above, mode, exactly) || make_dir(err, path, mode, exactly) ? -1 : 0;
	mem_free(above);
	return result;
}

/* Makes a level again that another process removed after it was made. */
static int make_despite_others(struct jw_error *err, const char *path, uint32_t mode, bool exactly)
{
	for (int tries = 1;; tries++) {
		struct jw_error why = {0};

		if (!make_levels(&why, path, mode, exactly))
			return 0;
		if (why.code != JW_ERR_NOT_FOUND || tries == MAX_TRIES)
			return error_copy(err, &why);
	}
}

int os_make_dirs(struct jw_error *err, const char *path, uint32_t mode)
{
	return make_despite_others(err, path, mode, false);
}

int os_make_shared_dirs(struct jw_error *err, const char *path, uint32_t mode)
{
	return make_despite_others(err, path, mode, true);
}

static int make_parent(struct jw_error *err, const char *path, uint32_t mode, bool exactly)
{
	char *folder = os_dir_name(path);
	int result = folder ? make_despite_others(err, folder, mode, exactly) : -1;

	mem_free(folder);
	return result;
}

int os_make_parent(struct jw_error *err, const char *path, uint32_t mode)
{
	return make_parent(err, path, mode, false);
}

int os_make_shared_parent(struct jw_error *err, const char *path, uint32_t mode)
{
	return make_parent(err, path, mode, true);
}

/* Sets JW_ERR_BUSY: the program that has locked the file, and how to end it. */
static int set_busy(struct jw_error *err, struct os_file *file, const char *path,
					unsigned waited_ms)
{
	struct os_program program;
	char line[40];

	if (!os_file_user(file, &program))
		return error_set(
			err, JW_ERR_BUSY,
			"%s: locked by another process for %.1f s; wait until that process ends, or end "
			"it (it may be another account's, or run in a container or on another machine)",
			path, waited_ms / 1e3);
	/* A process chooses its name. */
	for (char *c = program.name; *c; c++)
		if (!text_is_alnum(*c) && !strchr("._+-:/@", *c))
			*c = '_';
	(void)snprintf(line, sizeof line, os_is_windows ? "taskkill /PID %d" : "kill %d", program.pid);
	return error_set(
		err, JW_ERR_BUSY,
		"%s: locked by %s (process %d) for %.1f s; wait until that program ends, or end it: “%s”",
		path, *program.name ? program.name : "a program", program.pid, waited_ms / 1e3, line);
}

int os_file_wait_lock(struct jw_error *err, struct os_file *file, const char *path,
					  unsigned most_ms, struct jw_error *ret_no_locks)
{
	/* Drivers hold the lock of an index for milliseconds. */
	enum { OFTEN_MS = 1000, AFTER_INTERRUPT_MS = 200 };
	const uint64_t start_ns = os_monotonic_ns();
	bool held = false;

	while (!os_file_lock(ret_no_locks, file, true, &held) && !held) {
		const uint64_t waited_ms = (os_monotonic_ns() - start_ns) / 1000000;

		if (waited_ms >= most_ms)
			return set_busy(err, file, path, most_ms);
		if (waited_ms >= AFTER_INTERRUPT_MS && os_interrupted())
			return error_set(err, JW_ERR_INTERRUPTED,
							 "interrupted while another process had locked %s", path);
		uv_sleep(waited_ms < OFTEN_MS ? 1 : 20);
	}
	return 0;
}

int os_lock_file(struct jw_error *err, const char *path, unsigned most_ms,
				 struct os_file **ret_lock)
{
	struct os_file *file = NULL;
	struct jw_error no_locks = {0};
	int result;

	*ret_lock = NULL;
	if (os_file_open(err, path, OS_OPEN_LOCK, &file))
		return -1;
	result = os_file_wait_lock(err, file, path, most_ms, &no_locks);
	if (!result && !no_locks.code)
		*ret_lock = file;
	else
		os_file_close(file);
	return result;
}

/* A directory with more names than this is not read. */
enum { NAMES_MAX = 4000000 };

struct listing {
	bool (*wanted)(const char *name, enum os_kind kind);
	struct named {
		char *name;
		enum os_kind kind;
	} * items;
	size_t count, capacity;
};

static int add_name(struct jw_error *err, void *context, const char *name,
					const struct os_stat *stat)
{
	struct listing *list = context;

	if (list->wanted && !list->wanted(name, stat->kind))
		return 0;
	if (VEC_ROOM(err, list->items, list->capacity, list->count, NAMES_MAX))
		return -1;
	list->items[list->count++] = (struct named){mem_string(name), stat->kind};
	return 0;
}

static int compare_file_names(const void *a, const void *b)
{
	return strcmp(((const struct named *)a)->name, ((const struct named *)b)->name);
}

static int list_folder(struct jw_error *err, const char *path, const char *prefix, unsigned how,
					   bool (*wanted)(const char *name, enum os_kind kind),
					   struct os_stat *ret_stat, struct os_names *ret_names)
{
	struct listing list = {.wanted = wanted};
	const int result = path_each(err, path, prefix, how, add_name, &list, ret_stat);
	struct os_names names = {.items = mem_array(list.count, sizeof *names.items),
							 .kinds = mem_array(list.count, sizeof *names.kinds),
							 .count = list.count};

	if (list.count)
		qsort(list.items, list.count, sizeof *list.items, compare_file_names);
	for (size_t i = 0; i < list.count; i++) {
		names.items[i] = list.items[i].name;
		names.kinds[i] = list.items[i].kind;
	}
	mem_free(list.items);
	if (result)
		os_names_free(&names);
	else
		*ret_names = names;
	return result ? -1 : 0;
}

int os_list_wanted(struct jw_error *err, const char *path,
				   bool (*wanted)(const char *name, enum os_kind kind), struct os_stat *ret_stat,
				   struct os_names *ret_names)
{
	return list_folder(err, path, "", EACH_FOLLOWED, wanted, ret_stat, ret_names);
}

int os_list(struct jw_error *err, const char *path, struct os_names *ret_names)
{
	struct os_stat stat;

	return os_list_wanted(err, path, NULL, &stat, ret_names);
}

int os_list_unfollowed(struct jw_error *err, const char *path, const char *prefix,
					   struct os_names *ret_names)
{
	return list_folder(err, path, prefix, 0, NULL, NULL, ret_names);
}

int os_each(struct jw_error *err, const char *path,
			int (*take)(struct jw_error *err, void *context, const char *name,
						const struct os_stat *stat),
			void *context)
{
	return path_each(err, path, "", EACH_OF_NO_LINK, take, context, NULL);
}

void os_sweep(const char *folder, const char *prefix, const char *form, enum os_kind kind,
			  int64_t older_s)
{
	const int64_t before_ns = (os_now_s() - older_s) * 1000000000;
	struct os_names names;

	if (os_list_unfollowed(NULL, folder, prefix, &names))
		return;
	for (size_t i = 0; i < names.count; i++) {
		bool ours = names.kinds[i] == kind && text_has_form(names.items[i] + strlen(prefix), form);
		char *path = ours ? os_join(folder, names.items[i]) : NULL;
		struct os_stat stat;
		bool old = path && (!older_s || (!os_stat(NULL, path, &stat) && stat.mtime_ns < before_ns));

		if (old && kind == OS_DIRECTORY)
			(void)os_remove_tree(NULL, path);
		else if (old)
			(void)os_remove(NULL, path);
		mem_free(path);
	}
	os_names_free(&names);
}

void os_names_free(struct os_names *names)
{
	for (size_t i = 0; i < names->count; i++)
		mem_free(names->items[i]);
	mem_free(names->items);
	mem_free(names->kinds);
	*names = (struct os_names){0};
}
