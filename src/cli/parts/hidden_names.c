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

/* Where a path may begin: not within "CUDA/12.4". */
static bool begins_path(const char *text, size_t at)
{
	const char *before = at ? text + at - 1 : " ";

	if (is_in_word(*before) || strchr("/.-", *before))
		return false;
	return (text[at] == '/' && text[at + 1] && text[at + 1] != ' ') ||
		   (isalpha((unsigned char)text[at]) && text[at + 1] == ':' &&
			(text[at + 2] == '\\' || text[at + 2] == '/'));
}

/* The length of the folders at the beginning of a path. */
static size_t folders_length(const char *path)
{
	size_t last = 0;

	for (size_t i = 0; path[i] && !strchr(" \t\n,;:\"”“)", path[i]); i++)
		if (path[i] == '/' || path[i] == '\\')
			last = i + 1;
	/* The colon of a drive. */
	if (!last && path[0] && path[1] == ':')
		last = 2 + folders_length(path + 2);
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

static int put_hidden(struct jw_error *err, const char *text, const char *name, struct buf *hidden)
{
	const size_t length = name ? strlen(name) : 0;

	for (size_t at = 0; text[at];) {
		if (begins_path(text, at)) {
			at += folders_length(text + at);
			if (buf_printf(err, hidden, "…/"))
				return -1;
		} else if (length >= SHORTEST_NAME && !strncmp(text + at, name, length) &&
				   (!at || !is_in_word(text[at - 1])) && !is_in_word(text[at + length])) {
			at += length;
			if (buf_printf(err, hidden, "USER"))
				return -1;
		} else if (buf_append(err, hidden, text + at++, 1))
			return -1;
	}
	return 0;
}

char *hidden_names(struct jw_error *err, const char *text)
{
	struct buf hidden = BUF_MAX(MOST_HIDDEN);
	char *name = own_name(), *copy = NULL;

	if (!put_hidden(err, text, name, &hidden))
		copy = mem_string(err, buf_text(&hidden));
	buf_free(&hidden);
	mem_free(name);
	return copy;
}
