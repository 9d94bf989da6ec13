#include "driver/run_folder.h"

#include <stdio.h>
#include <string.h>

#include <uv.h>

#include "base/mem.h"
#include "base/text.h"
#include "os/claimed.h"
#include "os/clock.h"
#include "os/file.h"
#include "os/folders.h"
#include "os/platform.h"

/* A folder in the system's temporary directory has its lock inside, since other accounts may take
 * names beside it. */
static const char temporary_start[] = "jitwarm-run-", inner_lock[] = "lock";
/* The time between making a folder and locking it; long enough for any machine. */
enum { YOUNG_S = 60 };

/* Writes the start of this process's names: "12345-". */
static const char *own_start(char text[TEXT_SHORT])
{
	(void)snprintf(text, TEXT_SHORT, "%d-", (int)uv_os_getpid());
	return text;
}

/* Writes "jitwarm-run-12345-", so that folders of this process are skipped here, too. */
static void temporary_prefix(char prefix[2 * TEXT_SHORT])
{
	char own[TEXT_SHORT];

	(void)snprintf(prefix, 2 * TEXT_SHORT, "%s%s", temporary_start, own_start(own));
}

static void sweep_temporary(void)
{
	char *base = os_temp_dir(NULL), own[2 * TEXT_SHORT];
	struct os_names names;

	temporary_prefix(own);
	if (!base || os_list_unfollowed(NULL, base, temporary_start, &names)) {
		mem_free(base);
		return;
	}
	for (size_t i = 0; i < names.count; i++) {
		char *path = os_join(base, names.items[i]), *lock_path = os_join(path, inner_lock);
		struct os_file *file = NULL;
		bool dead = names.kinds[i] == OS_DIRECTORY && !text_starts(names.items[i], own) &&
					os_is_own_temp_dir(path) && os_is_older(path, YOUNG_S) &&
					os_claim_is_dead(path, lock_path, &file);

		os_file_close(file);
		if (dead)
			(void)os_remove_tree(NULL, path);
		mem_free(path);
		mem_free(lock_path);
	}
	os_names_free(&names);
	mem_free(base);
}

/* Makes the run's folder among temporary files, and removes leftovers of killed runs there. */
static int make_temporary(struct jw_error *err, struct run_folder *ret_folder)
{
	struct run_folder folder = {.temporary = true};
	char prefix[2 * TEXT_SHORT], *lock_path;
	int result;

	sweep_temporary();
	temporary_prefix(prefix);
	prefix[strlen(prefix) - 1] = 0;
	if (os_make_temp_dir(err, prefix, &folder.path))
		return -1;
	lock_path = os_join(folder.path, inner_lock);
	result = os_lock_file(err, lock_path, 0, &folder.lock);
	if (result)
		run_folder_remove(&folder);
	else
		*ret_folder = folder;
	mem_free(lock_path);
	return result;
}

/* Makes the run's folder in the state directory, and removes leftovers of killed runs there. */
static int make_in(struct jw_error *err, const char *state_dir, struct run_folder *ret_folder)
{
	char own[TEXT_SHORT], *work = os_join(state_dir, "runs");
	struct run_folder folder = {0};
	int result;

	os_sweep_claimed(work, "");
	folder.path =
		mem_printf("%s/%s%llu", work, own_start(own), (unsigned long long)os_monotonic_ns());
	result = os_make_dirs(err, work, 0700);
	if (!result)
		result = os_claim(err, folder.path, &folder.lock);
	if (!result)
		result = os_make_dirs(err, folder.path, 0700);
	if (result)
		run_folder_remove(&folder);
	else
		*ret_folder = folder;
	mem_free(work);
	return result;
}

int run_folder_living(const char *state_dir)
{
	char *work = os_join(state_dir, "runs");
	const int pid = os_claimed_by(work);

	mem_free(work);
	return pid;
}

void run_folder_sweep(const char *state_dir)
{
	if (state_dir) {
		char *work = os_join(state_dir, "runs");

		os_sweep_claimed(work, "");
		mem_free(work);
	}
	sweep_temporary();
}

int run_folder_make(struct jw_error *err, const char *state_dir, struct run_folder *ret_folder)
{
	struct jw_error why = {0}, why_temporary = {0};
	struct run_folder there = {0}, temporary = {0};
	struct os_space space;

	if (state_dir)
		(void)make_in(&why, state_dir, &there);
	/* On a network file system drivers often cannot lock, and then store nothing; and it is
	 * slow. */
	if (there.path && (os_space(NULL, there.path, &space) || !space.network)) {
		*ret_folder = there;
		return 0;
	}
	if (!make_temporary(&why_temporary, &temporary)) {
		run_folder_remove(&there);
		*ret_folder = temporary;
		return 0;
	}
	if (there.path) {
		*ret_folder = there;
		return 0;
	}
	if (!state_dir)
		why = why_temporary;
	return error_set(err, why.code, "%s; name a writable folder: %s=DIR", why.message,
					 state_dir       ? "JITWARM_STATE"
					 : os_is_windows ? "TEMP"
									 : "TMPDIR");
}

void run_folder_remove(struct run_folder *folder)
{
	/* Windows does not remove an open file. */
	if (folder->temporary)
		os_file_close(folder->lock);
	if (folder->path)
		(void)os_remove_tree(NULL, folder->path);
	if (folder->path && !folder->temporary)
		os_unclaim(folder->path, folder->lock);
	mem_free(folder->path);
	*folder = (struct run_folder){0};
}

enum { MAX_DEPTH = 8 };

/* Counts the files below a folder, except indexes. */
static uint64_t count_below(const char *path, int depth)
{
	struct os_names names;
	uint64_t count = 0;

	if (depth > MAX_DEPTH || os_list(NULL, path, &names))
		return 0;
	for (size_t i = 0; i < names.count; i++) {
		char *below = os_join(path, names.items[i]);

		if (names.kinds[i] == OS_DIRECTORY)
			count += count_below(below, depth + 1);
		count += names.kinds[i] == OS_REGULAR && strcmp(names.items[i], "index") != 0;
		mem_free(below);
	}
	os_names_free(&names);
	return count;
}

uint64_t run_folder_count_entries(const char *path)
{
	return count_below(path, 0);
}
