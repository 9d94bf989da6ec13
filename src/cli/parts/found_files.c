#include "cli/parts/found_files.h"

#include "base/mem.h"
#include "cli/command.h"

enum { MOST_PATHS = 1 << 24 };

int found_files_add(struct jw_error *err, struct found_files *files, const char *path)
{
	if (VEC_ROOM(err, files->paths, files->capacity, files->count, MOST_PATHS))
		return -1;
	files->paths[files->count++] = path;
	return 0;
}

int found_files_take(struct jw_error *err, const struct output *out, struct jw_found *found,
					 struct found_files *ret_files)
{
	struct found_files files = {.found = found};

	for (size_t i = 0; out && i < found->note_count; i++)
		(found->notes[i].is_trouble ? output_warning : output_note)(out, "%s",
																	found->notes[i].text);
	for (size_t i = 0; i < found->file_count; i++)
		if (found_files_add(err, &files, found->files[i].path)) {
			found_files_free(&files);
			return -1;
		}
	*ret_files = files;
	return 0;
}

int found_files_find(struct jw_error *err, const struct output *out, const char *const *names,
					 size_t name_count, struct found_files *ret_files)
{
	const struct jw_find_options options = {
		.size = sizeof options, .names = names, .name_count = name_count, .cancel = cli_cancel};
	struct jw_found *found;

	return jw_find(err, &options, &found) ? -1 : found_files_take(err, out, found, ret_files);
}

void found_files_free(struct found_files *files)
{
	mem_free(files->paths);
	jw_found_free(files->found);
	*files = (struct found_files){0};
}
