/* jw_unbake and jw_baked_look. */
#include <string.h>

#include "bake/in_place.h"
#include "base/cancel.h"
#include "base/mem.h"
#include "base/sized.h"
#include "base/text.h"
#include "os/folders.h"

static const char journal_end[] = ".journal", next_end[] = ".next";

static struct jw_baked_list *new_list(struct jw_error *err, size_t most)
{
	struct jw_baked_list *list = mem_alloc(err, sizeof *list);

	if (!list)
		return NULL;
	list->size = sizeof *list;
	list->items = mem_array(err, most, sizeof *list->items);
	if (list->items)
		return list;
	mem_free(list);
	return NULL;
}

static void baked_free(struct jw_baked *baked)
{
	mem_free(baked->path);
	mem_free(baked->targets);
	mem_free(baked->driver);
	mem_free(baked->kept);
	*baked = (struct jw_baked){0};
}

void jw_baked_list_free(struct jw_baked_list *list)
{
	if (!list)
		return;
	for (size_t i = 0; i < list->count; i++)
		baked_free(&list->items[i]);
	mem_free(list->items);
	mem_free(list);
}

static int fill_baked(struct jw_error *err, const struct journal *journal, struct jw_baked *baked)
{
	baked->path = mem_string(err, journal->path);
	baked->targets = mem_string(err, journal->targets ? journal->targets : "");
	baked->driver = mem_string(err, journal->driver ? journal->driver : "");
	baked->when_s = journal->when_s;
	baked->size_before_bytes = journal->size_before;
	baked->size_after_bytes = journal->size_after;
	baked->drop_ptx = journal->drop_ptx;
	baked->any_owner = journal->any_owner;
	baked->from = journal->from;
	baked->kept = mem_string(err, journal->kept ? journal->kept : "");
	return baked->path && baked->targets && baked->driver && baked->kept ? 0 : -1;
}

/* ---- undo */

/* Yes where that cannot be told. */
static bool is_as_baked(const struct in_place *in_place, const char *library)
{
	struct journal journal = {0};
	const bool is = journal_find(NULL, in_place->state_dir, library, &journal) || journal.path;

	journal_free(&journal);
	return is;
}

/* The same, by its path. */
static bool has_journal(const struct in_place *in_place, const char *library)
{
	char *file = journal_file(NULL, in_place->state_dir, library),
		 *next = file ? mem_printf(NULL, "%s%s", file, next_end) : NULL;
	bool has = false, has_next = false;
	const bool told = next && !os_look(NULL, file, &has) && !os_look(NULL, next, &has_next);

	mem_free(next);
	mem_free(file);
	return !told || has || has_next;
}

/* Whether a library that cannot be entered was baked: the file that a link leads to, or the one
 * that the link has replaced. */
static bool was_baked(const struct in_place *in_place, const char *path)
{
	char *folder = os_dir_name(NULL, path), *real_folder = NULL, *real = NULL, *named = NULL;
	bool baked = has_journal(in_place, path);

	if (!baked && !os_real_path(NULL, path, &real))
		baked = has_journal(in_place, real) || is_as_baked(in_place, real);
	if (!baked && folder && !os_real_path(NULL, folder, &real_folder) &&
		(named = os_join(NULL, real_folder, os_base_name(path))))
		baked = has_journal(in_place, named);
	mem_free(named);
	mem_free(real);
	mem_free(real_folder);
	mem_free(folder);
	return baked;
}

static int unbake_one(struct jw_error *err, struct in_place *in_place, const char *path,
					  struct jw_baked_list *list)
{
	struct jw_baked *baked = &list->items[list->count];

	if (in_place_enter(&baked->failed, in_place, path)) {
		if (baked->failed.code != JW_ERR_MEMORY && !was_baked(in_place, path)) {
			baked->failed = (struct jw_error){0};
			return 0;
		}
		list->count++;
		baked->path = mem_string(err, path);
		return baked->path && baked->failed.code != JW_ERR_MEMORY ? 0
																  : error_copy(err, &baked->failed);
	}
	if (!in_place->journal.path)
		return 0;
	list->count++;
	if (fill_baked(err, &in_place->journal, baked))
		return -1;
	baked->state = in_place->state;
	baked->undone = !in_place_undo(&baked->failed, in_place);
	return baked->failed.code == JW_ERR_MEMORY ? error_copy(err, &baked->failed) : 0;
}

int jw_unbake(struct jw_error *err, const struct jw_unbake_options *options,
			  struct jw_baked_list **ret_list)
{
	options = SIZED(err, options, struct jw_unbake_options);
	struct in_place in_place;
	struct jw_baked_list *list;
	int result = 0;

	if (!options || in_place_open(err, &in_place))
		return -1;
	list = new_list(err, options->path_count);
	if (!list)
		result = -1;
	for (size_t i = 0; !result && i < options->path_count; i++)
		result = cancel_check(err, &options->cancel) ||
				 unbake_one(err, &in_place, options->paths[i], list);
	in_place_close(&in_place);
	if (result) {
		jw_baked_list_free(list);
		return -1;
	}
	*ret_list = list;
	return 0;
}

/* ---- list */

/* A crash, or a bake that goes on now, may have left the journal of a baked library with its first
 * name. */
static int read_newest(struct jw_error *err, const char *file, bool quick, struct journal *journal,
					   enum jw_baked_state *ret_state)
{
	struct jw_error why = {0};
	struct journal newer;
	char *path;

	if (journal_read(err, file, journal) || in_place_state(err, journal, quick, ret_state))
		return -1;
	if (text_ends(file, next_end) || *ret_state != JW_BAKED_CHANGED)
		return 0;
	path = mem_printf(err, "%s%s", file, next_end);
	if (!path)
		return -1;
	if (!journal_read(&why, path, &newer)) {
		enum jw_baked_state state;

		if (!in_place_state(&why, &newer, quick, &state) && state == JW_BAKED_SOUND) {
			journal_free(journal);
			*journal = newer;
			*ret_state = state;
		} else {
			journal_free(&newer);
		}
	}
	mem_free(path);
	return why.code == JW_ERR_MEMORY ? error_copy(err, &why) : 0;
}

static int list_journal(struct jw_error *err, const char *file, bool quick,
						struct jw_baked_list *list)
{
	struct jw_baked *baked = &list->items[list->count];
	const bool next = text_ends(file, next_end);
	char *final = NULL;
	struct journal journal = {0};
	bool there = false;
	int result = 0;

	if (next) {
		final = mem_string_n(err, file, strlen(file) - strlen(next_end));
		result = final ? os_look(err, final, &there) : -1;
	}
	if (!result && !there) {
		if (read_newest(&baked->failed, file, quick, &journal, &baked->state)) {
			baked->path = mem_string(err, file);
			list->count++;
			result = baked->path ? 0 : -1;
		} else if (!next || baked->state == JW_BAKED_SOUND) {
			list->count++;
			result = fill_baked(err, &journal, baked);
		}
	}
	journal_free(&journal);
	mem_free(final);
	return result;
}

static int list_folder(struct jw_error *err, const char *folder, const struct os_names *names,
					   bool quick, struct jw_baked_list *list)
{
	for (size_t i = 0; i < names->count; i++) {
		char *file;
		int result;

		if (names->kinds[i] != OS_REGULAR ||
			(!text_ends(names->items[i], journal_end) && !text_ends(names->items[i], next_end)))
			continue;
		file = os_join(err, folder, names->items[i]);
		result = file ? list_journal(err, file, quick, list) : -1;
		mem_free(file);
		if (result)
			return -1;
	}
	return 0;
}

/* The journals of these libraries. A library that cannot be resolved was not baked. */
static int list_paths(struct jw_error *err, const char *state_dir, const char *const *paths,
					  size_t count, struct jw_baked_list *list)
{
	for (size_t i = 0; i < count; i++) {
		struct journal former = {0};
		struct jw_error why = {0};
		char *library, *file, *next;
		bool there = false, there_next = false;
		int result;

		if (os_real_path(&why, paths[i], &library)) {
			if (os_holds_nothing(err, paths[i], &why))
				return -1;
			continue;
		}
		file = journal_file(err, state_dir, library);
		next = file ? mem_printf(err, "%s%s", file, next_end) : NULL;
		result = !next || os_look(err, file, &there) || os_look(err, next, &there_next);
		if (!result && !there && !there_next && journal_find(&why, state_dir, library, &former) &&
			why.code != JW_ERR_UNSUPPORTED)
			result = error_copy(err, &why);
		if (!result && (there || there_next || former.file))
			result = list_journal(err, former.file ? former.file : there ? file : next, true, list);
		journal_free(&former);
		mem_free(next);
		mem_free(file);
		mem_free(library);
		if (result)
			return -1;
	}
	return 0;
}

/* `paths` NULL: of all journals. */
static int list_baked(struct jw_error *err, const char *const *paths, size_t path_count, bool quick,
					  struct jw_baked_list **ret_list)
{
	struct os_names names = {0};
	struct jw_baked_list *list = NULL;
	struct jw_error why = {0};
	char *state = NULL, *folder = NULL;
	int result = os_state_dir(err, &state);

	folder = result ? NULL : journal_folder(err, state);
	if (!folder || (os_list(&why, folder, &names) && error_unless_missing(err, &why)))
		result = -1;
	if (!result && !(list = new_list(err, paths ? path_count : names.count)))
		result = -1;
	if (!result && names.count)
		result = paths ? list_paths(err, state, paths, path_count, list)
					   : list_folder(err, folder, &names, quick, list);
	os_names_free(&names);
	mem_free(folder);
	mem_free(state);
	if (result) {
		jw_baked_list_free(list);
		return -1;
	}
	*ret_list = list;
	return 0;
}

int jw_baked_look(struct jw_error *err, struct jw_baked_list **ret_list)
{
	return list_baked(err, NULL, 0, false, ret_list);
}

int jw_baked_find(struct jw_error *err, const char *const *paths, size_t path_count,
				  struct jw_baked_list **ret_list)
{
	return list_baked(err, paths, path_count, true, ret_list);
}
