#include "find/named_paths.h"

#include <string.h>

#include <jitwarm/find.h>

#include "base/text.h"
#include "code/code_file.h"
#include "find/found.h"
#include "find/packages.h"
#include "os/file.h"
#include "os/shell.h"

static bool reads_as_text(const uint8_t *head, size_t size)
{
	for (size_t i = 0; i < size; i++)
		if (head[i] < ' ' && !memchr("\t\n\f\r\x1b", head[i], 5))
			return false;
	return true;
}

/* Returns whether the first line starts Python. */
static bool runs_python(const uint8_t *head, size_t size)
{
	char line[128];
	size_t length = 0;

	while (length < size && length < sizeof line - 1 && head[length] != '\n') {
		line[length] = (char)head[length];
		length++;
	}
	line[length] = '\0';
	return text_starts(line, "#!") && strstr(line, "python");
}

static const char *compression_of(const uint8_t *head, size_t size)
{
	static const struct {
		const char *magic, *name;
	} known[] = {{"\x1f\x8b", "gzip"}, {"BZh", "bzip2"}, {"\xfd\x37zXZ", "xz"}};

	for (size_t i = 0; i < sizeof known / sizeof *known; i++)
		if (size >= strlen(known[i].magic) && !memcmp(head, known[i].magic, strlen(known[i].magic)))
			return known[i].name;
	return NULL;
}

/* Returns whether a named file is of a kind that holds no device code; `why` says which kind, and
 * what to name instead. A file whose name is typical of code is judged as in a folder. */
static bool is_no_code(const struct found_list *list, const char *path, const struct os_stat *stat,
					   struct jw_error *why)
{
	uint8_t head[KIND_HEAD];
	const size_t size = os_read_head(path, head, sizeof head);
	const char *compression = compression_of(head, size);
	const enum code_file kind = code_file_by_name(path);
	const char *name = os_base_name(path);
	const bool pack = text_ends(path, ".jwpack"), source = text_ends(path, ".cu"),
			   /* requirements.txt, requirements-dev.txt, pylock.toml, pylock.dev.toml */
		packages = (text_ends(name, ".txt") && strstr(name, "requirements")) ||
				   (text_ends(name, ".toml") && text_starts(name, "pylock."));
	char word[SHELL_WORD];

	/* A file that cannot be read may have code. */
	if ((!size && stat->size_bytes) || (kind_of(head, size) != KIND_NONE && !pack) ||
		kind == CODE_FILE_CODE || kind == CODE_FILE_LINKED || (source && list->sources))
		return false;
	(void)shell_word(word, path);
	if (!size)
		error_set(why, JW_ERR_USAGE, "%s: empty", path);
	else if (pack)
		error_set(why, JW_ERR_USAGE, "%s: a pack: “jitwarm import” adds it to the cache", path);
	else if (source)
		error_set(why, JW_ERR_USAGE,
				  "%s: CUDA C source, which only “jitwarm prime” compiles: name the library or "
				  "program that is built from it",
				  path);
	else if (compression)
		error_set(why, JW_ERR_USAGE,
				  "%s: compressed by %s, which jitwarm does not read: name the wheel (.whl), the "
				  "installed package, or the folder into which it is unpacked",
				  path, compression);
	else if (!reads_as_text(head, size))
		error_set(
			why, JW_ERR_USAGE,
			"%s: not a kind of file that holds device code: name a library, a program, a wheel, a "
			"folder or a package",
			path);
	else if (packages)
		error_set(why, JW_ERR_USAGE,
				  "%s: a list of packages: “jitwarm scan --index -r %s” says what their wheels "
				  "compile, before they are installed; afterwards no name means the whole "
				  "environment",
				  path, word);
	else if (!strcmp(name, "pyproject.toml"))
		error_set(why, JW_ERR_USAGE,
				  "%s: a project: “uv pip compile %s -o requirements.txt” lists its packages, then "
				  "“jitwarm scan --index -r requirements.txt” says what their wheels compile; -e "
				  "DIR names the project's environment",
				  path, word);
	else if (text_ends(name, ".py") || runs_python(head, size))
		error_set(why, JW_ERR_USAGE,
				  "%s: a Python script, which holds no device code: name the packages that it "
				  "imports (no name: the active environment); “jitwarm run -- python3 SCRIPT” says "
				  "what its start compiles",
				  path);
	else
		error_set(why, JW_ERR_USAGE,
				  "%s: a text, which holds no device code: name a library, a program, a wheel, a "
				  "folder or a package; “jitwarm doctor -” explains the errors in a log",
				  path);
	return true;
}

int named_path_take(struct jw_error *err, struct found_list *list, const char *path,
					const struct os_stat *stat)
{
	size_t before = list->found->file_count;
	struct jw_error why;

	if (stat->kind == OS_REGULAR && !is_no_code(list, path, stat, &why))
		return found_file(err, list, path, stat, NULL);
	if (stat->kind == OS_REGULAR) {
		found_trouble(list, &why);
		return 0;
	}
	if (stat->kind != OS_DIRECTORY) {
		error_set(&why, JW_ERR_UNSUPPORTED, "%s: neither a file nor a folder", path);
		found_trouble(list, &why);
		return 0;
	}
	if (directory_walk(err, list, path, NULL, true) || packages_name_owners(err, list, before))
		return -1;
	if (list->found->file_count == before) {
		found_note(list, "%s: none of its files could hold device code", path);
		return 0;
	}
	return 0;
}

int named_path_find(struct jw_error *err, struct found_list *list, const char *path)
{
	struct os_stat stat;
	struct jw_error why;

	if (!os_stat(&why, path, &stat))
		return named_path_take(err, list, path, &stat);
	found_trouble(list, &why);
	return 0;
}

int named_paths_find(struct jw_error *err, const char *const *paths, size_t count, bool sources,
					 struct jw_cancel cancel, struct jw_found **ret_found)
{
	struct found_list list;
	int result = 0;

	found_open(&list);
	list.sources = sources;
	list.cancel = cancel;
	for (size_t i = 0; !result && i < count; i++)
		result = named_path_find(err, &list, paths[i]);
	if (result)
		jw_result_free(list.found);
	else
		*ret_found = list.found;
	found_close(&list);
	return result;
}
