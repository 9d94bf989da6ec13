/* The first kernel or function that a PTX text defines. */
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

/* What a text may define. */
struct ptx_sought {
	const char *linkage, *kind;
};

/* “(.param .b32 value) ” of a function that returns one. */
static const char *skip_results(const char *at, const char *end)
{
	const char *close = at < end && *at == '(' ? memchr(at, ')', (size_t)(end - at)) : NULL;

	return close ? skip_kernel_space(close + 1, end) : at;
}

/* Whether `line` begins with “.visible .entry NAME” and a body follows: a prototype does not count.
 */
static size_t definition_of_line(const char *line, const char *end, const struct ptx_sought *sought,
								 const char **ret_name)
{
	const char *at = skip_word(line, end, sought->linkage);
	size_t length = 0, before = 0;

	at = at ? skip_word(at, end, sought->kind) : NULL;
	if (!at)
		return 0;
	at = skip_results(at, end);
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

static size_t first_definition(const char *text, size_t size, const struct ptx_sought *sought,
							   const char **ret_name)
{
	const char *end = text + size, *stop;

	for (const char *line = text; line < end; line = stop + 1) {
		const char *start = skip_kernel_space(line, end);
		const size_t length =
			start < end && *start == '.' ? definition_of_line(start, end, sought, ret_name) : 0;

		if (length)
			return length;
		for (stop = start; stop < end && *stop != '\n';)
			stop++;
		if (opens_comment(start, stop))
			return 0;
	}
	return 0;
}

static size_t first_of_kind(const char *text, size_t size, const char *kind, const char **ret_name)
{
	const struct ptx_sought visible = {".visible", kind}, weak = {".weak", kind};
	const size_t length = first_definition(text, size, &visible, ret_name);

	return length ? length : first_definition(text, size, &weak, ret_name);
}

size_t ptx_first_kernel(const char *text, size_t size, const char **ret_name)
{
	return first_of_kind(text, size, ".entry", ret_name);
}

size_t ptx_first_function(const char *text, size_t size, const char **ret_name)
{
	return first_of_kind(text, size, ".func", ret_name);
}
