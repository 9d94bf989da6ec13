#include "pack/thin.h"

#include <string.h>

#include "base/mem.h"
#include "os/file.h"
#include "pack/file_list.h"
#include "pack/origin.h"

struct thin {
	const struct jw_export_options *options;
	struct pack_manifest *manifest;
	struct origin_module *modules;
	uint32_t *members; /* of the manifest, for each module */
	size_t count;
	const char **paths;
	size_t *sources; /* of each of the manifest's files, the index of the one that is here */
	size_t file_capacity, source_capacity;
};

static int list_modules(struct jw_error *err, struct thin *thin)
{
	const struct pack_manifest *manifest = thin->manifest;

	thin->modules = mem_array(err, manifest->member_count, sizeof *thin->modules);
	thin->members = mem_array(err, manifest->member_count, sizeof *thin->members);
	thin->paths = mem_array(err, thin->options->file_count, sizeof *thin->paths);
	if (!thin->modules || !thin->members || !thin->paths)
		return -1;
	for (size_t i = 0; i < thin->options->file_count; i++)
		thin->paths[i] = thin->options->files[i].path;
	for (uint32_t i = 0; i < manifest->member_count; i++) {
		const struct pack_member *member = &manifest->members[i];

		if (member->kind != PACK_PTX)
			continue;
		thin->modules[thin->count] =
			(struct origin_module){.digest = member->digest, .size_bytes = member->size_bytes};
		thin->members[thin->count++] = i;
	}
	return 0;
}

static bool same_text(const char *a, const char *b)
{
	return a && b ? !strcmp(a, b) : a == b;
}

/* Copies a text that a manifest may hold; *ret_text stays NULL for others. */
static int copy_sound(struct jw_error *err, const char *text, bool (*is_sound)(const char *),
					  char **ret_text)
{
	if (!text || !is_sound(text))
		return 0;
	*ret_text = mem_string(err, text);
	return *ret_text ? 0 : -1;
}

static int describe(struct jw_error *err, const struct jw_pack_file *source, const char *member,
					struct pack_file *file)
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
										 !same_text(manifest->files[at].member, module->member)))
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
	if (describe(err, source, module->member, file))
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

static int enter(struct jw_error *err, struct thin *thin)
{
	for (size_t i = 0; i < thin->count; i++) {
		const struct origin_module *module = &thin->modules[i];
		struct pack_member *member = &thin->manifest->members[thin->members[i]];

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
	int result = list_modules(err, &thin);
	const struct origin_search search = {
		.paths = thin.paths,
		.path_count = options->file_count,
		.modules = thin.modules,
		.module_count = thin.count,
		.context = &thin,
		.cancel = options->cancel,
	};

	if (!result)
		result = origin_find(err, &search) || enter(err, &thin) ? -1 : 0;
	origin_free(thin.modules, thin.count);
	mem_free(thin.members);
	mem_free(thin.paths);
	mem_free(thin.sources);
	return result;
}
