#include "find/found.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/cancel.h"
#include "base/mem.h"

int found_open(struct jw_error *err, struct found_list *list)
{
	*list = (struct found_list){0};
	list->found = mem_alloc(err, sizeof *list->found);
	return list->found ? 0 : -1;
}

void found_close(struct found_list *list)
{
	set_free(&list->seen.by_key);
	mem_free(list->seen.items);
	list->seen = (struct found_seen){0};
}

void jw_found_free(struct jw_found *found)
{
	if (!found)
		return;
	for (size_t i = 0; i < found->file_count; i++)
		mem_free(found->files[i].path);
	for (size_t i = 0; i < found->note_count; i++)
		mem_free(found->notes[i].text);
	for (size_t i = 0; i < found->package_count; i++) {
		mem_free(found->packages[i].name);
		mem_free(found->packages[i].version);
	}
	mem_free(found->files);
	mem_free(found->notes);
	mem_free(found->packages);
	mem_free(found->environment);
	mem_free(found);
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
	if (VEC_ROOM(err, seen->items, seen->capacity, seen->count, FOUND_MOST_SEEN) ||
		set_add(err, &seen->by_key, key, seen->count))
		return -1;
	seen->items[seen->count++] = identity;
	*ret_new = true;
	return 0;
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
	if (VEC_ROOM(err, found->files, list->file_capacity, found->file_count, FOUND_MOST_FILES) ||
		!(file.path = mem_string(err, path)))
		return -1;
	found->files[found->file_count++] = file;
	return 0;
}

int found_unseen(struct jw_error *err, struct found_list *list, const char *path,
				 const struct jw_error *why)
{
	/* It may well be there, and have to be compiled */
	return error_if_memory(err, why)           ? -1
		   : os_holds_nothing(NULL, path, why) ? found_trouble(err, list, why)
											   : 0;
}

bool found_may_hold_code(const char *path, enum code_file name, const struct os_stat *stat)
{
	if (stat->kind != OS_REGULAR || name != CODE_FILE_PROGRAM)
		return stat->kind == OS_REGULAR && name != CODE_FILE_OTHER;
	/* /dev/core links to /proc/kcore, an ELF file as large as the address space. */
	return (stat->mode & CODE_FILE_RUNS) && !os_is_made_up(path) &&
		   code_file_is_program(path, stat);
}

int found_look(struct jw_error *err, struct found_list *list, const char *path, enum code_file name,
			   struct os_stat *ret_stat, bool *ret_code)
{
	struct jw_error why = {0};

	*ret_code = false;
	if (os_stat(&why, path, ret_stat))
		return found_unseen(err, list, path, &why);
	*ret_code = found_may_hold_code(path, name, ret_stat);
	return 0;
}

int found_package(struct jw_error *err, struct found_list *list, const char *name,
				  const char *version, struct find_package *ret_package)
{
	struct jw_found *found = list->found;
	struct find_package package = {0};

	if (VEC_ROOM(err, found->packages, list->package_capacity, found->package_count,
				 FOUND_MOST_PACKAGES))
		return -1;
	package.name = mem_string(err, name);
	package.version = package.name && version ? mem_string(err, version) : NULL;
	if (!package.name || (version && !package.version)) {
		mem_free(package.name);
		return -1;
	}
	found->packages[found->package_count++] = package;
	*ret_package = package;
	return 0;
}

static int add_note(struct jw_error *err, struct found_list *list, struct jw_found_note note)
{
	struct jw_found *found = list->found;

	found->trouble_count += note.is_trouble;
	if (found->note_count == FOUND_MOST_NOTES) {
		mem_free(note.text);
		return 0;
	}
	if (VEC_ROOM(err, found->notes, list->note_capacity, found->note_count, FOUND_MOST_NOTES)) {
		mem_free(note.text);
		return -1;
	}
	found->notes[found->note_count++] = note;
	return 0;
}

int found_note(struct jw_error *err, struct found_list *list, const char *format, ...)
{
	char text[2048];
	struct jw_found_note note = {.code = JW_OK};
	va_list arguments;

	va_start(arguments, format);
	(void)vsnprintf(text, sizeof text, format, arguments);
	va_end(arguments);
	note.text = mem_string(err, text);
	return note.text ? add_note(err, list, note) : -1;
}

int found_trouble(struct jw_error *err, struct found_list *list, const struct jw_error *why)
{
	struct jw_found_note note = {.is_trouble = true, .code = why->code};

	note.text = mem_string(err, why->message);
	return note.text ? add_note(err, list, note) : -1;
}
