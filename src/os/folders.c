#include "os/folders.h"

#include <string.h>

#include "base/mem.h"
#include "os/file.h"
#include "os/uv.h"

/* "PREFIX-XXXXXX" below `folder`, with other letters. */
static int make_new(struct jw_error *err, const char *folder, const char *prefix, char **ret_path)
{
	enum { LETTERS = 6 };
	char *pattern = mem_printf(err, "%s-XXXXXX", prefix);
	char *path = pattern ? os_join(err, folder, pattern) : NULL;
	char *given = path ? os_uv_path(err, path) : NULL;
	uv_fs_t request;
	int made = -1;

	if (given) {
		made = uv_fs_mkdtemp(NULL, &request, given, NULL);
		if (!made)
			memcpy(path + strlen(path) - LETTERS, request.path + strlen(request.path) - LETTERS,
				   LETTERS);
		made = os_uv_result(err, path, &request, made);
	}
	mem_free(given);
	mem_free(pattern);
	if (made)
		mem_free(path);
	else
		*ret_path = path;
	return made;
}

int os_make_temp_dir(struct jw_error *err, const char *prefix, char **ret_path)
{
	char *folder = os_temp_dir(err);
	int result = folder ? make_new(err, folder, prefix, ret_path) : -1;

	mem_free(folder);
	return result;
}
