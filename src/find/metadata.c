#include "find/metadata.h"

#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "os/file.h"

enum { MOST_FIELD = 4096 };

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

static int add_requirement(struct jw_error *err, struct metadata *metadata, const char *value)
{
	struct requirement requirement;

	if (!requirement_parse(value, &requirement))
		return 0;
	if (VEC_ROOM(err, metadata->requires, metadata->require_capacity, metadata->require_count,
				 METADATA_MOST_REQUIREMENTS))
		return -1;
	metadata->requires[metadata->require_count++] = requirement;
	return 0;
}

static int set_once(struct jw_error *err, char **field, const char *value)
{
	if (*field || !*value)
		return 0;
	*field = mem_string(err, value);
	return *field ? 0 : -1;
}

static int take_field(struct jw_error *err, struct metadata *metadata, char *line)
{
	char *value = strchr(line, ':');

	if (!value)
		return 0;
	*value++ = 0;
	value += strspn(value, " \t");
	if (text_equal_fold(line, "Name"))
		return set_once(err, &metadata->name, value);
	if (text_equal_fold(line, "Version"))
		return set_once(err, &metadata->version, value);
	if (text_equal_fold(line, "Requires-Dist"))
		return add_requirement(err, metadata, value);
	return 0;
}

int metadata_parse(struct jw_error *err, const void *data, size_t size,
				   struct metadata *ret_metadata)
{
	struct metadata metadata = {0};
	const char *at = data, *end = at + size, *line;
	char field[MOST_FIELD] = "";
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
		/* A field longer than any sensible one is cut off. */
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

int metadata_read(struct jw_error *err, const char *path, struct metadata *ret_metadata)
{
	struct buf text = {0};
	int result;

	if (os_read_file(err, path, METADATA_MOST_BYTES, &text))
		return -1;
	result = metadata_parse(err, buf_text(&text), text.size, ret_metadata);
	buf_free(&text);
	return result;
}

void metadata_free(struct metadata *metadata)
{
	mem_free(metadata->name);
	mem_free(metadata->version);
	mem_free(metadata->requires);
	*metadata = (struct metadata){0};
}
