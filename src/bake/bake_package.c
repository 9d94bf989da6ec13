#include "bake/bake_package.h"

#include <string.h>

#include "base/mem.h"
#include "base/text.h"

bool bake_is_package(const char *path)
{
	static const char *const endings[] = {".whl", ".conda", ".tar.bz2"};
	const size_t length = strlen(path);

	for (size_t i = 0; i < sizeof endings / sizeof *endings; i++)
		if (length > strlen(endings[i]) &&
			text_equal_fold(path + length - strlen(endings[i]), endings[i]))
			return true;
	return false;
}

/* ---- one package */

static int bake_kind(struct jw_error *err, const struct bake_package_job *job,
					 struct bake_package_files *files, char **ret_output)
{
	const size_t length = strlen(job->path);

	if (!text_equal_fold(job->path + length - strlen(".whl"), ".whl"))
		return error_set(err, JW_ERR_UNSUPPORTED,
						 "is a conda package, which jitwarm does not write: bake in its recipe's "
						 "build step (jitwarm bake --in-place …), and conda-build writes the "
						 "package");
	if (job->file.in_place)
		return error_set(err, JW_ERR_UNSUPPORTED,
						 "is a package that is not installed: -o DIR writes a new one");
	return bake_wheel(err, job, files, ret_output);
}

/* Each library of the package has the same output. */
static int name_output(struct jw_error *err, struct bake_package_files *files, const char *output)
{
	for (size_t i = 0; i < files->count; i++) {
		struct jw_bake_file *file = &files->items[i];

		if (file->failed.code || !file->baked)
			continue;
		if (!(file->output = mem_string(err, output)))
			return -1;
	}
	return 0;
}

int bake_package(struct jw_error *err, const struct bake_package_job *job,
				 struct bake_package_files *ret_files)
{
	struct bake_package_files files = {0};
	struct jw_error why = {0};
	char *output = NULL;
	int result = 0;

	if (bake_kind(&why, job, &files, &output)) {
		struct jw_bake_file failed = {.failed = why};

		bake_package_files_free(&files);
		if (why.code == JW_ERR_MEMORY || why.code == JW_ERR_INTERRUPTED)
			result = error_copy(err, &why);
		else if (!(failed.path = mem_string(err, job->path)) ||
				 bake_package_file_add(err, &files, &failed))
			result = -1;
		if (result)
			mem_free(failed.path);
	} else if (output) {
		result = name_output(err, &files, output);
	}
	mem_free(output);
	if (result)
		bake_package_files_free(&files);
	else
		*ret_files = files;
	return result;
}
