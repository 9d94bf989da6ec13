/* Maps a recording to the files of this machine, and files to their names in a recording. */
#include <jitwarm/recording.h>

#include <string.h>

#include <jitwarm/find.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/hash.h"
#include "base/mem.h"
#include "base/set.h"
#include "os/file.h"
#include "os/folders.h"

/* Makes a path portable: below the home directory it begins with "~". */
static char *portable(const char *path)
{
	char *home = NULL, *made;
	size_t length;

	if (os_home_dir(NULL, &home))
		return mem_string(path);
	length = strlen(home);
	made = length > 1 && !strncmp(path, home, length) && os_is_separator(path[length])
			   ? mem_printf("~%s", path + length)
			   : mem_string(path);
	mem_free(home);
	return made;
}

/* Returns the part after ".../site-packages/", or the path itself: a pointer into it. */
static const char *installed_name(const char *path)
{
	static const char *const folders[] = {"site-packages", "dist-packages"};
	const char *best = path;

	for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
		const size_t length = strlen(folders[i]);

		for (const char *at = path; (at = strstr(at, folders[i])); at += length)
			if (at > path && os_is_separator(at[-1]) && os_is_separator(at[length]) &&
				at + length + 1 > best)
				best = at + length + 1;
	}
	return best;
}

static const struct jw_found_file *owner_of(const struct jw_found *found, const char *path)
{
	struct os_stat wanted, stat;

	if (os_stat(NULL, path, &wanted))
		return NULL;
	for (size_t i = 0; found && i < found->file_count; i++)
		if (found->files[i].package && !os_stat(NULL, found->files[i].path, &stat) &&
			stat.inode == wanted.inode && stat.device == wanted.device)
			return &found->files[i];
	return NULL;
}

static void name_file(struct jw_recording *recording, const struct jw_found *found,
					  struct jw_recorded_file *file)
{
	const struct jw_found_file *owner = owner_of(found, file->path);
	char *path;

	if (owner) {
		file->package = arena_string(recording, owner->package);
		file->version = arena_string(recording, owner->version);
	}
	path = owner ? arena_string(recording, installed_name(owner->path))
				 : arena_keep(recording, portable(file->path));
	for (char *c = path; owner && *c; c++) /* in the form for other systems, too */
		if (os_is_separator(*c))
			*c = '/';
	file->path = path;
}

/* Uses the packages of the environment that jitwarm sees. Files of a command in another environment
 * are found by their paths. */
void jw_recording_name_files(struct jw_recording *recording, const struct jw_found *given)
{
	struct jw_found *found = NULL;

	if (recording->file_count)
		(void)jw_find(NULL, &(struct jw_find_options){.names = NULL}, &found);
	for (size_t i = 0; i < recording->file_count; i++) {
		struct jw_recorded_file *file = &recording->files[i];

		name_file(recording, given && owner_of(given, file->path) ? given : found, file);
	}
	jw_result_free(found);
}

/* Returns the path on this machine; the caller frees it. */
static char *local_path(const char *path)
{
	char *home = NULL, *made;

	if (path[0] != '~' || !os_is_separator(path[1]) || os_home_dir(NULL, &home))
		return mem_string(path);
	made = mem_printf("%s%s", home, path + 1);
	mem_free(home);
	return made;
}

/* Returns whether a path may exist; if it cannot be examined, the search reports why. */
static bool may_be_there(const char *path)
{
	bool there;

	return os_check_exists(NULL, path, &there) || there;
}

/* The names by which the recorded files are searched. */
struct recorded_names {
	char **packages, **paths;
	size_t package_count, path_count;
};

/* Collects each package once, and the paths that exist. */
static int collect_names(struct jw_error *err, const struct jw_recording *recording,
						 struct recorded_names *names)
{
	struct set known = {0};
	struct os_stat stat;
	int result = 0;

	for (size_t i = 0; !result && i < recording->file_count; i++) {
		const struct jw_recorded_file *file = &recording->files[i];
		char *name =
			arena_keep(names, file->package ? mem_string(file->package) : local_path(file->path));
		const uint64_t key = fnv_update(FNV_START, name, strlen(name)) + !file->package;

		/* A folder would be searched as a whole. */
		if (!file->package && !os_stat(NULL, name, &stat) && stat.kind != OS_REGULAR)
			result =
				error_set(err, JW_ERR_FORMAT, "%s: “%s” is not a file: record the command again",
						  recording->path ? recording->path : "", name);
		else if (!set_has(&known, key) && file->package)
			names->packages[names->package_count++] = name;
		else if (!set_has(&known, key) && may_be_there(name))
			names->paths[names->path_count++] = name;
		else
			continue;
		set_add(&known, key, i);
	}
	set_free(&known);
	return result;
}

/* Hashes a relative path with '/' or '\\' as separators. */
static uint64_t path_key(const char *path)
{
	uint64_t key = FNV_START;

	for (; *path; path++)
		key = fnv_update(key, *path == '\\' ? "/" : path, 1);
	return key;
}

/* Returns whether the error means that a package is missing, which is reported module by module. */
static bool is_missing_package(enum jw_code code)
{
	return code == JW_ERR_NOT_FOUND || code == JW_ERR_USAGE;
}

/* Keeps only the recorded files, because finding a package also finds its dependencies. */
static void keep_recorded(const struct jw_recording *recording, struct jw_found *found)
{
	struct set paths = {0};
	size_t kept = 0;

	for (size_t i = 0; i < recording->file_count; i++) {
		const uint64_t key = path_key(recording->files[i].path);

		if (recording->files[i].package && !set_has(&paths, key))
			set_add(&paths, key, i);
	}
	for (size_t i = 0; i < found->file_count; i++) {
		const struct jw_found_file *file = &found->files[i];

		if (!file->package || set_has(&paths, path_key(installed_name(file->path))))
			found->files[kept++] = *file;
	}
	set_free(&paths);
	found->file_count = kept;
	kept = 0;
	for (size_t i = 0; i < found->note_count; i++)
		if (found->notes[i].is_trouble && !is_missing_package(found->notes[i].code))
			found->notes[kept++] = found->notes[i];
	found->note_count = found->trouble_count = kept;
}

int jw_recording_find(struct jw_error *err, const struct jw_recording *recording,
					  struct jw_found **ret_found)
{
	struct recorded_names *names = arena_open(sizeof *names);
	struct jw_found *found = NULL;
	struct jw_error why = {0};
	int result;

	names->packages = arena_array(names, recording->file_count, sizeof *names->packages);
	names->paths = arena_array(names, recording->file_count, sizeof *names->paths);
	result = collect_names(err, recording, names);
	if (!result && names->package_count + names->path_count &&
		jw_find(&why,
				&(struct jw_find_options){.names = (const char *const *)names->paths,
										  .name_count = names->path_count,
										  .packages = (const char *const *)names->packages,
										  .package_count = names->package_count},
				&found) &&
		!is_missing_package(why.code))
		result = error_copy(err, &why);
	if (!result) {
		if (!found)
			found = arena_open(sizeof *found);
		keep_recorded(recording, found);
		*ret_found = found;
	}
	jw_result_free(names);
	return result;
}
