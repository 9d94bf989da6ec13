#include "find/packages.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jitwarm/find.h>
#include <jitwarm/version.h>

#include "base/arena.h"
#include "base/hash.h"
#include "base/mem.h"
#include "base/packages.h"
#include "base/pep440.h"
#include "base/text.h"
#include "os/file.h"

/* Splits the name of an installed package on disk: NAME-VERSION.dist-info,
 * NAME[-VERSION[-pyX]].egg-info. False for any other name. */
static bool name_on_disk(const char *file, enum package_kind *ret_kind, char name[PACKAGE_MAX_NAME])
{
	size_t length = strlen(file), stem;
	const char *dash;

	if (text_ends(file, ".dist-info")) {
		*ret_kind = PACKAGE_DIST_INFO;
		stem = length - strlen(".dist-info");
		/* In older names the package may also contain dashes; the version never does. */
		while (stem && file[stem - 1] != '-')
			stem--;
		return stem > 1 && package_normalise(file, stem - 1, name);
	}
	if (!text_ends(file, ".egg-info"))
		return false;
	*ret_kind = PACKAGE_EGG_INFO;
	dash = strchr(file, '-');
	stem = dash ? (size_t)(dash - file) : length - strlen(".egg-info");
	return package_normalise(file, stem, name);
}

/* Reads NAME-VERSION-BUILD.json, where the last two dashes end the name. */
static bool name_in_conda(const char *file, char name[PACKAGE_MAX_NAME])
{
	size_t stem = strlen(file);

	if (!text_ends(file, ".json"))
		return false;
	for (int dashes = 0; stem && dashes < 2; stem--)
		dashes += file[stem - 1] == '-';
	/* conda's names may begin with an underscore ("_libgcc_mutex"); users do not type such
	 * names. */
	return stem && package_normalise(file, stem, name);
}

/* Finds the version in a record's name: after the last dash; for conda, after the last but one; for
 * an egg, after the first. Empty if there is none. */
static void version_on_disk(const struct package *package, char version[PACKAGE_MAX_NAME])
{
	const char *file = package->path, *at;
	size_t length;

	for (const char *slash = file; *slash; slash++)
		if (*slash == '/' || *slash == '\\')
			file = slash + 1;
	length = (size_t)(strrchr(file, '.') - file);
	at = strchr(file, '-');
	if (package->kind == PACKAGE_CONDA)
		while (length && file[--length] != '-')
			continue;
	if (package->kind != PACKAGE_EGG_INFO)
		for (const char *next = at; next && next < file + length; next = strchr(next + 1, '-'))
			at = next;
	length = at && at < file + length ? (size_t)(file + length - at - 1) : 0;
	if (package->kind == PACKAGE_EGG_INFO && length)
		length = strcspn(at + 1, "-") < length ? strcspn(at + 1, "-") : length;
	(void)snprintf(version, PACKAGE_MAX_NAME, "%.*s", (int)length, length ? at + 1 : "");
}

/* Returns the length of a version without parts that do not distinguish it: ".0" at its end, and
 * "+cu118" if no such label was requested. */
static size_t version_length(const char *version, bool labelled)
{
	size_t length = labelled ? strlen(version) : strcspn(version, "+");

	while (length > 2 && version[length - 1] == '0' && version[length - 2] == '.')
		length -= 2;
	return length;
}

bool packages_is_version(const struct package *package, const char *wanted,
						 char ret_version[PACKAGE_MAX_NAME])
{
	const bool labelled = strchr(wanted, '+') != NULL;
	size_t length;

	version_on_disk(package, ret_version);
	length = version_length(ret_version, labelled);
	return !*ret_version || !*wanted ||
		   (length == version_length(wanted, labelled) && !strncmp(ret_version, wanted, length));
}

static uint64_t name_key(const char *name)
{
	return fnv_update(FNV_START, name, strlen(name));
}

static int add_package(struct jw_error *err, struct packages *packages, const char *folder,
					   const char *file, const char *name, struct package package)
{
	if (ARENA_ROOM(err, packages->owner, packages->items, packages->capacity, packages->count,
				   PACKAGES_MAX))
		return -1;
	package.name = arena_string(packages->owner, name);
	package.path = arena_keep(packages->owner, os_join(folder, file));
	packages->items[packages->count++] = package;
	return 0;
}

static int read_installed(struct jw_error *err, struct packages *packages, const char *folder,
						  struct package package)
{
	char name[PACKAGE_MAX_NAME];
	struct jw_error why = {0};
	struct os_names names;
	int result = 0;

	if (os_list(&why, folder, &names))
		return os_ignore_unreadable(err, folder, &why);
	for (size_t i = 0; !result && i < names.count; i++)
		if (package.kind == PACKAGE_CONDA ? name_in_conda(names.items[i], name)
										  : name_on_disk(names.items[i], &package.kind, name))
			result = add_package(err, packages, folder, names.items[i], name, package);
	os_names_free(&names);
	return result;
}

static int compare_names(const void *a, const void *b)
{
	const struct package_name *one = a, *other = b;
	const int order = strcmp(one->name, other->name);

	return order ? order : (one->at > other->at) - (one->at < other->at);
}

/* Lists the packages by name, except those that an earlier folder's hide. */
static void list_names(struct packages *packages)
{
	struct package_name *names = arena_array(packages->owner, packages->count, sizeof *names);
	const struct package *first = NULL;

	for (size_t i = 0; i < packages->count; i++)
		names[i] = (struct package_name){packages->items[i].name, i};
	qsort(names, packages->count, sizeof *names, compare_names);
	for (size_t i = 0; i < packages->count; i++) {
		const struct package *package = &packages->items[names[i].at];

		if (!first || strcmp(first->name, package->name) != 0)
			first = package;
		if (package->kind == PACKAGE_CONDA || package->site == first->site)
			names[packages->name_count++] = names[i];
	}
	packages->names = names;
}

int packages_open(struct jw_error *err, const struct sites *environment,
				  struct packages *ret_packages)
{
	struct packages packages = {.environment = environment, .owner = arena_open(1)};
	char *conda = environment->conda ? os_join(environment->prefix, "conda-meta") : NULL;
	int result = 0;

	for (size_t i = 0; !result && i < environment->count; i++)
		result =
			read_installed(err, &packages, environment->items[i].path, (struct package){.site = i});
	if (!result && conda)
		result = read_installed(err, &packages, conda,
								(struct package){.kind = PACKAGE_CONDA, .site = SIZE_MAX});
	mem_free(conda);
	if (result) {
		packages_close(&packages);
	} else {
		list_names(&packages);
		*ret_packages = packages;
	}
	return result;
}

void packages_close(struct packages *packages)
{
	jw_result_free(packages->owner);
	set_free(&packages->modules);
	*packages = (struct packages){0};
}

size_t packages_find(const struct packages *packages, const char *name, size_t start)
{
	const struct package_name wanted = {name, start};
	size_t low = 0, high = packages->name_count;

	while (low < high) {
		const size_t middle = low + (high - low) / 2;

		if (compare_names(&packages->names[middle], &wanted) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low < packages->name_count && !strcmp(packages->names[low].name, name)
			   ? packages->names[low].at
			   : SET_NONE;
}

/* Records the first package that has a module. */
static void add_module(struct packages *packages, const char *name, size_t length, size_t at)
{
	const uint64_t key = fnv_update(FNV_START, name, length);

	if (!set_has(&packages->modules, key))
		set_add(&packages->modules, key, at);
}

/* Adds the lines of top_level.txt, or the modules whose RECORD has a line MODULE/__init__.py or
 * MODULE.*.so. */
static void add_modules_of(struct packages *packages, size_t at, const char *name,
						   struct found_list *list, struct found_seen *seen)
{
	char *file = os_join(packages->items[at].path, name);
	struct buf text = {0}, path = BUF_MAX(RECORD_MAX_PATH + 1);
	const bool is_record = !strcmp(name, "RECORD");
	struct cursor cursor;

	if (described_read_once(NULL, list, seen, file, RECORD_MAX_BYTES, &text))
		goto done;
	for (const char *line = buf_text(&text); !is_record && *line; line += strspn(line, "\r\n")) {
		const size_t length = strcspn(line, "\r\n");

		add_module(packages, line, length, at);
		line += length;
	}
	cursor = cursor_of(buf_text(&text), text.size);
	while (is_record && wheel_record_next(&cursor, &path)) {
		const char *listed = buf_text(&path), *slash = strchr(listed, '/');

		if (slash ? !strcmp(slash, "/__init__.py")
				  : text_ends(listed, ".so") || text_ends(listed, ".pyd"))
			add_module(packages, listed, strcspn(listed, slash ? "/" : "."), at);
	}
done:
	buf_free(&path);
	buf_free(&text);
	mem_free(file);
}

int packages_find_module(struct jw_error *err, struct packages *packages, struct found_list *list,
						 const char *module, size_t *ret_at)
{
	struct found_seen seen = {0};
	size_t cursor = 0;
	int result = 0;

	for (size_t i = 0; !result && i < packages->count && !packages->modules_read; i++) {
		if (packages->items[i].kind == PACKAGE_CONDA)
			continue;
		add_modules_of(packages, i, "top_level.txt", list, &seen);
		add_modules_of(packages, i, "RECORD", list, &seen);
		result = described_check(err, list, packages->items[i].path);
	}
	found_seen_free(&seen);
	if (result)
		return -1;
	packages->modules_read = true;
	*ret_at = set_find(&packages->modules, name_key(module), &cursor);
	return 0;
}

/* Returns the folder of packages in which a file lies, by its real path; NULL if it lies in none.
 * The caller frees it. */
static char *folder_of_packages(const char *path)
{
	static const char end[] = "-packages";
	char *real, *at = NULL, *folder = NULL;

	if (os_real_path(NULL, path, &real))
		return NULL;
	for (char *next = real; (next = strstr(next, end));) {
		next += sizeof end - 1;
		at = os_is_separator(*next) ? next : at;
	}
	if (at)
		folder = mem_string_n(real, (size_t)(at - real));
	mem_free(real);
	return folder;
}

/* Adds the package of a file to a list, once. */
static int take_package(struct jw_error *err, struct found_list *list,
						const struct jw_found_file *file, struct find_package *ret_package)
{
	const struct jw_found *found = list->found;

	for (size_t i = 0; i < found->package_count; i++)
		if (!strcmp(found->packages[i].name, file->package)) {
			*ret_package = found->packages[i];
			return 0;
		}
	return found_package(err, list, file->package, file->version, true, ret_package);
}

/* Names the packages of the files that the packages in `folder` list. */
static int name_owners_in(struct jw_error *err, struct found_list *list, size_t first,
						  const char *folder)
{
	/* lib/python3.12/site-packages: records may name files in bin. */
	char *lib = os_dir_name(folder), *above = os_dir_name(lib), *prefix = os_dir_name(above);
	struct sites environment = {
		.prefix = prefix, .items = {{.path = mem_string(folder), .root = prefix}}, .count = 1};
	struct find_package named = {.name = NULL};
	const char *last = NULL;
	struct packages packages = {0};
	struct found_list owned;
	struct set places = {0}; /* the files of `owned`, by their identities */
	int result = packages_open(err, &environment, &packages);

	found_open(&owned);
	owned.cancel = list->cancel;
	for (size_t i = 0; !result && i < packages.count; i++)
		result = package_take(err, &environment, &packages.items[i], "", &owned, NULL);
	for (size_t i = 0; i < owned.found->file_count; i++)
		set_add(&places, owned.found->files[i].inode, i);
	for (size_t i = first; !result && i < list->found->file_count; i++) {
		struct jw_found_file *file = &list->found->files[i];
		size_t cursor = 0, at;

		while ((at = set_find(&places, file->inode, &cursor)) != SET_NONE &&
			   owned.found->files[at].device != file->device)
			;
		if (at == SET_NONE || file->package || !owned.found->files[at].package)
			continue;
		if (owned.found->files[at].package != last)
			result = take_package(err, list, &owned.found->files[at], &named);
		last = owned.found->files[at].package;
		file->package = named.name;
		file->version = named.version;
	}
	set_free(&places);
	found_close(&owned);
	jw_result_free(owned.found);
	packages_close(&packages);
	mem_free(environment.items[0].path);
	mem_free(prefix);
	mem_free(above);
	mem_free(lib);
	return result;
}

int packages_name_owners(struct jw_error *err, struct found_list *list, size_t first)
{
	struct set done = {0}; /* folders, by their names' hashes */
	int result = 0;

	for (size_t i = first; !result && i < list->found->file_count; i++) {
		const struct jw_found_file *file = &list->found->files[i];
		char *folder =
			file->package || text_ends(file->path, ".whl") ? NULL : folder_of_packages(file->path);

		if (folder && !set_has(&done, name_key(folder))) {
			set_put(&done, name_key(folder), i);
			result = name_owners_in(err, list, first, folder);
		}
		mem_free(folder);
	}
	set_free(&done);
	return result;
}

void packages_name_gpu(const struct packages *packages, char *text, size_t size)
{
	const struct package_fact *fact;

	*text = '\0';
	for (size_t at = 0; (fact = package_fact_next("gpu", &at));)
		if (packages_find(packages, fact->name, 0) != SET_NONE)
			(void)snprintf(text + strlen(text), size - strlen(text), "%s%s", *text ? ", " : "",
						   fact->name);
}

/* Splits “tensorflow” 2.0.0, or tensorflow-2.0.0-cp37-cp37m-win_amd64.whl, and finds out how the
 * package comes without code for GPUs: the next row “cpu” of packages.tsv for this release and
 * platform from `at` on; NULL if there is none. Without a version only rows for all releases
 * count. */
static const struct package_fact *cpu_build(const char *name, const char *version,
											char ret_name[PACKAGE_MAX_NAME], size_t *at)
{
	enum { WITH, FIRST, AFTER, PLATFORM };
	const size_t length = version ? strlen(name) : strcspn(name, "-");
	const bool windows =
		strstr(version ? jw_platform() : name, version ? "-windows" : "-win_") != NULL;
	const struct package_fact *fact = NULL;
	char *own;

	if (!version && name[length])
		version = name + length + 1;
	if (!package_normalise(name, length, ret_name))
		*ret_name = '\0';
	own = mem_string_n(version ? version : "", strcspn(version ? version : "", "-"));
	while ((fact = package_fact_next("cpu", at))) {
		const char *const *values = fact->values;
		const bool ranged = package_fact_value(fact, FIRST) || package_fact_value(fact, AFTER);

		if (!strcmp(fact->name, ret_name) && (!ranged || *own) &&
			!(package_fact_value(fact, FIRST) && version_is_newer(values[FIRST], own)) &&
			!(package_fact_value(fact, AFTER) && !version_is_newer(values[AFTER], own)) &&
			(windows || !package_fact_value(fact, PLATFORM)))
			break;
	}
	mem_free(own);
	return fact;
}

bool jw_is_cpu_build(const char *name, const char *version)
{
	enum { PURE = 4 };
	char plain[PACKAGE_MAX_NAME];
	const struct package_fact *fact;

	for (size_t at = 0; (fact = cpu_build(name, version, plain, &at));)
		if (!package_fact_value(fact, PURE))
			return true;
	fact = package_fact_of("gpu", plain);
	return (fact && fact->values[0]) || strstr(version ? version : name, "+cpu") != NULL;
}

const char *jw_with_gpu_code(const char *name, const char *version)
{
	char plain[PACKAGE_MAX_NAME];
	size_t at = 0;
	const struct package_fact *fact = cpu_build(name, version, plain, &at);

	return fact ? fact->values[0] : NULL;
}
