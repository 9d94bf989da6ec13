#include "find/package_files.h"

#include <string.h>

#include "base/arena.h"
#include "base/cancel.h"
#include "base/hash.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/text.h"
#include "code/code_file.h"
#include "find/found.h"
#include "find/requirement.h"
#include "os/file.h"

int described_check(struct jw_error *err, const struct found_list *list, const char *path)
{
	if (cancel_check(err, &list->cancel))
		return -1;
	return list->described_bytes <= DESCRIBED_MAX_BYTES
			   ? 0
			   : error_set(err, JW_ERR_LIMIT,
						   "%s: the records of the packages have more than %d MiB together: name "
						   "fewer packages, or their files",
						   path, DESCRIBED_MAX_BYTES >> 20);
}

int described_read(struct jw_error *err, struct found_list *list, const char *path, size_t most,
				   struct buf *ret_text)
{
	if (os_read_file(err, path, most, ret_text))
		return -1;
	list->described_bytes += ret_text->size;
	return 0;
}

int described_read_once(struct jw_error *err, struct found_list *list, struct found_seen *seen,
						const char *path, size_t most, struct buf *ret_text)
{
	struct os_stat stat;
	bool is_new = true;

	if (os_stat(err, path, &stat) || found_see(err, seen, &stat, &is_new))
		return -1;
	return is_new ? described_read(err, list, path, most, ret_text) : 0;
}

/* Returns the next character of the row's first field; -1 at the field's end. `quoted` is kept
 * between calls. */
static int field_next(struct cursor *cursor, bool *quoted)
{
	while (cursor_left(cursor)) {
		uint8_t c = cursor_u8(cursor);

		if (c != '"') {
			if (!*quoted && (c == ',' || c == '\n')) {
				cursor->at--;
				return -1;
			}
			return c;
		}
		if (*quoted && cursor_left(cursor) && *cursor->at == '"')
			return cursor_u8(cursor);
		*quoted = !*quoted;
	}
	return -1;
}

/* Returns the number of bytes of a field up to the first special one, which is usually the end of
 * the field. */
static size_t plain_length(const struct cursor *cursor)
{
	/* Starts with the line's end, so that the rest of the text is not searched again for each
	 * line. */
	static const char special[] = {'\n', ',', '"', '\r', '\0'};
	const size_t left = cursor_left(cursor);
	size_t length = left < RECORD_MAX_PATH ? left : RECORD_MAX_PATH;

	for (size_t i = 0; i < sizeof special && length; i++) {
		const uint8_t *at = memchr(cursor->at, special[i], length);

		length = at ? (size_t)(at - cursor->at) : length;
	}
	return length;
}

bool wheel_record_next(struct cursor *cursor, struct buf *path)
{
	while (cursor_left(cursor)) {
		size_t plain = plain_length(cursor);
		bool quoted = false, sound;
		const uint8_t *feed;
		int c;

		buf_clear(path);
		sound = !buf_append(NULL, path, cursor_take(cursor, plain), plain);
		while ((c = field_next(cursor, &quoted)) >= 0) {
			uint8_t byte = (uint8_t)c;

			sound = sound && c && path->size < RECORD_MAX_PATH && !buf_append(NULL, path, &byte, 1);
		}
		feed = cursor_left(cursor) ? memchr(cursor->at, '\n', cursor_left(cursor)) : NULL;
		cursor->at = feed ? feed + 1 : cursor->end;
		while (path->size && path->data[path->size - 1] == '\r')
			path->data[--path->size] = 0;
		if (sound && path->size)
			return true;
	}
	return false;
}

/* Removes the last component of a path of `length` bytes without a separator at its end. */
static size_t parent_length(const char *path, size_t length)
{
	while (length && !os_is_separator(path[length - 1]))
		length--;
	return length ? length - 1 : 0;
}

/* Returns whether `path` is `root` or lies below it; neither ends in a separator. */
static bool is_within(const char *path, const char *root, size_t root_length)
{
	for (size_t i = 0; i < root_length; i++)
		if (path[i] != root[i] && !(os_is_separator(path[i]) && os_is_separator(root[i])))
			return false;
	return !path[root_length] || os_is_separator(path[root_length]);
}

static size_t trimmed_length(const char *path)
{
	size_t length = strlen(path);

	while (length && os_is_separator(path[length - 1]))
		length--;
	return length;
}

/* Appends the components of `path` to `to`, which has room for all of them. */
static bool apply_components(char *to, const char *path)
{
	size_t length = strlen(to);

	while (*path) {
		size_t part = 0;

		while (path[part] && !os_is_separator(path[part]))
			part++;
		if (part == 2 && path[0] == '.' && path[1] == '.') {
			if (!length || (length == 2 && to[1] == ':'))
				return false;
			length = parent_length(to, length);
		} else if (part && !(part == 1 && *path == '.')) {
			to[length++] = '/';
			memcpy(to + length, path, part);
			length += part;
		}
		to[length] = 0;
		path += part + (path[part] != 0);
	}
	return true;
}

char *wheel_record_resolve(struct jw_error *err, const char *root, const char *base,
						   const char *path)
{
	bool absolute = os_is_absolute(path);
	/* "C:x" is relative to the drive's own directory on Windows, and refused. */
	bool odd = os_list_separator == ';' && !absolute && strchr(path, ':');
	size_t start = absolute ? 0 : trimmed_length(base);
	char *full = mem_alloc(start + strlen(path) + 2);

	memcpy(full, base, start);
	if (absolute && os_list_separator == ';' && path[1] == ':') {
		memcpy(full, path, 2);
		path += 2;
	}
	if (odd || !apply_components(full, path) || !is_within(full, root, trimmed_length(root))) {
		error_set(err, JW_ERR_FORMAT, "“%.300s” is outside of %s", path, root);
		mem_free(full);
		return NULL;
	}
	return full;
}

static int copy_conda_text(struct jw_error *err, void *owner, const cJSON *object, const char *name,
						   char **ret_text)
{
	const char *text = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(object, name));

	if (!text || !*text)
		return error_set(err, JW_ERR_FORMAT, "the member “%s” is missing", name);
	*ret_text = arena_string(owner, text);
	return 0;
}

/* Copies the strings of a list, each up to the first character of `stop`. Skips other values. */
static void copy_list(void *owner, const cJSON *object, const char *name, const char *stop,
					  char ***ret_items, size_t *ret_count)
{
	const cJSON *list = cJSON_GetObjectItemCaseSensitive(object, name), *item;
	size_t most = (size_t)cJSON_GetArraySize(list);

	if (!cJSON_IsArray(list) || !most)
		return;
	*ret_items = arena_keep(owner, mem_array(most, sizeof **ret_items));
	cJSON_ArrayForEach(item, list)
	{
		const char *text = cJSON_GetStringValue(item);
		size_t length = text ? strcspn(text, stop) : 0;

		if (!length)
			continue;
		(*ret_items)[*ret_count] = arena_keep(owner, mem_string_n(text, length));
		++*ret_count;
	}
}

int conda_parse(struct jw_error *err, const void *data, size_t size,
				struct conda_package **ret_package)
{
	struct conda_package *package = arena_open(sizeof *package);
	cJSON *root = json_parse(err, data, size);
	int result = -1;

	if (root && !cJSON_IsObject(root)) {
		error_set(err, JW_ERR_FORMAT, "not a JSON object");
	} else if (root && !copy_conda_text(err, package, root, "name", &package->name) &&
			   !copy_conda_text(err, package, root, "version", &package->version)) {
		copy_list(package, root, "files", "", &package->files, &package->file_count);
		copy_list(package, root, "depends", " <>=!~[:", &package->depends, &package->depend_count);
		*ret_package = package;
		result = 0;
	}
	if (result)
		jw_result_free(package);
	cJSON_Delete(root);
	return result;
}

static int conda_read(struct jw_error *err, struct found_list *list, const char *path,
					  struct conda_package **ret_package)
{
	struct buf text = {0};
	int result;

	if (described_read(err, list, path, CONDA_MAX_BYTES, &text))
		return -1;
	result = conda_parse(err, buf_text(&text), text.size, ret_package);
	buf_free(&text);
	return result ? error_prefix(err, "%s", path) : 0;
}

/* ---- the files and requirements of one package */

enum { MAX_WANTED = 1 << 16, MAX_TOP_LEVEL = 1 << 20 };

int requirements_add(struct jw_error *err, struct requirements *wanted,
					 const struct requirement *requirement)
{
	uint64_t key = fnv_update(FNV_START, requirement->name, strlen(requirement->name) + 1);

	key = fnv_update(key, requirement->extras, strlen(requirement->extras));
	if (set_has(&wanted->added, key))
		return 0;
	if (VEC_ROOM(NULL, wanted->items, wanted->capacity, wanted->count, MAX_WANTED))
		return error_set(err, JW_ERR_LIMIT, "%s: more than %d packages are required",
						 requirement->name, MAX_WANTED);
	set_add(&wanted->added, key, 0);
	wanted->items[wanted->count++] = *requirement;
	return 0;
}

/* The folder to which the paths in a package's record are relative, and the folder that they must
 * not leave. */
struct record_base {
	const char *base, *root;
	/* A Python package's metadata is read when its first file is found, because most packages have
	 * none. */
	const struct package *unnamed;
	struct metadata metadata;
	struct find_package package;
	size_t refused; /* the number of paths that leave the root */
	size_t shut;    /* the number of files that could not be examined */
	char first_refused[256];
};

/* Reads the name and version of the package whose files are about to be added, if that has not been
 * done. */
static int name_package(struct jw_error *err, struct found_list *list, struct record_base *place)
{
	const struct package *package = place->unnamed;
	struct metadata *metadata = &place->metadata;
	struct buf text = {0};
	struct jw_error why;
	struct os_stat stat;
	char *path;

	if (!package)
		return 0;
	/* An .egg-info may itself be the file. */
	if (package->kind == PACKAGE_EGG_INFO && !os_stat(NULL, package->path, &stat) &&
		stat.kind == OS_REGULAR)
		path = mem_string(package->path);
	else
		path = os_join(package->path, package->kind == PACKAGE_DIST_INFO ? "METADATA" : "PKG-INFO");
	/* The folder's name suffices to continue. */
	if (described_read(&why, list, path, METADATA_MAX_BYTES, &text))
		found_trouble(list, &why);
	else if (metadata_parse(&why, buf_text(&text), text.size, metadata)) {
		error_prefix(&why, "%s", path);
		found_trouble(list, &why);
	}
	buf_free(&text);
	mem_free(path);
	place->unnamed = NULL;
	return found_package(err, list, metadata->name ? metadata->name : package->name,
						 metadata->version, true, &place->package);
}

static int take_package_file(struct jw_error *err, struct found_list *list,
							 struct record_base *place, const char *path, enum code_file kind)
{
	struct jw_error why = {0};
	struct os_stat stat;

	if (os_stat(&why, path, &stat)) {
		/* One message is enough for a folder that this account may not enter. */
		if (why.code != JW_ERR_IO)
			found_unseen(list, path, &why);
		else if (!place->shut++)
			found_trouble(list, &why);
		return 0;
	}
	if (!found_may_hold_code(path, kind, &stat))
		return 0;
	if (name_package(err, list, place))
		return -1;
	return found_file(err, list, path, &stat, &place->package);
}

static int take_record_path(struct jw_error *err, struct found_list *list,
							struct record_base *place, const char *relative)
{
	enum code_file kind = code_file_by_name(relative);
	struct jw_error why;
	char *path;
	int result = 0;

	/* Most files of most packages are .py, so no path is built for them. Object files that only a
	 * linker reads are not compiled at any start. */
	if (kind == CODE_FILE_OTHER || kind == CODE_FILE_LINKED)
		return 0;
	if (cancel_check(err, &list->cancel))
		return -1;
	path = wheel_record_resolve(&why, place->root, place->base, relative);
	if (!path && !place->refused++)
		(void)strncat(place->first_refused, relative, sizeof place->first_refused - 1);
	if (path)
		result = take_package_file(err, list, place, path, kind);
	mem_free(path);
	return result;
}

static void note_refused_paths(struct found_list *list, const struct record_base *place)
{
	if (place->refused)
		found_note(list, "package %s: its record names %s outside of %s (“%s”): left out",
				   place->package.name, TEXT_COUNT(place->refused, "file", "files"), place->root,
				   place->first_refused);
}

/* Takes the folders and extension modules of the top-level names of a package without a record. */
static int take_top_level(struct jw_error *err, struct found_list *list, struct record_base *place,
						  const char *name)
{
	char *folder = NULL;
	struct jw_error why = {0};
	struct os_names names;
	size_t length = strlen(name);
	bool there;
	int result = 0;

	if (!length || strpbrk(name, "/\\:") || *name == '.')
		return 0;
	folder = os_join(place->base, name);
	if (os_check_exists(&why, folder, &there))
		found_unseen(list, folder, &why);
	else if (there)
		result = directory_walk(err, list, folder, &place->package, false);
	mem_free(folder);
	if (result)
		return -1;
	if (os_list(&why, place->base, &names))
		return os_ignore_unreadable(err, place->base, &why);
	list->described_bytes += names.count * sizeof *names.items;
	for (size_t i = 0; !result && i < names.count; i++)
		if (!strncmp(names.items[i], name, length) && names.items[i][length] == '.' &&
			names.kinds[i] == OS_REGULAR)
			result = take_record_path(err, list, place, names.items[i]);
	os_names_free(&names);
	return result;
}

/* Takes the files of a package without a record: those below the names in top_level.txt, or below
 * its own name. */
static int take_without_record(struct jw_error *err, struct found_list *list,
							   struct record_base *place, const struct package *package)
{
	char *path = os_join(package->path, "top_level.txt");
	struct buf text = BUF_MAX(MAX_TOP_LEVEL);
	const char *at, *line;
	struct jw_error why;
	size_t length;
	int result = name_package(err, list, place);

	if (!result && described_read(&why, list, path, MAX_TOP_LEVEL, &text)) {
		found_unseen(list, path, &why);
		/* Continues as if the package listed its own name. */
		(void)buf_printf(NULL, &text, "%s", package->name);
		for (size_t i = 0; i < text.size; i++)
			text.data[i] = text.data[i] == '-' ? '_' : text.data[i];
	}
	at = buf_text(&text);
	while (!result && metadata_line(&at, buf_text(&text) + text.size, &line, &length)) {
		char *name = mem_string_n(line, length);

		result = described_check(err, list, package->path) || take_top_level(err, list, place, name)
					 ? -1
					 : 0;
		mem_free(name);
	}
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
	char *path = os_join(package->path, egg ? "installed-files.txt" : "RECORD");
	struct buf record = {0}, listed = BUF_MAX(RECORD_MAX_PATH + 1);
	struct jw_error why;
	int result = 0;

	if (!described_read_once(&why, list, &list->seen, path, RECORD_MAX_BYTES, &record)) {
		struct cursor cursor = cursor_of(buf_text(&record), record.size);
		const char *base = place->base;

		if (egg)
			place->base = package->path;
		result = buf_reserve(err, &listed, RECORD_MAX_PATH);
		while (!result && wheel_record_next(&cursor, &listed))
			result = take_record_path(err, list, place, buf_text(&listed));
		place->base = base;
	} else if (why.code == JW_ERR_LIMIT) {
		found_trouble(list, &why);
	} else {
		found_unseen(list, path, &why);
		result = take_without_record(err, list, place, package);
	}
	buf_free(&listed);
	buf_free(&record);
	mem_free(path);
	if (!result)
		note_refused_paths(list, place);
	return result;
}

static int take_python(struct jw_error *err, const struct sites *environment,
					   const struct package *package, const char *extras, struct found_list *list,
					   struct requirements *wanted)
{
	const struct site *site = &environment->items[package->site];
	struct record_base place = {.base = site->path,
								.root = site->root,
								.unnamed = package,
								.package = {.name = package->name}};
	int result = wanted ? name_package(err, list, &place) : 0;

	if (!result)
		result = take_package_files(err, list, &place, package);
	for (size_t i = 0; !result && wanted && i < place.metadata.require_count; i++)
		if (requirement_applies(&place.metadata.requires[i], extras))
			result = requirements_add(err, wanted, &place.metadata.requires[i]);
	metadata_free(&place.metadata);
	return result;
}

static int take_conda(struct jw_error *err, const struct sites *environment,
					  const struct package *package, struct found_list *list,
					  struct requirements *wanted)
{
	const char *prefix = environment->prefix;
	struct record_base place = {.base = prefix, .root = prefix};
	struct conda_package *conda;
	struct jw_error why;
	int result;

	if (conda_read(&why, list, package->path, &conda)) {
		found_trouble(list, &why);
		return 0;
	}
	result = found_package(err, list, conda->name, conda->version, false, &place.package);
	for (size_t i = 0; !result && i < conda->file_count; i++)
		result = take_record_path(err, list, &place, conda->files[i]);
	for (size_t i = 0; !result && wanted && i < conda->depend_count; i++) {
		struct requirement requirement;

		if (requirement_parse(conda->depends[i], &requirement))
			result = requirements_add(err, wanted, &requirement);
	}
	if (!result)
		note_refused_paths(list, &place);
	jw_result_free(conda);
	return result;
}

int package_take(struct jw_error *err, const struct sites *environment,
				 const struct package *package, const char *extras, struct found_list *list,
				 struct requirements *wanted)
{
	if (described_check(err, list, package->path))
		return -1;
	return package->kind == PACKAGE_CONDA
			   ? take_conda(err, environment, package, list, wanted)
			   : take_python(err, environment, package, extras, list, wanted);
}
