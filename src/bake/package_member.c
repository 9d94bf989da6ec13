/* The members of packages, whatever the package is. */
#include <string.h>

#include "bake/bake_package.h"
#include "base/mem.h"
#include "package/library_owner.h"

enum {
	MOST_PACKAGE_FILES = 1 << 18,
	MOST_RATIO = 250, /* of a library; zeros give 1,030 */
	SMALL_BYTES = 64 << 20,
};

void bake_package_file_clear(struct jw_bake_file *file)
{
	mem_free(file->path);
	mem_free(file->member);
	mem_free(file->output);
	*file = (struct jw_bake_file){0};
}

void bake_package_files_free(struct bake_package_files *files)
{
	for (size_t i = 0; i < files->count; i++)
		bake_package_file_clear(&files->items[i]);
	mem_free(files->items);
	*files = (struct bake_package_files){0};
}

int bake_package_file_add(struct jw_error *err, struct bake_package_files *files,
						  const struct jw_bake_file *file)
{
	if (VEC_ROOM(err, files->items, files->capacity, files->count, MOST_PACKAGE_FILES))
		return -1;
	files->items[files->count++] = *file;
	return 0;
}

/* ---- one member */

int bake_package_check_size(struct jw_error *err, const char *member, uint64_t packed_bytes,
							uint64_t size_bytes)
{
	if (size_bytes <= SMALL_BYTES || size_bytes / MOST_RATIO <= packed_bytes)
		return 0;
	return error_set(err, JW_ERR_LIMIT, "%.300s: %llu bytes unpack to %llu, which no library does",
					 member, (unsigned long long)packed_bytes, (unsigned long long)size_bytes);
}

/* A library that is not what it seems, or may not be changed, stays as it is in the new package;
 * for other failures there is no new package. */
static bool is_librarys_own(enum jw_code code)
{
	return code == JW_ERR_UNSUPPORTED || code == JW_ERR_FORMAT || code == JW_ERR_LIMIT;
}

int bake_package_member(struct jw_error *err, const struct bake_package_job *job,
						const struct package_part *part, const struct bake_member *member,
						struct bake_package_files *files, char **ret_baked)
{
	struct jw_bake_file file = {.path = member->file->path};
	struct bake_file_job how = job->file;
	struct jw_error why = {0};
	char *output = NULL;
	int result;

	how.in_place = NULL;
	how.output = NULL;
	if (job->folder && !(output = mem_printf(err, "%s.baked", part->path)))
		return -1;
	if (output &&
		(job->any_owner || !library_owner_allows_member(&why, member->package, member->nvidia,
														member->member, member->file->path)))
		how.output = output;
	result = bake_file(err, &how, &file);
	if (!result && why.code && file.modules && !file.failed.code)
		file.failed = why;
	if (!result && file.failed.code && !is_librarys_own(file.failed.code))
		result = error_copy(err, &file.failed);
	if (!result && !file.output) {
		mem_free(output);
		output = NULL;
	}
	mem_free(file.output);
	file.output = NULL;
	file.path = NULL;
	if (!result && (file.modules || file.failed.code)) {
		file.path = mem_string(err, job->path);
		file.member = mem_string(err, member->member);
		result = !file.path || !file.member || bake_package_file_add(err, files, &file) ? -1 : 0;
		if (result)
			bake_package_file_clear(&file);
	}
	if (result && output) {
		(void)os_remove(NULL, output);
		mem_free(output);
		output = NULL;
	}
	*ret_baked = output;
	return result;
}

/* ---- the new package */

int bake_package_check_owner(struct jw_error *err, const struct bake_package_job *job,
							 const char *package, bool nvidia)
{
	return job->any_owner || !job->only_check ? 0
											  : library_owner_allows_package(err, package, nvidia);
}

int bake_package_output(struct jw_error *err, const struct bake_package_job *job,
						const char *file_name, char **ret_output)
{
	if (!job->folder)
		return 0;
	*ret_output = os_join(err, job->folder, file_name);
	return *ret_output ? 0 : -1;
}

int bake_package_check(struct jw_error *err, const struct bake_package_job *job,
					   const struct os_map *map, const char *output)
{
	const uint64_t identity = os_identity(output);
	struct os_stat now;

	if (identity && identity != OS_UNIDENTIFIED && identity == os_identity(job->path))
		return error_set(err, JW_ERR_USAGE,
						 "the new package would have its name and place: name another folder");
	if (os_stat(err, job->path, &now))
		return -1;
	if (now.device == map->stat.device && now.inode == map->stat.inode &&
		now.size_bytes == map->stat.size_bytes && now.mtime_ns == map->stat.mtime_ns)
		return 0;
	return error_set(err, JW_ERR_IO, "was changed while it was baked: try again");
}
