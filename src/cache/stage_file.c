/* An entry in a file that a worker has made: hashed while it is copied, a piece at a time. What is
 * judged is the copy, since the worker could write to its own file meanwhile; or the file itself,
 * where it can be taken away from the worker. */
#include <string.h>

#include "base/hash.h"
#include "base/mem.h"
#include "cache/stage.h"

enum {
	PIECE = 1 << 20,
	MOST_EXTRA = 4096, /* drivers accept bytes behind the value; nobody has seen any */
};

struct copy {
	struct cache_addition *addition;
	struct os_file *from, *place, *to; /* the worker's; the one in place, if it may be the same;
										  the copy, unless the worker's is taken */
	uint8_t *piece, *other;            /* of piece_bytes */
	size_t piece_bytes;
	struct cache_entry entry; /* without its pointers */
	uint64_t size_bytes;      /* up to the value's end */
	uint64_t key_state, value_state;
	bool differs; /* from the one in place */
};

/* ---- the worker's file */

/* Anything but a regular file is not opened: a pipe would keep us waiting. */
static int open_source(struct jw_error *err, const char *path, struct copy *copy)
{
	struct os_stat stat;

	if (os_stat(err, path, &stat))
		return -1;
	if (stat.kind != OS_REGULAR)
		return error_set(err, JW_ERR_FORMAT, "%s: no regular file", path);
	return os_file_open(err, path, OS_OPEN_READ, &copy->from);
}

static int read_header(struct jw_error *err, struct copy *copy)
{
	struct cache_entry *entry = &copy->entry;
	uint8_t header[CACHE_ENTRY_HEADER];
	enum cache_damage damage;
	uint64_t size;
	size_t got;

	if (os_file_size(err, copy->from, &size) ||
		os_file_read(err, copy->from, 0, header, sizeof header, &got))
		return -1;
	if (size > CACHE_MOST_ENTRY)
		return error_set(err, JW_ERR_LIMIT, "too large for an entry");
	damage = cache_entry_header_read(header, got, size, entry);
	if (damage != CACHE_SOUND)
		return error_set(err, JW_ERR_FORMAT, "%s", cache_damage_text(damage));
	copy->size_bytes = size - entry->extra_bytes;
	copy->piece_bytes = copy->size_bytes < PIECE ? (size_t)copy->size_bytes : PIECE;
	return 0;
}

/* Most entries are smaller than a piece, and new memory is what costs most of copying them: so much
 * as is needed, and not cleared. */
static int make_piece(struct jw_error *err, const struct copy *copy, uint8_t **ret_piece)
{
	if (!*ret_piece)
		*ret_piece = mem_resize(err, NULL, copy->piece_bytes);
	return *ret_piece ? 0 : -1;
}

/* The part of a piece that lies in [start, start + size) of the file. */
static struct fnv_lane lane_of(uint64_t state, const uint8_t *piece, uint64_t at, size_t piece_size,
							   uint64_t start, uint64_t size)
{
	uint64_t from = start > at ? start - at : 0;
	uint64_t end = start + size < at + piece_size ? start + size - at : piece_size;

	if (start + size <= at || from >= end)
		return (struct fnv_lane){state, piece, 0};
	return (struct fnv_lane){state, piece + from, (size_t)(end - from)};
}

/* Key and value side by side. */
static void hash_piece(struct copy *copy, uint64_t at, size_t size)
{
	const struct cache_entry *entry = &copy->entry;
	const uint64_t value_at = CACHE_ENTRY_HEADER + entry->key_bytes;
	struct fnv_lane lanes[] = {
		lane_of(copy->key_state, copy->piece, at, size, CACHE_ENTRY_HEADER, entry->key_bytes),
		lane_of(copy->value_state, copy->piece, at, size, value_at, entry->value_bytes)};

	fnv_update_many(lanes, 2);
	copy->key_state = lanes[0].state;
	copy->value_state = lanes[1].state;
}

static void compare_piece(struct copy *copy, uint64_t at, size_t size)
{
	size_t got = 0;

	if (!copy->place || copy->differs)
		return;
	copy->differs = os_file_read(NULL, copy->place, at, copy->other, size, &got) || got != size ||
					memcmp(copy->piece, copy->other, size) != 0;
}

/* Once through the file; ends early where it turns out to be another than the one in place. */
static int pass(struct jw_error *err, struct copy *copy)
{
	size_t got;

	if (make_piece(err, copy, &copy->piece) || (copy->place && make_piece(err, copy, &copy->other)))
		return -1;
	copy->key_state = copy->value_state = FNV_START;
	for (uint64_t at = 0; at < copy->size_bytes && !copy->differs; at += got) {
		uint64_t left = copy->size_bytes - at;
		size_t size = left < copy->piece_bytes ? (size_t)left : copy->piece_bytes;

		if (os_file_read(&copy->addition->why, copy->from, at, copy->piece, size, &got))
			return -1;
		if (got != size)
			return error_set(&copy->addition->why, JW_ERR_FORMAT, "%s",
							 cache_damage_text(CACHE_DAMAGE_TRUNCATED));
		hash_piece(copy, at, size);
		compare_piece(copy, at, size);
		if (copy->to && os_file_write(err, copy->to, at, copy->piece, size))
			return -1;
	}
	return 0;
}

/* ---- what came of it */

struct value {
	struct os_file *file;
	uint64_t offset;
};

static int read_value(struct jw_error *err, void *context, uint64_t offset, void *data, size_t size)
{
	const struct value *value = context;
	size_t got;

	if (os_file_read(err, value->file, value->offset + offset, data, size, &got))
		return -1;
	return got == size ? 0 : error_set(err, JW_ERR_FORMAT, "cut off while it was read");
}

static int check(struct jw_error *err, const struct copy *copy)
{
	const struct cache_addition *addition = copy->addition;
	const struct cache_entry *entry = &copy->entry;
	struct os_file *judged = copy->to ? copy->to : copy->place ? copy->place : copy->from;
	struct value value = {judged, CACHE_ENTRY_HEADER + entry->key_bytes};
	struct cubin_header cubin;

	if (addition->key_bytes && entry->key_bytes != addition->key_bytes)
		return error_set(err, JW_ERR_FORMAT, "its key has %llu bytes, not %llu",
						 (unsigned long long)entry->key_bytes,
						 (unsigned long long)addition->key_bytes);
	if (addition->verified)
		return 0;
	if (copy->key_state != addition->key)
		return error_set(err, JW_ERR_FORMAT, "%s", cache_damage_text(CACHE_DAMAGE_NAME));
	if (copy->value_state != entry->checksum)
		return error_set(err, JW_ERR_FORMAT, "%s", cache_damage_text(CACHE_DAMAGE_VALUE));
	return cubin_read_by(err, read_value, &value, entry->value_bytes, &cubin) ||
				   stage_check_cubin(err, addition, &cubin)
			   ? -1
			   : 0;
}

/* The file in place, where it may hold the same. */
static void open_place(struct copy *copy, struct live_staged *staged)
{
	struct os_stat stat;

	staged->replaces = !os_stat(NULL, staged->target, &stat);
	if (staged->replaces && stat.kind == OS_REGULAR && stat.size_bytes >= copy->size_bytes &&
		stat.size_bytes <= copy->size_bytes + MOST_EXTRA)
		(void)os_file_open(NULL, staged->target, OS_OPEN_READ, &copy->place);
}

/* Whether there is no need to write anything: *ret_same. */
static int compare(struct jw_error *err, struct copy *copy, bool *ret_same)
{
	if (copy->place && (pass(err, copy) || (!copy->differs && check(&copy->addition->why, copy))))
		return -1;
	*ret_same = copy->place && !copy->differs;
	os_file_close(copy->place);
	copy->place = NULL;
	copy->differs = false;
	return 0;
}

static int copy_file(struct jw_error *err, struct cache_live *live, struct copy *copy,
					 struct live_staged *staged, size_t number)
{
	bool same = false;

	/* What drivers ignore behind the value is left out of a copy. */
	if (copy->entry.extra_bytes)
		stage_give_back(staged);
	open_place(copy, staged);
	if (compare(err, copy, &same))
		return -1;
	if (same)
		stage_give_back(staged);
	if (same)
		return 0;
	if (!staged->taken && (stage_begin(err, live, staged, number) ||
						   os_file_open(err, staged->path, OS_OPEN_CREATE, &copy->to)))
		return -1;
	if (pass(err, copy) || check(&copy->addition->why, copy))
		return -1;
	return staged->taken ? 0 : stage_share(err, live, staged);
}

/* A cache that is for others too, or another account's, gets files that are made over there. Where
 * one file cannot be taken, the next ones cannot either. */
static void take_file(struct cache_live *live, struct live_staged *staged, size_t number,
					  struct copy *copy)
{
	const struct cache_addition *addition = staged->addition;

	if (!addition->may_take || live->shared || live->as_owner || live->takes_none ||
		stage_begin(NULL, live, staged, number))
		return;
	copy->from = os_file_take(addition->path, staged->path);
	staged->taken = copy->from != NULL;
	live->takes_none = !staged->taken;
}

/* The worker's file is read with our own rights, even where the cache is another account's. -1:
 * those of the cache's account are not to be had back. */
static int open_from(struct jw_error *err, const struct cache_live *live, struct copy *copy)
{
	live_leave(live);
	(void)open_source(&copy->addition->why, copy->addition->path, copy);
	return live_enter(err, live);
}

int stage_file(struct jw_error *err, struct cache_live *live, struct cache_addition *addition,
			   size_t number, struct live_staged *ret_staged)
{
	struct live_staged staged = {.addition = addition};
	struct copy copy = {.addition = addition};
	int result = -1;

	staged.target = cache_entry_path(err, live->dir, addition->key);
	if (!staged.target)
		return -1;
	take_file(live, &staged, number, &copy);
	if (!copy.from && open_from(err, live, &copy))
		goto done;
	if (copy.from && !read_header(&addition->why, &copy)) {
		addition->row_bytes = copy.entry.key_bytes + copy.entry.value_bytes;
		result = copy_file(err, live, &copy, &staged, number);
	}
	if (!result) {
		*ret_staged = staged;
		staged = (struct live_staged){0};
	} else if (addition->why.code) {
		stage_refuse(addition);
		result = 0;
	}
done:
	os_file_close(copy.from);
	os_file_close(copy.place);
	os_file_close(copy.to);
	mem_free(copy.piece);
	mem_free(copy.other);
	live_unstage(&staged);
	return result;
}
