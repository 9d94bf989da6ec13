#include "find/python.h"

#include <string.h>

#include "base/arena.h"
#include "base/mem.h"
#include "find/requirement.h"
#include "os/env.h"
#include "os/file.h"
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
