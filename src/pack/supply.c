#include "pack/supply.h"

#include <stdio.h>
#include <string.h>

#include <jitwarm/find.h>

#include "base/mem.h"
#include "base/text.h"
#include "os/file.h"
#include "os/folders.h"
#include "pack/origin.h"

#define NOT_THERE UINT64_MAX

/* How well a local file matches one that the pack names. */
enum nearness { FAR_OFF, SAME_PACKAGE, SAME_NAME, NEARNESSES };

struct supply {
	const struct jw_import_options *options;
	const struct pack_manifest *manifest;
	const struct jw_pack_file *here;
	size_t here_count;
	size_t *order; /* indices in `here` of the files to read */
	const char **paths;
	size_t path_count;
	char **troubles; /* for each file to read; NULL for most */
	struct origin_module *modules;
	size_t module_count;
	uint64_t *places; /* for each member of the manifest, its place in the spool */
	char *folder;
	struct os_file *spool;
	uint64_t used_bytes;
};

/* ---- which files */

static int fold_path_character(char c)
{
	if (c >= 'A' && c <= 'Z')
		return c + ('a' - 'A');
	return c == '_' || c == '.' ? '-' : c;
}

/* Compares as Python does for packages: case-insensitive; "-", "_" and "." are equal. */
static bool same_package(const char *a, const char *b)
{
	if (!a || !b)
		return false;
	for (; *a && *b; a++, b++)
		if (fold_path_character(*a) != fold_path_character(*b))
			return false;
	return *a == *b;
}

/* The last part of a path in a manifest, or of a name in an archive. */
static const char *last_part(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static enum nearness nearness(const struct pack_file *file, const struct jw_pack_file *here)
{
	const char *name = os_base_name(here->path);

	if (!strcmp(last_part(file->path), name) ||
		(file->member && !strcmp(last_part(file->member), name)))
		return SAME_NAME;
	return same_package(file->package, here->package) ? SAME_PACKAGE : FAR_OFF;
}

static enum nearness nearest(const struct pack_manifest *manifest, const struct jw_pack_file *here)
{
	enum nearness best = FAR_OFF;

	for (size_t i = 0; best != SAME_NAME && i < manifest->file_count; i++) {
		enum nearness one = nearness(&manifest->files[i], here);

		best = one > best ? one : best;
	}
	return best;
}

void supply_search_free(struct supply_search *search)
{
	jw_pack_files_free(search->files);
	jw_found_free(search->found);
}

/* Without files, all PTX counts as missing, and is listed. */
static int find_pack_files(struct jw_error *err, struct supply *supply,
						   struct supply_search *search)
{
	const struct jw_import_options *options = supply->options;
	struct jw_error why = {0};

	if (!options->find)
		return options->find_files
				   ? options->find_files(err, options->context, &supply->here, &supply->here_count)
				   : 0;
	if (!search->done) {
		search->done = true;
		if (jw_find(&why, options->find, &search->found) &&
			(why.code == JW_ERR_MEMORY || why.code == JW_ERR_INTERRUPTED))
			return error_copy(err, &why);
		if (options->found)
			options->found(options->context, search->found, &why);
		if (search->found && jw_pack_files(err, search->found, &search->files))
			return -1;
	}
	supply->here = search->files;
	supply->here_count = search->found ? search->found->file_count : 0;
	return 0;
}

/* The best match first. */
static int choose_pack_files(struct jw_error *err, struct supply *supply,
							 struct supply_search *search)
{
	const struct jw_import_options *options = supply->options;
	const bool any_file = options->any_file || (options->find && options->find->name_count);
	uint8_t *ranks;

	if (find_pack_files(err, supply, search))
		return -1;
	ranks = mem_alloc(err, supply->here_count);
	supply->order = mem_array(err, supply->here_count, sizeof *supply->order);
	supply->paths = mem_array(err, supply->here_count, sizeof *supply->paths);
	supply->troubles = mem_array(err, supply->here_count, sizeof *supply->troubles);
	if (!ranks || !supply->order || !supply->paths || !supply->troubles) {
		mem_free(ranks);
		return -1;
	}
	for (size_t i = 0; i < supply->here_count; i++)
		ranks[i] = (uint8_t)nearest(supply->manifest, &supply->here[i]);
	for (int wanted = NEARNESSES - 1; wanted >= (any_file ? 0 : 1); wanted--) {
		for (size_t i = 0; i < supply->here_count; i++) {
			if (ranks[i] != wanted)
				continue;
			supply->order[supply->path_count] = i;
			supply->paths[supply->path_count++] = supply->here[i].path;
		}
	}
	mem_free(ranks);
	return 0;
}

static int open_supply_spool(struct jw_error *err, struct supply *supply)
{
	char *path = NULL;
	int result = -1;

	if (os_make_temp_dir(err, "jitwarm-import", &supply->folder))
		return -1;
	path = os_join(err, supply->folder, "ptx");
	if (path)
		result = os_file_open(err, path, OS_OPEN_CREATE, &supply->spool);
	mem_free(path);
	return result;
}

static int keep_payload(struct jw_error *err, void *context, const struct origin_module *module,
						const uint8_t *data)
{
	struct supply *supply = context;
	size_t size = (size_t)module->size_bytes;

	if (!supply->spool && open_supply_spool(err, supply))
		return -1;
	if (os_file_write(err, supply->spool, supply->used_bytes, data, size))
		return -1;
	supply->places[module->at] = supply->used_bytes;
	supply->used_bytes += size;
	return 0;
}

static void note_supply_trouble(void *context, size_t file, const struct jw_error *why)
{
	struct supply *supply = context;

	/* Reports the first trouble of each file. */
	if (!supply->troubles[file])
		supply->troubles[file] =
			text_starts(why->message, supply->paths[file])
				? mem_string(NULL, why->message)
				: mem_printf(NULL, "%s: %s", supply->paths[file], why->message);
}

static int look_in_files(struct jw_error *err, struct supply *supply)
{
	const struct origin_search search = {
		.paths = supply->paths,
		.path_count = supply->path_count,
		.modules = supply->modules,
		.module_count = supply->module_count,
		.context = supply,
		.payload = keep_payload,
		.trouble = note_supply_trouble,
		.cancel = supply->options->cancel,
	};

	return origin_find(err, &search);
}

int supply_open(struct jw_error *err, const struct jw_import_options *options,
				struct supply_search *search, const struct pack_manifest *manifest,
				const bool *needed, struct supply **ret_supply)
{
	struct supply *supply = mem_alloc(err, sizeof *supply);

	if (!supply)
		return -1;
	supply->options = options;
	supply->manifest = manifest;
	supply->places = mem_array(err, manifest->member_count, sizeof *supply->places);
	for (size_t i = 0; supply->places && i < manifest->member_count; i++)
		supply->places[i] = NOT_THERE;
	if (!supply->places ||
		origin_modules(err, manifest, needed, &supply->modules, &supply->module_count) ||
		(supply->module_count &&
		 (choose_pack_files(err, supply, search) || look_in_files(err, supply)))) {
		supply_close(supply);
		return -1;
	}
	*ret_supply = supply;
	return 0;
}

void supply_close(struct supply *supply)
{
	if (!supply)
		return;
	os_file_close(supply->spool);
	if (supply->folder)
		(void)os_remove_tree(NULL, supply->folder);
	for (size_t i = 0; i < supply->path_count; i++)
		mem_free(supply->troubles[i]);
	origin_free(supply->modules, supply->module_count);
	mem_free(supply->folder);
	mem_free(supply->order);
	mem_free(supply->paths);
	mem_free(supply->troubles);
	mem_free(supply->places);
	mem_free(supply);
}

bool supply_has(const struct supply *supply, uint32_t member)
{
	return supply->places[member] != NOT_THERE;
}

int supply_read(struct jw_error *err, const struct supply *supply, uint32_t member, uint8_t *bytes)
{
	size_t size = (size_t)supply->manifest->members[member].size_bytes, got;

	if (os_file_read(err, supply->spool, supply->places[member], bytes, size, &got))
		return -1;
	return got == size ? 0
					   : error_set(err, JW_ERR_IO, "%s: was shortened meanwhile", supply->folder);
}

/* The local file that matches a file whose modules were not found. */
static void explain_missing(const struct supply *supply, const struct pack_file *file,
							char why[256])
{
	const struct jw_pack_file *best = NULL;
	const char *trouble = "";
	enum nearness most = FAR_OFF;

	for (size_t i = 0; i < supply->path_count; i++) {
		const struct jw_pack_file *here = &supply->here[supply->order[i]];
		enum nearness one = nearness(file, here);

		if (one <= most)
			continue;
		most = one;
		best = here;
		trouble = supply->troubles[i] ? supply->troubles[i] : "";
	}
	if (*trouble)
		text_copy(why, 256, trouble);
	else if (!supply->here_count)
		text_copy(why, 256, "no file was searched");
	else if (!best)
		(void)snprintf(why, 256, "%s",
					   file->package ? "the package is not installed here"
									 : "no such file here: name it");
	else if (file->version && best->version && strcmp(file->version, best->version) != 0)
		(void)snprintf(why, 256, "version %.100s is installed here", best->version);
	else
		(void)snprintf(why, 256, "%.200s does not hold %s", best->path,
					   most == SAME_NAME ? "them" : "it");
}

static int describe_missing(struct jw_error *err, const struct supply *supply, size_t at,
							struct jw_import_missing *missing)
{
	const struct pack_file *file = &supply->manifest->files[at];
	const struct {
		const char *from;
		char **to;
	} texts[] = {
		{file->path, &missing->path},
		{file->package, &missing->package},
		{file->version, &missing->version},
		{file->member, &missing->member},
	};

	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
		*texts[i].to = texts[i].from ? mem_string(err, texts[i].from) : NULL;
		if (texts[i].from && !*texts[i].to)
			return -1;
	}
	explain_missing(supply, file, missing->why);
	return 0;
}

int supply_report(struct jw_error *err, const struct supply *supply, const bool *lacking,
				  struct jw_import_result *result)
{
	const struct pack_manifest *manifest = supply->manifest;
	struct jw_import_missing *list = mem_array(err, manifest->file_count, sizeof *list);
	bool *counted = mem_array(err, manifest->member_count, sizeof *counted);
	int failed = list && counted ? 0 : -1;
	size_t used = 0;

	for (size_t i = 0; !failed && i < manifest->entry_count; i++) {
		uint32_t ptx = manifest->entries[i].ptx;
		struct jw_import_missing *missing = &list[manifest->members[ptx].file];

		if (!lacking[i])
			continue;
		missing->entries++;
		missing->modules += !counted[ptx];
		counted[ptx] = true;
	}
	result->missing_files = list;
	for (size_t i = 0; !failed && i < manifest->file_count; i++) {
		struct jw_import_missing one = list[i];

		list[i] = (struct jw_import_missing){0};
		if (!one.entries)
			continue;
		list[used] = one;
		failed = describe_missing(err, supply, i, &list[used]);
		result->missing_file_count = ++used;
	}
	mem_free(counted);
	return failed;
}

void supply_free_report(struct jw_import_result *result)
{
	for (size_t i = 0; i < result->missing_file_count; i++) {
		mem_free(result->missing_files[i].path);
		mem_free(result->missing_files[i].package);
		mem_free(result->missing_files[i].version);
		mem_free(result->missing_files[i].member);
	}
	mem_free(result->missing_files);
}
