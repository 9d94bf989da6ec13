#include "bake/journal.h"

#include <string.h>

#include <sodium.h>

#include "bake/package_row.h"
#include "base/json.h"
#include "base/json_table.h"
#include "base/mem.h"
#include "base/text.h"
#include "state/run_folder.h"

enum { MOST_DOCUMENT = 1 << 20, PIECE = 1 << 20, ID_DIGITS = 32 };

static const char journal_end[] = ".journal";

static const char *say_digest(char room[JSON_ROOM], const void *member)
{
	digest_text(room, member);
	return room;
}

#define KEPT(name, member) JSON_AS(name, struct journal, member, NULL)
#define KEPT_TEXT(member)  JSON(struct journal, member, NULL, .presence = JSON_UNLESS_NULL)
static const struct json_field journal_fields[] = {
	JSON_SAID("hash_before", struct journal, before, say_digest, NULL),
	JSON_SAID("hash_after", struct journal, after, say_digest, NULL),
	JSON_OF(JSON_HEX, "mtime_ns", struct journal, mtime_ns, .text = NULL),
	KEPT_TEXT(path),
	KEPT_TEXT(record),
	KEPT_TEXT(row_before),
	KEPT_TEXT(row_after),
	KEPT_TEXT(record_rest),
	KEPT_TEXT(driver),
	KEPT_TEXT(targets),
	KEPT("when", when_s),
	KEPT("size_before", size_before),
	KEPT("size_after", size_after),
	KEPT("from_cuda", from.cuda),
	KEPT("from_branch", from.release[0]),
	KEPT("from_minor", from.release[1]),
	KEPT("from_patch", from.release[2]),
	{0},
};
static const struct json_table journal_table = {.schema = "jitwarm.baked-file/1",
												.fields = journal_fields};

char *journal_folder(struct jw_error *err, const char *state_dir)
{
	return os_join(err, state_dir, "baked");
}

void journal_free(struct journal *journal)
{
	json_forget(&journal_table, journal);
	mem_free(journal->file);
	*journal = (struct journal){0};
}

void journals_free(struct journals *journals)
{
	for (size_t i = 0; i < journals->count; i++)
		journal_free(&journals->items[i]);
	mem_free(journals->items);
	*journals = (struct journals){0};
}

char *journal_original(struct jw_error *err, const struct journal *journal)
{
	char *folder = os_dir_name(err, journal->file), digits[DIGEST_TEXT_SIZE], *path;

	digest_text(digits, &journal->before);
	path = folder ? mem_printf(err, "%s%c%.*s.original", folder, os_separator, ID_DIGITS, digits)
				  : NULL;
	mem_free(folder);
	return path;
}

/* ---- the document */

static int no_journal(struct jw_error *err)
{
	return error_set(err, JW_ERR_FORMAT, "is no journal of a baked library");
}

static bool read_journal_digest(const cJSON *object, const char *name, struct digest *ret_digest)
{
	const char *text = json_text(object, name, "");
	size_t length;

	return strlen(text) == (size_t)2 * DIGEST_SIZE &&
		   !sodium_hex2bin(ret_digest->bytes, DIGEST_SIZE, text, strlen(text), NULL, &length,
						   NULL) &&
		   length == DIGEST_SIZE;
}

static bool is_whole_row(const char *row)
{
	return !row || !strpbrk(row, "\r\n");
}

static int read_document(struct jw_error *err, const cJSON *document, struct journal *journal)
{
	struct jw_error why = {0};

	if (json_take(&why, document, &journal_table, journal) && why.code == JW_ERR_MEMORY)
		return error_copy(err, &why);
	return !why.code && read_journal_digest(document, "hash_before", &journal->before) &&
				   read_journal_digest(document, "hash_after", &journal->after) && journal->path &&
				   os_is_absolute(journal->path) && journal->size_before && journal->size_after &&
				   is_whole_row(journal->row_before) && is_whole_row(journal->row_after)
			   ? 0
			   : no_journal(err);
}

static int read_journal(struct jw_error *err, struct journal *journal)
{
	struct buf text = {0};
	cJSON *document = NULL;
	int result = -1;

	if (os_read_file(err, journal->file, MOST_DOCUMENT, &text))
		return -1;
	if ((document = json_parse(err, buf_text(&text), text.size)))
		result = read_document(err, document, journal);
	cJSON_Delete(document);
	buf_free(&text);
	return result ? error_prefix(err, "%s", journal->file) : 0;
}

int journals_read(struct jw_error *err, const char *state_dir, struct journals *ret_journals)
{
	char *folder = journal_folder(err, state_dir);
	struct os_names names = {0};
	struct journals journals = {0};
	struct jw_error why = {0};
	int result = folder ? 0 : -1;

	if (folder && os_list(&why, folder, &names))
		result = error_unless_missing(err, &why);
	if (!result && !(journals.items = mem_array(err, names.count + 1, sizeof *journals.items)))
		result = -1;
	for (size_t i = 0; !result && i < names.count; i++) {
		struct journal read = {0};

		if (!text_ends(names.items[i], journal_end))
			continue;
		if (!(read.file = os_join(err, folder, names.items[i]))) {
			result = -1;
		} else if (read_journal(&why, &read)) {
			char *const file = read.file;

			read.file = NULL;
			journal_free(&read);
			read = (struct journal){.file = file, .why = why};
			result = why.code == JW_ERR_MEMORY ? error_copy(err, &why) : 0;
		}
		/* Another process may have removed it. */
		if (result || read.why.code == JW_ERR_NOT_FOUND)
			journal_free(&read);
		else
			journals.items[journals.count++] = read;
	}
	os_names_free(&names);
	mem_free(folder);
	if (result)
		journals_free(&journals);
	else
		*ret_journals = journals;
	return result;
}

static void path_digits(char digits[DIGEST_TEXT_SIZE], const char *library)
{
	struct digest digest;

	digest_of(&digest, library, strlen(library));
	digest_text(digits, &digest);
	digits[ID_DIGITS] = '\0';
}

int journal_name(struct jw_error *err, const char *state_dir, struct journal *journal)
{
	char path[DIGEST_TEXT_SIZE], baked[DIGEST_TEXT_SIZE], *folder = journal_folder(err, state_dir);

	path_digits(path, journal->path);
	digest_text(baked, &journal->after);
	journal->file = folder ? mem_printf(err, "%s%c%s-%.*s%s", folder, os_separator, path,
										ID_DIGITS / 2, baked, journal_end)
						   : NULL;
	mem_free(folder);
	return journal->file ? 0 : -1;
}

int journal_write(struct jw_error *err, struct journal *journal)
{
	char *line = json_object_line(err, &journal_table, journal);
	const int result = line ? os_write_secret(err, journal->file, line, strlen(line)) : -1;

	cJSON_free(line);
	return result;
}

/* ---- the library's state */

int journal_check_writers(struct jw_error *err, const char *folder, const char *library)
{
	char *above = os_dir_name(err, library);
	struct os_stat stat = {0};
	struct jw_error why = {0};
	int result = above ? 0 : -1;

	if (above && (!os_stat(&why, above, &stat) || why.code != JW_ERR_NOT_FOUND) &&
		state_check_writers(err, folder, stat.owner))
		result = error_prefix(err, "journals are not kept there for %s", library);
	mem_free(above);
	return result;
}

int journal_hash(struct jw_error *err, const char *path, struct digest *ret_digest,
				 uint8_t *ret_sha256)
{
	crypto_generichash_state blake;
	crypto_hash_sha256_state sha;
	struct os_map map;

	if (os_map_open(err, path, &map))
		return -1;
	(void)crypto_generichash_init(&blake, NULL, 0, DIGEST_SIZE);
	(void)crypto_hash_sha256_init(&sha);
	for (size_t at = 0; at < map.size; at += PIECE) {
		const size_t size = map.size - at < PIECE ? map.size - at : PIECE;

		if (ret_sha256)
			(void)crypto_hash_sha256_update(&sha, map.data + at, size);
		if (ret_digest)
			(void)crypto_generichash_update(&blake, map.data + at, size);
		os_map_forget(&map, at, size);
	}
	if (ret_sha256)
		(void)crypto_hash_sha256_final(&sha, ret_sha256);
	if (ret_digest)
		(void)crypto_generichash_final(&blake, ret_digest->bytes, DIGEST_SIZE);
	os_map_close(&map);
	return 0;
}

/* Whether the package was installed again: its RECORD has the file's hash, and other rows of it
 * have changed too. A jitwarm with another state directory writes a baked file's hash there. */
static int is_packages_own(struct jw_error *err, const struct journal *journal, bool *ret_is)
{
	struct package_row row;
	uint8_t sha256[32];
	struct digest rest;
	char text[DIGEST_TEXT_SIZE] = "";
	int result;

	if (package_row_find(err, journal->path, &row))
		return -1;
	result = row.row ? journal_hash(err, journal->path, NULL, sha256) : 0;
	if (!result && row.row && journal->record_rest &&
		!(result = package_row_rest(err, row.record, row.row, &rest)))
		digest_text(text, &rest);
	*ret_is = !result && row.row && package_row_is(row.row, sha256) &&
			  (!journal->record_rest || strcmp(text, journal->record_rest) != 0);
	package_row_free(&row);
	return result;
}

/* Whether no library is there any more, or a link leads to another path: it was moved. */
static int library_is_gone(struct jw_error *err, const char *library, bool *ret_is)
{
	struct jw_error why;
	char *real = NULL;

	if (os_real_path(&why, library, &real) && why.code != JW_ERR_NOT_FOUND)
		return error_copy(err, &why);
	*ret_is = !real || strcmp(real, library) != 0;
	mem_free(real);
	return 0;
}

int journal_state(struct jw_error *err, const struct journal *journal, bool quick,
				  enum jw_baked_state *ret_state)
{
	char *folder = os_dir_name(err, journal->file);
	struct os_stat stat;
	struct digest digest;
	bool gone = false, own;
	int result = folder && !journal_check_writers(err, folder, journal->path)
					 ? library_is_gone(err, journal->path, &gone)
					 : -1;

	mem_free(folder);
	if (result)
		return -1;
	if (gone) {
		*ret_state = JW_BAKED_GONE;
		return 0;
	}
	if (quick && !os_stat(NULL, journal->path, &stat) && stat.size_bytes == journal->size_after &&
		stat.mtime_ns == journal->mtime_ns) {
		*ret_state = JW_BAKED_SOUND;
		return 0;
	}
	if (journal_hash(err, journal->path, &digest, NULL))
		return -1;
	if (digest_equal(&digest, &journal->after) || digest_equal(&digest, &journal->before)) {
		*ret_state = digest_equal(&digest, &journal->after) ? JW_BAKED_SOUND : JW_BAKED_ORIGINAL;
		return 0;
	}
	if (is_packages_own(err, journal, &own))
		return -1;
	*ret_state = own ? JW_BAKED_REPLACED : JW_BAKED_CHANGED;
	return 0;
}

int journals_find(struct jw_error *err, const struct journals *journals, const char *library,
				  bool quick, struct journal **ret_journal, enum jw_baked_state *ret_state)
{
	char digits[DIGEST_TEXT_SIZE];

	*ret_journal = NULL;
	path_digits(digits, library);
	for (size_t i = 0; i < journals->count; i++) {
		struct journal *journal = &journals->items[i];
		enum jw_baked_state state;

		if (!journal->path && text_starts(os_base_name(journal->file), digits))
			return error_copy(err, &journal->why);
		if (!journal->path || strcmp(journal->path, library) != 0)
			continue;
		if (journal_state(err, journal, quick, &state))
			return -1;
		/* Of those that a crash has left, the one that knows the library; else the newest. */
		if (!*ret_journal || state < *ret_state ||
			(state == *ret_state && journal->when_s > (*ret_journal)->when_s)) {
			*ret_journal = journal;
			*ret_state = state;
		}
	}
	*ret_state = *ret_journal ? *ret_state : JW_BAKED_SOUND;
	return 0;
}
