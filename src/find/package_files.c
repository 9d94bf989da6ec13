/* The files and requirements of one package. */
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "devcode/code_file.h"
#include "find/conda.h"
#include "find/directory_walk.h"
#include "find/metadata.h"
#include "find/packages.h"
#include "find/wheel_record.h"

enum { MOST_WANTED = 1 << 16, MOST_TOP_LEVEL = 1 << 20 };

int requirements_add(struct jw_error *err, struct requirements *wanted,
					 const struct requirement *requirement)
{
	if (VEC_ROOM(err, wanted->items, wanted->capacity, wanted->count, MOST_WANTED))
		return -1;
	wanted->items[wanted->count++] = *requirement;
	return 0;
}

/* The folder to which the paths in a package's record are relative, and the one that they must not
 * leave. */
struct record_base {
	const char *base, *root;
	/* A Python package's metadata is read when its first file is found: most packages have none. */
	const struct package *unnamed;
	struct metadata metadata;
	struct find_package package;
	size_t refused; /* paths that leave the root */
	char first_refused[256];
};

/* The path of METADATA or PKG-INFO; an .egg-info may itself be the file. */
static char *metadata_path(struct jw_error *err, const struct package *package)
{
	struct os_stat stat;

	if (package->kind == PACKAGE_EGG_INFO && !os_stat(NULL, package->path, &stat) &&
		stat.kind == OS_REGULAR)
		return mem_string(err, package->path);
	return os_join(err, package->path,
				   package->kind == PACKAGE_DIST_INFO ? "METADATA" : "PKG-INFO");
}

static int name_package(struct jw_error *err, struct found_list *list, struct record_base *place)
{
	const struct package *package = place->unnamed;
	struct metadata *metadata = &place->metadata;
	struct jw_error why;
	char *path;
	int result = 0;

	if (!package)
		return 0;
	path = metadata_path(err, package);
	if (!path)
		return -1;
	/* The folder's name suffices to continue. */
	if (metadata_read(&why, path, metadata))
		result = found_trouble(err, list, &why);
	if (!result)
		result = found_package(err, list, metadata->name ? metadata->name : package->name,
							   metadata->version, &place->package);
	place->unnamed = NULL;
	mem_free(path);
	return result;
}

static int take_package_file(struct jw_error *err, struct found_list *list,
							 struct record_base *place, const char *path, enum code_file kind)
{
	struct os_stat stat;
	bool code;

	if (found_look(err, list, path, kind, &stat, &code))
		return -1;
	if (!code)
		return 0;
	return name_package(err, list, place) || found_file(err, list, path, &stat, &place->package)
			   ? -1
			   : 0;
}

static int take_record_path(struct jw_error *err, struct found_list *list,
							struct record_base *place, const char *relative)
{
	enum code_file kind = code_file_by_name(relative);
	struct jw_error why;
	char *path;
	int result = 0;

	/* Most files of most packages are .py: do not build a path for them. */
	if (kind == CODE_FILE_OTHER)
		return 0;
	path = wheel_record_resolve(&why, place->root, place->base, relative);
	if (!path && why.code != JW_ERR_FORMAT)
		return error_copy(err, &why);
	if (!path && !place->refused++)
		(void)strncat(place->first_refused, relative, sizeof place->first_refused - 1);
	if (path)
		result = take_package_file(err, list, place, path, kind);
	mem_free(path);
	return result;
}

static int note_refused_paths(struct jw_error *err, struct found_list *list,
							  const struct record_base *place)
{
	if (!place->refused)
		return 0;
	return found_note(err, list, "package %s: its record names %s outside of %s (“%s”): left out",
					  place->package.name, TEXT_COUNT(place->refused, "file", "files"), place->root,
					  place->first_refused);
}

static int take_record(struct jw_error *err, struct found_list *list, struct record_base *place,
					   const struct buf *record)
{
	struct cursor cursor = cursor_of(buf_text(record), record->size);
	struct buf path = BUF_MAX(RECORD_MOST_PATH + 1);
	int result = buf_reserve(err, &path, RECORD_MOST_PATH);

	while (!result && wheel_record_next(&cursor, &path))
		result = take_record_path(err, list, place, buf_text(&path));
	buf_free(&path);
	return result;
}

/* For a package without a record: the folders and extension modules of its top-level names. */
static int take_top_level(struct jw_error *err, struct found_list *list, struct record_base *place,
						  const char *name)
{
	char *folder = NULL;
	struct jw_error why = {0};
	struct os_names names;
	size_t length = strlen(name);
	int result = 0;

	if (!length || strpbrk(name, "/\\:") || *name == '.')
		return 0;
	folder = os_join(err, place->base, name);
	if (!folder)
		return -1;
	if (os_exists(folder))
		result = directory_walk(err, list, folder, &place->package);
	mem_free(folder);
	if (result)
		return -1;
	if (os_list(&why, place->base, &names))
		return os_holds_nothing(err, place->base, &why);
	for (size_t i = 0; !result && i < names.count; i++)
		if (!strncmp(names.items[i], name, length) && names.items[i][length] == '.' &&
			names.kinds[i] == OS_REGULAR)
			result = take_record_path(err, list, place, names.items[i]);
	os_names_free(&names);
	return result;
}

static int take_top_levels(struct jw_error *err, struct found_list *list, struct record_base *place,
						   const struct buf *text)
{
	const char *at = buf_text(text), *end = at + text->size, *line;
	size_t length;
	int result = 0;

	while (!result && metadata_line(&at, end, &line, &length)) {
		char *name = mem_string_n(err, line, length);

		result = name ? take_top_level(err, list, place, name) : -1;
		mem_free(name);
	}
	return result;
}

static int take_by_name(struct jw_error *err, struct found_list *list, struct record_base *place,
						const char *package)
{
	char *name = mem_string(err, package);
	int result;

	for (char *c = name; c && *c; c++)
		if (*c == '-')
			*c = '_';
	result = name ? take_top_level(err, list, place, name) : -1;
	mem_free(name);
	return result;
}

static int take_without_record(struct jw_error *err, struct found_list *list,
							   struct record_base *place, const struct package *package)
{
	char *path = os_join(err, package->path, "top_level.txt");
	struct buf text = {0};
	struct jw_error why;
	int result = path ? name_package(err, list, place) : -1;

	if (!result && !os_read_file(&why, path, MOST_TOP_LEVEL, &text))
		result = take_top_levels(err, list, place, &text);
	else if (!result)
		result =
			found_unseen(err, list, path, &why) || take_by_name(err, list, place, package->name)
				? -1
				: 0;
	buf_free(&text);
	mem_free(path);
	return result;
}

/* RECORD lists paths relative to the site's folder, installed-files.txt relative to the .egg-info
 * itself, one per line (valid as CSV with one field). */
static int take_package_files(struct jw_error *err, struct found_list *list,
							  struct record_base *place, const struct package *package)
{
	bool egg = package->kind == PACKAGE_EGG_INFO;
	char *path = os_join(err, package->path, egg ? "installed-files.txt" : "RECORD");
	struct buf record = {0};
	struct jw_error why;
	int result;

	if (!path)
		return -1;
	if (!os_read_file(&why, path, RECORD_MOST_BYTES, &record)) {
		const char *base = place->base;

		if (egg)
			place->base = package->path;
		result = take_record(err, list, place, &record);
		place->base = base;
	} else if (why.code == JW_ERR_LIMIT) {
		result = found_trouble(err, list, &why);
	} else {
		result =
			found_unseen(err, list, path, &why) || take_without_record(err, list, place, package)
				? -1
				: 0;
	}
	buf_free(&record);
	mem_free(path);
	return result ? result : note_refused_paths(err, list, place);
}

static int take_requirements(struct jw_error *err, const struct metadata *metadata,
							 const char *extras, struct requirements *wanted)
{
	for (size_t i = 0; wanted && i < metadata->require_count; i++)
		if (requirement_applies(&metadata->requires[i], extras) &&
			requirements_add(err, wanted, &metadata->requires[i]))
			return -1;
	return 0;
}

static int take_python(struct jw_error *err, const struct packages *packages,
					   const struct package *package, const char *extras, struct found_list *list,
					   struct requirements *wanted)
{
	const struct site *site = &packages->environment->items[package->site];
	struct record_base place = {.base = site->path, .root = site->root, .unnamed = package};
	int result = wanted ? name_package(err, list, &place) : 0;

	if (!result)
		result = take_package_files(err, list, &place, package);
	if (!result)
		result = take_requirements(err, &place.metadata, extras, wanted);
	metadata_free(&place.metadata);
	return result;
}

static int take_conda(struct jw_error *err, const struct packages *packages,
					  const struct package *package, struct found_list *list,
					  struct requirements *wanted)
{
	const char *prefix = packages->environment->prefix;
	struct record_base place = {.base = prefix, .root = prefix};
	struct conda_package conda = {0};
	struct jw_error why;
	int result;

	if (conda_read(&why, package->path, &conda))
		return found_trouble(err, list, &why);
	result = found_package(err, list, conda.name, conda.version, &place.package);
	for (size_t i = 0; !result && i < conda.file_count; i++)
		result = take_record_path(err, list, &place, conda.files[i]);
	for (size_t i = 0; !result && wanted && i < conda.depend_count; i++) {
		struct requirement requirement;

		if (requirement_parse(conda.depends[i], &requirement))
			result = requirements_add(err, wanted, &requirement);
	}
	if (!result)
		result = note_refused_paths(err, list, &place);
	conda_free(&conda);
	return result;
}

int packages_take(struct jw_error *err, const struct packages *packages, size_t at,
				  const char *extras, struct found_list *list, struct requirements *wanted)
{
	const struct package *package = &packages->items[at];

	return package->kind == PACKAGE_CONDA
			   ? take_conda(err, packages, package, list, wanted)
			   : take_python(err, packages, package, extras, list, wanted);
}
