#include "bake/package_part.h"

#include <string.h>

#include "base/mem.h"
#include "base/text.h"

enum { LETTERS = 6 /* os_file_make's */, MOST_TRIES = 100 };
static const char part_start[] = ".jitwarm-bake";

/* ---- what killed runs have left */

/* The lock of a package whose run has ended; whoever holds it may remove its files. NULL with
 * *ret_ended: the package is gone already. */
static struct os_file *hold_ended(const char *path, bool *ret_ended)
{
	struct jw_error why = {0};
	struct os_file *file = NULL;
	bool held = false;

	if (os_file_open(&why, path, OS_OPEN_UPDATE, &file)) {
		*ret_ended = !error_unless_missing(NULL, &why);
		return NULL;
	}
	*ret_ended = !os_file_lock(NULL, file, true, &held) && held;
	return file;
}

/* A package's members are named after it, so it is removed last. */
static void sweep_parts(const char *folder)
{
	const size_t length = strlen(part_start) + 1 + LETTERS;
	struct os_names names;

	if (os_list(NULL, folder, &names))
		return;
	for (size_t i = names.count; i-- > 0;) {
		const char *name = names.items[i];
		char *own =
			text_starts(name, part_start) && strlen(name) >= length && names.kinds[i] == OS_REGULAR
				? mem_string_n(NULL, name, length)
				: NULL;
		char *part = own ? os_join(NULL, folder, own) : NULL,
			 *path = part ? os_join(NULL, folder, name) : NULL;
		bool ended = false;
		struct os_file *lock = path ? hold_ended(part, &ended) : NULL;

		if (ended)
			(void)os_remove(NULL, path);
		os_file_close(lock);
		mem_free(path);
		mem_free(part);
		mem_free(own);
	}
	os_names_free(&names);
}

/* ---- the package */

/* Whether the lock is held on the file that has this name: before it was locked another run may
 * have taken it for a leftover. */
static int hold_part(struct jw_error *err, const struct package_part *part, bool *ret_held)
{
	struct os_stat own, named;
	struct jw_error why;

	*ret_held = false;
	if (os_file_lock(err, part->file, true, ret_held))
		return -1;
	if (!*ret_held)
		return 0;
	if (os_file_stat(err, part->file, &own))
		return -1;
	if (os_stat(&why, part->path, &named)) {
		*ret_held = false;
		return why.code == JW_ERR_NOT_FOUND ? 0 : error_copy(err, &why);
	}
	*ret_held = own.device == named.device && own.inode == named.inode;
	return 0;
}

static void forget_part(struct package_part *part)
{
	os_file_close(part->file);
	mem_free(part->path);
	part->file = NULL;
	part->path = NULL;
}

/* Another run may remove the folder while it is empty, and take a file that is not locked yet for a
 * leftover. */
static int make_part(struct jw_error *err, const char *folder, struct package_part *part)
{
	char *start = os_join(err, folder, part_start);
	struct jw_error why;
	bool held = false;
	int result = start ? 0 : -1;

	for (int tries = 0; !result && !held && tries < MOST_TRIES; tries++) {
		forget_part(part);
		result = os_make_dirs(err, folder, 0755);
		if (!result && !os_file_make(&why, start, &part->file, &part->path))
			result = hold_part(err, part, &held);
		else if (!result && why.code != JW_ERR_NOT_FOUND)
			result = error_copy(err, &why);
	}
	mem_free(start);
	if (!result && !held)
		result =
			error_set(err, JW_ERR_BUSY, "%s: other processes remove what is made there", folder);
	return result ? -1 : 0;
}

static int begin_package(struct jw_error *err, const char *folder, struct package_part *part)
{
	part->folder = mem_string(err, folder);
	part->nearest = os_nearest(err, folder);
	if (!part->folder || !part->nearest || os_make_dirs(err, folder, 0755))
		return -1;
	sweep_parts(folder);
	return make_part(err, folder, part);
}

int package_part_open(struct jw_error *err, const char *folder, const char *state_dir,
					  struct package_part *ret_part)
{
	struct package_part part = {0};
	int result;

	if (folder) {
		result = begin_package(err, folder, &part);
	} else {
		result = run_folder_make(err, state_dir, &part.run);
		if (!result && !(part.path = os_join(err, part.run.path, part_start)))
			result = -1;
	}
	if (result) {
		package_part_drop(&part);
		return -1;
	}
	*ret_part = part;
	return 0;
}

int package_part_finish(struct jw_error *err, struct package_part *part, const char *output,
						uint32_t mode)
{
	char *real = NULL;
	int result = os_replaceable(err, output, &real) || os_file_sync(err, part->file) ||
				 os_set_mode(err, part->path, mode & 0777) ||
				 /* With its lock, until it has another name */
				 os_rename(err, part->path, real);

	os_file_close(part->file);
	part->file = NULL;
	if (!result) {
		os_sync_names(real);
		mem_free(part->path);
		part->path = NULL;
		mem_free(part->nearest);
		part->nearest = NULL;
	}
	mem_free(real);
	return result ? -1 : 0;
}

static void remove_made_folders(const struct package_part *part)
{
	char *folder = mem_string(NULL, part->folder);

	while (folder && strlen(folder) > strlen(part->nearest) && strcmp(folder, part->nearest) != 0) {
		char *above = os_dir_name(NULL, folder);

		/* A separator at the end makes two of one. */
		if (os_remove_empty_dir(NULL, folder) && os_exists(folder)) {
			mem_free(above);
			break;
		}
		mem_free(folder);
		folder = above;
	}
	mem_free(folder);
}

void package_part_drop(struct package_part *part)
{
	os_file_close(part->file);
	if (part->folder && part->path)
		(void)os_remove(NULL, part->path);
	if (part->folder && part->nearest)
		remove_made_folders(part);
	run_folder_remove(&part->run);
	mem_free(part->path);
	mem_free(part->folder);
	mem_free(part->nearest);
	*part = (struct package_part){0};
}

/* ---- members */

int package_file_open(struct jw_error *err, const struct package_part *part, const char *kind,
					  struct package_file *ret_file)
{
	char *start = mem_printf(err, "%s.%s", part->path, kind);
	struct package_file file = {0};
	int result = start ? os_file_make(err, start, &file.file, &file.path) : -1;

	mem_free(start);
	if (result)
		return -1;
	(void)crypto_hash_sha256_init(&file.state);
	*ret_file = file;
	return 0;
}

int package_file_put(struct jw_error *err, void *package_file, const uint8_t *data, size_t size)
{
	struct package_file *file = package_file;

	if (os_file_write(err, file->file, file->size_bytes, data, size))
		return -1;
	(void)crypto_hash_sha256_update(&file->state, data, size);
	file->size_bytes += size;
	return 0;
}

void package_file_close(struct package_file *file)
{
	if (!file->file)
		return;
	os_file_close(file->file);
	file->file = NULL;
	(void)crypto_hash_sha256_final(&file->state, file->sha256);
}

void package_file_drop(struct package_file *file)
{
	os_file_close(file->file);
	if (file->path)
		(void)os_remove(NULL, file->path);
	mem_free(file->path);
	*file = (struct package_file){0};
}
