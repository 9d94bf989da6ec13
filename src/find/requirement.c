#include "find/requirement.h"

#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/packages.h"
#include "base/pep440.h"
#include "base/text.h"

enum { MAX_FIELD = 4096 };

bool metadata_line(const char **at, const char *end, const char **ret_line, size_t *ret_length)
{
	const char *start = *at, *feed;
	size_t length;

	if (start >= end)
		return false;
	feed = memchr(start, '\n', (size_t)(end - start));
	length = (size_t)((feed ? feed : end) - start);
	*at = feed ? feed + 1 : end;
	if (length && start[length - 1] == '\r')
		length--;
	*ret_line = start;
	*ret_length = length;
	return true;
}

/* Takes Name, Version or a Requires-Dist from a line; other fields are ignored. */
static int take_field(struct jw_error *err, struct metadata *metadata, char *line)
{
	struct requirement requirement;
	char *value = strchr(line, ':');

	if (!value)
		return 0;
	*value++ = 0;
	value += strspn(value, " \t");
	if (text_equal_fold(line, "Name") && !metadata->name && *value)
		metadata->name = mem_string(value);
	if (text_equal_fold(line, "Version") && !metadata->version && *value)
		metadata->version = mem_string(value);
	if (!text_equal_fold(line, "Requires-Dist") || !requirement_parse(value, &requirement))
		return 0;
	if (VEC_ROOM(NULL, metadata->requires, metadata->require_capacity, metadata->require_count,
				 METADATA_MAX_REQUIREMENTS))
		return error_set(err, JW_ERR_LIMIT, "more than %d requirements: install the package again",
						 METADATA_MAX_REQUIREMENTS);
	metadata->requires[metadata->require_count++] = requirement;
	return 0;
}

int metadata_parse(struct jw_error *err, const void *data, size_t size,
				   struct metadata *ret_metadata)
{
	struct metadata metadata = {0};
	const char *at = data, *end = at + size, *line;
	char field[MAX_FIELD] = "";
	size_t length, used = 0;

	while (metadata_line(&at, end, &line, &length) && length) {
		bool goes_on = *line == ' ' || *line == '\t';

		if (memchr(line, 0, length))
			continue;
		if (!goes_on) {
			if (take_field(err, &metadata, field))
				goto fail;
			used = 0;
		}
		/* A field longer than any sensible one is truncated. */
		if (length > sizeof field - 1 - used)
			length = sizeof field - 1 - used;
		memcpy(field + used, line, length);
		used += length;
		field[used] = 0;
	}
	if (take_field(err, &metadata, field))
		goto fail;
	*ret_metadata = metadata;
	return 0;
fail:
	metadata_free(&metadata);
	return -1;
}

void metadata_free(struct metadata *metadata)
{
	mem_free(metadata->name);
	mem_free(metadata->version);
	mem_free(metadata->requires);
	*metadata = (struct metadata){0};
}

/* Appends one normalised name to "a,b", if it is a name and there is room. */
static void list_append(char list[PACKAGE_MAX_NAME], const char *text, size_t length)
{
	char name[PACKAGE_MAX_NAME];
	size_t used = strlen(list);

	if (!package_normalise(text, length, name) || used + strlen(name) + 2 > PACKAGE_MAX_NAME)
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
static const char *read_extras(const char *text, char extras[PACKAGE_MAX_NAME])
{
	if (*text != '[')
		return text;
	text++;
	while (*text && *text != ']') {
		size_t length;

		text = skip_requirement_space(text);
		length = strcspn(text, ",] \t");
		list_append(extras, text, length);
		text = skip_requirement_space(text + length);
		text += *text == ',';
	}
	return text + (*text == ']');
}

/* Reads every "extra == 'name'" of a marker; "extra in 'a b'" and similar forms count as an unknown
 * extra. */
static void read_marker(const char *text, char when[PACKAGE_MAX_NAME])
{
	for (const char *at = strstr(text, "extra"); at; at = strstr(at + 1, "extra")) {
		const char *value = skip_requirement_space(at + strlen("extra"));
		size_t length;

		if ((at > text && (text_is_alnum(at[-1]) || at[-1] == '_')) || strncmp(value, "==", 2) != 0)
			continue;
		value = skip_requirement_space(value + 2);
		if (*value != '\'' && *value != '"')
			continue;
		length = strcspn(value + 1, "'\"");
		list_append(when, value + 1, length);
	}
}

/* ---- packages as users type them */

static size_t typed_length(const char *text)
{
	size_t length = 0;

	while (text_is_alnum(text[length]) || (length && text[length] && strchr("-_.", text[length])))
		length++;
	return length;
}

/* Reads the name and the extras, and returns what is behind them; NULL if there is no name. */
static const char *read_head(const char *text, struct requirement *found)
{
	size_t length;

	text = skip_requirement_space(text);
	length = typed_length(text);
	if (!package_normalise(text, length, found->name))
		return NULL;
	return skip_requirement_space(
		read_extras(skip_requirement_space(text + length), found->extras));
}

bool requirement_parse(const char *text, struct requirement *ret_requirement)
{
	struct requirement found = {.name = ""};
	const char *rest = read_head(text, &found), *marker;

	if (!rest)
		return false;
	marker = strchr(rest, ';');
	if (marker)
		read_marker(marker + 1, found.when);
	*ret_requirement = found;
	return true;
}

/* Returns whether extras are names with commas between them, and end. */
static bool are_extras(const char *text)
{
	const size_t length = strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
									   "0123456789._-, \t");

	return text[length] == ']';
}

bool required_read(const char *text, struct required *ret_required)
{
	struct required found = {.marker = ""};
	const char *head = skip_requirement_space(text), *rest = read_head(text, &found.is), *end, *pin;
	const size_t length = typed_length(head);
	size_t used = 0;
	bool valid;

	if (!rest)
		return false;
	memcpy(found.written, head, length);
	head = skip_requirement_space(head + length);
	end = rest + strcspn(rest, ";");
	if (*head == '[' && !are_extras(head + 1))
		return false;
	for (const char *at = rest; at < end; at++) {
		/* “===” compares texts, of which an index has one spelling. */
		if (strchr(" \t()", *at) || text_starts(at, "==="))
			continue;
		/* “2 3” is not 23. */
		if (used + 1 >= sizeof found.versions ||
			(at > rest && strchr(" \t", at[-1]) && used && !strchr("<>=!~,", *at) &&
			 !strchr("<>=!~,", found.versions[used - 1])))
			return false;
		found.versions[used++] = *at;
	}
	(void)pep440_fits("0", found.versions, &valid);
	if (!valid)
		return false;
	pin = strstr(found.versions, "==");
	if (pin && (pin == found.versions || pin[-1] == ',') && !strchr(pin, '*'))
		(void)text_format(found.version, sizeof found.version, "%.*s", (int)strcspn(pin + 2, ","),
						  pin + 2);
	if (*end)
		found.marker = skip_requirement_space(end + 1);
	*ret_required = found;
	return true;
}

bool required_is_pin(const struct required *required)
{
	return *required->version && !strcmp(required->versions + 2, required->version);
}

bool requirement_typed(const char *text, struct required *ret_typed)
{
	struct required found;

	if (!text_is_alnum(*text) || !required_read(text, &found) || text[strcspn(text, ";()")] ||
		(*found.versions && !required_is_pin(&found)))
		return false;
	*ret_typed = found;
	return true;
}

/* Returns whether a list "a,b" contains `name`. */
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
	char one[PACKAGE_MAX_NAME];
	const char *when = requirement->when;

	if (!*when || package_fact_inside("extra", when))
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

const char *package_of_project(const char *name)
{
	const struct package_fact *fact = package_fact_of("called", name);

	return fact ? fact->values[0] : NULL;
}
