#include "find/found.h"

#include <stdarg.h>
#include <string.h>

#include <jitwarm/version.h>

#include "base/arena.h"
#include "base/cancel.h"
#include "base/mem.h"
#include "base/text.h"
#include "code/code_file.h"

void found_open(struct found_list *list)
{
	*list = (struct found_list){.found = arena_open(sizeof *list->found)};
}

void found_close(struct found_list *list)
{
	found_seen_free(&list->seen);
}

void found_seen_free(struct found_seen *seen)
{
	set_free(&seen->by_key);
	mem_free(seen->items);
	*seen = (struct found_seen){0};
}

int found_see(struct jw_error *err, struct found_seen *seen, const struct os_stat *stat,
			  bool *ret_new)
{
	uint64_t key = stat->inode * UINT64_C(0x9e3779b97f4a7c15) ^ stat->device;
	struct found_identity identity = {stat->device, stat->inode};
	size_t cursor = 0, at;

	while ((at = set_find(&seen->by_key, key, &cursor)) != SET_NONE) {
		if (seen->items[at].device == identity.device && seen->items[at].inode == identity.inode) {
			*ret_new = false;
			return 0;
		}
	}
	if (VEC_ROOM(err, seen->items, seen->capacity, seen->count, FOUND_MAX_SEEN))
		return -1;
	set_add(&seen->by_key, key, seen->count);
	seen->items[seen->count++] = identity;
	*ret_new = true;
	return 0;
}

void found_drop_foreign(struct found_list *list)
{
	struct jw_found *found = list->found;
	struct set natives = {0}; /* packages, by their names' addresses */
	size_t kept = 0;
	bool either;

	for (size_t i = 0; i < found->file_count; i++) {
		const struct jw_found_file *file = &found->files[i];

		if (file->package && code_file_is_for(file->path, jw_platform(), &either) && !either)
			set_put(&natives, (uintptr_t)file->package, 0);
	}
	for (size_t i = 0; i < found->file_count; i++) {
		struct jw_found_file *file = &found->files[i];

		if (!file->package || !set_has(&natives, (uintptr_t)file->package) ||
			code_file_is_for(file->path, jw_platform(), &either))
			found->files[kept++] = *file;
	}
	found->file_count = kept;
	set_free(&natives);
}

int found_file(struct jw_error *err, struct found_list *list, const char *path,
			   const struct os_stat *stat, const struct find_package *package)
{
	struct jw_found *found = list->found;
	struct jw_found_file file = {.package = package ? package->name : NULL,
								 .version = package ? package->version : NULL,
								 .size_bytes = stat->size_bytes,
								 .mtime_ns = stat->mtime_ns,
								 .changed_ns = stat->changed_ns,
								 .device = stat->device,
								 .inode = stat->inode};
	bool is_new;

	if (cancel_check(err, &list->cancel) || found_see(err, &list->seen, stat, &is_new))
		return -1;
	if (!is_new)
		return 0;
	if (ARENA_ROOM(err, found, found->files, list->file_capacity, found->file_count,
				   FOUND_MAX_FILES))
		return -1;
	file.path = arena_string(found, path);
	/* Records name files with '/', but cmd takes a word after '/' for an option. */
	for (char *c = file.path; *c; c++)
		if (os_is_separator(*c))
			*c = os_separator;
	found->files[found->file_count++] = file;
	return 0;
}

void found_unseen(struct found_list *list, const char *path, const struct jw_error *why)
{
	/* The file may well exist, and contain modules to compile. */
	if (os_ignore_unreadable(NULL, path, why))
		found_trouble(list, why);
}

bool found_may_hold_code(const char *path, enum code_file name, const struct os_stat *stat)
{
	if (stat->kind != OS_REGULAR || name != CODE_FILE_PROGRAM)
		return stat->kind == OS_REGULAR && name != CODE_FILE_OTHER;
	/* /dev/core links to /proc/kcore, an ELF file as large as the address space. */
	return (stat->mode & CODE_FILE_RUNS) && !os_is_made_up(path) &&
		   code_file_is_program(path, stat);
}

int found_package(struct jw_error *err, struct found_list *list, const char *name,
				  const char *version, bool is_pips, struct find_package *ret_package)
{
	struct jw_found *found = list->found;

	if (ARENA_ROOM(err, found, found->packages, list->package_capacity, found->package_count,
				   FOUND_MAX_PACKAGES))
		return -1;
	*ret_package = (struct find_package){.name = arena_string(found, name),
										 .version = arena_string(found, version),
										 .is_pips = is_pips};
	found->packages[found->package_count++] = *ret_package;
	return 0;
}

bool found_is_pips(const struct jw_found *found, const char *name)
{
	for (size_t i = 0; i < found->package_count; i++)
		if (found->packages[i].is_pips && !strcmp(found->packages[i].name, name))
			return true;
	return false;
}

static void add_note(struct found_list *list, bool is_trouble, enum jw_code code, const char *text)
{
	struct jw_found *found = list->found;

	found->trouble_count += is_trouble;
	if (!ARENA_ROOM(NULL, found, found->notes, list->note_capacity, found->note_count,
					FOUND_MAX_NOTES))
		found->notes[found->note_count++] = (struct jw_found_note){
			.is_trouble = is_trouble, .code = code, .text = arena_string(found, text)};
}

void found_note(struct found_list *list, const char *format, ...)
{
	char text[2048];
	va_list arguments;

	va_start(arguments, format);
	(void)text_vformat(text, 0, sizeof text, format, arguments);
	va_end(arguments);
	add_note(list, false, JW_OK, text);
}

void found_trouble(struct found_list *list, const struct jw_error *why)
{
	add_note(list, true, why->code, why->message);
}

/* Deeper than any installation; MAX_PATH_BYTES stays below the system's limit of 4096 bytes. */
enum { MAX_WAITING = 1 << 20, MAX_PATH_BYTES = 4000 };

static bool is_walked(const char *name, enum os_kind kind)
{
	return kind == OS_DIRECTORY ? code_folder_is_searched(name)
								: kind == OS_REGULAR && code_file_by_name(name) != CODE_FILE_OTHER;
}

/* The directories to be read; the last one added is read first. */
struct waiting {
	char **paths;
	size_t count, capacity;
};

struct directory_walking {
	struct found_list *list;
	const struct find_package *package;
	struct waiting waiting;
	bool linked;
	uint64_t device; /* the device of the last folder */
	bool made_up;    /* whether its file system is a pseudo one */
};

/* Puts a directory on the stack, and takes ownership of its path. */
static int add_waiting(struct jw_error *err, struct waiting *waiting, char *path)
{
	if (VEC_ROOM(err, waiting->paths, waiting->capacity, waiting->count, MAX_WAITING)) {
		mem_free(path);
		return -1;
	}
	waiting->paths[waiting->count++] = path;
	return 0;
}

/* As add_waiting; a path that is too long becomes a trouble instead. */
static int walk_later(struct jw_error *err, struct directory_walking *walking, char *path)
{
	struct jw_error why;

	if (strlen(path) < MAX_PATH_BYTES)
		return add_waiting(err, &walking->waiting, path);
	error_set(&why, JW_ERR_LIMIT, "%.200s… has paths of more than %d bytes: not searched", path,
			  MAX_PATH_BYTES);
	found_trouble(walking->list, &why);
	mem_free(path);
	return 0;
}

static int take_walked_file(struct jw_error *err, struct directory_walking *walking, char *path)
{
	const enum code_file kind = code_file_by_name(path);
	struct found_list *list = walking->list;
	struct jw_error why = {0};
	struct os_stat stat;

	if (os_stat(&why, path, &stat)) {
		found_unseen(list, path, &why);
		return 0;
	}
	return found_may_hold_code(path, kind, &stat) && (walking->linked || kind != CODE_FILE_LINKED)
			   ? found_file(err, list, path, &stat, walking->package)
			   : 0;
}

/* Takes the files of a directory, and puts its directories on the stack of those to be read. */
static int take_names(struct jw_error *err, struct directory_walking *walking,
					  const char *directory, const struct os_names *names)
{
	/* Adds in reverse, since the last directory on the stack is read first. */
	for (size_t i = names->count; i-- > 0;) {
		char *path;

		if (names->kinds[i] != OS_DIRECTORY)
			continue;
		path = os_join(directory, names->items[i]);
		if (walk_later(err, walking, path))
			return -1;
	}
	for (size_t i = 0; i < names->count; i++) {
		char *path;
		int result;

		if (names->kinds[i] == OS_DIRECTORY)
			continue;
		path = os_join(directory, names->items[i]);
		result = take_walked_file(err, walking, path);
		mem_free(path);
		if (result)
			return -1;
	}
	return 0;
}

/* Enters a directory. `first` is the one that the user named; if it is not searched, a note says
 * so. */
static int enter_directory(struct jw_error *err, struct directory_walking *walking,
						   const char *directory, bool first)
{
	struct found_list *list = walking->list;
	struct os_names names;
	struct os_stat stat;
	struct jw_error why;
	bool is_new = false;
	int result;

	if (cancel_check(err, &list->cancel))
		return -1;
	/* Checked before reading, since any number of links may lead to a large directory. */
	if (os_stat(&why, directory, &stat)) {
		found_trouble(list, &why);
		return 0;
	}
	if (stat.device != walking->device)
		walking->made_up = os_is_made_up(directory);
	walking->device = stat.device;
	if (walking->made_up) {
		error_set(&why, JW_ERR_UNSUPPORTED,
				  "%s: a pseudo file system: name files there, not folders", directory);
		if (first)
			found_trouble(list, &why);
		return 0;
	}
	result = found_see(err, &list->seen, &stat, &is_new);
	if (result || !is_new)
		return result;
	if (os_list_wanted(&why, directory, is_walked, &stat, &names)) {
		found_trouble(list, &why);
		return 0;
	}
	result = take_names(err, walking, directory, &names);
	os_names_free(&names);
	return result;
}

static int walk_from(struct jw_error *err, struct directory_walking *walking, const char *directory)
{
	struct waiting *waiting = &walking->waiting;
	char *path = mem_string(directory);
	int result = add_waiting(err, waiting, path);
	bool first = true;

	while (!result && waiting->count) {
		path = waiting->paths[--waiting->count];
		result = enter_directory(err, walking, path, first);
		first = false;
		mem_free(path);
	}
	while (waiting->count)
		mem_free(waiting->paths[--waiting->count]);
	mem_free(waiting->paths);
	return result;
}

int directory_walk(struct jw_error *err, struct found_list *list, const char *directory,
				   const struct find_package *package, bool linked)
{
	struct directory_walking walking = {.list = list, .package = package, .linked = linked};

	return walk_from(err, &walking, directory);
}
