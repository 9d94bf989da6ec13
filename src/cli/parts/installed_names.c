#include "cli/parts/installed_names.h"

#include <string.h>

#include "base/mem.h"
#include "os/file.h"

const char *installed_name(const char *path)
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

int installed_files(struct jw_error *err, const struct jw_found *found,
					struct jw_pack_file **ret_files)
{
	struct jw_pack_file *files = mem_array(err, found->file_count, sizeof *files);

	if (!files)
		return -1;
	for (size_t i = 0; i < found->file_count; i++) {
		const struct jw_found_file *file = &found->files[i];
		const char *name = file->package ? installed_name(file->path) : file->path;

		/* Folders outside of a package are this machine's own affair. */
		files[i] = (struct jw_pack_file){.path = file->path,
										 .name = name == file->path ? os_base_name(name) : name,
										 .package = file->package,
										 .version = file->version};
	}
	*ret_files = files;
	return 0;
}
