#include "find/python.h"

#include <string.h>

#include <jitwarm/find.h>

#include "base/arena.h"
#include "base/mem.h"
#include "base/packages.h"
#include "base/text.h"
#include "find/named_paths.h"
#include "find/requirement.h"
#include "find/sites.h"
#include "os/env.h"
#include "os/file.h"
#include "os/library.h"
#include "os/platform.h"
#include "os/process.h"
#include "os/uv.h"

enum { MAX_CONFIG = 65536, MAX_ANSWER = 4096, ANSWER_MS = 10000 };

/* Returns whether the path is that of a regular file, but not the Store's stub (size 0). */
static bool is_executable(const char *path)
{
	struct os_stat stat;

	return !os_stat(NULL, path, &stat) && stat.kind == OS_REGULAR && stat.size_bytes &&
		   (os_is_windows || (stat.mode & 0111));
}

static bool is_script(const char *path)
{
	char head[2];

	return os_read_head(path, head, sizeof head) == sizeof head && head[0] == '#' && head[1] == '!';
}

char *path_list_next(void *owner, const char **list)
{
	const char *start = *list + strspn(*list, (const char[]){os_list_separator, 0}), *end = start;

	while (*end && *end != os_list_separator)
		end++;
	*list = end;
	return end > start ? arena_keep(owner, mem_string_n(start, (size_t)(end - start))) : NULL;
}

/* Finds the executable that a script starts: those of pyenv select a version at each start. NULL if
 * it does not tell. */
static int ask_script(struct jw_error *err, const char *script, const struct jw_cancel *cancel,
					  char **ret_executable)
{
	const char *const arguments[] = {script, "-I", "-c", "print(__import__('sys').executable)",
									 NULL};
	struct buf answer = BUF_MAX(MAX_ANSWER);
	const struct os_question question = {
		.arguments = arguments, .timeout_ms = ANSWER_MS, .cancel = cancel, .answer = &answer};
	struct jw_error why = {0};
	char *executable = NULL;
	int status = 0, result = 0;

	if (os_ask_found_program(&why, &question, &status))
		result = why.code == JW_ERR_IO ? 0
				 : why.code == JW_ERR_UNSUPPORTED
					 ? error_set(err, JW_ERR_NOT_FOUND,
								 "%s; name its environment: --environment DIR", why.message)
					 : error_copy(err, &why);
	else if (!status)
		executable = mem_string_n(buf_text(&answer), strcspn(buf_text(&answer), "\n"));
	buf_free(&answer);
	if (executable && is_executable(executable) && os_is_absolute(executable) &&
		!is_script(executable)) {
		*ret_executable = executable;
		return 0;
	}
	mem_free(executable);
	return result;
}

/* The last script that was asked, and its answer: one command looks for Python several times, and
 * each start of a script takes tenths of a second. */
static uv_once_t script_once = UV_ONCE_INIT;
static uv_mutex_t script_lock;
static struct {
	char *script, *executable;
	struct os_stat stat;
} asked_script;

static void make_script_lock(void)
{
	os_mutex_make(&script_lock);
}

static int ask_script_once(struct jw_error *err, void *owner, const char *script,
						   const struct jw_cancel *cancel, char **ret_executable)
{
	struct os_stat stat = {0};
	int result = 0;

	uv_once(&script_once, make_script_lock);
	uv_mutex_lock(&script_lock);
	(void)os_stat(NULL, script, &stat);
	if (!asked_script.script || strcmp(asked_script.script, script) != 0 ||
		stat.mtime_ns != asked_script.stat.mtime_ns ||
		stat.size_bytes != asked_script.stat.size_bytes) {
		char *executable = NULL;

		result = ask_script(err, script, cancel, &executable);
		if (!result) {
			mem_free(asked_script.script);
			mem_free(asked_script.executable);
			asked_script.script = mem_string(script);
			asked_script.executable = executable;
			asked_script.stat = stat;
		}
	}
	if (!result)
		*ret_executable = arena_string(owner, asked_script.executable);
	uv_mutex_unlock(&script_lock);
	return result;
}

int python_on_path(struct jw_error *err, void *owner, const struct jw_cancel *cancel,
				   char **ret_executable)
{
	static const char *const posix_names[] = {"python3", "python", NULL};
	static const char *const windows_names[] = {"python3.exe", "python.exe", NULL};
	const char *const *names = os_is_windows ? windows_names : posix_names;
	const char *path = arena_keep(owner, os_env("PATH"));

	/* Finds the first part of PATH with a name that can be started: a file, or a script that names
	 * one. */
	for (; path && *names; names++) {
		const char *rest = path, *folder;

		while ((folder = path_list_next(owner, &rest))) {
			char *file = arena_keep(owner, os_join(folder, *names));

			if (!is_executable(file) || (is_script(file) && !os_is_absolute(file)))
				continue;
			if (is_script(file) && ask_script_once(err, owner, file, cancel, &file))
				return -1;
			if (file) {
				*ret_executable = file;
				return 0;
			}
		}
	}
	return error_set(err, JW_ERR_NOT_FOUND, "no python3 or python on PATH");
}

static void find_value(void *owner, const struct buf *text, const char *key, char **ret_value)
{
	const char *at = buf_text(text), *end = at + text->size, *line;
	size_t length, wanted = strlen(key);

	while (metadata_line(&at, end, &line, &length)) {
		const char *equals = memchr(line, '=', length);
		size_t used = equals ? (size_t)(equals - line) : 0;

		while (used && line[used - 1] == ' ')
			used--;
		if (!equals || used != wanted || memcmp(line, key, wanted) != 0)
			continue;
		for (equals++; equals < line + length && *equals == ' ';)
			equals++;
		*ret_value = arena_keep(owner, mem_string_n(equals, (size_t)(line + length - equals)));
		return;
	}
}

int pyvenv_value(struct jw_error *err, void *owner, const char *directory, const char *key,
				 char **ret_value)
{
	const char *path = arena_keep(owner, os_join(directory, "pyvenv.cfg"));
	struct jw_error why = {0};
	struct buf text = {0};
	int result = 0;

	*ret_value = NULL;
	if (os_read_file(&why, path, MAX_CONFIG, &text))
		result = os_ignore_unreadable(err, path, &why);
	else
		find_value(owner, &text, key, ret_value);
	buf_free(&text);
	return result;
}

int python_has_mark(struct jw_error *err, const char *prefix, const char *name, bool *ret_has)
{
	char *path = os_join(prefix, name);
	struct jw_error why = {0};
	int result = 0;

	*ret_has = false;
	if (os_check_exists(&why, path, ret_has))
		result = os_ignore_unreadable(err, path, &why);
	mem_free(path);
	return result;
}

int python_prefix(struct jw_error *err, void *owner, const char *executable, char **ret_prefix,
				  bool *ret_virtual)
{
	char *folder = arena_keep(owner, os_dir_name(executable)), *real;

	for (size_t i = 0; i < 2; i++, folder = arena_keep(owner, os_dir_name(folder))) {
		if (python_has_mark(err, folder, "pyvenv.cfg", ret_virtual))
			return -1;
		*ret_prefix = folder;
		if (*ret_virtual)
			return 0;
	}
	if (os_real_path(err, executable, &real))
		return -1;
	/* The parent of the real file's folder, or on Windows the folder itself. */
	folder = arena_keep(owner, os_dir_name(arena_keep(owner, real)));
	*ret_prefix = os_is_windows ? folder : arena_keep(owner, os_dir_name(folder));
	return 0;
}

/* ---- NVRTC in a toolkit, a wheel or a conda environment */

/* Returns whether the name is libnvrtc.so.12 or nvrtc64_120_0.dll, but not of their builtins or
 * CUDA's "alt" variant. */
static bool is_nvrtc(const char *name)
{
	bool shared = text_starts(name, "libnvrtc.so");
	bool windows = text_starts(name, "nvrtc64_") && text_ends(name, ".dll");

	return (shared || windows) && !strstr(name, "alt");
}

static const char *const folders[] = {"nvidia/cuda_nvrtc/lib", "nvidia/cuda_nvrtc/bin",
									  "cuda_nvrtc/lib", NULL};
static const struct library_kind nvrtc_kind = {
	.option = "--nvrtc",
	.called = "an NVRTC",
	.files = "libnvrtc.so, nvrtc64_*.dll",
	.is = is_nvrtc,
	.brought = "nvrtc",
	.folders = folders,
};

/* Adds a path, unless it is in the list, and takes ownership of it. */
static void add_outside(char *paths[NVRTC_OUTSIDE], size_t *count, char *path)
{
	for (size_t i = 0; i < *count; i++)
		if (!strcmp(paths[i], path)) {
			mem_free(path);
			return;
		}
	paths[(*count)++] = path;
}

size_t find_nvrtc_outside(char *ret_paths[NVRTC_OUTSIDE])
{
	static const char *const variables[] = {"CUDA_HOME", "CUDA_PATH"}, *const names[] = {
																		   "libnvrtc.so.13",
																		   "libnvrtc.so.12",
																		   "libnvrtc.so.11.2",
																		   "libnvrtc.so"};
	size_t count = 0;
	bool named = false;
	char *path;

	for (size_t i = 0; i < sizeof variables / sizeof *variables; i++) {
		char *root = os_env(variables[i]);

		named = named || root;
		mem_free(root);
		if (library_kind_of_variable(&nvrtc_kind, variables[i], &path))
			add_outside(ret_paths, &count, path);
	}
	path = named ? NULL : os_cuda_toolkit(0, 0);
	if (path) {
		char *file;

		if (library_kind_below(&nvrtc_kind, path, &file))
			add_outside(ret_paths, &count, file);
		mem_free(path);
	}
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (os_find_library(names[i], &path))
			add_outside(ret_paths, &count, path);
	return count;
}

/* Conda's NVRTC is in the environment's own folders. */
static bool find_nvrtc_in(const char *folder, char **ret_path)
{
	static const char *const sites[] = {"site-packages", "dist-packages"};
	const char *kind = environment_kind(folder);
	bool may = kind && !strcmp(kind, "conda");

	for (size_t i = 0; i < sizeof sites / sizeof *sites; i++)
		may = may || !strcmp(os_base_name(folder), sites[i]);
	return may && library_kind_below(&nvrtc_kind, folder, ret_path);
}

bool find_nvrtc_beside(const char *path, char **ret_path)
{
	enum { MOST_ABOVE = 64 }; /* no environment has a file deeper */
	char *named = os_dir_name(path), *folder;
	bool has = false, more = !os_real_path(NULL, named, &folder);

	mem_free(named);
	for (int levels = 1; more; levels++) {
		char *above = os_dir_name(folder);

		has = find_nvrtc_in(folder, ret_path);
		more = !has && levels < MOST_ABOVE && strcmp(above, folder) != 0;
		mem_free(folder);
		folder = above;
		if (!more)
			mem_free(folder);
	}
	return has;
}

int jw_find_nvrtc(struct jw_error *err, const char *name, char **ret_path)
{
	const struct package_fact *package;
	char *path = NULL, *newest;
	bool found = false;

	if (name)
		return library_kind_named(err, &nvrtc_kind, name, ret_path);
	for (size_t at = 0; !found && (package = package_fact_next(nvrtc_kind.brought, &at));)
		found = library_kind_of_package(NULL, &nvrtc_kind, package->name, &path);
	if (!found)
		found = library_kind_of_variable(&nvrtc_kind, "CUDA_HOME", &path) ||
				library_kind_of_variable(&nvrtc_kind, "CUDA_PATH", &path);
	newest = found ? NULL : os_cuda_toolkit(0, 0);
	found = found || (newest && library_kind_below(&nvrtc_kind, newest, &path));
	mem_free(newest);
	if (found)
		*ret_path = path;
	else
		error_set(err, JW_ERR_NOT_FOUND, "no NVRTC in the environment or a toolkit");
	return found ? 0 : -1;
}
