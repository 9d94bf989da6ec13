/* The inventory's file, which is read as hostile input:
 *
 *     file    "JWINV" 0 0   u8 size of a size_t, then records
 *     record  u32 size of what follows the sum   u64 FNV-1a-64 of it   u32 day of last use
 *             u32 size of the key   key   image…
 *     key     the file's identity; if it has images, also the question
 *     image   head   name of the member with its NUL   (piece   entry…)…   module…   count…
 *
 * A record's numbers are little endian. Those of an image are members of structs, as this machine
 * has them: no other program reads the file, and no other version of this one. Its name has the
 * hash of the sources that make it (JITWARM_RULES). */
#include "plan/inventory.h"

#include <string.h>

#include "base/cursor.h"
#include "base/mem.h"
#include "base/set.h"
#include "os/clock.h"
#include "os/file.h"

enum {
	MAX_FILE = 256 << 20,
	KEEP_FILE = 64 << 20, /* beyond this size, records that were not used today are dropped */
	MAX_KEY = 1 << 20,
	MAX_NAME = UINT16_MAX,
	HEAD_SIZE = 8,
	/* Places in a record: */
	SUM_AT = 4,
	DAY_AT = 12,
	KEY_SIZE_AT = 16,
	KEY_AT = 20,
	USED_DAYS =
		7, /* the precision of the day of last use, so that not every check rewrites the file */
};

static const char file_start[] = "inventory-", file_name[] = "inventory-" JITWARM_RULES;
/* Files of other versions are deleted after this many days without a write. */
enum { OTHERS_S = 60 * 86400 };

static const uint8_t head[HEAD_SIZE] = {'J', 'W', 'I', 'N', 'V', 0, 0, sizeof(size_t)};

struct inventory_slot {
	size_t at;     /* the place of its record in the bytes */
	size_t images; /* the place of its images */
	bool gone;     /* replaced, or found to be damaged */
	bool verified; /* its sum was verified, or this run made it */
};

/* The key of a file, and of a question about it. */
struct inventory_key {
	struct buf text;
	size_t file_size; /* the length of the file's part */
	uint64_t file_hash, hash;
};

struct inventory {
	char *path; /* NULL if it must not be saved */
	char *state_dir;
	struct buf bytes; /* the bytes of the file, and of records that were added */
	struct inventory_slot *slots;
	size_t count, capacity;
	struct set index; /* the records by their keys' FNV-1a-64 */
	uint32_t today;
	bool changed;
	/* The file that is being read: */
	bool open;
	struct inventory_key key;
	struct buf images;
};

/* ---- images, as members of structs; each table serves reading and writing */

struct image_member {
	size_t offset, size;
	uint32_t most; /* the largest value of a bool or an enum; 0 for any */
};
#define MEMBER(type, name, most)                                                                   \
	{                                                                                              \
		offsetof(struct type, name), sizeof((struct type *)0)->name, most                          \
	}
_Static_assert(sizeof(enum devcode_role) == sizeof(uint32_t), "enums have 4 bytes");

struct image_head {
	uint32_t modules;
	uint16_t member_size; /* with its NUL; 0 if not in an archive */
	uint32_t counts, pieces;
};
static const struct image_member head_members[] = {
	MEMBER(image_head, modules, 0),
	MEMBER(image_head, member_size, 0),
	MEMBER(image_head, counts, 0),
	MEMBER(image_head, pieces, 0),
};
static const struct image_member image_members[] = {
	MEMBER(analyse_image, scan.library, 1),        MEMBER(analyse_image, scan.format, DEVCODE_PTX),
	MEMBER(analyse_image, scan.size_bytes, 0),     MEMBER(analyse_image, scan.containers, 0),
	MEMBER(analyse_image, scan.inputs, 0),         MEMBER(analyse_image, scan.empty, 0),
	MEMBER(analyse_image, scan.damaged, 0),        MEMBER(analyse_image, scan.wrappers_known, 1),
	MEMBER(analyse_image, scan.runtime_shared, 1), MEMBER(analyse_image, unreadable, 0),
	MEMBER(analyse_image, scan.ptx_bytes, 0),      MEMBER(analyse_image, scan.runtime_cuda, 0),
	MEMBER(analyse_image, scan.needs, 0),
};
static const struct image_member count_members[] = {
	MEMBER(jw_scan_count, kind, 0),
	MEMBER(jw_scan_count, target, 0),
	MEMBER(jw_scan_count, entries, 0),
	MEMBER(jw_scan_count, stored_bytes, 0),
};
static const struct image_member piece_members[] = {
	MEMBER(jw_piece, containers, 0), MEMBER(jw_piece, role, DEVCODE_LOOSE),
	MEMBER(jw_piece, linked, 1),     MEMBER(jw_piece, empty, 1),
	MEMBER(jw_piece, edited, 1),     MEMBER(jw_piece, entry_count, 0),
};
static const struct image_member entry_members[] = {
	MEMBER(jw_piece_entry, kind, 0),        MEMBER(jw_piece_entry, target, 0),
	MEMBER(jw_piece_entry, text, 0),        MEMBER(jw_piece_entry, isa_major, 0),
	MEMBER(jw_piece_entry, isa_minor, 0),   MEMBER(jw_piece_entry, cuda, 0),
	MEMBER(jw_piece_entry, toolkit, 0),     MEMBER(jw_piece_entry, zstd, 1),
	MEMBER(jw_piece_entry, relocatable, 1), MEMBER(jw_piece_entry, damaged, 1),
	MEMBER(jw_piece_entry, modules, 0),     MEMBER(jw_piece_entry, ptx_bytes, 0),
	MEMBER(jw_piece_entry, cache_bytes, 0), MEMBER(jw_piece_entry, cost_ms, 0),
	MEMBER(jw_piece_entry, longest_ms, 0),
};
static const struct image_member module_members[] = {
	MEMBER(plan_module, target, 0),
	MEMBER(plan_module, drivers, 0),
	MEMBER(plan_module, superseded, 1),
	MEMBER(plan_module, role, DEVCODE_LOOSE),
	MEMBER(plan_module, form, CACHE_KEY_TEXT),
	MEMBER(plan_module, container_offset, 0),
	MEMBER(plan_module, container_bytes, 0),
	MEMBER(plan_module, entry_offset, 0),
	MEMBER(plan_module, payload_bytes, 0),
	MEMBER(plan_module, key, 0),
	MEMBER(plan_module, key_bytes, 0),
	MEMBER(plan_module, identity, 0),
	MEMBER(plan_module, features.statements, 0),
	MEMBER(plan_module, features.divisions, 0),
	MEMBER(plan_module, features.entries, 0),
	MEMBER(plan_module, features.line_info, 1),
	MEMBER(plan_module, features.managed, 1),
};
#define MEMBERS(table) (table), sizeof(table) / sizeof *(table)

static void write_members(struct buf *buf, const struct image_member *members, size_t count,
						  const void *object)
{
	for (size_t i = 0; i < count; i++)
		(void)buf_append(NULL, buf, (const uint8_t *)object + members[i].offset, members[i].size);
}

static bool read_row(struct cursor *cursor, const struct image_member *members, size_t count,
					 void *object)
{
	for (size_t i = 0; i < count; i++) {
		const uint8_t *bytes = cursor_take(cursor, members[i].size);
		uint32_t number = 0;

		if (!bytes)
			return false;
		if (members[i].size == sizeof number)
			memcpy(&number, bytes, sizeof number);
		else
			number = *bytes;
		if (members[i].most && number > members[i].most)
			return false;
		memcpy((uint8_t *)object + members[i].offset, bytes, members[i].size);
	}
	return true;
}

static size_t size_of_members(const struct image_member *members, size_t count)
{
	size_t size = 0;

	for (size_t i = 0; i < count; i++)
		size += members[i].size;
	return size;
}

/* Passes an image on. A damaged module or count, which the sum has not shown, is left out. */
static int pass_image(struct jw_error *err, struct analyse_image *image,
					  const struct image_head *first, struct cursor modules_from,
					  struct cursor counts_from, size_t target_count, inventory_image_fn take,
					  void *context)
{
	struct plan_module *modules = mem_array(first->modules, sizeof *modules);
	struct jw_scan_count *counts = mem_array(first->counts, sizeof *counts);
	size_t count = 0;
	int result;

	for (size_t i = 0; i < first->modules; i++) {
		struct plan_module *module = &modules[image->module_count];

		image->module_count += read_row(&modules_from, MEMBERS(module_members), module) &&
							   module->target < target_count;
	}
	for (size_t i = 0; i < first->counts; i++) {
		struct jw_scan_count *counted = &counts[count];

		count += read_row(&counts_from, MEMBERS(count_members), counted) &&
				 (!counted->target.suffix || counted->target.suffix == 'a' ||
				  counted->target.suffix == 'f');
	}
	image->modules = modules;
	analyse_divide_counts(&image->scan, counts, count);
	result = take(err, context, image);
	mem_free(modules);
	mem_free(counts);
	return result;
}

/* Reads the pieces of an image. NULL if they are damaged; the caller frees them, each piece's
 * entries with the first one's. */
static struct jw_piece *read_pieces(struct cursor *cursor, size_t count)
{
	const size_t entry_size = size_of_members(MEMBERS(entry_members));
	struct cursor ahead = *cursor;
	struct jw_piece piece, *pieces;
	struct jw_piece_entry *entries;
	size_t used = 0;

	/* Each piece takes some bytes of the record, so that their number is no larger than it. */
	for (size_t i = 0; i < count; i++) {
		if (!read_row(&ahead, MEMBERS(piece_members), &piece) ||
			piece.entry_count > cursor_left(&ahead) / entry_size ||
			!cursor_take(&ahead, piece.entry_count * entry_size))
			return NULL;
		used += piece.entry_count;
	}
	pieces = mem_array(count + 1, sizeof *pieces);
	entries = mem_array(used + 1, sizeof *entries);
	pieces[count].entries = entries;
	used = 0;
	for (size_t i = 0; i < count; i++) {
		(void)read_row(cursor, MEMBERS(piece_members), &pieces[i]);
		pieces[i].kernels = "";
		pieces[i].entries = entries + used;
		for (size_t k = 0; k < pieces[i].entry_count; k++)
			if (!read_row(cursor, MEMBERS(entry_members), &entries[used++]))
				goto damaged;
	}
	return pieces;
damaged:
	mem_free(entries);
	mem_free(pieces);
	return NULL;
}

/* Reads one image, and passes it to `take` if that is not NULL. *ret_sound is false for a damaged
 * one. */
static int read_seen_image(struct jw_error *err, struct cursor *cursor, const char *path,
						   size_t target_count, inventory_image_fn take, void *context,
						   bool *ret_sound)
{
	struct analyse_image image = {.scan.path = path};
	struct image_head first;
	const char *member;
	const uint8_t *modules, *counts;
	size_t modules_size, counts_size;
	struct jw_piece *pieces;
	int result = 0;

	*ret_sound = false;
	if (!read_row(cursor, MEMBERS(head_members), &first) ||
		!read_row(cursor, MEMBERS(image_members), &image))
		return 0;
	member = (const char *)cursor_take(cursor, first.member_size);
	if (!member || (first.member_size &&
					memchr(member, 0, first.member_size) != member + first.member_size - 1))
		return 0;
	pieces = read_pieces(cursor, first.pieces);
	if (!pieces)
		return 0;
	modules_size = first.modules * size_of_members(MEMBERS(module_members));
	counts_size = first.counts * size_of_members(MEMBERS(count_members));
	modules = cursor_take(cursor, modules_size);
	counts = cursor_take(cursor, counts_size);
	if (modules && counts) {
		*ret_sound = true;
		image.scan.member = first.member_size ? member : NULL;
		image.scan.pieces = pieces;
		image.scan.piece_count = first.pieces;
		if (take)
			result = pass_image(err, &image, &first, cursor_of(modules, modules_size),
								cursor_of(counts, counts_size), target_count, take, context);
	}
	mem_free((void *)(uintptr_t)pieces[first.pieces].entries);
	mem_free(pieces);
	return result;
}

void inventory_image(struct inventory *inventory, const struct analyse_image *image)
{
	const struct jw_scan_image *scan = &image->scan;
	const size_t name = scan->member ? strlen(scan->member) + 1 : 0;
	const size_t counts = scan->cubin_count + scan->ptx_count + scan->other_count;
	const struct image_head first = {(uint32_t)image->module_count, (uint16_t)name,
									 (uint32_t)counts, (uint32_t)scan->piece_count};
	struct buf *images = &inventory->images;

	/* Only a part of its images would be wrong, so the file is not recorded. */
	if (name > MAX_NAME)
		inventory->open = false;
	if (!inventory->open)
		return;
	write_members(images, MEMBERS(head_members), &first);
	write_members(images, MEMBERS(image_members), image);
	(void)buf_append(NULL, images, scan->member, name);
	for (size_t i = 0; i < scan->piece_count; i++) {
		write_members(images, MEMBERS(piece_members), &scan->pieces[i]);
		for (size_t k = 0; k < scan->pieces[i].entry_count; k++)
			write_members(images, MEMBERS(entry_members), &scan->pieces[i].entries[k]);
	}
	for (size_t i = 0; i < image->module_count; i++)
		write_members(images, MEMBERS(module_members), &image->modules[i]);
	for (size_t i = 0; i < counts; i++)
		write_members(images, MEMBERS(count_members), &scan->cubins[i]);
}

/* ---- records */

static size_t size_of_record(const uint8_t *record)
{
	return DAY_AT + (size_t)load_u32(record);
}

static uint64_t sum_of_record(const uint8_t *record)
{
	return fnv_update(FNV_START, record + DAY_AT, load_u32(record));
}

/* Adds the record at `at`, whose beginning is valid, and which is not checked yet. */
static void add_slot(struct inventory *inventory, size_t at, bool verified)
{
	const uint8_t *record = inventory->bytes.data + at;
	const size_t size = load_u32(record + KEY_SIZE_AT);

	if (size > size_of_record(record) - KEY_AT)
		return;
	VEC_GROW(inventory->slots, inventory->capacity, inventory->count);
	set_add(&inventory->index, fnv_update(FNV_START, record + KEY_AT, size), inventory->count);
	inventory->slots[inventory->count++] =
		(struct inventory_slot){.at = at, .images = at + KEY_AT + size, .verified = verified};
}

/* Returns the sound record of that key; NULL if there is none. */
static struct inventory_slot *find_slot(struct inventory *inventory, uint64_t hash,
										const struct buf *text, size_t size)
{
	size_t cursor = 0, at;

	while ((at = set_find(&inventory->index, hash, &cursor)) != SET_NONE) {
		struct inventory_slot *slot = &inventory->slots[at];
		const uint8_t *record = inventory->bytes.data + slot->at;

		if (slot->gone || load_u32(record + KEY_SIZE_AT) != size ||
			memcmp(record + KEY_AT, text->data, size) != 0)
			continue;
		if (slot->verified || sum_of_record(record) == load_u64(record + SUM_AT)) {
			slot->verified = true;
			return slot;
		}
		slot->gone = inventory->changed = true;
	}
	return NULL;
}

/* Finds a file's record; a file without images answers every question. */
static struct inventory_slot *find_key(struct inventory *inventory, const struct inventory_key *key)
{
	struct inventory_slot *slot = find_slot(inventory, key->file_hash, &key->text, key->file_size);

	return slot ? slot : find_slot(inventory, key->hash, &key->text, key->text.size);
}

static void make_key(const struct jw_found_file *from, const struct analyse_question *question,
					 struct inventory_key *key)
{
	static const struct cache_profile none;
	const uint64_t identity[] = {from->device, from->inode, from->size_bytes,
								 (uint64_t)from->mtime_ns, (uint64_t)from->changed_ns};
	const struct cache_profile *profile = question->profile ? question->profile : &none;
	const struct jw_driver *driver = &question->driver;
	const bool kinds[] = {question->verdicts_only, question->releases, question->platform != NULL};
	struct buf *text = &key->text;

	buf_clear(text);
	(void)buf_append(NULL, text, identity, sizeof identity);
	(void)buf_append(NULL, text, from->path, strlen(from->path) + 1);
	key->file_size = text->size;
	(void)buf_append(NULL, text, &driver->cuda, sizeof driver->cuda);
	(void)buf_append(NULL, text, driver->release, sizeof driver->release);
	(void)buf_append(NULL, text, profile->stamp, sizeof profile->stamp);
	(void)buf_append(NULL, text, kinds, sizeof kinds);
	for (size_t t = 0; t < question->target_count; t++) {
		const uint16_t target[] = {question->targets[t].sm, (uint8_t)question->targets[t].suffix};

		(void)buf_append(NULL, text, target, sizeof target);
	}
	key->file_hash = fnv_update(FNV_START, text->data, key->file_size);
	key->hash =
		fnv_update(key->file_hash, text->data + key->file_size, text->size - key->file_size);
}

/* Reads the images of a record, and passes each to `take` if that is not NULL. *ret_sound is false
 * if one is damaged; those after it are not read. */
static int read_images(struct jw_error *err, const struct inventory *inventory,
					   const struct inventory_slot *slot, const char *path, size_t target_count,
					   inventory_image_fn take, void *context, bool *ret_sound)
{
	const uint8_t *data = inventory->bytes.data;
	struct cursor images =
		cursor_of(data + slot->images, slot->at + size_of_record(data + slot->at) - slot->images);

	*ret_sound = true;
	while (*ret_sound && cursor_left(&images))
		if (read_seen_image(err, &images, path, target_count, take, context, ret_sound))
			return -1;
	return 0;
}

int inventory_replay(struct jw_error *err, struct inventory *inventory,
					 const struct jw_found_file *from, const struct analyse_question *question,
					 inventory_image_fn take, void *context, bool *ret_known)
{
	const struct inventory_slot *slot;
	uint8_t *record;
	bool sound;

	*ret_known = false;
	make_key(from, question, &inventory->key);
	slot = find_key(inventory, &inventory->key);
	/* All images are checked before the first one is passed on. */
	if (!slot ||
		read_images(NULL, inventory, slot, NULL, question->target_count, NULL, NULL, &sound) ||
		!sound)
		return 0;
	if (read_images(err, inventory, slot, from->path, question->target_count, take, context,
					ret_known))
		return -1;
	/* The day of last use is updated from time to time. */
	record = inventory->bytes.data + slot->at;
	if (inventory->today >= load_u32(record + DAY_AT) + USED_DAYS) {
		store_u32(record + DAY_AT, inventory->today);
		store_u64(record + SUM_AT, sum_of_record(record));
		inventory->changed = true;
	}
	return 0;
}

void inventory_begin(struct inventory *inventory, const struct jw_found_file *from,
					 const struct analyse_question *question)
{
	/* A file that was just written may change again within its time stamps' resolution. Its mtime
	 * may have been set since. */
	const int64_t newest_ns = from->changed_ns > from->mtime_ns ? from->changed_ns : from->mtime_ns;

	buf_clear(&inventory->images);
	make_key(from, question, &inventory->key);
	inventory->open = os_now_s() - newest_ns / INT64_C(1000000000) > 2;
}

void inventory_end(struct inventory *inventory)
{
	const struct inventory_key *key = &inventory->key;
	const struct buf *images = &inventory->images;
	const size_t key_size = images->size ? key->text.size : key->file_size;
	struct buf *bytes = &inventory->bytes;
	struct inventory_slot *known;
	const size_t at = bytes->size;
	uint8_t record[KEY_AT];

	/* The inventory only saves time: a record that does not fit is dropped. */
	if (!inventory->open || images->overflowed)
		return;
	inventory->open = false;
	store_u32(record, (uint32_t)(KEY_AT - DAY_AT + key_size + images->size));
	store_u32(record + DAY_AT, inventory->today);
	store_u32(record + KEY_SIZE_AT, (uint32_t)key_size);
	if (buf_append(NULL, bytes, record, sizeof record) ||
		buf_append(NULL, bytes, key->text.data, key_size) ||
		buf_append(NULL, bytes, images->data, images->size)) {
		bytes->size = at;
		return;
	}
	store_u64(bytes->data + at + SUM_AT, sum_of_record(bytes->data + at));
	while ((known = find_key(inventory, key)) != NULL)
		known->gone = true;
	inventory->changed = true;
	add_slot(inventory, at, true);
}

/* A file whose images are remembered while they are passed on. */
struct remembering {
	struct inventory *inventory;
	const struct analyse_sink *sink;
	bool whole; /* no part of it was unreadable so far */
};

static int remember_image(struct jw_error *err, void *context, const struct analyse_image *image)
{
	const struct remembering *remembering = context;

	inventory_image(remembering->inventory, image);
	return remembering->sink->image(err, remembering->sink->context, image);
}

static void note_trouble(void *context, const char *path, const char *member,
						 const struct jw_error *why)
{
	struct remembering *remembering = context;
	const struct analyse_sink *sink = remembering->sink;

	remembering->whole = false;
	if (sink->trouble)
		sink->trouble(sink->context, path, member, why);
}

int inventory_analyse(struct jw_error *err, struct inventory *inventory,
					  const struct jw_found_file *from, const struct analyse_question *question,
					  const struct analyse_sink *sink)
{
	struct remembering remembering = {inventory, sink, true};
	const struct analyse_sink both = {.context = &remembering,
									  .image = remember_image,
									  .trouble = note_trouble,
									  .cancel = sink->cancel};
	bool known;

	/* The names of kernels are not remembered. */
	if (!inventory || question->kernels)
		return analyse_path(err, from->path, question, sink);
	if (inventory_replay(err, inventory, from, question, sink->image, sink->context, &known))
		return -1;
	if (known)
		return 0;
	inventory_begin(inventory, from, question);
	if (analyse_path(err, from->path, question, &both))
		return -1;
	if (remembering.whole)
		inventory_end(inventory);
	return 0;
}

/* ---- the inventory's file */

/* Makes an inventory and takes ownership of the bytes. */
static struct inventory *make_inventory(struct buf from)
{
	struct inventory *inventory = mem_alloc(sizeof *inventory);
	struct cursor cursor = cursor_of(from.data, from.size);
	const uint8_t *start = cursor_take(&cursor, HEAD_SIZE);
	struct buf *bytes = &inventory->bytes;

	*bytes = from;
	bytes->most = MAX_FILE;
	inventory->images = BUF_MAX(MAX_FILE);
	inventory->key.text = BUF_MAX(MAX_KEY); /* room for a path, and other short parts */
	inventory->today = (uint32_t)(os_now_s() / 86400);
	if (!start || memcmp(start, head, sizeof head) != 0) {
		buf_clear(bytes);
		(void)buf_append(NULL, bytes, head, sizeof head);
		return inventory;
	}
	while (cursor_left(&cursor)) {
		const size_t at = (size_t)(cursor.at - bytes->data);
		const uint32_t size = cursor_u32(&cursor);

		(void)cursor_u64(&cursor);
		/* The records before damage stay, and those after it are dropped. */
		if (size < KEY_AT - DAY_AT || !cursor_take(&cursor, size)) {
			bytes->size = at;
			inventory->changed = true;
			break;
		}
		add_slot(inventory, at, false);
	}
	return inventory;
}

struct inventory *inventory_parse(const void *data, size_t size)
{
	struct buf bytes = BUF_MAX(MAX_FILE);

	(void)buf_append(NULL, &bytes, data, size);
	return make_inventory(bytes);
}

struct inventory *inventory_open(const char *state_dir)
{
	char *path = os_join(state_dir, file_name);
	struct inventory *inventory;
	struct buf bytes = {0};

	(void)os_read_file(NULL, path, MAX_FILE, &bytes);
	inventory = make_inventory(bytes);
	inventory->state_dir = mem_string(state_dir);
	inventory->path = path;
	return inventory;
}

void inventory_forget(const char *state_dir)
{
	char *path = os_join(state_dir, file_name);

	(void)os_remove(NULL, path);
	mem_free(path);
}

void inventory_close(struct inventory *inventory)
{
	if (!inventory)
		return;
	buf_free(&inventory->bytes);
	buf_free(&inventory->images);
	buf_free(&inventory->key.text);
	mem_free(inventory->slots);
	set_free(&inventory->index);
	mem_free(inventory->path);
	mem_free(inventory->state_dir);
	mem_free(inventory);
}

/* Appends the records that were used today, or the others, as long as there is space. */
static void append_records(const struct inventory *inventory, bool used_today, struct buf *file)
{
	for (size_t i = 0; i < inventory->count; i++) {
		const uint8_t *record = inventory->bytes.data + inventory->slots[i].at;
		const size_t size = size_of_record(record);

		if (!inventory->slots[i].gone && file->size + size <= KEEP_FILE &&
			(load_u32(record + DAY_AT) == inventory->today) == used_today)
			(void)buf_append(NULL, file, record, size);
	}
}

void inventory_format(const struct inventory *inventory, struct buf *file)
{
	(void)buf_append(NULL, file, head, sizeof head);
	/* Records used today come first, so that they survive when space runs out. */
	append_records(inventory, true, file);
	append_records(inventory, false, file);
}

int inventory_save(struct jw_error *err, struct inventory *inventory)
{
	struct buf file = BUF_MAX(MAX_FILE);
	int result;

	if (!inventory->changed || !inventory->path)
		return 0;
	inventory_format(inventory, &file);
	result = os_make_dirs(err, inventory->state_dir, 0700);
	if (!result)
		result = os_write_atomic(err, inventory->path, file.data, file.size);
	if (!result) {
		inventory->changed = false;
		/* This removes files of other versions; ours was just written. */
		os_sweep(inventory->state_dir, file_start, "%", OS_REGULAR, OTHERS_S);
		os_sweep(inventory->state_dir, file_start, "%" OS_MADE_FORM, OS_REGULAR, OTHERS_S);
	}
	buf_free(&file);
	return result;
}
