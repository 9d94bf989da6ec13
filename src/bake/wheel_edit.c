#include "bake/wheel_edit.h"

#include <string.h>

#include "bake/package_row.h"
#include "base/cursor.h"
#include "base/mem.h"
#include "base/text.h"
#include "base/wheel_name.h"
#include "find/package_files.h"
#include "find/requirement.h"

enum { MAX_VERSION = 512, MAX_VERSION_TEXT = 2048 };

static const char own_label[] = "jitwarm";

static bool is_label_character(char c)
{
	return text_is_digit(c) || (c >= 'a' && c <= 'z');
}

static bool is_separator_of_label(char c)
{
	return c == '.' || c == '-' || c == '_';
}

static char lower_ascii(char c)
{
	if (c >= 'A' && c <= 'Z')
		c = (char)(c - 'A' + 'a');
	return c;
}

/* Normalises a label as PEP 440 does: lower case, parts of letters and digits with dots between
 * them. */
static bool normalise_label(const char *label, char text[MAX_VERSION])
{
	size_t length = 0;

	for (; label[length] && length < MAX_VERSION - 1; length++) {
		text[length] = lower_ascii(label[length]);
		if (is_separator_of_label(text[length]))
			text[length] = '.';
		if (text[length] == '.' ? !length || text[length - 1] == '.'
								: !is_label_character(text[length]))
			return false;
	}
	text[length] = 0;
	return length && !label[length] && text[length - 1] != '.';
}

/* Returns whether one of the parts of a label is `part`. */
static bool has_part(const char *label, const char *part)
{
	const size_t length = strlen(part);

	for (const char *at = label; at; at = strchr(at, '.')) {
		at += *at == '.';
		if (!strncmp(at, part, length) && (!at[length] || at[length] == '.'))
			return true;
	}
	return false;
}

/* Returns whether the text is a public version, which begins with a release. */
static bool is_public_version(const char *version, size_t length)
{
	if (!length || !(text_is_digit(*version) || *version == 'v' || *version == 'V'))
		return false;
	for (size_t i = 0; i < length; i++) {
		const char c = lower_ascii(version[i]);

		if (!is_label_character(c) && !is_separator_of_label(c) && c != '!')
			return false;
	}
	return true;
}

char *wheel_edit_version(struct jw_error *err, const char *version, const struct jw_target *gpus,
						 size_t gpu_count)
{
	const char *plus = strchr(version, '+');
	const size_t length = plus ? (size_t)(plus - version) : strlen(version);
	struct buf text = BUF_MAX(MAX_VERSION_TEXT); /* enough for any version and the GPUs */
	char label[MAX_VERSION] = "";

	if (length >= MAX_VERSION || !is_public_version(version, length) ||
		(plus && !normalise_label(plus + 1, label))) {
		error_set(err, JW_ERR_FORMAT, "its version “%.100s” cannot take a local label (PEP 440)",
				  version);
		return NULL;
	}
	(void)buf_printf(NULL, &text, "%.*s+%s", (int)length, version, label);
	if (!has_part(label, own_label))
		(void)buf_printf(NULL, &text, "%s%s", *label ? "." : "", own_label);
	for (size_t i = 0; i < gpu_count; i++) {
		char part[JW_TARGET_TEXT];
		char *blank = strchr(jw_target_sm(part, gpus[i]), '_');

		if (blank)
			memmove(blank, blank + 1, strlen(blank));
		if (!has_part(label, own_label) || !has_part(label, part))
			(void)buf_printf(NULL, &text, ".%s", part);
	}
	return (char *)text.data;
}

/* Joins `before`, the version in the form of file names, and `after`. */
static char *join_version(const char *before, size_t before_length, const char *version,
						  const char *after)
{
	char *name = mem_printf("%.*s%s%s", (int)before_length, before, version, after);

	for (size_t i = before_length; i < before_length + strlen(version); i++)
		if (name[i] == '-')
			name[i] = '_';
	return name;
}

/* Returns whether both versions are equal, except for what PEP 440 normalises most often. */
static bool is_same_version(const char *a, const char *b)
{
	for (;;) {
		while (is_separator_of_label(*a))
			a++;
		while (is_separator_of_label(*b))
			b++;
		/* Some tools escape the plus, too. */
		if (*a == '+' && *b != '+')
			a++;
		else if (*b == '+' && *a != '+')
			b++;
		else if (lower_ascii(*a) != lower_ascii(*b))
			return false;
		else if (!*a++ || !*b++)
			return true;
	}
}

char *wheel_edit_file_name(struct jw_error *err, const char *name, const char *old_version,
						   const char *version)
{
	struct wheel_name parts;
	char *named, *result = NULL;

	if (!wheel_name_read(name, &parts)) {
		error_set(err, JW_ERR_FORMAT,
				  "is not named like a wheel (NAME-VERSION-PYTHON-ABI-PLATFORM.whl)");
		return NULL;
	}
	named = mem_string_n(parts.version.text, parts.version.size);
	if (is_same_version(named, old_version))
		result = join_version(name, (size_t)(parts.version.text - name), version,
							  parts.version.text + parts.version.size);
	else
		error_set(err, JW_ERR_FORMAT,
				  "has version “%.100s” in its name, but “%.100s” in its METADATA", named,
				  old_version);
	mem_free(named);
	return result;
}

char *wheel_edit_stem(struct jw_error *err, const char *stem, const char *old_version,
					  const char *version)
{
	const char *dash = strrchr(stem, '-');

	if (!dash || dash == stem || !is_same_version(dash + 1, old_version)) {
		error_set(err, JW_ERR_FORMAT, "its folder %.200s.dist-info is not for the version “%.100s”",
				  stem, old_version);
		return NULL;
	}
	return join_version(stem, (size_t)(dash + 1 - stem), version, "");
}

/* Finds the value of the field “Version” in the header, without blanks around it. */
static int find_version(struct jw_error *err, const struct buf *metadata, size_t *ret_at,
						size_t *ret_length)
{
	static const char field[] = "Version:";
	const char *start = buf_text(metadata), *at = start, *end = start + metadata->size, *line;
	size_t length, found = 0;

	while (metadata_line(&at, end, &line, &length) && length) {
		size_t skip = strlen(field);

		if (length < skip || !text_starts_fold(line, field))
			continue;
		while (skip < length && text_is_blank(line[skip]))
			skip++;
		while (length > skip && text_is_blank(line[length - 1]))
			length--;
		*ret_at = (size_t)(line - start) + skip;
		*ret_length = length - skip;
		found++;
	}
	if (found == 1 && *ret_length)
		return 0;
	return error_set(err, JW_ERR_FORMAT, "%s",
					 found > 1 ? "its METADATA has more than one version"
							   : "its METADATA has no version");
}

char *wheel_edit_old_version(struct jw_error *err, const struct buf *metadata)
{
	size_t at, length;

	if (find_version(err, metadata, &at, &length))
		return NULL;
	if (length >= MAX_VERSION || memchr(buf_text(metadata) + at, 0, length)) {
		error_set(err, JW_ERR_FORMAT, "its METADATA has an invalid version");
		return NULL;
	}
	return mem_string_n(buf_text(metadata) + at, length);
}

int wheel_edit_metadata(struct jw_error *err, const struct buf *metadata, const char *version,
						struct buf *ret_text)
{
	size_t at, length;

	if (find_version(err, metadata, &at, &length))
		return -1;
	if (buf_append(err, ret_text, metadata->data, at) ||
		buf_append(err, ret_text, version, strlen(version)))
		return -1;
	return buf_append(err, ret_text, metadata->data + at + length, metadata->size - at - length);
}

int wheel_record_rows(struct jw_error *err, const struct buf *record, wheel_take_row take,
					  void *context)
{
	struct buf path = BUF_MAX(RECORD_MAX_PATH + 1);
	struct package_line line;
	size_t at = 0;
	int result = 0;

	(void)buf_reserve(NULL, &path, RECORD_MAX_PATH);
	while (!result && package_row_next(record, &at, &line)) {
		struct cursor cursor = cursor_of(line.text, line.bare);
		char *row;

		if (!line.bare)
			continue;
		row = mem_string_n(line.text, line.bare);
		buf_clear(&path);
		if (!wheel_record_next(&cursor, &path))
			result = error_set(err, JW_ERR_FORMAT, "its RECORD has a row without a name");
		else if (memchr(line.text, 0, line.bare))
			result = error_set(err, JW_ERR_FORMAT, "its RECORD is damaged at %.200s", row);
		else
			result = take(err, context, buf_text(&path), row);
		mem_free(row);
	}
	buf_free(&path);
	return result;
}
