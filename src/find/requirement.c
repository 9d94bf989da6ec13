#include "find/requirement.h"

#include <stdio.h>
#include <string.h>

#include "find/package_version.h"

static bool is_alnum(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

static bool is_dash(char c)
{
	return c == '-' || c == '_' || c == '.';
}

bool requirement_normalise(const char *text, size_t length, char name[REQUIREMENT_MOST_NAME])
{
	size_t used = 0;

	if (!length || length >= REQUIREMENT_MOST_NAME || !is_alnum(text[0]) ||
		!is_alnum(text[length - 1]))
		return false;
	for (size_t i = 0; i < length; i++)
		if (!is_alnum(text[i]) && !is_dash(text[i]))
			return false;
	for (size_t i = 0; i < length; i++) {
		if (!is_dash(text[i]))
			name[used++] =
				(char)(text[i] >= 'A' && text[i] <= 'Z' ? text[i] + ('a' - 'A') : text[i]);
		else if (used && name[used - 1] != '-')
			name[used++] = '-';
	}
	name[used] = 0;
	return true;
}

/* Appends one normalised name to "a,b", if it is a name and there is room. */
static void list_append(char list[REQUIREMENT_MOST_NAME], const char *text, size_t length)
{
	char name[REQUIREMENT_MOST_NAME];
	size_t used = strlen(list);

	if (!requirement_normalise(text, length, name) ||
		used + strlen(name) + 2 > REQUIREMENT_MOST_NAME)
		return;
	if (used)
		list[used++] = ',';
	memcpy(list + used, name, strlen(name) + 1);
}

static const char *skip_requirement_space(const char *text)
{
	return text + strspn(text, " \t");
}

/* Reads "[a, b]" at `text` and returns the rest. */
static const char *read_extras(const char *text, char extras[REQUIREMENT_MOST_NAME])
{
	if (*text != '[')
		return text;
	for (text++; *text && *text != ']';) {
		size_t length = strcspn(text = skip_requirement_space(text), ",] \t");

		list_append(extras, text, length);
		text = skip_requirement_space(text + length);
		text += *text == ',';
	}
	return text + (*text == ']');
}

/* Reads every "extra == 'name'" of a marker; "extra in 'a b'" and similar forms count as an unknown
 * extra. */
static void read_marker(const char *text, char when[REQUIREMENT_MOST_NAME])
{
	for (const char *at = strstr(text, "extra"); at; at = strstr(at + 1, "extra")) {
		const char *value = skip_requirement_space(at + strlen("extra"));
		size_t length;

		if ((at > text && (is_alnum(at[-1]) || at[-1] == '_')) || strncmp(value, "==", 2) != 0)
			continue;
		value = skip_requirement_space(value + 2);
		if (*value != '\'' && *value != '"')
			continue;
		length = strcspn(value + 1, "'\"");
		list_append(when, value + 1, length);
	}
}

static size_t typed_length(const char *text)
{
	size_t length = 0;

	while (is_alnum(text[length]) || (is_dash(text[length]) && length))
		length++;
	return length;
}

bool requirement_typed(const char *text, struct typed_package *ret_typed)
{
	struct typed_package typed = {.written = ""};
	const size_t length = typed_length(text);
	const char *rest = skip_requirement_space(text + length);

	if (!requirement_normalise(text, length, typed.requirement.name))
		return false;
	memcpy(typed.written, text, length);
	if (*rest == '[') {
		const size_t extras =
			strspn(rest + 1, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
							 "0123456789._-, \t");

		if (rest[1 + extras] != ']')
			return false;
		(void)read_extras(rest, typed.requirement.extras);
		rest = skip_requirement_space(rest + extras + 2);
	}
	typed.versions = rest;
	if (!version_is_wanted(rest))
		return false;
	*ret_typed = typed;
	return true;
}

bool requirement_parse(const char *text, struct requirement *ret_requirement)
{
	struct requirement found = {.name = ""};
	const char *marker;
	size_t length;

	text = skip_requirement_space(text);
	length = typed_length(text);
	if (!requirement_normalise(text, length, found.name))
		return false;
	text = read_extras(skip_requirement_space(text + length), found.extras);
	marker = strchr(text, ';');
	if (marker)
		read_marker(marker + 1, found.when);
	*ret_requirement = found;
	return true;
}

/* Whether a list "a,b" holds `name`. */
static bool requirement_lists(const char *list, const char *name)
{
	size_t wanted = strlen(name);

	while (*list) {
		size_t length = strcspn(list, ",");

		if (length == wanted && !memcmp(list, name, length))
			return true;
		list += length + (list[length] == ',');
	}
	return false;
}

bool requirement_applies(const struct requirement *requirement, const char *extras)
{
	char one[REQUIREMENT_MOST_NAME];
	const char *when = requirement->when;

	if (!*when || strstr(when, "cuda") || strstr(when, "gpu") || strstr(when, "cudnn") ||
		strstr(when, "nvidia"))
		return true;
	while (*when) {
		size_t length = strcspn(when, ",");

		(void)snprintf(one, sizeof one, "%.*s", (int)length, when);
		if (requirement_lists(extras, one))
			return true;
		when += length + (when[length] == ',');
	}
	return false;
}
