/* jw_state_remove: removes only what jitwarm has written into the state directory. */
#include <jitwarm/system.h>

#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "os/file.h"
#include "os/folders.h"

static const char own_keys[] = "keys";
static const char unfinished[] = ".new.jitwarm-%"; /* see os_beside_start */

/* The files that jitwarm writes into the state directory. JITWARM_STATE may name a folder with
 * other files, and folders may have these names by chance: files of others stay.
 * compiler_fetch_remove removes compilers. */
static const struct {
	const char *folder, *form; /* a form of text_has_form */
} own_files[] = {
	{"", "inventory-%"},
	{"", "ledger-%"},
	{"", "ledger-lock"},
	{"", "runs.jsonl"},
	{"", "runs.jsonl.damaged"},
	{"", "startup-task.xml"},
	{"", "startup-task-all.xml"},
	{"", "state.json"},
	{"", "state-lock"},
	{"", "verified-%"},
	{"drivers", "%.json"},
	{"drivers", "%-%.json"},
	{"runs", "#-#"},
	{"runs", "#-#.lock"},
	{"store", "*.jwpack"},
	{"store", "lock"},
	{"store", "new"},
	{"store", unfinished},
	{"trusted", "*.pub"},
	{own_keys, "*.key"},
	{own_keys, "*.pub"},
	{"wheels", "*.txt"},
};
static const char *const own_folders[] = {"drivers", "runs",   "store",
										  "trusted", "wheels", own_keys};

/* Returns whether a file has a name of jitwarm's. This includes temporary files of a killed run,
 * unless the name could be a word (“.backup”). */
static bool has_own_name(const char *folder, const char *name)
{
	const char *dot = strrchr(name, '.');
	const bool made = dot && dot[strcspn(dot, "0123456789")];
	char form[64];

	for (size_t i = 0; i < sizeof own_files / sizeof *own_files; i++) {
		if (strcmp(own_files[i].folder, folder) != 0)
			continue;
		if (text_has_form(name, own_files[i].form))
			return true;
		(void)snprintf(form, sizeof form, "%s%s", own_files[i].form, OS_MADE_FORM);
		if (made && text_has_form(name, form))
			return true;
	}
	return false;
}

static bool is_own_folder(const char *name)
{
	for (size_t i = 0; i < sizeof own_folders / sizeof *own_folders; i++)
		if (!strcmp(name, own_folders[i]))
			return true;
	return false;
}

/* Returns whether a file is a key of jitwarm's; keys of other programs have such names too. */
static bool is_key(const char *path)
{
	static const char start[] = "untrusted comment: ";
	char text[sizeof start - 1];
	struct os_file *file = NULL;
	size_t got = 0;
	const bool is = !os_file_open(NULL, path, OS_OPEN_READ, &file) &&
					!os_file_read(NULL, file, 0, text, sizeof text, &got) &&
					(!got || (got == sizeof text && !memcmp(text, start, got)));

	os_file_close(file);
	return is;
}

struct removing {
	struct jw_state_removal *removal;
	bool removed; /* something was removed */
};

static int remove_own(struct jw_error *err, struct removing *job, const char *folder,
					  const char *path, bool is_folder)
{
	const bool key = !strcmp(folder, own_keys);

	if ((key || !strcmp(folder, "trusted")) && !is_key(path)) {
		job->removal->others_stay = true;
		return 0;
	}
	if (key && !job->removal->with_keys) {
		job->removal->keys_stay = true;
		return 0;
	}
	if (!job->removal->dry_run && (is_folder ? os_remove_tree(err, path) : os_remove(err, path)))
		return -1;
	job->removed = true;
	return 0;
}

/* Removes a folder if it is empty. One with other files stays; an empty one that stays is named. */
static int remove_emptied(struct jw_error *err, struct removing *job, const char *dir)
{
	struct jw_error why;
	struct os_names left;
	bool empty;

	if (!os_remove_empty_dir(&why, dir) || why.code == JW_ERR_NOT_FOUND) {
		job->removed = true;
		return 0;
	}
	if (os_list(err, dir, &left))
		return -1;
	empty = !left.count;
	os_names_free(&left);
	return empty ? error_copy(err, &why) : 0;
}

/* Removes jitwarm's files from `folder`: "", or one of own_folders. A folder with the name of such
 * a file is left alone. */
static int remove_from(struct jw_error *err, struct removing *job, const char *folder)
{
	const bool holds_folders = !strcmp(folder, "runs");
	char *dir = *folder ? os_join(job->removal->path, folder) : mem_string(job->removal->path);
	struct os_names names;
	int result = 0;

	if (os_list(err, dir, &names)) {
		mem_free(dir);
		return -1;
	}
	for (size_t i = 0; !result && i < names.count; i++) {
		const bool is_folder = names.kinds[i] == OS_DIRECTORY;
		char *path;

		if ((is_folder && !holds_folders) || !has_own_name(folder, names.items[i])) {
			if (*folder || !is_folder || !is_own_folder(names.items[i]))
				job->removal->others_stay = true;
			continue;
		}
		path = os_join(dir, names.items[i]);
		result = remove_own(err, job, folder, path, is_folder);
		mem_free(path);
	}
	if (job->removal->dry_run)
		job->removed = job->removed || !names.count;
	else if (!result)
		result = remove_emptied(err, job, dir);
	os_names_free(&names);
	mem_free(dir);
	return result;
}

static int remove_from_folders(struct jw_error *err, struct removing *job)
{
	struct os_names names;
	int result = 0;

	if (os_list(err, job->removal->path, &names))
		return -1;
	for (size_t i = 0; !result && i < names.count; i++)
		if (names.kinds[i] == OS_DIRECTORY && is_own_folder(names.items[i]))
			result = remove_from(err, job, names.items[i]);
	os_names_free(&names);
	return result;
}

int jw_state_remove(struct jw_error *err, struct jw_state_removal *removal)
{
	char *given = NULL;
	struct removing job = {.removal = removal};
	struct jw_error why = {0};
	int result;

	removal->path = NULL;
	removal->keys_stay = removal->others_stay = false;
	if (os_state_dir(&why, &given) || os_real_path(&why, given, &removal->path))
		result = error_unless_missing(err, &why);
	else
		result = remove_from_folders(err, &job);
	if (!result && removal->path)
		result = remove_from(err, &job, "");
	mem_free(given);
	if (result || !job.removed) {
		mem_free(removal->path);
		removal->path = NULL;
	}
	return result;
}
