#include "bake/in_place.h"

#include <string.h>

#include <sodium.h>

#include "base/mem.h"
#include "base/text.h"
#include "gpu/code_range.h"
#include "os/clock.h"
#include "os/folders.h"
#include "package/package_row.h"
#include "state/kept_for.h"

/* ---- the folder of the journals */

static int lock_journals(struct jw_error *err, const char *folder, struct os_file **ret_lock)
{
	char *path = os_join(err, folder, "lock");
	bool held = false;
	int result = path ? os_file_open(err, path, OS_OPEN_CREATE, ret_lock) : -1;

	mem_free(path);
	if (result || os_file_lock(err, *ret_lock, true, &held))
		return -1;
	return held ? 0
				: error_set(err, JW_ERR_BUSY, "another jitwarm bakes in place: try again later");
}

int in_place_open(struct jw_error *err, struct in_place *ret_in_place)
{
	struct in_place in_place = {0};
	char *folder = NULL;
	int result = os_state_dir(err, &in_place.state_dir);

	folder = result ? NULL : journal_folder(err, in_place.state_dir);
	result =
		!folder || os_make_dirs(err, folder, 0700) || lock_journals(err, folder, &in_place.lock);
	mem_free(folder);
	if (result) {
		in_place_close(&in_place);
		return -1;
	}
	*ret_in_place = in_place;
	return 0;
}

void in_place_close(struct in_place *in_place)
{
	in_place_leave(in_place);
	os_file_close(in_place->lock);
	mem_free(in_place->state_dir);
	*in_place = (struct in_place){0};
}

/* The superuser takes no journal that an account could write which may not write the library: it
 * would decide what is read and restored there. Where the library's folder is gone, nothing is. */
static int check_journals(struct jw_error *err, const char *journal_file, const char *library)
{
	char *folder = os_dir_name(err, library), *journals = os_dir_name(err, journal_file);
	struct os_stat stat = {0};
	struct jw_error why = {0};
	int result = folder && journals ? 0 : -1;

	if (!result && (!os_stat(&why, folder, &stat) || why.code != JW_ERR_NOT_FOUND) &&
		state_check_writers(err, journals, stat.owner))
		result = error_prefix(err, "journals are not kept there for %s", library);
	mem_free(folder);
	mem_free(journals);
	return result;
}

/* ---- the library's state */

/* BLAKE2b-256, and with `sha256` only that one. */
static int hash_library(struct jw_error *err, const char *path, struct digest *ret_digest,
						uint8_t *ret_sha256)
{
	crypto_generichash_state blake;
	crypto_hash_sha256_state sha;
	struct os_map map;

	if (os_map_open(err, path, &map))
		return -1;
	(void)crypto_generichash_init(&blake, NULL, 0, DIGEST_SIZE);
	(void)crypto_hash_sha256_init(&sha);
	for (size_t at = 0; at < map.size; at += JOURNAL_PIECE) {
		const size_t size = map.size - at < JOURNAL_PIECE ? map.size - at : JOURNAL_PIECE;

		if (ret_sha256)
			(void)crypto_hash_sha256_update(&sha, map.data + at, size);
		else
			(void)crypto_generichash_update(&blake, map.data + at, size);
		os_map_forget(&map, at, size);
	}
	if (ret_sha256)
		(void)crypto_hash_sha256_final(&sha, ret_sha256);
	else
		(void)crypto_generichash_final(&blake, ret_digest->bytes, DIGEST_SIZE);
	os_map_close(&map);
	return 0;
}

/* RECORD's other rows are as they were: what has changed the library's row is no installer. */
static int is_same_record(struct jw_error *err, const struct journal *journal,
						  const struct package_row *row, bool *ret_same)
{
	struct digest digest;
	char text[DIGEST_TEXT_SIZE];

	if (!journal->record_rest)
		return 0;
	if (package_row_rest(err, row->record, row->row, &digest))
		return -1;
	digest_text(text, &digest);
	*ret_same = !strcmp(text, journal->record_rest);
	return 0;
}

/* Whether the package was installed again: its RECORD has the file's hash, and is another one. A
 * jitwarm with another state directory writes a baked file's hash there, too. */
static int is_packages_own(struct jw_error *err, const struct journal *journal, bool *ret_is)
{
	struct package_row row;
	uint8_t sha256[32];
	bool same = false;
	int result;

	if (package_row_find(err, journal->path, &row))
		return -1;
	result = row.row ? hash_library(err, journal->path, NULL, sha256) ||
						   is_same_record(err, journal, &row, &same)
					 : 0;
	*ret_is = !result && row.row && package_row_is(row.row, sha256) && !same;
	package_row_free(&row);
	return result ? -1 : 0;
}

int in_place_state(struct jw_error *err, const struct journal *journal, bool quick,
				   enum jw_baked_state *ret_state)
{
	struct jw_error why;
	struct os_stat stat;
	struct digest digest;
	bool own;

	if (check_journals(err, journal->file, journal->path))
		return -1;
	if (quick && !os_stat(NULL, journal->path, &stat) && stat.size_bytes == journal->size_after &&
		stat.mtime_ns == journal->mtime_ns) {
		*ret_state = JW_BAKED_SOUND;
		return 0;
	}
	if (hash_library(&why, journal->path, &digest, NULL)) {
		if (why.code != JW_ERR_NOT_FOUND)
			return error_copy(err, &why);
		*ret_state = JW_BAKED_GONE;
		return 0;
	}
	if (digest_equal(&digest, &journal->after)) {
		*ret_state = JW_BAKED_SOUND;
		return 0;
	}
	if (digest_equal(&digest, &journal->before)) {
		*ret_state = JW_BAKED_ORIGINAL;
		return 0;
	}
	if (is_packages_own(err, journal, &own))
		return -1;
	*ret_state = own ? JW_BAKED_REPLACED : JW_BAKED_CHANGED;
	return 0;
}

static char *next_file(struct jw_error *err, const struct in_place *in_place)
{
	return mem_printf(err, "%s.next", in_place->journal_file);
}

/* A journal that a crash has left: the library is what it tells of, or was not replaced yet. */
static int settle_next(struct jw_error *err, const struct in_place *in_place, const char *next)
{
	enum jw_baked_state state = JW_BAKED_CHANGED;
	struct journal journal = {0};
	struct jw_error why;
	bool there;
	int result = 0;

	if (os_look(err, next, &there))
		return -1;
	if (!there)
		return 0;
	if (!journal_read(&why, next, &journal))
		result = !strcmp(journal.path, in_place->library)
					 ? in_place_state(err, &journal, false, &state)
					 : 0;
	else if (why.code != JW_ERR_FORMAT)
		return error_copy(err, &why);
	journal_free(&journal);
	if (result)
		return -1;
	if (state != JW_BAKED_SOUND)
		return os_remove(err, next);
	if (os_rename(err, next, in_place->journal_file))
		return -1;
	os_sync_names(in_place->journal_file);
	return 0;
}

/* Only in the RECORD that lists the library, and only its row: a journal may name any other. */
static int adapt_record(struct jw_error *err, const struct journal *journal, bool baked)
{
	struct package_row row;
	const char *wanted = baked ? journal->row_after : journal->row_before;
	int result = 0;

	if (!journal->record || !wanted)
		return 0;
	if (package_row_find(err, journal->path, &row))
		return -1;
	if (row.row && !strcmp(row.record, journal->record) && package_row_same(row.row, wanted))
		result = package_row_replace(err, row.record, wanted);
	package_row_free(&row);
	return result;
}

static int read_state(struct jw_error *err, struct in_place *in_place)
{
	bool there;

	if (os_look(err, in_place->journal_file, &there))
		return -1;
	if (there ? journal_read(err, in_place->journal_file, &in_place->journal)
			  : journal_find(err, in_place->state_dir, in_place->library, &in_place->journal))
		return -1;
	if (!in_place->journal.path)
		return 0;
	if (strcmp(in_place->journal.path, in_place->library) != 0)
		return error_set(err, JW_ERR_FORMAT, "%s: the journal is of another library, %s",
						 in_place->journal_file, in_place->journal.path);
	if (in_place_state(err, &in_place->journal, false, &in_place->state))
		return -1;
	/* What a crash has left undone. A RECORD that cannot be written is told where it has to be. */
	if (in_place->state == JW_BAKED_SOUND || in_place->state == JW_BAKED_ORIGINAL)
		(void)adapt_record(NULL, &in_place->journal, in_place->state == JW_BAKED_SOUND);
	return 0;
}

/* ---- one library */

/* A link to a file of its own folder leads to the library (libx.so to libx.so.1); one to another
 * folder may lead to what others use as well, such as an installer's cache. */
static int check_folder(struct jw_error *err, const char *path, const char *folder,
						const char *real)
{
	char *above = os_dir_name(err, real);
	int result = above ? 0 : -1;

	if (above && strcmp(above, folder) != 0)
		result = error_set(err, JW_ERR_UNSUPPORTED,
						   "%s: is a link to %s: name that, if it may be changed", path, real);
	else if (above && !text_is_utf8(real, strlen(real)))
		result =
			error_set(err, JW_ERR_UNSUPPORTED, "%s: the path is not UTF-8: bake a copy (-o)", path);
	mem_free(above);
	return result;
}

/* A library that is gone, even with its folder, still has a journal. */
static int resolve_library(struct jw_error *err, const char *path, char **ret_library)
{
	char *folder = os_dir_name(err, path), *real_folder = NULL, *real = NULL;
	struct jw_error why = {0};
	bool there;
	int result = -1;

	if (folder && os_real_path(&why, folder, &real_folder)) {
		real = why.code == JW_ERR_NOT_FOUND && os_is_absolute(path) ? mem_string(&why, path) : NULL;
		result = real ? 0 : error_copy(err, &why);
	} else if (!folder || os_look(err, path, &there)) {
		result = -1;
	} else if (!there) {
		real = os_join(err, real_folder, os_base_name(path));
		result = real ? 0 : -1;
	} else if (!os_real_path(err, path, &real)) {
		result = check_folder(err, path, real_folder, real);
	}
	if (!result)
		*ret_library = real;
	else
		mem_free(real);
	mem_free(folder);
	mem_free(real_folder);
	return result;
}

static void sweep_copies(const struct in_place *in_place)
{
	char *folder = os_dir_name(NULL, in_place->library);

	if (folder)
		os_sweep(folder, os_base_name(in_place->prefix), OS_MADE_FORM, OS_REGULAR, 0);
	mem_free(folder);
}

static int name_files(struct jw_error *err, struct in_place *in_place)
{
	const char *name = os_base_name(in_place->library);

	in_place->journal_file = journal_file(err, in_place->state_dir, in_place->library);
	in_place->prefix = mem_printf(err, "%.*s.%s.jitwarm-", (int)(name - in_place->library),
								  in_place->library, name);
	return in_place->journal_file && in_place->prefix ? 0 : -1;
}

int in_place_enter(struct jw_error *err, struct in_place *in_place, const char *path)
{
	char *next = NULL;
	int result = -1;

	in_place_leave(in_place);
	if (!resolve_library(err, path, &in_place->library) && !name_files(err, in_place) &&
		(next = next_file(err, in_place)))
		result = check_journals(err, in_place->journal_file, in_place->library) ||
				 settle_next(err, in_place, next) || read_state(err, in_place);
	mem_free(next);
	if (result) {
		in_place_leave(in_place);
		return -1;
	}
	sweep_copies(in_place);
	return 0;
}

void in_place_leave(struct in_place *in_place)
{
	mem_free(in_place->library);
	mem_free(in_place->prefix);
	mem_free(in_place->journal_file);
	journal_free(&in_place->journal);
	in_place->library = in_place->prefix = in_place->journal_file = NULL;
}

/* ---- replacing it */

/* `from` NULL: an empty one. */
static int begin_beside(struct jw_error *err, const struct in_place *in_place,
						const struct os_map *from, struct baked_copy *ret_copy)
{
	char *replaced;

	/* Refuses another account's link. */
	if (os_replaceable(err, in_place->library, &replaced))
		return -1;
	mem_free(replaced);
	return baked_copy_begin_beside(err, in_place->prefix, from, in_place->library, ret_copy);
}

int in_place_begin(struct jw_error *err, const struct in_place *in_place, const char *path,
				   const struct os_map *from, const char *output, struct baked_copy *ret_copy)
{
	return in_place ? begin_beside(err, in_place, from, ret_copy)
					: baked_copy_begin(err, path, from, output, ret_copy);
}

/* The copy takes the library's place. Windows replaces no file that is mapped. */
static int take_place(struct jw_error *err, struct baked_copy *copy, struct os_map *from)
{
	const struct os_stat was = from->stat;
	int result;

	if (os_copy_rights(err, copy->output, copy->part) || os_file_sync(err, copy->file))
		return -1;
	os_file_close(copy->file);
	copy->file = NULL;
	os_map_close(from);
	result = baked_copy_check(err, copy, &was) || os_rename(err, copy->part, copy->output);
	if (result)
		return -1;
	mem_free(copy->part);
	copy->part = NULL;
	os_sync_names(copy->output);
	return 0;
}

static int fill_rest(struct jw_error *err, struct journal *journal)
{
	struct digest digest;
	char text[DIGEST_TEXT_SIZE];

	if (package_row_rest(err, journal->record, journal->row_before, &digest))
		return -1;
	digest_text(text, &digest);
	journal->record_rest = mem_string(err, text);
	return journal->record_rest ? 0 : -1;
}

struct jw_driver in_place_first_driver(const struct in_place *in_place, struct jw_driver from)
{
	const struct journal *former = &in_place->journal;

	return former->path && in_place->state == JW_BAKED_SOUND &&
				   gpu_code_is_newer(&former->from, &from)
			   ? former->from
			   : from;
}

/* Behind an earlier bake RECORD has that one's row. */
static int fill_row(struct jw_error *err, const struct in_place *in_place, struct journal *journal)
{
	const struct journal *former = &in_place->journal;
	struct package_row row;

	if (package_row_find(err, in_place->library, &row))
		return -1;
	mem_free(row.folder);
	journal->record = row.record;
	journal->row_before = row.row;
	if (row.row && fill_rest(err, journal))
		return -1;
	if (!row.row || !former->path || in_place->state != JW_BAKED_SOUND || !former->row_before)
		return 0;
	mem_free(journal->row_before);
	journal->row_before = mem_string(err, former->row_before);
	return journal->row_before ? 0 : -1;
}

static int fill_journal(struct jw_error *err, const struct in_place *in_place,
						struct baked_copy *copy, struct journal *journal)
{
	struct os_stat stat;

	if (os_file_stat(err, copy->file, &stat) || fill_row(err, in_place, journal))
		return -1;
	journal->path = mem_string(err, in_place->library);
	journal->driver = mem_string(err, in_place->driver);
	journal->targets = mem_string(err, in_place->targets);
	journal->kept = mem_string(err, in_place->kept);
	journal->drop_ptx = in_place->drop_ptx;
	journal->any_owner = in_place->any_owner;
	journal->from = in_place_first_driver(in_place, copy->loads_from);
	journal->when_s = os_now_s();
	journal->mtime_ns = stat.mtime_ns;
	return journal->path && journal->driver && journal->targets && journal->kept ? 0 : -1;
}

static int write_next(struct jw_error *err, const struct in_place *in_place,
					  struct baked_copy *copy, const struct os_map *from, const char *next,
					  struct journal *journal)
{
	const bool baked = in_place->journal.path && in_place->state == JW_BAKED_SOUND;
	struct original *original;
	struct os_map to;
	int result;

	if (os_map_open(err, copy->part, &to))
		return -1;
	result = original_open(err, from, baked ? &in_place->journal : NULL, &original);
	if (!result) {
		result = journal_write(err, next, original, &to, journal) || journal_prove(err, next, &to);
		/* The library was looked at before it was mapped. */
		if (!result && baked && !digest_equal(&journal->before, &in_place->journal.before))
			result = error_set(err, JW_ERR_IO, "%s: was changed while it was baked: try again",
							   in_place->library);
		original_close(original);
	}
	os_map_close(&to);
	os_sync_names(next);
	return result ? -1 : 0;
}

/* RECORD is replaced last, when it is too late. */
static int check_record_folder(struct jw_error *err, const struct journal *journal)
{
	char *folder = journal->record ? os_dir_name(err, journal->record) : NULL;
	int result = journal->record && (!folder || os_may_write(err, folder)) ? -1 : 0;

	mem_free(folder);
	return result;
}

static int put_with_journal(struct jw_error *err, const struct in_place *in_place,
							struct baked_copy *copy, struct os_map *from, const char *next)
{
	struct journal journal = {0};
	bool taken = false;
	int result = fill_journal(err, in_place, copy, &journal) ||
				 check_record_folder(err, &journal) ||
				 write_next(err, in_place, copy, from, next, &journal);

	if (!result) {
		result = take_place(err, copy, from);
		taken = !result;
	}
	if (!taken)
		(void)os_remove(NULL, next);
	result = result || os_rename(err, next, in_place->journal_file);
	if (!result) {
		const char *former = in_place->journal.file;

		os_sync_names(in_place->journal_file);
		if (former && strcmp(former, in_place->journal_file) != 0)
			(void)os_remove(NULL, former);
		result = adapt_record(err, &journal, true);
	}
	journal_free(&journal);
	return result ? -1 : 0;
}

int in_place_put(struct jw_error *err, const struct in_place *in_place, struct baked_copy *copy,
				 struct os_map *from)
{
	char *next;
	int result;

	if (!in_place)
		return baked_copy_finish(err, copy, from->stat.mode);
	next = next_file(err, in_place);
	result = next ? put_with_journal(err, in_place, copy, from, next) : -1;

	mem_free(next);
	baked_copy_drop(copy);
	return result;
}

/* ---- and back */

static int write_original(struct jw_error *err, const struct journal *journal,
						  const struct os_map *from, struct os_file *to)
{
	crypto_generichash_state state;
	struct original *original;
	struct digest digest;
	const uint8_t *piece;
	uint64_t at = 0;
	size_t size = 1;
	int result = original_open(err, from, journal, &original);

	if (result)
		return -1;
	(void)crypto_generichash_init(&state, NULL, 0, DIGEST_SIZE);
	while (!result && size) {
		result =
			original_next(err, original, &piece, &size) || os_file_write(err, to, at, piece, size);
		if (!result)
			(void)crypto_generichash_update(&state, piece, size);
		at += result ? 0 : size;
	}
	original_close(original);
	(void)crypto_generichash_final(&state, digest.bytes, DIGEST_SIZE);
	if (!result && !digest_equal(&digest, &journal->before))
		result = error_set(err, JW_ERR_FORMAT, "%s: the journal is damaged", journal->file);
	return result ? -1 : 0;
}

static int restore_original(struct jw_error *err, const struct in_place *in_place)
{
	struct baked_copy copy = {0};
	struct os_map from;
	int result;

	if (os_map_open(err, in_place->library, &from))
		return -1;
	result = begin_beside(err, in_place, NULL, &copy) ||
			 write_original(err, &in_place->journal, &from, copy.file) ||
			 take_place(err, &copy, &from);
	os_map_close(&from);
	baked_copy_drop(&copy);
	return result ? -1 : 0;
}

int in_place_undo(struct jw_error *err, const struct in_place *in_place)
{
	const enum jw_baked_state state = in_place->state;

	if (state == JW_BAKED_CHANGED)
		return error_set(err, JW_ERR_UNSUPPORTED,
						 "%s: was changed since it was baked: it stays as it is",
						 in_place->library);
	if (state == JW_BAKED_SOUND && restore_original(err, in_place))
		return -1;
	if ((state == JW_BAKED_SOUND || state == JW_BAKED_ORIGINAL) &&
		adapt_record(err, &in_place->journal, false))
		return -1;
	if (os_remove(err, in_place->journal.file))
		return -1;
	os_sync_names(in_place->journal.file);
	return 0;
}
