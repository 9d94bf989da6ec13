#include "bake/in_place.h"

#include <string.h>

#include "bake/package_row.h"
#include "base/mem.h"
#include "base/text.h"
#include "gpu/rules.h"
#include "os/clock.h"
#include "os/folders.h"

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

static bool is_original_of(const struct journals *journals, const char *file)
{
	bool is = false;

	for (size_t i = 0; !is && i < journals->count; i++) {
		char *path = journals->items[i].path ? journal_original(NULL, &journals->items[i]) : NULL;

		/* One that cannot be read may lead to any of them. */
		is = !path || !strcmp(path, file);
		mem_free(path);
	}
	return is;
}

/* A folder of that name may hold files that are not jitwarm's. */
static bool is_leftover(const struct journals *journals, const char *file)
{
	static const char *const forms[] = {"%.original", "%.original" OS_MADE_FORM,
										"%-%.journal" OS_MADE_FORM};
	bool is = false;

	for (size_t i = 0; i < sizeof forms / sizeof *forms; i++)
		is = is || text_has_form(os_base_name(file), forms[i]);
	return is && !is_original_of(journals, file);
}

/* Removes originals that no journal leads to, and what killed runs have begun. */
static void sweep_originals(const char *state_dir)
{
	struct journals journals = {0};
	struct os_names names = {0};
	char *folder = journal_folder(NULL, state_dir);

	if (folder && !os_list(NULL, folder, &names) && !journals_read(NULL, state_dir, &journals))
		for (size_t i = 0; i < names.count; i++) {
			char *file = os_join(NULL, folder, names.items[i]);

			if (file && is_leftover(&journals, file))
				(void)os_remove(NULL, file);
			mem_free(file);
		}
	journals_free(&journals);
	os_names_free(&names);
	mem_free(folder);
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
	sweep_originals(in_place.state_dir);
	*ret_in_place = in_place;
	return 0;
}

static void in_place_leave(struct in_place *in_place)
{
	mem_free(in_place->library);
	journals_free(&in_place->journals);
	in_place->library = NULL;
	in_place->journal = NULL;
}

void in_place_close(struct in_place *in_place)
{
	in_place_leave(in_place);
	os_file_close(in_place->lock);
	mem_free(in_place->state_dir);
	*in_place = (struct in_place){0};
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

/* Removes the library's journals but `but`. */
static int drop_journals(struct jw_error *err, const struct in_place *in_place, const char *but)
{
	int result = 0;

	for (size_t i = 0; !result && i < in_place->journals.count; i++) {
		const struct journal *journal = &in_place->journals.items[i];

		if (journal->path && !strcmp(journal->path, in_place->library) &&
			(!but || strcmp(journal->file, but) != 0)) {
			result = os_remove(err, journal->file);
			os_sync_names(journal->file);
		}
	}
	return result;
}

static int read_library_state(struct jw_error *err, struct in_place *in_place)
{
	char *folder = journal_folder(err, in_place->state_dir);
	int result = !folder || journal_check_writers(err, folder, in_place->library) ||
				 journals_read(err, in_place->state_dir, &in_place->journals) ||
				 journals_find(err, &in_place->journals, in_place->library, false,
							   &in_place->journal, &in_place->state);

	mem_free(folder);
	/* What a crash has left undone. A RECORD that cannot be written is told where it has to be. */
	if (!result && in_place->journal &&
		(in_place->state == JW_BAKED_SOUND || in_place->state == JW_BAKED_ORIGINAL)) {
		(void)drop_journals(NULL, in_place, in_place->journal->file);
		(void)adapt_record(NULL, in_place->journal, in_place->state == JW_BAKED_SOUND);
	}
	return result ? -1 : 0;
}

int in_place_enter(struct jw_error *err, struct in_place *in_place, const char *path)
{
	in_place_leave(in_place);
	if (resolve_library(err, path, &in_place->library))
		return -1;
	if (read_library_state(err, in_place)) {
		in_place_leave(in_place);
		return -1;
	}
	os_sweep_beside(in_place->library, 0);
	return 0;
}

/* Yes where that cannot be told. */
static bool has_journal(const struct journals *journals, const char *library)
{
	struct journal *journal;
	enum jw_baked_state state;

	return journals_find(NULL, journals, library, false, &journal, &state) || journal;
}

bool in_place_was_baked(const struct in_place *in_place, const char *path)
{
	char *folder = os_dir_name(NULL, path), *real_folder = NULL, *real = NULL, *named = NULL;
	struct journals journals;
	bool baked = journals_read(NULL, in_place->state_dir, &journals) != 0;

	if (!baked) {
		baked = has_journal(&journals, path) ||
				(!os_real_path(NULL, path, &real) && has_journal(&journals, real)) ||
				(folder && !os_real_path(NULL, folder, &real_folder) &&
				 (named = os_join(NULL, real_folder, os_base_name(path))) &&
				 has_journal(&journals, named));
		journals_free(&journals);
	}
	mem_free(named);
	mem_free(real);
	mem_free(real_folder);
	mem_free(folder);
	return baked;
}

static bool is_sound(const struct in_place *in_place)
{
	return in_place->journal && in_place->state == JW_BAKED_SOUND;
}

/* ---- the original */

/* From where it is: the library itself (`journal` NULL), or the file that was kept. */
static int write_original(struct jw_error *err, const struct journal *journal, const char *library,
						  struct os_file *to)
{
	char *from = journal ? journal_original(err, journal) : mem_string(err, library);
	struct os_file *file = NULL;
	uint64_t size;
	int result = from ? os_file_open(err, from, OS_OPEN_READ, &file) : -1;

	if (!result)
		result = os_file_size(err, file, &size) || os_file_copy(err, file, to, size);
	os_file_close(file);
	mem_free(from);
	return result ? -1 : 0;
}

static int check_original(struct jw_error *err, const char *path, const struct journal *journal)
{
	struct digest digest;

	if (journal_hash(err, path, &digest, NULL))
		return -1;
	return digest_equal(&digest, &journal->before)
			   ? 0
			   : error_set(err, JW_ERR_FORMAT, "%s: the kept original is damaged", journal->path);
}

/* Keeps the original of what is baked now, by `journal`, beside the state. One that is there may be
 * another library's, too. */
static int keep_original(struct jw_error *err, const struct in_place *in_place,
						 const struct journal *journal)
{
	const struct journal *former = is_sound(in_place) ? in_place->journal : NULL;
	char *path = journal_original(err, journal), *part = NULL;
	struct os_file *file = NULL;
	struct jw_error why;
	int result = -1;

	if (!path)
		return -1;
	if (!check_original(&why, path, journal)) {
		result = 0;
	} else if (former) {
		(void)error_copy(err, &why);
	} else if (!os_file_make(err, path, &file, &part)) {
		result = write_original(err, NULL, in_place->library, file) || os_file_sync(err, file);
		os_file_close(file);
		result = result || check_original(err, part, journal) || os_rename(err, part, path);
		if (result)
			(void)os_remove(NULL, part);
		os_sync_names(path);
	}
	mem_free(part);
	mem_free(path);
	return result ? -1 : 0;
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
	return baked_copy_begin_beside(err, from, in_place->library, ret_copy);
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
	result = baked_copy_check(err, copy->path, &was) || os_rename(err, copy->part, copy->output);
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
	return is_sound(in_place) && gpu_code_is_newer(&in_place->journal->from, &from)
			   ? in_place->journal->from
			   : from;
}

/* After an earlier bake RECORD has that one's row. */
static int fill_row(struct jw_error *err, const struct in_place *in_place, const uint8_t sha256[32],
					struct journal *journal)
{
	const struct journal *former = is_sound(in_place) ? in_place->journal : NULL;
	struct package_row row;

	if (package_row_find(err, in_place->library, &row))
		return -1;
	mem_free(row.folder);
	journal->record = row.record;
	journal->row_before = row.row;
	if (!row.row)
		return 0;
	if (fill_rest(err, journal))
		return -1;
	if (former && former->row_before) {
		mem_free(journal->row_before);
		journal->row_before = mem_string(err, former->row_before);
	}
	if (journal->row_before)
		journal->row_after =
			package_row_with(err, journal->row_before, sha256, journal->size_after);
	return journal->row_after ? 0 : -1;
}

static int fill_journal(struct jw_error *err, const struct in_place *in_place,
						struct baked_copy *copy, const struct os_map *from, struct journal *journal)
{
	const struct journal *former = is_sound(in_place) ? in_place->journal : NULL;
	struct os_stat stat;
	uint8_t sha256[32];

	if (os_file_stat(err, copy->file, &stat) ||
		journal_hash(err, in_place->library, &journal->before, NULL) ||
		journal_hash(err, copy->part, &journal->after, sha256))
		return -1;
	/* The library was looked at before it was mapped. */
	if (former && !digest_equal(&journal->before, &former->after))
		return error_set(err, JW_ERR_IO, "was changed while it was baked: try again");
	journal->before = former ? former->before : journal->before;
	journal->size_before = former ? former->size_before : from->size;
	journal->size_after = stat.size_bytes;
	journal->path = mem_string(err, in_place->library);
	journal->driver = mem_string(err, in_place->driver);
	journal->targets = mem_string(err, in_place->targets);
	journal->from = in_place_first_driver(in_place, copy->loads_from);
	journal->when_s = os_now_s();
	journal->mtime_ns = stat.mtime_ns;
	return journal->path && journal->driver && journal->targets
			   ? fill_row(err, in_place, sha256, journal)
			   : -1;
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
							struct baked_copy *copy, struct os_map *from, struct journal *journal)
{
	if (fill_journal(err, in_place, copy, from, journal) || check_record_folder(err, journal) ||
		journal_name(err, in_place->state_dir, journal) || keep_original(err, in_place, journal) ||
		journal_write(err, journal))
		return -1;
	if (take_place(err, copy, from)) {
		(void)os_remove(NULL, journal->file);
		return -1;
	}
	return drop_journals(err, in_place, journal->file) || adapt_record(err, journal, true) ? -1 : 0;
}

int in_place_put(struct jw_error *err, const struct in_place *in_place, struct baked_copy *copy,
				 struct os_map *from)
{
	struct journal journal = {0};
	int result;

	if (!in_place)
		return baked_copy_finish(err, copy, from->stat.mode);
	result = put_with_journal(err, in_place, copy, from, &journal);
	journal_free(&journal);
	baked_copy_drop(copy);
	return result;
}

/* ---- and back */

static int restore_original(struct jw_error *err, const struct in_place *in_place)
{
	struct baked_copy copy = {0};
	struct os_map from;
	int result;

	if (os_map_open(err, in_place->library, &from))
		return -1;
	result = begin_beside(err, in_place, NULL, &copy) ||
			 write_original(err, in_place->journal, in_place->library, copy.file) ||
			 check_original(err, copy.part, in_place->journal) || take_place(err, &copy, &from);
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
		adapt_record(err, in_place->journal, false))
		return -1;
	if (drop_journals(err, in_place, NULL))
		return -1;
	sweep_originals(in_place->state_dir);
	return 0;
}
