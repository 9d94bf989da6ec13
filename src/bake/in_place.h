/* Replaces a library by its baked copy, so that the original can always be had back.
 *
 *     in_place_open(err, &in_place);
 *     in_place_enter(err, &in_place, path);     for each library
 *         ... in_place_begin, writes into the copy, in_place_put; or in_place_undo ...
 *     in_place_leave(&in_place);
 *     in_place_close(&in_place);
 *
 * Order, each step on disk before the next one: the original beside the state; the journal; the
 * copy takes the library's place; RECORD. A crash leaves the original or the baked file, which
 * in_place_enter tells apart by its hash. */
#pragma once

#include "bake/baked_copy.h"
#include "bake/journal.h"

struct in_place {
	char *state_dir;
	struct os_file *lock;         /* one process of the account at a time */
	const char *driver, *targets; /* for the journal, like the next one; borrowed */
	/* Of the library at hand */
	char *library; /* without links */
	struct journals journals;
	struct journal *journal; /* one of them; NULL: it was not baked */
	enum jw_baked_state state;
};

/* JW_ERR_BUSY: another process bakes in place, too. JW_ERR_NOT_FOUND: no state directory. */
int in_place_open(struct jw_error *err, struct in_place *ret_in_place);
void in_place_close(struct in_place *in_place);

/* Removes what killed runs have left beside the library, ends what they have not done in RECORD,
 * and looks at the library's state. JW_ERR_UNSUPPORTED: a link out of its folder, a journal that
 * another account could write. */
int in_place_enter(struct jw_error *err, struct in_place *in_place, const char *path);

/* Begins the copy of the library, whose bytes are `from`; `in_place` NULL: at `output`. */
int in_place_begin(struct jw_error *err, const struct in_place *in_place, const char *path,
				   const struct os_map *from, const char *output, struct baked_copy *ret_copy);
/* Puts the finished copy into the library's place, or with `in_place` NULL to its own. Closes
 * `from` where it must. */
int in_place_put(struct jw_error *err, const struct in_place *in_place, struct baked_copy *copy,
				 struct os_map *from);

/* The first driver that loads the library at hand: `from` of what is written now, or a newer one
 * that an earlier bake needs. */
struct jw_driver in_place_first_driver(const struct in_place *in_place, struct jw_driver from);

/* Whether there may be a journal of a library that cannot be entered: of the file that a link leads
 * to, or of the one that the link has replaced. */
bool in_place_was_baked(const struct in_place *in_place, const char *path);

/* Restores the original, or drops a journal that is no longer needed. JW_ERR_UNSUPPORTED: the
 * library was changed since. */
int in_place_undo(struct jw_error *err, const struct in_place *in_place);
