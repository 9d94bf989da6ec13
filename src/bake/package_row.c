#include "bake/package_row.h"

#include <string.h>

#include <sodium.h>

#include "base/mem.h"
#include "base/text.h"
#include "find/package_files.h"
#include "os/file.h"

enum { MAX_LEVELS = 24, HASH_CHARACTERS = 64 };

bool package_row_next(const struct buf *record, size_t *at, struct package_line *ret_line)
{
	const char *text = buf_text(record) + *at;
	const char *feed = *at < record->size ? memchr(text, '\n', record->size - *at) : NULL;

	if (*at >= record->size)
		return false;
	ret_line->text = text;
	ret_line->length = feed ? (size_t)(feed + 1 - text) : record->size - *at;
	*at += ret_line->length;
	ret_line->bare = ret_line->length;
	while (ret_line->bare && (text[ret_line->bare - 1] == '\n' || text[ret_line->bare - 1] == '\r'))
		ret_line->bare--;
	return true;
}

static bool is_recorded_path(const char *a, const char *b)
{
	for (; *a || *b; a++, b++)
		if (*a != *b && !(os_is_separator(*a) && os_is_separator(*b)))
			return false;
	return true;
}

/* Returns whether the row's path, relative to `base`, is the library. */
static bool row_names(const char *base, const char *row, size_t length, const char *library)
{
	struct cursor cursor = cursor_of(row, length);
	struct buf name = BUF_MAX(RECORD_MAX_PATH + 1);
	char *path = NULL;
	bool names;

	(void)buf_reserve(NULL, &name, RECORD_MAX_PATH);
	names = wheel_record_next(&cursor, &name) &&
			(path = wheel_record_resolve(NULL, base, base, buf_text(&name))) &&
			is_recorded_path(path, library);
	mem_free(path);
	buf_free(&name);
	return names;
}

/* Finds the library's row; NULL if there is none. Only a row that contains the library's own name
 * is split; quotes may split the name. */
static char *find_in_record(const char *base, const struct buf *text, const char *library)
{
	const char *name = os_base_name(library);
	struct package_line record_line;
	size_t at = 0;

	while (package_row_next(text, &at, &record_line)) {
		const size_t bare = record_line.bare;
		char *line;

		if (!memchr(record_line.text, ',', bare))
			continue;
		line = mem_string_n(record_line.text, bare);
		if ((*line == '"' || strstr(line, name)) && row_names(base, line, bare, library))
			return line;
		mem_free(line);
	}
	return NULL;
}

static int find_row_in(struct jw_error *err, const char *base, const char *library,
					   struct package_row *row)
{
	struct jw_error why = {0};
	struct os_names names;
	int result = 0;

	if (os_list(&why, base, &names))
		return os_ignore_unreadable(err, base, &why);
	for (size_t i = 0; !result && !row->row && i < names.count; i++) {
		struct buf text = {0};

		if (names.kinds[i] != OS_DIRECTORY || !text_ends(names.items[i], ".dist-info"))
			continue;
		row->folder = os_join(base, names.items[i]);
		row->record = os_join(row->folder, "RECORD");
		if (os_read_file(&why, row->record, RECORD_MAX_BYTES, &text))
			result = os_ignore_unreadable(err, row->record, &why);
		else
			row->row = find_in_record(base, &text, library);
		buf_free(&text);
		if (!row->row)
			package_row_free(row);
	}
	os_names_free(&names);
	return result;
}

int package_row_find(struct jw_error *err, const char *library, struct package_row *ret_row)
{
	struct package_row row = {0};
	char *base = os_dir_name(library);
	bool top = false;
	int result = 0;

	for (int level = 0; !result && !row.row && !top && level < MAX_LEVELS; level++) {
		char *above = os_dir_name(base);

		top = !strcmp(above, base);
		result = find_row_in(err, base, library, &row);
		mem_free(base);
		base = above;
	}
	mem_free(base);
	if (!result)
		*ret_row = row;
	return result;
}

void package_row_free(struct package_row *row)
{
	mem_free(row->folder);
	mem_free(row->record);
	mem_free(row->row);
	*row = (struct package_row){0};
}

static void hash_text(char text[HASH_CHARACTERS], const uint8_t hash[32])
{
	(void)sodium_bin2base64(text, HASH_CHARACTERS, hash, 32,
							sodium_base64_VARIANT_URLSAFE_NO_PADDING);
}

/* Returns the length of the first field, which may be quoted. */
static size_t field_length(const char *row)
{
	bool quoted = false;
	size_t length = 0;

	for (; row[length] && (quoted || row[length] != ','); length++)
		quoted ^= row[length] == '"';
	return length;
}

char *package_row_with(const char *row, const uint8_t hash[32], uint64_t size_bytes)
{
	char text[HASH_CHARACTERS];

	hash_text(text, hash);
	return mem_printf("%.*s,sha256=%s,%llu", (int)field_length(row), row, text,
					  (unsigned long long)size_bytes);
}

bool package_row_is(const char *row, const uint8_t hash[32])
{
	static const char kind[] = ",sha256=";
	const char *rest = row + field_length(row);
	char text[HASH_CHARACTERS];

	hash_text(text, hash);
	return text_starts(rest, kind) && text_starts(rest + strlen(kind), text) &&
		   (rest += strlen(kind) + strlen(text), !*rest || *rest == ',');
}
