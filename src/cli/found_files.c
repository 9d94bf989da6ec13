#include "cli/found_files.h"

#include <string.h>

#include "base/hash.h"
#include "base/mem.h"
#include "base/text.h"
#include "cli/language.h"
#include "os/file.h"

static bool is_for_mac(const char *name, const char *version)
{
	return !version && strstr(name, "-macosx_");
}

void found_files_print_without(const struct output *out, const char *name, const char *version)
{
	const char *with = jw_with_gpu_code(name, version);

	if (is_for_mac(name, version)) {
		output_line(out, STYLE_PLAIN,
					"%s: a file for macOS, which has no CUDA: name a file for Linux or Windows",
					name);
		return;
	}
	output_line(out, STYLE_PLAIN,
				jw_is_cpu_build(name, version)
					? with ? "%s%s%s: a CPU build without device code; for device code, use %s"
						   : "%s%s%s: a CPU build without device code%s"
				: with ? "%s%s%s: no device code; for device code, use %s"
					   : "%s%s%s: no device code%s",
				name, version ? " " : "", version ? version : "", with ? with : "");
}

static uint64_t key_of(const char *text)
{
	return fnv_update(FNV_START, text, strlen(text));
}

void found_files_see(struct set *seen, const struct jw_found *found, const char *path)
{
	set_put(seen, key_of(path), 0);
	for (size_t i = 0; found && i < found->file_count; i++)
		if (found->files[i].package && !strcmp(found->files[i].path, path))
			set_put(seen, key_of(found->files[i].package), 0);
}

size_t found_files_print_cpu_builds(const struct output *out, const struct jw_found *found,
									const struct set *seen)
{
	size_t said = 0;

	for (size_t i = 0; found && i < found->file_count; i++) {
		const struct jw_found_file *file = &found->files[i];
		const char *name = file->package ? file->package : os_base_name(file->path),
				   *version = file->package ? file->version : NULL;

		if ((i && file->package && text_same(file->package, file[-1].package)) ||
			(file->package ? !file->version : !text_ends(name, ".whl")) ||
			!(jw_is_cpu_build(name, version) || is_for_mac(name, version) ||
			  (!seen && jw_with_gpu_code(name, version))) ||
			(seen && set_has(seen, key_of(file->package ? file->package : file->path))))
			continue;
		found_files_print_without(out, name, version);
		said++;
	}
	return said;
}

bool found_files_none(const struct cli *cli, const struct jw_found *found)
{
	if (found_files_print_cpu_builds(&cli->out, found, NULL) && cli->options.operand_count)
		return false;
	if (!cli->options.operand_count && found && found->environment)
		output_line(&cli->out, STYLE_PLAIN,
					"no device code found in %s; “jitwarm find” shows the environments here",
					found->environment);
	else if (found && found->environment && cli->options.operand_count == 1)
		output_line(&cli->out, STYLE_PLAIN, "%s: no device code found in %s",
					cli->options.operands[0], found->environment);
	else if (found && found->environment)
		output_line(&cli->out, STYLE_PLAIN, "no device code found for these names in %s",
					found->environment);
	else
		output_line(&cli->out, STYLE_PLAIN, "no device code found");
	return found && (found->whole || !found->file_count) && !found->trouble_count;
}

/* Takes the files, and ownership, of a finished search. */
static void found_files_take(const struct output *out, struct jw_found *found,
							 struct found_files *ret_files)
{
	struct found_files files = {.found = found};

	for (size_t i = 0; i < found->file_count; i++) {
		language_keep(found->files[i].path);
		language_keep(found->files[i].package);
	}
	for (size_t i = 0; out && i < found->note_count; i++)
		(found->notes[i].is_trouble ? output_warning : output_note)(out, "%s",
																	found->notes[i].text);
	files.paths = mem_array(found->file_count, sizeof *files.paths);
	for (size_t i = 0; i < found->file_count; i++)
		files.paths[files.count++] = found->files[i].path;
	*ret_files = files;
}

int found_files_find(struct jw_error *err, const struct output *out, const char *const *names,
					 size_t name_count, bool sources, struct found_files *ret_files)
{
	/* Files that nobody has named are judged with their packages. */
	const struct jw_find_options options = {.names = names,
											.name_count = name_count,
											.cancel = cli_cancel,
											.sources = sources,
											.owners = !out};
	struct jw_found *found;

	for (size_t i = 0; i < name_count; i++)
		if (!strcmp(names[i], "-") && !os_exists(names[i]))
			return error_set(err, JW_ERR_USAGE,
							 "this command does not read the standard input: name a file");
	if (jw_find(err, &options, &found))
		return -1;
	found_files_take(out, found, ret_files);
	return 0;
}

int found_files_recorded(struct jw_error *err, const struct cli *cli, const char *recording,
						 bool sources, struct jw_recording **ret_recording,
						 struct found_files *ret_files)
{
	const struct options *options = &cli->options;
	const struct jw_find_options names = {.names = options->operands,
										  .name_count = options->operand_count,
										  .cancel = cli_cancel,
										  .sources = sources};
	struct jw_found *found;

	if (recording && jw_recording_read(err, recording, ret_recording))
		return -1;
	if (recording && !options->operand_count ? jw_recording_find(err, *ret_recording, &found)
											 : jw_find(err, &names, &found))
		return -1;
	found_files_take(&cli->out, found, ret_files);
	return 0;
}

void found_files_end(struct cli *cli, const struct found_files *files)
{
	if (files->found && files->found->trouble_count)
		cli_end_with(cli, EXIT_COLD);
}

void found_files_free(struct found_files *files)
{
	mem_free(files->paths);
	jw_result_free(files->found);
	*files = (struct found_files){0};
}
