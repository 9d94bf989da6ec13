/* Chooses the modules that a pack need not contain, since local files have them. */
#include "pack/gather.h"

#include "base/mem.h"
#include "base/text.h"
#include "os/file.h"
#include "pack/file_list.h"
#include "pack/origin.h"

struct thin {
	const struct jw_export_options *options;
	struct pack_manifest *manifest;
	struct origin_module *modules;
	size_t count;
	size_t *sources; /* of each of the manifest's files, the index of the one that is here */
	size_t file_capacity, source_capacity;
};

/* Copies a text that a manifest may hold; *ret_text stays NULL for others. */
static int copy_sound(struct jw_error *err, const char *text, bool (*is_sound)(const char *),
					  char **ret_text)
{
	if (!text || !is_sound(text))
		return 0;
	*ret_text = mem_string(err, text);
	return *ret_text ? 0 : -1;
}

static int describe_pack_file(struct jw_error *err, const struct jw_pack_file *source,
							  const char *member, struct pack_file *file)
{
	char *name = mem_string(err, source->name);
	int result = -1;

	if (!name)
		return -1;
	for (char *c = name; *c; c++)
		if (os_is_separator(*c))
			*c = '/';
	if (!copy_sound(err, name, pack_path_is_sound, &file->path) &&
		!copy_sound(err, source->package, pack_word_is_sound, &file->package) &&
		!copy_sound(err, source->version, pack_word_is_sound, &file->version) &&
		!copy_sound(err, member, pack_member_is_sound, &file->member))
		result = 0;
	mem_free(name);
	return result;
}

/* The manifest's file for a module; *ret_at is PACK_MOST_FILES if the manifest cannot name it: too
 * many files, or an invalid name. */
static int find_file(struct jw_error *err, struct thin *thin, const struct origin_module *module,
					 uint32_t *ret_at)
{
	struct pack_manifest *manifest = thin->manifest;
	const struct jw_pack_file *source = &thin->options->files[module->file];
	struct pack_file *file;
	uint32_t at = 0;

	*ret_at = PACK_MOST_FILES;
	while (at < manifest->file_count && (thin->sources[at] != module->file ||
										 !text_same(manifest->files[at].member, module->member)))
		at++;
	if (at < manifest->file_count) {
		*ret_at = at;
		return 0;
	}
	if (at == PACK_MOST_FILES)
		return 0;
	if (VEC_ROOM(err, manifest->files, thin->file_capacity, at, PACK_MOST_FILES) ||
		VEC_ROOM(err, thin->sources, thin->source_capacity, at, PACK_MOST_FILES))
		return -1;
	file = &manifest->files[at];
	*file = (struct pack_file){0};
	thin->sources[at] = module->file;
	manifest->file_count++;
	if (describe_pack_file(err, source, module->member, file))
		return -1;
	if (file->path) {
		*ret_at = at;
		return 0;
	}
	mem_free(file->package);
	mem_free(file->version);
	mem_free(file->member);
	manifest->file_count--;
	return 0;
}

static int enter_pack_file(struct jw_error *err, struct thin *thin)
{
	for (size_t i = 0; i < thin->count; i++) {
		const struct origin_module *module = &thin->modules[i];
		struct pack_member *member = &thin->manifest->members[module->at];

		if (!module->found || module->offset > PACK_MOST_OFFSET)
			continue;
		if (find_file(err, thin, module, &member->file))
			return -1;
		member->thin = member->file < PACK_MOST_FILES;
		member->offset = module->offset;
		thin->manifest->thin = thin->manifest->thin || member->thin;
	}
	return 0;
}

int thin_find(struct jw_error *err, const struct jw_export_options *options,
			  struct pack_manifest *manifest)
{
	struct thin thin = {.options = options, .manifest = manifest};
	const char **paths = mem_array(err, options->file_count, sizeof *paths);
	struct origin_search search = {
		.paths = paths, .path_count = options->file_count, .cancel = options->cancel};
	int result = paths ? origin_modules(err, manifest, NULL, &thin.modules, &thin.count) : -1;

	for (size_t i = 0; paths && i < options->file_count; i++)
		paths[i] = options->files[i].path;
	search.modules = thin.modules;
	search.module_count = thin.count;
	if (!result)
		result = origin_find(err, &search) || enter_pack_file(err, &thin) ? -1 : 0;
	origin_free(thin.modules, thin.count);
	mem_free(paths);
	mem_free(thin.sources);
	return result;
}
