#include "cli/parts/found_files.h"

#include "base/mem.h"
#include "cli/command.h"
#include "cli/language.h"

void found_files_print(const struct output *out, const struct jw_found *found)
{
	for (size_t i = 0; i < found->note_count; i++)
		(found->notes[i].is_trouble ? output_warning : output_note)(out, "%s",
																	found->notes[i].text);
}

void found_files_none(struct cli *cli, const struct jw_found *found)
{
	if (!cli->options.operand_count && found && found->environment)
		output_line(&cli->out, STYLE_PLAIN,
					"no device code found in %s; “jitwarm find” shows the environments here",
					found->environment);
	else
		output_line(&cli->out, STYLE_PLAIN, "no device code found");
	/* Then nothing was judged. */
	if (found && !found->file_count && !found->trouble_count)
		cli_end_with(cli, EXIT_CANNOT);
}

int found_files_take(struct jw_error *err, const struct output *out, struct jw_found *found,
					 struct found_files *ret_files)
{
	struct found_files files = {.found = found};

	for (size_t i = 0; i < found->file_count; i++) {
		language_keep(found->files[i].path);
		language_keep(found->files[i].package);
	}
	if (out)
		found_files_print(out, found);
	files.paths = mem_array(err, found->file_count, sizeof *files.paths);
	if (!files.paths) {
		found_files_free(&files);
		return -1;
	}
	for (size_t i = 0; i < found->file_count; i++)
		files.paths[files.count++] = found->files[i].path;
	*ret_files = files;
	return 0;
}

int found_files_find(struct jw_error *err, const struct output *out, const char *const *names,
					 size_t name_count, bool sources, struct found_files *ret_files)
{
	const struct jw_find_options options = {.size = sizeof options,
											.names = names,
											.name_count = name_count,
											.cancel = cli_cancel,
											.sources = sources};
	struct jw_found *found;

	return jw_find(err, &options, &found) ? -1 : found_files_take(err, out, found, ret_files);
}

void found_files_end(struct cli *cli, const struct found_files *files)
{
	if (files->found && files->found->trouble_count)
		cli_end_with(cli, EXIT_COLD);
}

void found_files_free(struct found_files *files)
{
	mem_free(files->paths);
	jw_found_free(files->found);
	*files = (struct found_files){0};
}
