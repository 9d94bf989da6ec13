/* jw_pack_files: names found files so that the names mean the same on every machine. */
#include <jitwarm/find.h>
#include <jitwarm/pack.h>

#include "base/mem.h"
#include "find/installed_name.h"
#include "os/file.h"

int jw_pack_files(struct jw_error *err, const struct jw_found *found,
				  struct jw_pack_file **ret_files)
{
	struct jw_pack_file *files = mem_array(err, found->file_count, sizeof *files);

	if (!files)
		return -1;
	for (size_t i = 0; i < found->file_count; i++) {
		const struct jw_found_file *file = &found->files[i];
		const char *name = file->package ? installed_name(file->path) : file->path;

		/* Folders outside of a package are private to this machine and left out. */
		files[i] = (struct jw_pack_file){.path = file->path,
										 .name = name == file->path ? os_base_name(name) : name,
										 .package = file->package,
										 .version = file->version};
	}
	*ret_files = files;
	return 0;
}

void jw_pack_files_free(struct jw_pack_file *files)
{
	mem_free(files);
}
