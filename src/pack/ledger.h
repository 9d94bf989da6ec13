/* The entries that a cache has held, as far as jitwarm has seen them: for each module of a file its
 * entry and that entry's driver. They explain why a module is cold that was warm: the driver has
 * changed, the file has changed, or the entry is gone.
 *
 * One file in the state directory for each cache directory. Missing, damaged and foreign parts are
 * ignored. It is changed under a lock, so that nothing of another process is lost.
 *
 *     file    "JWLED" 0 u16 version   u32 stamps, records   u8 reserved[172] (0)
 *             stamp…   record…   [marks]   u64 FNV-1a-64 of all that stands before it
 *             little endian
 *     stamp   char[19], the first one 0x80 higher where entries were made ahead for that driver
 *     record  u64 place (FNV-1a-64 of the path without links, member, offset, architecture and
 *             form)   u64 key   u8 stamp (its number)   u8[3] 0   u32, unused
 *     marks   u32 number   mark…
 *     mark    u64 key   u64 result of the driver   u32 LEDGER_REFUSED
 *
 * Former versions kept in what is reserved, and in a record's last number, how a cache had lost
 * entries.
 *
 * A mark says that the driver of that key has refused the module, which would be compiled in vain
 * at each run. Marks with another last number, and what follows the marks, are skipped, and dropped
 * when the file is written: former versions had marks of other kinds there */
#pragma once

#include <jitwarm/system.h>

#include "base/buf.h"
#include "base/cursor.h"
#include "base/set.h"
#include "cache/stamp.h"
#include "plan/plan.h"

enum {
	LEDGER_MAX_STAMPS = 64,
	LEDGER_MAX_RECORDS = 1 << 20, /* of 24 bytes; the oldest are forgotten first */
	LEDGER_MAX_BYTES = 32 << 20,
	LEDGER_MAX_MARKS = 1 << 16, /* of 20 bytes; the oldest are forgotten first */
};
#define LEDGER_REFUSED (UINT32_MAX - 1)

/* A record: a place, its entry's key, and that entry's driver. A mark: a key, the driver's result,
 * and LEDGER_REFUSED. */
struct ledger_item {
	uint64_t name, value;
	uint32_t stamp;
};

struct ledger_list {
	struct ledger_item *items; /* oldest first, each name once */
	size_t count, capacity;
	struct set by_name;
};

struct ledger {
	char stamps[LEDGER_MAX_STAMPS][CACHE_STAMP_SIZE + 1];
	bool ahead[LEDGER_MAX_STAMPS]; /* that driver is another machine's alone */
	size_t stamp_count;
	struct ledger_list records, marks;
	bool changed;
	bool partial;   /* its file could not be read: it is not written over it */
	bool elsewhere; /* the caller sets it: the plan's driver is another machine's */
	/* For the current plan: a hash for each of its files. */
	const struct plan *plan;
	uint64_t *files;
};

/* Never fails: an unreadable ledger is empty. `state_dir` or `cache_dir` may be NULL. */
void ledger_open(struct ledger *ledger, const char *state_dir, const char *cache_dir);
void ledger_close(struct ledger *ledger);
/* From such a file's bytes, which may be hostile. */
void ledger_parse(struct ledger *ledger, const void *data, size_t size);
int ledger_format(struct jw_error *err, const struct ledger *ledger, struct buf *bytes);

/* The ledger's file for this system's cache; NULL without a state directory. A cache that exists
 * for one run only has no history. */
const char *ledger_home(const struct jw_system *system);

/* Sets the plan for the calls below; it must outlive them. */
void ledger_begin(struct ledger *ledger, const struct plan *plan);
/* NULL if nothing is known about that module. */
const struct ledger_item *ledger_find(const struct ledger *ledger,
									  const struct plan_module *module);
/* Records every module of the plan that is warm (`reread_damaged`: or has its entry by now), and
 * writes the file if there is something new. Ignores a failure. */
void ledger_note(struct ledger *ledger, const char *state_dir, bool reread_damaged);

/* The result with which the driver has refused the module of that key; 0: it is not known to. */
unsigned ledger_refused(const struct ledger *ledger, uint64_t key);

/* Changes the file's marks, under the lock of its folder: new marks, which replace those of the
 * same keys, and keys whose marks are cleared. A state_dir of NULL is JW_ERR_NOT_FOUND. */
struct ledger_new_mark {
	uint64_t key;
	unsigned result; /* of the driver, which has refused the module */
};
struct ledger_change {
	const struct ledger_new_mark *marks;
	size_t mark_count;
	const uint64_t *cleared;
	size_t cleared_count;
};
int ledger_change_marks(struct jw_error *err, const char *state_dir, const char *cache_dir,
						const struct ledger_change *change);

/* Inside, and for tests */

/* NULL if the list has no such item. */
struct ledger_item *ledger_item(const struct ledger_list *list, uint64_t name);
/* Adds one, or replaces the one of its name. */
int ledger_put(struct jw_error *err, struct ledger_list *list, size_t most,
			   const struct ledger_item *item);
uint32_t ledger_stamp_number(struct ledger *ledger, const char *stamp);
char *ledger_file(struct jw_error *err, const char *state_dir, const char *cache_dir);
void ledger_read(struct ledger *ledger, const char *path);
int ledger_write(struct jw_error *err, const struct ledger *ledger, const char *path);
struct os_file;
/* One process at a time writes a ledger. JW_ERR_BUSY where another one does so for two seconds:
 * then nothing may be written, since its marks would be lost. NULL where the file system has no
 * locks. os_file_close releases it. */
int ledger_lock(struct jw_error *err, const char *state_dir, struct os_file **ret_lock);
