/* Reading and writing the file of an inventory. */
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "os/clock.h"
#include "os/file.h"
#include "plan/inventory_state.h"

enum {
	KEEP_FILE = 64 << 20, /* beyond this size, records not used today are dropped */
	MOST_RECORDS = 1 << 24,
	VERSION = 1,
	HEAD_SIZE = 8,
};

static const char file_start[] = "inventory-", file_name[] = "inventory-" JITWARM_RULES;
/* Files of other versions are deleted after this many days without a write. */
enum { OTHERS_S = 60 * 86400 };

static const uint8_t head[HEAD_SIZE] = {'J', 'W', 'I', 'N', 'V', 0, VERSION, 0};

const uint8_t *inventory_body(const struct inventory *inventory, const struct inventory_slot *slot)
{
	return (slot->added ? inventory->added.data : inventory->old.data) + slot->offset;
}

int inventory_add_slot(struct jw_error *err, struct inventory *inventory,
					   const struct inventory_slot *slot)
{
	if (VEC_ROOM(err, inventory->slots, inventory->capacity, inventory->count, MOST_RECORDS) ||
		set_add(err, &inventory->index, slot->inode, inventory->count))
		return -1;
	inventory->slots[inventory->count++] = *slot;
	return 0;
}

/* Keeps the records before damage, and drops those behind it. */
static int read_records(struct jw_error *err, struct inventory *inventory)
{
	const uint8_t *data = inventory->old.data;
	struct cursor cursor = cursor_of(data, inventory->old.size);
	const uint8_t *start = cursor_take(&cursor, HEAD_SIZE);

	if (!start || memcmp(start, head, sizeof head) != 0)
		return 0;
	while (cursor_left(&cursor)) {
		uint32_t size = cursor_u32(&cursor);
		const uint8_t *body;
		struct record_file file;
		struct cursor inner;
		struct inventory_slot slot = {0};

		(void)cursor_u64(&cursor);
		body = cursor_take(&cursor, size);
		if (!body)
			break;
		inner = cursor_of(body, size);
		if (!record_read_file(&inner, &file))
			break;
		slot.device = file.device;
		slot.inode = file.inode;
		slot.offset = (size_t)(body - data);
		slot.size = size;
		slot.used_day = file.used_day;
		if (inventory_add_slot(err, inventory, &slot))
			return -1;
	}
	inventory->changed = cursor.overrun;
	return 0;
}

static struct inventory *inventory_new(struct jw_error *err)
{
	struct inventory *inventory = mem_alloc(err, sizeof *inventory);

	if (!inventory)
		return NULL;
	inventory->old = BUF_MAX(INVENTORY_MOST_FILE);
	inventory->added = BUF_MAX(INVENTORY_MOST_FILE);
	inventory->pending.images = BUF_MAX(INVENTORY_MOST_FILE);
	inventory->today = (uint32_t)(os_now_s() / 86400);
	return inventory;
}

int inventory_parse(struct jw_error *err, const void *data, size_t size,
					struct inventory **ret_inventory)
{
	struct inventory *inventory = inventory_new(err);

	if (!inventory)
		return -1;
	if ((size && buf_append(err, &inventory->old, data, size)) || read_records(err, inventory)) {
		inventory_close(inventory);
		return -1;
	}
	*ret_inventory = inventory;
	return 0;
}

int inventory_open(struct jw_error *err, const char *state_dir, struct inventory **ret_inventory)
{
	struct inventory *inventory = inventory_new(err);
	struct buf content;

	if (!inventory)
		return -1;
	inventory->state_dir = mem_string(err, state_dir);
	inventory->path = os_join(err, state_dir, file_name);
	if (!inventory->state_dir || !inventory->path)
		goto fail;
	if (!os_read_file(NULL, inventory->path, INVENTORY_MOST_FILE, &content)) {
		inventory->old = content;
		if (read_records(err, inventory))
			goto fail;
	}
	*ret_inventory = inventory;
	return 0;
fail:
	inventory_close(inventory);
	return -1;
}

void inventory_close(struct inventory *inventory)
{
	if (!inventory)
		return;
	buf_free(&inventory->old);
	buf_free(&inventory->added);
	buf_free(&inventory->pending.images);
	mem_free(inventory->pending.from.path);
	mem_free(inventory->slots);
	set_free(&inventory->index);
	mem_free(inventory->path);
	mem_free(inventory->state_dir);
	mem_free(inventory);
}

/* Writes records used today first, so that they survive when space runs out. */
static int write_records(struct jw_error *err, const struct inventory *inventory, bool today,
						 struct buf *file)
{
	for (size_t i = 0; i < inventory->count; i++) {
		const struct inventory_slot *slot = &inventory->slots[i];
		const uint8_t *body = inventory_body(inventory, slot);
		uint8_t bytes[INVENTORY_RECORD_HEAD];

		if (slot->gone || (slot->used_day == inventory->today) != today)
			continue;
		if (file->size + slot->size > KEEP_FILE)
			continue;
		store_u32(bytes, (uint32_t)slot->size);
		store_u64(bytes + 4, slot->added ? fnv_update(FNV_START, body, slot->size)
										 : load_u64(body - sizeof(uint64_t)));
		if (buf_append(err, file, bytes, sizeof bytes) || buf_append(err, file, body, slot->size))
			return -1;
	}
	return 0;
}

int inventory_save(struct jw_error *err, struct inventory *inventory)
{
	struct buf file = BUF_MAX(INVENTORY_MOST_FILE);
	int result = -1;

	if (!inventory->changed || !inventory->path)
		return 0;
	if (!buf_append(err, &file, head, sizeof head) && !write_records(err, inventory, true, &file) &&
		!write_records(err, inventory, false, &file) &&
		!os_make_dirs(err, inventory->state_dir, 0700))
		result = os_write_atomic(err, inventory->path, file.data, file.size);
	if (!result) {
		inventory->changed = false;
		/* For other versions; ours was written just now. */
		os_sweep(inventory->state_dir, file_start, "%", OS_REGULAR, OTHERS_S);
		os_sweep(inventory->state_dir, file_start, "%" OS_MADE_FORM, OS_REGULAR, OTHERS_S);
	}
	buf_free(&file);
	return result;
}
