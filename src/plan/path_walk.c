#include "plan/path_walk.h"

#include <string.h>

#include "base/mem.h"
#include "base/set.h"
#include "base/text.h"

enum { MOST_DEPTH = 100, MOST_FILES = 1 << 26 };

struct identity {
	uint64_t device, inode;
};

struct member_walk {
	const struct path_walk_sink *sink;
	struct set known;
	struct identity *identities;
	size_t count, capacity;
};

/* Endings of files that fill the environments of frameworks by the ten thousand. What they are is
 * not in doubt; anything else is recognised by its content. */
static const char *const passed_over[] = {
	".py",   ".pyc",  ".pyi", ".pyx",         ".pxd",   ".h",    ".hpp",   ".hh",  ".cuh",
	".inl",  ".inc",  ".c",   ".cc",          ".cpp",   ".cu",   ".txt",   ".md",  ".rst",
	".json", ".html", ".htm", ".js",          ".ts",    ".css",  ".map",   ".png", ".jpg",
	".gif",  ".svg",  ".xml", ".yaml",        ".yml",   ".toml", ".cfg",   ".ini", ".csv",
	".rb",   ".sh",   ".bat", ".cmake",       ".npy",   ".npz",  ".pt",    ".pth", ".onnx",
	".pb",   ".pdf",  ".log", ".pc",          ".ipynb", ".f90",  ".proto", ".ttf", ".woff2",
	".po",   ".mo",   ".pem", ".safetensors",
};

static bool is_passed_over(const char *name)
{
	for (size_t i = 0; i < sizeof passed_over / sizeof *passed_over; i++) {
		size_t length = strlen(name), ending = strlen(passed_over[i]);

		if (length > ending && text_equal_fold(name + length - ending, passed_over[i]))
			return true;
	}
	return false;
}

/* Whether this file or directory was there before; if not, it is from now on. */
static int meet(struct jw_error *err, struct member_walk *walk, const struct os_stat *stat,
				bool *ret_new)
{
	const struct identity identity = {stat->device, stat->inode};
	const uint64_t key = stat->inode * UINT64_C(0x9e3779b97f4a7c15) + stat->device;
	size_t cursor = 0, index;

	*ret_new = false;
	while ((index = set_find(&walk->known, key, &cursor)) < walk->count)
		if (walk->identities && walk->identities[index].device == identity.device &&
			walk->identities[index].inode == identity.inode)
			return 0;
	if (VEC_ROOM(err, walk->identities, walk->capacity, walk->count, MOST_FILES) ||
		set_add(err, &walk->known, key, walk->count))
		return -1;
	walk->identities[walk->count++] = identity;
	*ret_new = true;
	return 0;
}

static void tell(struct member_walk *walk, const char *path, const struct jw_error *why)
{
	if (walk->sink->trouble)
		walk->sink->trouble(walk->sink->context, path, why);
}

static int visit_directory(struct jw_error *err, struct member_walk *walk, const char *path,
						   unsigned depth);

/* A directory that is reached by a link lies elsewhere by its real name. */
static bool is_link(const char *parent, const char *name, const char *path)
{
	char *real_parent = NULL, *real = NULL, *expected = NULL;
	bool linked = true;

	if (!os_real_path(NULL, parent, &real_parent) && !os_real_path(NULL, path, &real)) {
		expected = os_join(NULL, real_parent, name);
		linked = !expected || strcmp(expected, real) != 0;
	}
	mem_free(expected);
	mem_free(real);
	mem_free(real_parent);
	return linked;
}

static int visit(struct jw_error *err, struct member_walk *walk, const char *path, bool named,
				 unsigned depth)
{
	struct jw_error why;
	struct os_stat stat;
	bool is_new;

	if (os_stat(&why, path, &stat)) {
		tell(walk, path, &why);
		return 0;
	}
	if (stat.kind == OS_OTHER && named) {
		error_set(&why, JW_ERR_UNSUPPORTED, "%s: neither a file nor a directory", path);
		tell(walk, path, &why);
	}
	if (stat.kind == OS_OTHER)
		return 0;
	if (meet(err, walk, &stat, &is_new))
		return -1;
	if (!is_new)
		return 0;
	if (stat.kind == OS_DIRECTORY)
		return visit_directory(err, walk, path, depth);
	return walk->sink->file(err, walk->sink->context, path, &stat, named);
}

static int visit_directory(struct jw_error *err, struct member_walk *walk, const char *path,
						   unsigned depth)
{
	struct os_names names;
	struct jw_error why;
	int result = 0;

	if (depth > MOST_DEPTH)
		return 0;
	if (os_list(&why, path, &names)) {
		tell(walk, path, &why);
		return 0;
	}
	for (size_t i = 0; !result && i < names.count; i++) {
		char *inner;

		if (names.kinds[i] == OS_OTHER ||
			(names.kinds[i] == OS_REGULAR && is_passed_over(names.items[i])))
			continue;
		inner = os_join(err, path, names.items[i]);
		if (!inner)
			result = -1;
		else if (names.kinds[i] == OS_REGULAR || !is_link(path, names.items[i], inner))
			result = visit(err, walk, inner, false, depth + 1);
		mem_free(inner);
	}
	os_names_free(&names);
	return result;
}

int path_walk(struct jw_error *err, const char *const *paths, size_t count,
			  const struct path_walk_sink *sink)
{
	struct member_walk walk = {.sink = sink};
	int result = 0;

	for (size_t i = 0; !result && i < count; i++)
		result = visit(err, &walk, paths[i], true, 0);
	set_free(&walk.known);
	mem_free(walk.identities);
	return result;
}
