#include "cli/parts/hidden_names.h"

#include <ctype.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/text.h"
#include "os/env.h"

enum { MOST_HIDDEN = 1 << 20, SHORTEST_NAME = 2 };

static bool is_in_word(char c)
{
	return isalnum((unsigned char)c) || c == '_' || (unsigned char)c >= 0x80;
}

static bool is_separator(char c)
{
	return c == '/' || c == '\\';
}

/* The length of a typographic quote, whose bytes may also be parts of letters. */
static size_t quote_length(const char *text)
{
	return text_starts(text, "“") || text_starts(text, "”") ? strlen("“") : 0;
}

static bool is_after_quote(const char *text, size_t at)
{
	return at >= strlen("“") && quote_length(text + at - strlen("“"));
}

/* What no name of a folder in a message contains: a blank is in many. */
static bool ends_path(const char *at)
{
	return !*at || *at == '\n' || *at == '"' || quote_length(at) ||
		   (strchr(",;:)", *at) && (!at[1] || strchr(" \n", at[1])));
}

/* Where a path may begin: not within "CUDA/12.4". */
static bool begins_path(const char *text, size_t at)
{
	const char *before = at ? text + at - 1 : " ";

	if (!is_after_quote(text, at) && (is_in_word(*before) || strchr("/.-", *before)))
		return false;
	return (text[at] == '/' && text[at + 1] && text[at + 1] != ' ') ||
		   (isalpha((unsigned char)text[at]) && text[at + 1] == ':' &&
			is_separator(text[at + 2])) ||
		   (*before == '=' && is_in_word(text[at]));
}

/* The length of the folders at the beginning of a path. A blank belongs to it where a name goes on
 * to a separator behind it: in "/a/b and /c" none does. */
static size_t folders_length(const char *path)
{
	const bool has_drive = isalpha((unsigned char)path[0]) && path[1] == ':';
	size_t last = 0;

	for (size_t i = has_drive ? 2 : 0; !ends_path(path + i); i++)
		if (is_separator(path[i]) && (!i || !strchr(" '", path[i - 1])))
			last = i + 1;
		else if (is_separator(path[i]))
			break;
	return last;
}

static char *own_name(void)
{
	char *name = os_env("USER");

	if (!name)
		name = os_env("USERNAME");
	if (!name)
		name = os_env("LOGNAME");
	return name;
}

/* The length of the account's name, or of that of sudo's caller, where one begins there; else 0. */
static size_t name_length(const char *text, size_t at, char *const names[2])
{
	if (at && is_in_word(text[at - 1]))
		return 0;
	for (size_t i = 0; i < 2; i++) {
		const size_t length = names[i] ? strlen(names[i]) : 0;

		if (length >= SHORTEST_NAME && !strncmp(text + at, names[i], length) &&
			!is_in_word(text[at + length]))
			return length;
	}
	return 0;
}

static int put_hidden(struct jw_error *err, const char *text, char *const names[2],
					  struct buf *hidden)
{
	for (size_t at = 0; text[at];) {
		const size_t folders = begins_path(text, at) ? folders_length(text + at) : 0,
					 name = name_length(text, at, names);

		if (folders || name) {
			at += folders ? folders : name;
			if (buf_printf(err, hidden, folders ? "…/" : "USER"))
				return -1;
		} else if (buf_append(err, hidden, text + at++, 1))
			return -1;
	}
	return 0;
}

char *hidden_names(struct jw_error *err, const char *text)
{
	struct buf hidden = BUF_MAX(MOST_HIDDEN);
	char *names[2] = {own_name(), os_env("SUDO_USER")}, *copy = NULL;

	if (!put_hidden(err, text, names, &hidden))
		copy = mem_string(err, buf_text(&hidden));
	buf_free(&hidden);
	mem_free(names[0]);
	mem_free(names[1]);
	return copy;
}
