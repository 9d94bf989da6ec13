/* Replaces a library by its baked copy, so that the original can always be had back.
 *
 *     in_place_open(err, &in_place);
 *     in_place_enter(err, &in_place, path);     for each library
 *         ... in_place_begin, writes into the copy, in_place_put; or in_place_undo ...
 *     in_place_leave(&in_place);
 *     in_place_close(&in_place);
 *
 * Order, each step on disk before the next one: copy; journal (.next); the copy takes the library's
 * place; the journal gets its name; RECORD. A crash leaves the original or the baked file, and
 * in_place_enter ends what was begun. */
#pragma once

#include <jitwarm/bake.h>

#include "bake/baked_copy.h"
#include "bake/journal.h"

struct in_place {
	char *state_dir;
	struct os_file *lock;         /* one process of the account at a time */
	const char *driver, *targets; /* for the journal, like the next two; borrowed */
	const char *kept;             /* "": none */
	bool drop_ptx, any_owner;
	/* Of the library at hand */
	char *library;          /* without links */
	char *prefix;           /* of the paths of unfinished copies beside it */
	char *journal_file;     /* its journal's path */
	struct journal journal; /* .path NULL: there is none */
	enum jw_baked_state state;
};

/* JW_ERR_BUSY: another process bakes in place, too. JW_ERR_NOT_FOUND: no state directory. */
int in_place_open(struct jw_error *err, struct in_place *ret_in_place);
void in_place_close(struct in_place *in_place);

/* Removes what killed runs have left beside the library, completes or drops their journal, and
 * looks at the library's state. JW_ERR_UNSUPPORTED: a link out of its folder, a journal that
 * another account could write. */
int in_place_enter(struct jw_error *err, struct in_place *in_place, const char *path);
void in_place_leave(struct in_place *in_place);

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

/* Restores the original, or drops a journal that is no longer needed. JW_ERR_UNSUPPORTED: the
 * library was changed since. */
int in_place_undo(struct jw_error *err, const struct in_place *in_place);

/* How the library of a journal is now. Reads it; `quick`: not where its size and time are the baked
 * file's. */
int in_place_state(struct jw_error *err, const struct journal *journal, bool quick,
				   enum jw_baked_state *ret_state);
