#include "find/packages.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jitwarm/find.h>
#include <jitwarm/version.h>

#include "base/hash.h"
#include "base/mem.h"
#include "base/text.h"
#include "find/package_files.h"

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

bool packages_is_version(const struct package *package, const char *wanted, char *ret_is)
{
	const bool labelled = strchr(wanted, '+') != NULL;
	size_t length;

	version_on_disk(package, ret_is);
	length = version_length(ret_is, labelled);
	return !*ret_is || !*wanted ||
		   (length == version_length(wanted, labelled) && !strncmp(ret_is, wanted, length));
}

static uint64_t name_key(const char *name)
{
	return fnv_update(FNV_START, name, strlen(name));
}

static int add_package(struct jw_error *err, struct packages *packages, const char *folder,
					   const char *file, const char *name, struct package package)
{
	if (VEC_ROOM(err, packages->items, packages->capacity, packages->count, PACKAGES_MAX))
		return -1;
	package.name = mem_string(name);
	package.path = os_join(folder, file);
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
	struct package_name *names = mem_array(packages->count, sizeof *names);
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
	struct packages packages = {.environment = environment};
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
	for (size_t i = 0; i < packages->count; i++) {
		mem_free(packages->items[i].name);
		mem_free(packages->items[i].path);
	}
	mem_free(packages->items);
	mem_free(packages->names);
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
	packages->modules_read = true;
	*ret_at = set_find(&packages->modules, name_key(module), &cursor);
	return result;
}

/* The packages whose code runs on GPUs, and whether there are wheels of this name with and without
 * such code. */
static const struct {
	const char *name;
	bool both;
} for_gpus[] = {
	{"torch", true},        {"tensorflow", true},      {"jax", false},
	{"vllm", true},         {"xgboost", true},         {"lightgbm", false},
	{"cupy-cuda11x", true}, {"cupy-cuda12x", true},    {"cupy-cuda13x", true},
	{"torchvision", true},  {"catboost", true},        {"onnxruntime-gpu", true},
	{"bitsandbytes", true}, {"flash-attn", true},      {"numba", false},
	{"faiss-gpu", false},   {"faiss-gpu-cu12", false},
};

/* The packages whose wheels have no code for GPUs on some systems, and the package or index that
 * has it. Tried on the public index. With `pure`, the wheel has no build for CPUs either, but only
 * Python code. */
#define TORCH_INDEX "the index that PyTorch's installation page names"
static const struct {
	const char *name, *with;
	bool pure;
} for_cpus[] = {
	{"faiss-cpu", "faiss-gpu", false},
	{"onnxruntime", "onnxruntime-gpu", false},
	{"paddlepaddle", "paddlepaddle-gpu", false},
	{"mxnet", "mxnet-cu112", false},
	{"spconv", "spconv-cu120", false},
	{"xgboost-cpu", "xgboost", false},
	{"tensorflow-cpu", "tensorflow", false},
	{"jaxlib", "jax-cuda12-pjrt", true},
	{"jax", "jax-cuda12-pjrt", true},
	{"cupy", "cupy-cuda12x", true},
	{"faiss", "faiss-gpu", true},
	{"torch", TORCH_INDEX, false},
	{"torchvision", TORCH_INDEX, false},
};

void packages_name_gpu(const struct packages *packages, char *text, size_t size)
{
	*text = '\0';
	for (size_t i = 0; i < sizeof for_gpus / sizeof *for_gpus; i++)
		if (packages_find(packages, for_gpus[i].name, 0) != SET_NONE)
			(void)snprintf(text + strlen(text), size - strlen(text), "%s%s", *text ? ", " : "",
						   for_gpus[i].name);
}

/* Splits “tensorflow” 2.0.0, or tensorflow-2.0.0-cp37-cp37m-win_amd64.whl. */
static void take_apart(const char *name, const char *version, char ret_name[PACKAGE_MAX_NAME],
					   struct version *ret_version, bool *ret_windows)
{
	const size_t length = version ? strlen(name) : strcspn(name, "-");
	const char *rest;

	*ret_version = (struct version){.count = 0};
	*ret_windows = strstr(version ? jw_platform() : name, version ? "-windows" : "-win_") != NULL;
	if (!version && name[length])
		version = name + length + 1;
	if (version)
		(void)version_read(version, ret_version, &rest);
	if (!package_normalise(name, length, ret_name))
		*ret_name = '\0';
}

bool jw_is_cpu_build(const char *name, const char *version)
{
	char plain[PACKAGE_MAX_NAME];
	struct version numbers;
	bool windows;

	take_apart(name, version, plain, &numbers, &windows);
	for (size_t i = 0; i < sizeof for_gpus / sizeof *for_gpus; i++)
		if (for_gpus[i].both && !strcmp(plain, for_gpus[i].name))
			return true;
	for (size_t i = 0; i < sizeof for_cpus / sizeof *for_cpus; i++)
		if (!for_cpus[i].pure && !strcmp(plain, for_cpus[i].name))
			return true;
	return strstr(version ? version : name, "+cpu") != NULL;
}

const char *jw_with_gpu_code(const char *name, const char *version)
{
	const struct version unified = {{2, 1}, 2}, last_on_windows = {{2, 10}, 2};
	char plain[PACKAGE_MAX_NAME];
	struct version numbers;
	bool windows;

	take_apart(name, version, plain, &numbers, &windows);
	if (!strcmp(plain, "tensorflow") && numbers.count)
		return version_order(&numbers, &unified, 2) < 0                      ? "tensorflow-gpu"
			   : windows && version_order(&numbers, &last_on_windows, 2) > 0 ? "tensorflow==2.10.*"
																			 : NULL;
	for (size_t i = 0; i < sizeof for_cpus / sizeof *for_cpus; i++)
		if (!strcmp(plain, for_cpus[i].name))
			return for_cpus[i].with;
	return NULL;
}
