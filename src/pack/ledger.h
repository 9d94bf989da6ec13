/* The marks that jitwarm keeps of the modules of a cache: a mark records that the driver has
 * refused a module, which would be compiled in vain at each run; or that a command of `run` had the
 * module of a place compiled, whichever driver is in use later.
 *
 * One file in the state directory for each cache directory. Missing, damaged and foreign files are
 * ignored. It is changed under a lock, so that no other process's changes are lost.
 *
 *     file    "JWLED" 0 u16 version   u32 number   mark…   u64 FNV-1a-64 of everything before it
 *             little endian
 *     mark    u64 module (ledger_module)   u64 result of the driver   u32 LEDGER_REFUSED
 *             u64 place (FNV-1a-64 of the path without links, member, offset, architecture and
 *             form)   u64 key   u32 LEDGER_USED
 *
 * Marks with another last number are skipped, and dropped when the file is written.
 */
#pragma once

#include <jitwarm/system.h>

#include "base/buf.h"
#include "base/cursor.h"
#include "base/set.h"
#include "plan/plan.h"

enum {
	LEDGER_MAX_MARKS = 1 << 16, /* 20 bytes each; the oldest are forgotten first */
	LEDGER_MAX_BYTES = 2 << 20,
};
#define LEDGER_USED    (UINT32_MAX - 2)
#define LEDGER_REFUSED (UINT32_MAX - 3)

struct ledger_item {
	uint64_t name, value; /* a module and the driver's result; or a place and a key */
	uint32_t kind;        /* LEDGER_REFUSED or LEDGER_USED */
};

struct ledger_list {
	struct ledger_item *items; /* oldest first, each name once */
	size_t count, capacity;
	struct set by_name;
};

struct ledger {
	struct ledger_list marks;
	bool changed;
	bool partial; /* the file could not be read, so it must not be overwritten */
	/* For the current plan, a hash of each of its files. */
	const struct plan *plan;
	uint64_t *files;
};

/* Opens a ledger. Never fails: an unreadable ledger is empty. `state_dir` or `cache_dir` may be
 * NULL. */
void ledger_open(struct ledger *ledger, const char *state_dir, const char *cache_dir);
void ledger_close(struct ledger *ledger);
/* Reads a ledger from the bytes of such a file, which may be hostile. */
void ledger_parse(struct ledger *ledger, const void *data, size_t size);
int ledger_format(struct jw_error *err, const struct ledger *ledger, struct buf *bytes);

/* Returns the ledger's folder for this system's cache; NULL without a state directory. A cache that
 * exists for one run only has none of its own. */
const char *ledger_home(const struct jw_system *system);

/* Sets the plan for the calls below; it must outlive them. */
void ledger_begin(struct ledger *ledger, const struct plan *plan);
/* Marks the modules of the plan that are `used`, and writes the file if there is something new.
 * Ignores a failure. */
void ledger_note_used(const struct ledger *ledger, const char *state_dir);
/* Sets `used` of the plan's modules that have such a mark; returns their number. */
size_t ledger_find_used(const struct ledger *ledger, struct plan *plan);

/* Returns the number of a module and its driver, which no other module can be given; 0 if its key
 * is unknown. */
uint64_t ledger_module(const struct plan_module *module);
/* Returns the result with which the driver has refused the module of that number; 0 if none is
 * recorded. */
unsigned ledger_refused(const struct ledger *ledger, uint64_t module);

/* Changes the marks in the file under the lock of its folder: new marks, which replace those of the
 * same modules, and modules whose marks are cleared. JW_ERR_NOT_FOUND if `state_dir` is NULL. */
struct ledger_new_mark {
	uint64_t module;
	unsigned result; /* the result with which the driver has refused the module */
};
struct ledger_change {
	const struct ledger_new_mark *marks;
	size_t mark_count;
	const uint64_t *cleared;
	size_t cleared_count;
};
/* Adds and removes marks under the ledger's lock. */
int ledger_change_marks(struct jw_error *err, const char *state_dir, const char *cache_dir,
						const struct ledger_change *change);

/* ---- for ledger.c and tests */

/* NULL if the list has no such item. */
struct ledger_item *ledger_item(const struct ledger_list *list, uint64_t name);
/* Adds an item, or replaces the one with its name. */
int ledger_put(struct jw_error *err, struct ledger_list *list, size_t most,
			   const struct ledger_item *item);
/* Returns the path of a cache's ledger, which the caller frees; NULL without a state directory. */
char *ledger_file(struct jw_error *err, const char *state_dir, const char *cache_dir);
/* Reads a ledger; a missing one is empty, and one that cannot be read is empty and partial. */
void ledger_read(struct ledger *ledger, const char *path);
int ledger_write(struct jw_error *err, const struct ledger *ledger, const char *path);
struct os_file;
/* Locks a ledger, so that one process at a time writes it. JW_ERR_BUSY if another process holds the
 * lock for two seconds; then nothing may be written, since that process's marks would be lost. NULL
 * if the file system has no locks. os_file_close releases the lock. */
int ledger_lock(struct jw_error *err, const char *state_dir, struct os_file **ret_lock);
