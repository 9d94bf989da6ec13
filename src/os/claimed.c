#include "os/claimed.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <uv.h>

#include "base/mem.h"
#include "base/text.h"
#include "os/file.h"

/* The age in seconds from which a folder is a leftover if locks do not work. */
enum { OLD_S = 3600 };

static const char lock_end[] = ".lock";

int os_claim(struct jw_error *err, const char *path, struct os_file **ret_lock)
{
	char *lock_path = mem_printf("%s%s", path, lock_end);
	int result = os_lock_file(err, lock_path, 0, ret_lock);

	mem_free(lock_path);
	return result;
}

void os_unclaim(const char *path, struct os_file *lock)
{
	char *lock_path = mem_printf("%s%s", path, lock_end);

	os_file_close(lock);
	(void)os_remove(NULL, lock_path);
	mem_free(lock_path);
}

bool os_claim_is_dead(const char *path, const char *lock_path, struct os_file **ret_file)
{
	struct jw_error why = {0};
	bool held = false;

	if (os_file_open(&why, lock_path, OS_OPEN_UPDATE, ret_file))
		return !error_unless_missing(NULL, &why) && os_is_older(path, OLD_S);
	return os_file_lock(NULL, *ret_file, true, &held) ? os_is_older(path, OLD_S) : held;
}

static void sweep_folder(const char *path)
{
	char *lock_path = mem_printf("%s%s", path, lock_end);
	struct os_file *file = NULL;
	bool dead = os_claim_is_dead(path, lock_path, &file);

	/* A killed process of the run may still be writing; the next sweep finds its files by the
	 * remaining lock. */
	if (dead && os_remove_tree(NULL, path))
		dead = false;
	/* Windows does not remove an open file. */
	os_file_close(file);
	if (dead)
		(void)os_remove(NULL, lock_path);
	mem_free(lock_path);
}

/* Removes the lock of a process that was killed before it made its folder. */
static void sweep_lock(char *path)
{
	bool dead = os_is_older(path, OLD_S), there;

	path[strlen(path) - strlen(lock_end)] = 0;
	dead = dead && !os_check_exists(NULL, path, &there) && !there;
	path[strlen(path)] = lock_end[0];
	if (dead)
		(void)os_remove(NULL, path);
}

/* Calls `take` for each folder and lock except those of this process: opening its own lock would
 * succeed, and closing the file would release it. */
static void each_claim(const char *place, const char *prefix,
					   void (*take)(void *context, char *path, const char *name, bool folder),
					   void *context)
{
	char own[TEXT_SHORT];
	struct os_names names;

	(void)snprintf(own, sizeof own, "%d-", (int)uv_os_getpid());
	if (os_list_unfollowed(NULL, place, prefix, &names))
		return;
	for (size_t i = 0; i < names.count; i++) {
		const char *name = names.items[i] + strlen(prefix);
		char *path;

		if (text_starts(name, own))
			continue;
		path = os_join(place, names.items[i]);
		if (names.kinds[i] == OS_DIRECTORY && text_has_form(name, "#-#"))
			take(context, path, name, true);
		else if (names.kinds[i] == OS_REGULAR && text_has_form(name, "#-#.lock"))
			take(context, path, name, false);
		mem_free(path);
	}
	os_names_free(&names);
}

static void sweep(void *context, char *path, const char *name, bool folder)
{
	(void)context;
	(void)name;
	if (folder)
		sweep_folder(path);
	else
		sweep_lock(path);
}

void os_sweep_claimed(const char *place, const char *prefix)
{
	each_claim(place, prefix, sweep, NULL);
}

static void note_living(void *context, char *path, const char *name, bool folder)
{
	char *lock_path = folder ? mem_printf("%s%s", path, lock_end) : NULL;
	struct os_file *file = NULL;

	if (folder && !os_claim_is_dead(path, lock_path, &file))
		*(int *)context = (int)strtol(name, NULL, 10);
	os_file_close(file);
	mem_free(lock_path);
}

int os_claimed_by(const char *place)
{
	int pid = 0;

	each_claim(place, "", note_living, &pid);
	return pid;
}
