#include "bake/journal.h"

#include <string.h>

#include <sodium.h>

#include "bake/journal_text.h"
#include "base/cursor.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/text.h"
#include "package/package_row.h"

enum { MOST_DOCUMENT = 1 << 20, ID_DIGITS = 32 };

const char journal_magic[8] = "jwbaked\1";
static const char *const from_names[] = {"from_branch", "from_minor", "from_patch"};
static const char journal_schema[] = "jitwarm.baked-file/1";

char *journal_folder(struct jw_error *err, const char *state_dir)
{
	return os_join(err, state_dir, "baked");
}

char *journal_file(struct jw_error *err, const char *state_dir, const char *library)
{
	char name[DIGEST_TEXT_SIZE], *folder = journal_folder(err, state_dir), *path;
	struct digest digest;

	digest_of(&digest, library, strlen(library));
	digest_text(name, &digest);
	path =
		folder ? mem_printf(err, "%s%c%.*s.journal", folder, os_separator, ID_DIGITS, name) : NULL;
	mem_free(folder);
	return path;
}

void journal_free(struct journal *journal)
{
	mem_free(journal->path);
	mem_free(journal->record);
	mem_free(journal->row_before);
	mem_free(journal->row_after);
	mem_free(journal->record_rest);
	mem_free(journal->driver);
	mem_free(journal->targets);
	mem_free(journal->kept);
	mem_free(journal->file);
	*journal = (struct journal){0};
}

/* ---- the document */

static bool read_journal_digest(const cJSON *object, const char *name, struct digest *ret_digest)
{
	const char *text = json_text(object, name, "");
	size_t length;

	return strlen(text) == (size_t)2 * DIGEST_SIZE &&
		   !sodium_hex2bin(ret_digest->bytes, DIGEST_SIZE, text, strlen(text), NULL, &length,
						   NULL) &&
		   length == DIGEST_SIZE;
}

/* NULL for an empty or missing one. */
static int read_text(struct jw_error *err, const cJSON *object, const char *name, char **ret_text)
{
	const char *text = json_text(object, name, "");

	*ret_text = *text ? mem_string(err, text) : NULL;
	return *text && !*ret_text ? -1 : 0;
}

static bool is_whole_row(const char *row)
{
	return !row || !strpbrk(row, "\r\n");
}

static int read_journal_document(struct jw_error *err, const cJSON *document,
								 struct journal *journal)
{
	uint64_t mtime;

	if (strcmp(json_text(document, "schema", ""), journal_schema) != 0 ||
		!read_journal_digest(document, "hash_before", &journal->before) ||
		!read_journal_digest(document, "hash_after", &journal->after) ||
		!json_hex64(document, "mtime_ns", &mtime))
		return error_set(err, JW_ERR_FORMAT, "is no journal of a baked library");
	journal->mtime_ns = (int64_t)mtime;
	journal->when_s = (int64_t)json_count(document, "when");
	journal->size_before = json_count(document, "size_before");
	journal->size_after = json_count(document, "size_after");
	journal->from.cuda = (uint32_t)json_count(document, "from_cuda");
	for (size_t i = 0; i < 3; i++)
		journal->from.release[i] = (uint32_t)json_count(document, from_names[i]);
	journal->drop_ptx = json_bool(document, "drop_ptx", false);
	journal->any_owner = json_bool(document, "any_owner", false);
	if (read_text(err, document, "path", &journal->path) ||
		read_text(err, document, "record", &journal->record) ||
		read_text(err, document, "row_before", &journal->row_before) ||
		read_text(err, document, "row_after", &journal->row_after) ||
		read_text(err, document, "record_rest", &journal->record_rest) ||
		read_text(err, document, "driver", &journal->driver) ||
		read_text(err, document, "targets", &journal->targets) ||
		read_text(err, document, "kept", &journal->kept))
		return -1;
	if (!journal->path || !os_is_absolute(journal->path) || !journal->size_before ||
		!journal->size_after || !is_whole_row(journal->row_before) ||
		!is_whole_row(journal->row_after))
		return error_set(err, JW_ERR_FORMAT, "is no journal of a baked library");
	return 0;
}

static int read_journal(struct jw_error *err, const struct os_map *map, struct journal *journal)
{
	uint64_t length;
	cJSON *document;
	int result;

	if (map->size < JOURNAL_TRAILER || memcmp(map->data + map->size - 8, journal_magic, 8) != 0)
		return error_set(err, JW_ERR_FORMAT, "is no journal of a baked library");
	length = load_u64(map->data + map->size - JOURNAL_TRAILER);
	journal->frame_bytes = load_u64(map->data + map->size - JOURNAL_TRAILER + 8);
	if (length > MOST_DOCUMENT || journal->frame_bytes > map->size - JOURNAL_TRAILER ||
		length != map->size - JOURNAL_TRAILER - journal->frame_bytes)
		return error_set(err, JW_ERR_FORMAT, "the journal's trailer is damaged");
	document = json_parse(err, (const char *)map->data + journal->frame_bytes, (size_t)length);
	if (!document)
		return -1;
	result = read_journal_document(err, document, journal);
	cJSON_Delete(document);
	return result;
}

int journal_read(struct jw_error *err, const char *file, struct journal *ret_journal)
{
	struct journal journal = {0};
	struct os_map map;
	int result;

	if (os_map_open(err, file, &map))
		return -1;
	result = read_journal(err, &map, &journal);
	os_map_close(&map);
	if (result)
		(void)error_prefix(err, "%s", file);
	journal.file = mem_string(result ? NULL : err, file);
	if (result || !journal.file) {
		journal_free(&journal);
		return -1;
	}
	*ret_journal = journal;
	return 0;
}

/* ---- by what a library is */

/* Whether a file may be there that could not be looked at. */
static bool tells_nothing(const struct jw_error *why)
{
	return why->code == JW_ERR_IO || why->code == JW_ERR_MEMORY;
}

/* Not even an error of the disk says that it is another one. */
static int look_for_baked(struct jw_error *err, const char *path, const struct journal *journal,
						  bool *ret_is)
{
	struct jw_error why = {0};
	struct digest digest;
	struct os_map map;

	*ret_is = false;
	if (os_map_open(&why, path, &map))
		return tells_nothing(&why) ? error_copy(err, &why) : 0;
	if (map.size == journal->size_after) {
		digest_of(&digest, map.data, map.size);
		*ret_is = digest_equal(&digest, &journal->after);
	}
	os_map_close(&map);
	return 0;
}

/* Where it is now, and the RECORD that lists it there. */
static int journal_move(struct jw_error *err, struct journal *journal, const char *library)
{
	struct package_row row = {0};

	mem_free(journal->path);
	journal->path = mem_string(err, library);
	if (!journal->path || (journal->record && package_row_find(err, library, &row)))
		return -1;
	if (row.record) {
		mem_free(journal->record);
		journal->record = row.record;
		row.record = NULL;
	}
	package_row_free(&row);
	return 0;
}

/* Whether the library that the journal names is still there, as it was baked: this is its copy. */
static int refuse_copy(struct jw_error *err, const struct journal *journal, const char *library)
{
	struct jw_error why = {0};
	char *real = NULL;
	bool is = false;
	int result = 0;

	if (os_real_path(&why, journal->path, &real))
		return tells_nothing(&why) ? error_copy(err, &why) : 0;
	if (strcmp(real, library) != 0)
		result = look_for_baked(err, real, journal, &is);
	mem_free(real);
	return is ? error_set(err, JW_ERR_UNSUPPORTED,
						  "%s: is a copy of %s, which was baked in its place: undo that, and copy "
						  "the original",
						  library, journal->path)
			  : result;
}

/* A damaged one is told of by the list. */
static int judge_journal(struct jw_error *err, const char *file, const char *library,
						 struct journal *ret_journal)
{
	struct journal journal = {0};
	struct jw_error why = {0};
	bool is = false;
	int result;

	if (journal_read(&why, file, &journal))
		return tells_nothing(&why) ? error_copy(err, &why) : 0;
	result = strcmp(journal.path, library) != 0 ? look_for_baked(err, library, &journal, &is) : 0;
	if (is)
		result =
			refuse_copy(err, &journal, library) || journal_move(err, &journal, library) ? -1 : 0;
	if (is && !result) {
		*ret_journal = journal;
		return 0;
	}
	journal_free(&journal);
	return result;
}

int journal_find(struct jw_error *err, const char *state_dir, const char *library,
				 struct journal *ret_journal)
{
	char *folder = journal_folder(err, state_dir);
	struct os_names names = {0};
	struct jw_error why = {0};
	struct journal found = {0};
	int result = folder ? 0 : -1;

	if (folder && os_list(&why, folder, &names))
		result = error_unless_missing(err, &why);
	for (size_t i = 0; !result && !found.path && i < names.count; i++) {
		char *file =
			text_ends(names.items[i], ".journal") ? os_join(err, folder, names.items[i]) : NULL;

		if (file)
			result = judge_journal(err, file, library, &found);
		else if (text_ends(names.items[i], ".journal"))
			result = -1;
		mem_free(file);
	}
	if (!result && found.path)
		*ret_journal = found;
	os_names_free(&names);
	mem_free(folder);
	return result;
}

static int add_digest(struct jw_error *err, cJSON *object, const char *name,
					  const struct digest *digest)
{
	char text[DIGEST_TEXT_SIZE];

	digest_text(text, digest);
	return json_add_text(err, object, name, text);
}

static int add_numbers(struct jw_error *err, cJSON *object, const struct journal *journal)
{
	const struct {
		const char *name;
		double value;
	} numbers[] = {
		{"when", (double)journal->when_s},           {"size_before", (double)journal->size_before},
		{"size_after", (double)journal->size_after}, {"from_cuda", journal->from.cuda},
		{from_names[0], journal->from.release[0]},   {from_names[1], journal->from.release[1]},
		{from_names[2], journal->from.release[2]},
	};

	for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
		if (!cJSON_AddNumberToObject(object, numbers[i].name, numbers[i].value))
			return error_set(err, JW_ERR_MEMORY, "out of memory");
	return 0;
}

static int fill_document(struct jw_error *err, cJSON *object, const struct journal *journal)
{
	const struct {
		const char *name, *value;
	} texts[] = {
		{"schema", journal_schema},        {"path", journal->path},
		{"record", journal->record},       {"row_before", journal->row_before},
		{"row_after", journal->row_after}, {"record_rest", journal->record_rest},
		{"driver", journal->driver},       {"targets", journal->targets},
		{"kept", journal->kept},
	};

	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
		if (json_add_text(err, object, texts[i].name, texts[i].value ? texts[i].value : ""))
			return -1;
	if (add_numbers(err, object, journal))
		return -1;
	if (!cJSON_AddBoolToObject(object, "drop_ptx", journal->drop_ptx) ||
		!cJSON_AddBoolToObject(object, "any_owner", journal->any_owner))
		return error_set(err, JW_ERR_MEMORY, "out of memory");
	return json_add_hex64(err, object, "mtime_ns", (uint64_t)journal->mtime_ns) ||
				   add_digest(err, object, "hash_before", &journal->before) ||
				   add_digest(err, object, "hash_after", &journal->after)
			   ? -1
			   : 0;
}

int journal_document(struct jw_error *err, const struct journal *journal, struct buf *text)
{
	cJSON *document = cJSON_CreateObject();
	char *line = NULL;
	int result = -1;

	if (!document)
		return error_set(err, JW_ERR_MEMORY, "out of memory");
	if (!fill_document(err, document, journal) && (line = json_line(err, document)))
		result = buf_append(err, text, line, strlen(line));
	cJSON_free(line);
	cJSON_Delete(document);
	return result;
}
