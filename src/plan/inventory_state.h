/* Shared by the parts of inventory.h: the file (inventory_file.c), records of files (inventory.c),
 * and the record in progress (inventory_note.c). */
#pragma once

#include "base/set.h"
#include "plan/inventory.h"
#include "plan/inventory_record.h"

enum {
	INVENTORY_MOST_FILE = 256 << 20,
	INVENTORY_RECORD_HEAD = 12, /* before a record's body: its size and sum */
};

/* A record. */
struct inventory_slot {
	uint64_t device, inode;
	size_t offset, size; /* of the body */
	bool added;          /* in `added`, else in `old` */
	bool gone;           /* replaced, or found damaged */
	bool verified;
	uint32_t used_day;
};

/* The file being read. */
struct inventory_pending {
	bool open;
	struct jw_found_file from; /* its path is ours */
	const struct analyse_question *question;
	struct buf images;
	uint32_t image_count;
	size_t known; /* slot of an earlier record, SET_NONE without */
	struct cursor earlier;
	uint32_t earlier_images; /* left in it */
};

struct inventory {
	char *path; /* NULL: not to be saved */
	char *state_dir;
	struct buf old, added;
	struct inventory_slot *slots;
	size_t count, capacity;
	struct set index; /* by inode */
	struct inventory_pending pending;
	uint32_t today;
	bool changed;
};

/* A record's bytes, behind its head. */
const uint8_t *inventory_body(const struct inventory *inventory, const struct inventory_slot *slot);
int inventory_add_slot(struct jw_error *err, struct inventory *inventory,
					   const struct inventory_slot *slot);
/* The sound record of an unchanged file, with a cursor behind its head; NULL if there is none. */
struct inventory_slot *inventory_find(struct inventory *inventory, const struct jw_found_file *from,
									  struct cursor *ret_cursor, struct record_file *ret_file);
