#include "doctor/environment_file.h"

#include <stdbool.h>
#include <string.h>

#include "base/text.h"

static bool is_name(const char *name)
{
	static const char allowed[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
								  "0123456789_";

	return *name && !text_is_digit(*name) && !name[strspn(name, allowed)];
}

/* Behind the end of this line; a backslash continues it. */
static char *skip_comment(char *at)
{
	for (; *at && *at != '\n'; at++)
		if (*at == '\\' && at[1])
			at++;
	return at + (*at != '\0');
}

/* Inside quotes, from behind the first one: copies to *to, and returns what follows the last. */
static char *copy_quoted(char *from, char **to, char quote)
{
	static const char escapable[] = "\\\"`$";

	for (; *from && *from != quote; from++) {
		if (quote == '"' && *from == '\\' && from[1] == '\n')
			from++;
		else if (quote == '"' && *from == '\\' && from[1] && strchr(escapable, from[1]))
			*(*to)++ = *++from;
		else
			*(*to)++ = *from;
	}
	return from + (*from != '\0');
}

/* The value that begins at `from`, in its own place; *ret_next is behind its line. Blanks at its
 * end count only in quotes. */
static char *take_value(char *from, char **ret_next)
{
	char *value, *to, *end;

	from += strspn(from, " \t");
	value = to = end = from;
	while (*from && *from != '\n') {
		if (*from == '\'' || *from == '"') {
			from = copy_quoted(from + 1, &to, *from);
			end = to;
		} else if (*from == '\\' && from[1]) {
			if (*++from != '\n') {
				*to++ = *from;
				end = to;
			}
			from++;
		} else {
			*to++ = *from;
			end = *from == ' ' || *from == '\t' || *from == '\r' ? end : to;
			from++;
		}
	}
	*ret_next = from + (*from != '\0');
	*end = '\0';
	return value;
}

int environment_file_each(char *text, int (*take)(void *context, char *name, char *value),
						  void *context)
{
	for (char *at = text; *(at += strspn(at, " \t\r\n"));) {
		const size_t length = strcspn(at, "=\n");
		char *name = at, *value;
		size_t used = length;

		if (*at == '#' || *at == ';' || at[length] != '=') {
			at = skip_comment(at);
			continue;
		}
		while (used && (name[used - 1] == ' ' || name[used - 1] == '\t'))
			used--;
		value = take_value(at + length + 1, &at);
		name[used] = '\0';
		if (is_name(name) && take(context, name, value))
			return -1;
	}
	return 0;
}
