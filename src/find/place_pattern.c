#include "find/place_pattern.h"

#include <string.h>

#include "base/mem.h"
#include "find/python.h"
#include "os/env.h"
#include "os/file.h"
#include "os/folders.h"
#include "os/programs.h"

enum { MOST_NAMES = 10000, MOST_MATCHES = 1000 };

struct pattern_search {
	place_match_fn match;
	void *context;
	size_t matches;
};

bool place_name_fits(const char *name, const char *pattern, size_t length)
{
	const char *end = pattern + length, *star = NULL, *from = name;

	while (*name) {
		if (pattern < end && *pattern == '*') {
			star = ++pattern;
			from = name;
		} else if (pattern < end && *pattern == *name) {
			pattern++;
			name++;
		} else if (star) {
			pattern = star;
			name = ++from;
		} else {
			return false;
		}
	}
	while (pattern < end && *pattern == '*')
		pattern++;
	return pattern == end;
}

static int expand_rest(struct jw_error *err, struct pattern_search *search, const char *path,
					   const char *rest);

static int expand_joined(struct jw_error *err, struct pattern_search *search, const char *path,
						 const char *name, const char *rest)
{
	char *joined = os_join(err, path, name);
	const int result = joined ? expand_rest(err, search, joined, rest) : -1;

	mem_free(joined);
	return result;
}

static int expand_listed(struct jw_error *err, struct pattern_search *search, const char *path,
						 const char *part, size_t length)
{
	const char *rest = part + length;
	struct jw_error why = {0};
	struct os_names names;
	int result = 0;

	if (os_list(&why, path, &names))
		return error_if_memory(err, &why);
	for (size_t i = 0; names.count <= MOST_NAMES && i < names.count && !result; i++)
		if ((names.kinds[i] == OS_DIRECTORY || (names.kinds[i] == OS_REGULAR && !*rest)) &&
			place_name_fits(names.items[i], part, length))
			result = expand_joined(err, search, path, names.items[i], rest);
	os_names_free(&names);
	return result;
}

/* `rest`: "" or "/name…". */
static int expand_rest(struct jw_error *err, struct pattern_search *search, const char *path,
					   const char *rest)
{
	const char *part = rest + strspn(rest, "/");
	const size_t length = strcspn(part, "/");
	char *name;
	int result;

	if (!*part)
		return search->matches++ < MOST_MATCHES && os_exists(path)
				   ? search->match(err, search->context, path)
				   : 0;
	if (memchr(part, '*', length))
		return expand_listed(err, search, path, part, length);
	name = mem_string_n(err, part, length);
	result = name ? expand_joined(err, search, path, name, part + length) : -1;
	mem_free(name);
	return result;
}

/* The folder of a program that is `program` or `program`.exe in a folder of PATH. */
static int expand_program(struct jw_error *err, struct pattern_search *search, const char *folder,
						  const char *program, const char *rest)
{
	char *path = os_join(err, folder, program), *real = NULL, *above = NULL;
	struct jw_error why = {0};
	int result = path ? 0 : -1;

	if (path && !os_real_path(&why, path, &real)) {
		above = os_dir_name(err, real);
		result = above ? expand_rest(err, search, above, rest) : -1;
	} else if (path) {
		result = error_if_memory(err, &why);
	}
	mem_free(path);
	mem_free(real);
	mem_free(above);
	return result;
}

static int expand_member(struct jw_error *err, struct pattern_search *search, const char *folder,
						 const char *program, const char *rest)
{
	char *windows;
	int result;

	if (!program)
		return expand_rest(err, search, folder, rest);
	windows = mem_printf(err, "%s.exe", program);
	result = windows ? expand_program(err, search, folder, program, rest) : -1;
	if (!result && os_list_separator == ';')
		result = expand_program(err, search, folder, windows, rest);
	mem_free(windows);
	return result;
}

/* "{NAME}…" and "{PATH:program}…" */
static int expand_variable(struct jw_error *err, struct pattern_search *search, const char *pattern)
{
	const char *end = strchr(pattern, '}'), *colon = memchr(pattern, ':', (size_t)(end - pattern));
	const char *stop = colon ? colon : end;
	char *name = mem_string_n(err, pattern + 1, (size_t)(stop - pattern) - 1);
	char *program = colon ? mem_string_n(err, colon + 1, (size_t)(end - colon) - 1) : NULL;
	char *list = NULL, *member = NULL;
	int result = !name || (colon && !program) || os_env_read(err, name, &list) ? -1 : 0;
	const char *at = list ? list : "";

	while (!result && !(result = path_list_next(err, &at, &member)) && member) {
		if (os_is_whole_path(member))
			result = expand_member(err, search, member, program, end + 1);
		mem_free(member);
		member = NULL;
	}
	mem_free(name);
	mem_free(program);
	mem_free(list);
	return result;
}

int place_pattern_each(struct jw_error *err, const char *pattern, place_match_fn match,
					   void *context)
{
	struct pattern_search search = {.match = match, .context = context};
	struct jw_error why = {0};
	char *home;
	int result;

	if (*pattern == '{')
		return expand_variable(err, &search, pattern);
	/* Anyone may make "\\opt" on Windows' current drive. */
	if (*pattern != '~')
		return os_is_whole_path(pattern) ? expand_rest(err, &search, "/", pattern) : 0;
	if (os_home_dir(&why, &home))
		return error_if_memory(err, &why);
	result = os_is_absolute(home) ? expand_rest(err, &search, home, pattern + 1) : 0;
	mem_free(home);
	return result;
}
