#include "os/folders.h"

#include "base/mem.h"
#include "os/file.h"
#include "os/path_calls.h"

int os_make_temp_dir(struct jw_error *err, const char *prefix, char **ret_path)
{
	char *folder = os_temp_dir(err);
	char *path = folder ? os_join(err, folder, prefix) : NULL;
	int result = path ? path_make_private_folder(err, path, ret_path) : -1;

	mem_free(path);
	mem_free(folder);
	return result;
}
