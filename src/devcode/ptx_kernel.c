/* The first kernel that a PTX text defines. */
#include <string.h>

#include "devcode/ptx.h"

#include "base/text.h"

static bool is_identifier_character(char c)
{
	return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
		   c == '$' || c == '%';
}

static const char *skip_kernel_space(const char *at, const char *end)
{
	while (at < end && text_is_blank(*at))
		at++;
	return at;
}

static const char *skip_word(const char *at, const char *end, const char *word)
{
	const size_t length = strlen(word);

	return (size_t)(end - at) > length && !memcmp(at, word, length) && text_is_blank(at[length])
			   ? skip_kernel_space(at + length, end)
			   : NULL;
}

/* Whether `line` begins with “.visible .entry NAME” and a body follows: a prototype does not count.
 */
static size_t kernel_of_line(const char *line, const char *end, const char **ret_name)
{
	const char *at = skip_word(line, end, ".visible");
	size_t length = 0, before = 0;

	if (!at)
		at = skip_word(line, end, ".weak");
	at = at ? skip_word(at, end, ".entry") : NULL;
	if (!at)
		return 0;
	while (at + length < end && is_identifier_character(at[length]))
		length++;
	while (at + before < end && at[before] != '{' && at[before] != ';')
		before++;
	if (at + before == end || at[before] != '{')
		return 0;
	*ret_name = at;
	return length;
}

/* A comment over several lines may contain anything. */
static bool opens_comment(const char *line, const char *end)
{
	while ((line = memchr(line, '/', (size_t)(end - line))) && ++line < end)
		if (*line == '*')
			return true;
	return false;
}

size_t ptx_first_kernel(const char *text, size_t size, const char **ret_name)
{
	const char *end = text + size, *stop;

	for (const char *line = text; line < end; line = stop + 1) {
		const char *start = skip_kernel_space(line, end);
		const size_t length =
			start < end && *start == '.' ? kernel_of_line(start, end, ret_name) : 0;

		if (length)
			return length;
		for (stop = start; stop < end && *stop != '\n';)
			stop++;
		if (opens_comment(start, stop))
			return 0;
	}
	return 0;
}
