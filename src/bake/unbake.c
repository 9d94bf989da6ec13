/* jw_unbake and jw_baked_look. */
#include <string.h>

#include "bake/in_place.h"
#include "base/cancel.h"
#include "base/mem.h"
#include "base/sized.h"
#include "os/folders.h"

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
	baked->from = journal->from;
	return baked->path && baked->targets && baked->driver ? 0 : -1;
}

/* ---- undo */

static int unbake_one(struct jw_error *err, struct in_place *in_place, const char *path,
					  struct jw_baked_list *list)
{
	struct jw_baked *baked = &list->items[list->count];

	if (in_place_enter(&baked->failed, in_place, path)) {
		if (baked->failed.code != JW_ERR_MEMORY && !in_place_was_baked(in_place, path)) {
			baked->failed = (struct jw_error){0};
			return 0;
		}
		list->count++;
		baked->path = mem_string(err, path);
		return baked->path && baked->failed.code != JW_ERR_MEMORY ? 0
																  : error_copy(err, &baked->failed);
	}
	if (!in_place->journal)
		return 0;
	list->count++;
	if (fill_baked(err, in_place->journal, baked))
		return -1;
	baked->state = in_place->state;
	baked->undone = !in_place_undo(&baked->failed, in_place);
	return baked->failed.code == JW_ERR_MEMORY ? error_copy(err, &baked->failed) : 0;
}

/* What is gone, or has a journal that cannot be read, stays: its disk may be away. It comes last.
 */
static int unbake_all(struct jw_error *err, struct in_place *in_place,
					  const struct jw_cancel *cancel, struct jw_baked_list **ret_list)
{
	struct jw_baked_list *looked, *list;
	int result = 0;

	if (jw_baked_look(err, &looked))
		return -1;
	*ret_list = list = new_list(err, looked->count);
	for (size_t i = 0; list && !result && i < looked->count; i++) {
		const struct jw_baked *baked = &looked->items[i];

		if (!baked->failed.code && baked->state != JW_BAKED_GONE)
			result = cancel_check(err, cancel) || unbake_one(err, in_place, baked->path, list);
	}
	for (size_t i = 0; list && !result && i < looked->count; i++) {
		struct jw_baked *baked = &looked->items[i];

		if (baked->failed.code || baked->state == JW_BAKED_GONE) {
			list->items[list->count++] = *baked;
			*baked = (struct jw_baked){0};
		}
	}
	jw_baked_list_free(looked);
	return list && !result ? 0 : -1;
}

static int unbake_paths(struct jw_error *err, struct in_place *in_place,
						const struct jw_unbake_options *options, struct jw_baked_list **ret_list)
{
	struct jw_baked_list *list = *ret_list = new_list(err, options->path_count);
	int result = list ? 0 : -1;

	for (size_t i = 0; !result && i < options->path_count; i++)
		result = cancel_check(err, &options->cancel) ||
				 unbake_one(err, in_place, options->paths[i], list);
	return result;
}

int jw_unbake(struct jw_error *err, const struct jw_unbake_options *options,
			  struct jw_baked_list **ret_list)
{
	options = SIZED(err, options, struct jw_unbake_options);
	struct in_place in_place;
	struct jw_baked_list *list = NULL;
	int result;

	if (!options || in_place_open(err, &in_place))
		return -1;
	result = options->paths ? unbake_paths(err, &in_place, options, &list)
							: unbake_all(err, &in_place, &options->cancel, &list);
	in_place_close(&in_place);
	if (result) {
		jw_baked_list_free(list);
		return -1;
	}
	*ret_list = list;
	return 0;
}

/* ---- list */

/* `why`: what cannot be read is told of, by this path. */
static int list_one(struct jw_error *err, const struct journal *journal, enum jw_baked_state state,
					const struct jw_error *why, const char *path, struct jw_baked_list *list)
{
	struct jw_baked *baked = &list->items[list->count++];

	if (!why->code) {
		baked->state = state;
		return fill_baked(err, journal, baked);
	}
	baked->failed = *why;
	baked->path = mem_string(err, path);
	return baked->path && why->code != JW_ERR_MEMORY ? 0 : error_copy(err, why);
}

/* A library that a crash, or a bake that goes on now, has left two journals has one of them. */
static int list_all(struct jw_error *err, const struct journals *journals, bool quick,
					struct jw_baked_list *list)
{
	int result = 0;

	for (size_t i = 0; !result && i < journals->count; i++) {
		struct journal *journal = &journals->items[i], *found = journal;
		enum jw_baked_state state = JW_BAKED_CHANGED;
		struct jw_error why = journal->why;

		if (journal->path)
			(void)journals_find(&why, journals, journal->path, quick, &found, &state);
		if (found == journal || why.code)
			result = list_one(err, journal, state, &why, journal->file, list);
	}
	return result;
}

/* Those of these libraries. A library that cannot be resolved was not baked. */
static int list_paths(struct jw_error *err, const struct journals *journals,
					  const char *const *paths, size_t count, struct jw_baked_list *list)
{
	int result = 0;

	for (size_t i = 0; !result && i < count; i++) {
		struct journal *journal = NULL;
		enum jw_baked_state state = JW_BAKED_CHANGED;
		struct jw_error why = {0};
		char *library;

		if (os_real_path(&why, paths[i], &library)) {
			result = os_holds_nothing(err, paths[i], &why);
			continue;
		}
		/* The damaged ones are told of below. */
		(void)journals_find(&why, journals, library, true, &journal, &state);
		if (why.code ? why.code != JW_ERR_FORMAT : journal != NULL)
			result = list_one(err, journal, state, &why, library, list);
		mem_free(library);
	}
	for (size_t i = 0; !result && i < journals->count; i++) {
		const struct journal *journal = &journals->items[i];

		if (!journal->path)
			result = list_one(err, journal, JW_BAKED_CHANGED, &journal->why, journal->file, list);
	}
	return result;
}

/* `paths` NULL: of all journals. */
static int list_baked(struct jw_error *err, const char *const *paths, size_t path_count, bool quick,
					  struct jw_baked_list **ret_list)
{
	struct journals journals = {0};
	struct jw_baked_list *list = NULL;
	char *state = NULL;
	int result = os_state_dir(err, &state);

	if (result || journals_read(err, state, &journals) ||
		!(list = new_list(err, path_count + journals.count)))
		result = -1;
	if (!result && journals.count)
		result = paths ? list_paths(err, &journals, paths, path_count, list)
					   : list_all(err, &journals, quick, list);
	journals_free(&journals);
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
