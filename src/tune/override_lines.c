#include "tune/override_lines.h"

#include <string.h>

#include "base/text.h"
#include "tune/block.h"

static const char mark[] = "# jitwarm tune removed # ", no_command[] = ": ";

static const char blanks[] = " \t\r";

/* The text after one of these words and the blanks that follow it, else NULL. */
static const char *behind_verb(const char *at)
{
	static const char *const verbs[] = {"export",      "declare -x", "declare -gx", "typeset -x",
										"typeset -gx", "setenv",     "set -gx",     "set -x",
										"set -Ux",     "unset",      "unsetenv",    "set -e"};

	for (size_t i = 0; i < sizeof verbs / sizeof *verbs; i++) {
		const size_t length = strlen(verbs[i]);

		if (text_starts(at, verbs[i]) && at[length] && strchr(blanks, at[length]))
			return at + length + strspn(at + length, blanks);
	}
	return at;
}

/* The text after a value that shells neither split nor execute; NULL for any other value. */
static const char *behind_value(const char *at)
{
	if (*at == '\'' || *at == '"') {
		const char *end = strchr(at + 1, *at);

		return end && !memchr(at, '`', (size_t)(end - at)) && !memchr(at, '\\', (size_t)(end - at))
				   ? end + 1
				   : NULL;
	}
	at += strcspn(at, " \t\r;&|<>()`\\'\"#");
	return strchr(";\t\r #", *at) ? at : NULL;
}

/* Whether the line does nothing but set or unset `name`. */
static bool is_whole(const char *line, const char *name)
{
	const char *at = behind_verb(line + strspn(line, blanks));

	if (!text_starts(at, name))
		return false;
	at += strlen(name);
	if (*at == '=')
		at = behind_value(at + 1);
	else if (*at && strchr(blanks, *at))
		at = behind_value(at + strspn(at, blanks));
	else if (*at && *at != ';')
		return false;
	if (!at)
		return false;
	at += strspn(at, blanks);
	at += *at == ';';
	at += strspn(at, blanks);
	return !*at || *at == '#';
}

/* Where a line begins and ends: empty at the text's end. False for one that goes on another. */
static bool find_line(const char *text, size_t size, size_t line, size_t *ret_start,
					  size_t *ret_end)
{
	size_t start = 0;
	const char *feed;

	for (; line > 1; line--) {
		feed = memchr(text + start, '\n', size - start);
		start = feed ? (size_t)(feed - text) + 1 : size;
	}
	feed = memchr(text + start, '\n', size - start);
	*ret_start = start;
	*ret_end = feed ? (size_t)(feed - text) : size;
	return start < 2 || text[start - 2] != '\\';
}

int override_comment(struct jw_error *err, const char *text, size_t size, size_t line,
					 const char *name, bool fish, struct buf *ret_text)
{
	enum { MOST_LINE = 4096 };
	struct buf result = BUF_MAX(BLOCK_MOST_FILE);
	char copy[MOST_LINE] = {0};
	size_t start, end;

	*ret_text = result;
	if (!find_line(text, size, line, &start, &end) || end - start >= MOST_LINE ||
		memchr(text + start, '\0', end - start))
		return 0;
	memcpy(copy, text + start, end - start);
	if (!is_whole(copy, name))
		return 0;
	if (buf_append(err, &result, text, start) ||
		buf_printf(err, &result, "%s%s", fish ? "" : no_command, mark) ||
		buf_append(err, &result, text + start, size - start)) {
		buf_free(&result);
		return -1;
	}
	*ret_text = result;
	return 0;
}

/* The length of our words at the beginning of a line. */
static size_t mark_length(const char *at, size_t size)
{
	const size_t colon = sizeof no_command - 1, length = sizeof mark - 1;

	if (size >= length && !memcmp(at, mark, length))
		return length;
	if (size >= colon + length && !memcmp(at, no_command, colon) &&
		!memcmp(at + colon, mark, length))
		return colon + length;
	return 0;
}

int override_restore(struct jw_error *err, const char *text, size_t size, struct buf *ret_text,
					 bool *ret_there)
{
	struct buf result = BUF_MAX(BLOCK_MOST_FILE);
	bool there = false;

	for (size_t at = 0; at < size;) {
		const size_t ours = mark_length(text + at, size - at);
		const char *feed = memchr(text + at, '\n', size - at);
		const size_t next = feed ? (size_t)(feed - text) + 1 : size;

		there = there || ours;
		if (buf_append(err, &result, text + at + ours, next - at - ours)) {
			buf_free(&result);
			return -1;
		}
		at = next;
	}
	*ret_text = result;
	*ret_there = there;
	return 0;
}
