#include "cache/staging.h"

#include <string.h>

#include <uv.h>

#include "base/hash.h"
#include "base/mem.h"
#include "cache/key.h"
#include "cache/sound.h"
#include "os/claimed.h"
#include "os/uv.h"

/* Makes the folder again: a process that removes the cache also removes the folder beside its tree,
 * and perhaps the lock. */
static int make_folder(struct jw_error *err, struct cache_live *live)
{
	int result = 0;

	uv_mutex_lock(&live->staging_mutex);
	if (!os_exists(live->staging)) {
		os_file_close(live->staging_lock);
		live->staging_lock = NULL;
		/* The cache itself may have been removed, too. */
		if (os_make_dirs(err, live->dir, 0700) ||
			os_claim(err, live->staging, &live->staging_lock) ||
			os_make_dirs(err, live->staging, 0700))
			result = -1;
	}
	uv_mutex_unlock(&live->staging_mutex);
	return result;
}

/* Names the staged file, and makes its folder and the target's folder. */
static int staging_begin(struct jw_error *err, struct cache_live *live, struct live_staged *staged,
						 size_t number)
{
	mem_free(staged->path);
	staged->path = mem_printf("%s/%zu", live->staging, number);
	if (make_folder(err, live))
		return -1;
	return os_make_shared_parent(err, staged->target, 0700 | live->shared);
}

/* Sets the permissions that the directory's readers need. */
static int staging_share(struct jw_error *err, const struct cache_live *live,
						 const struct live_staged *staged)
{
	return live->shared ? os_set_mode(err, staged->path, 0600 | (live->shared & 066)) : 0;
}

void staging_end(struct live_staged *staged)
{
	if (staged->path && !staged->moved)
		(void)os_remove(NULL, staged->path);
	mem_free(staged->path);
	mem_free(staged->target);
	*staged = (struct live_staged){0};
}

void cache_say_taken(struct jw_error *err, const char *path)
{
	error_set(
		err, JW_ERR_UNSUPPORTED,
		"%s: the entry of another module has the same name, and stays; to have this module in "
		"the cache instead, delete that file",
		path);
}

bool staging_is_taken(const struct cache_live *live, const struct live_staged *staged)
{
	struct cache_addition *addition = staged->addition;
	const struct sound_driver any = {0};
	struct cache_probed probed;

	if (cache_presence(live->dir, addition->key, &staged->identity, &probed) != CACHE_UNUSABLE ||
		probed.damage != CACHE_DAMAGE_OTHER ||
		cache_sound(live->dir, any, addition->key) != CACHE_SOUND)
		return false;
	addition->added = CACHE_ADDED_TAKEN;
	cache_say_taken(&addition->why, staged->target);
	return true;
}

/* Judges an entry before it is inserted. The driver does not replace an entry whose cubin it cannot
 * load: the application fails with it at every start (docs/internals/driver-cache.md, "Values"). */
static int staging_judge(struct jw_error *err, const struct cache_addition *addition,
						 const struct cache_entry *entry, const struct jw_identity *identity,
						 uint64_t name, uint64_t checksum, cubin_read_fn read, void *context)
{
	struct cubin_header cubin;

	if (addition->key_bytes && entry->key_bytes != addition->key_bytes)
		return error_set(err, JW_ERR_FORMAT, "its key has %llu bytes, not %llu",
						 (unsigned long long)entry->key_bytes,
						 (unsigned long long)addition->key_bytes);
	if (addition->identity && !cache_identity_equal(addition->identity, identity))
		return error_set(err, JW_ERR_FORMAT, "%s", cache_damage_text(CACHE_DAMAGE_OTHER));
	if (addition->verified)
		return 0;
	if (name != addition->key || checksum != entry->checksum)
		return error_set(
			err, JW_ERR_FORMAT, "%s",
			cache_damage_text(name != addition->key ? CACHE_DAMAGE_NAME : CACHE_DAMAGE_VALUE));
	if (cubin_read_by(err, read, context, entry->value_bytes, &cubin))
		return -1;
	if (cubin.sm != addition->sm)
		return error_set(err, JW_ERR_FORMAT, "its cubin is for sm_%u, not sm_%u",
						 (unsigned)cubin.sm, (unsigned)addition->sm);
	if (cubin.relocatable != (addition->form == CACHE_KEY_LINK))
		return error_set(err, JW_ERR_FORMAT, "its cubin is %srelocatable",
						 cubin.relocatable ? "" : "not ");
	return 0;
}

/* Reads the value of an entry in memory, in one piece or in several. */

static int read_parsed_value(struct jw_error *err, void *context, uint64_t offset, void *data,
							 size_t size)
{
	const struct cache_entry *entry = context;

	(void)err;
	memcpy(data, entry->value + offset, size);
	return 0;
}

static int check_whole(struct jw_error *err, const struct cache_addition *addition,
					   struct cache_entry *ret_entry, struct jw_identity *ret_identity)
{
	enum cache_damage damage = cache_entry_parse(addition->bytes, addition->size_bytes, ret_entry);
	struct fnv_lane lanes[2];

	if (damage != CACHE_SOUND)
		return error_set(err, JW_ERR_FORMAT, "%s", cache_damage_text(damage));
	lanes[0] = (struct fnv_lane){FNV_START, ret_entry->key, (size_t)ret_entry->key_bytes};
	lanes[1] = (struct fnv_lane){FNV_START, ret_entry->value, (size_t)ret_entry->value_bytes};
	if (!addition->verified)
		fnv_update_many(lanes, 2);
	cache_key_identity_of(ret_identity, ret_entry->key, (size_t)ret_entry->key_bytes);
	return staging_judge(err, addition, ret_entry, ret_identity, lanes[0].state, lanes[1].state,
						 read_parsed_value, ret_entry);
}

/* Checks an entry in parts. */
static int check_parts(struct jw_error *err, const struct cache_addition *addition,
					   struct cache_entry *ret_entry, struct jw_identity *ret_identity,
					   uint64_t size)
{
	const struct cache_part *header = &addition->parts[0];

	if (!addition->verified || !addition->identity ||
		cache_entry_header_read(header->data, header->size, size, ret_entry) != CACHE_SOUND ||
		ret_entry->key_bytes != addition->key_bytes || ret_entry->extra_bytes)
		return error_set(err, JW_ERR_FORMAT, "its parts are not as long as its header says");
	*ret_identity = *addition->identity;
	return 0;
}

/* Returns whether the existing file holds the same bytes. It is read, not mapped, because a driver
 * rewrites a damaged entry in place. */
static bool same_file(const char *path, const struct cache_part *parts, size_t count, size_t size)
{
	struct buf content = {0};
	bool same =
		!os_read_file(NULL, path, size + STAGING_MAX_EXTRA, &content) && content.size >= size;

	for (size_t i = 0, at = 0; same && i < count; at += parts[i++].size)
		same = !memcmp(content.data + at, parts[i].data, parts[i].size);
	buf_free(&content);
	return same;
}

static int write_parts(struct jw_error *err, const char *path, const struct cache_part *parts,
					   size_t count)
{
	struct os_file *file = NULL;
	int result = 0;

	if (os_file_open(err, path, OS_OPEN_CREATE, &file))
		return -1;
	for (size_t i = 0, at = 0; !result && i < count; at += parts[i++].size)
		result = os_file_write(err, file, at, parts[i].data, parts[i].size);
	os_file_close(file);
	if (result)
		(void)os_remove(NULL, path);
	return result;
}

int stage_memory(struct jw_error *err, struct cache_live *live, struct cache_addition *addition,
				 size_t number, struct live_staged *ret_staged)
{
	struct live_staged staged = {.addition = addition};
	struct cache_part whole = {addition->bytes, addition->size_bytes};
	const struct cache_part *parts = addition->parts ? addition->parts : &whole;
	size_t size = 0, count = addition->parts ? addition->part_count : 1;
	struct cache_entry entry;

	for (size_t i = 0; i < count; i++)
		size += parts[i].size;
	if (addition->parts ? check_parts(&addition->why, addition, &entry, &staged.identity, size)
						: check_whole(&addition->why, addition, &entry, &staged.identity)) {
		addition->added = CACHE_ADDED_REFUSED;
		return 0;
	}
	if (!addition->parts)
		size = whole.size -= (size_t)entry.extra_bytes;
	addition->row_bytes = entry.key_bytes + entry.value_bytes;
	staged.target = cache_entry_path(live->dir, addition->key);
	staged.replaces = os_exists(staged.target);
	if (staged.replaces && same_file(staged.target, parts, count, size)) {
		*ret_staged = staged;
		return 0;
	}
	if (staged.replaces && staging_is_taken(live, &staged)) {
		staging_end(&staged);
		return 0;
	}
	if (staging_begin(err, live, &staged, number) || write_parts(err, staged.path, parts, count) ||
		staging_share(err, live, &staged)) {
		staging_end(&staged);
		return -1;
	}
	*ret_staged = staged;
	return 0;
}

/* An entry in a worker's file is hashed in pieces while it is copied. The copy is judged, since the
 * worker could still write to its own file. */

enum { PIECE = 1 << 20 };

struct copy {
	struct cache_addition *addition;
	/* The worker's file; the existing one, if it may be equal; the copy. */
	struct os_file *from, *place, *to;
	uint8_t *piece, *other; /* buffers of piece_bytes */
	size_t piece_bytes;
	uint8_t header[CACHE_ENTRY_HEADER];
	struct cache_entry entry; /* key and value are not set */
	uint64_t size_bytes;      /* the size up to the value's end */
	uint64_t key_state, value_state;
	bool differs; /* the copy differs from the existing file */
};

/* Hashes the parts of key and value in this piece of the file side by side. */
static void hash_piece(struct copy *copy, uint64_t at, size_t size)
{
	const struct cache_entry *entry = &copy->entry;
	const uint64_t value_at = CACHE_ENTRY_HEADER + entry->key_bytes;
	const uint64_t starts[] = {CACHE_ENTRY_HEADER, value_at};
	const uint64_t ends[] = {value_at, value_at + entry->value_bytes};
	struct fnv_lane lanes[2] = {{.state = copy->key_state}, {.state = copy->value_state}};

	for (size_t i = 0; i < 2; i++) {
		uint64_t from = starts[i] > at ? starts[i] : at;
		uint64_t end = ends[i] < at + size ? ends[i] : at + size;

		lanes[i].data = copy->piece + (from < end ? from - at : 0);
		lanes[i].size = from < end ? (size_t)(end - from) : 0;
	}
	fnv_update_many(lanes, 2);
	copy->key_state = lanes[0].state;
	copy->value_state = lanes[1].state;
}

struct value {
	struct os_file *file;
	uint64_t offset;
};

static int read_staged_value(struct jw_error *err, void *context, uint64_t offset, void *data,
							 size_t size)
{
	const struct value *value = context;
	size_t got;

	if (os_file_read(err, value->file, value->offset + offset, data, size, &got))
		return -1;
	return got == size ? 0 : error_set(err, JW_ERR_FORMAT, "cut off while it was read");
}

/* Reads the file once, and judges it; ends early if it differs from the existing one. The value is
 * read from the file that becomes the entry. */
static int read_and_judge(struct jw_error *err, struct copy *copy, struct jw_identity *identity)
{
	struct value value = {copy->to ? copy->to : copy->place,
						  CACHE_ENTRY_HEADER + copy->entry.key_bytes};
	size_t got;

	/* Most entries are smaller than a piece, and new memory is the main cost of copying them:
	 * allocate no more than needed, and do not clear it. */
	if (!copy->piece)
		copy->piece = mem_resize(NULL, copy->piece_bytes);
	if (copy->place && !copy->other)
		copy->other = mem_resize(NULL, copy->piece_bytes);
	copy->key_state = copy->value_state = FNV_START;
	for (uint64_t at = 0; at < copy->size_bytes && !copy->differs;) {
		uint64_t left = copy->size_bytes - at;
		size_t size = left < copy->piece_bytes ? (size_t)left : copy->piece_bytes;

		if (os_file_read(&copy->addition->why, copy->from, at, copy->piece, size, &got))
			return -1;
		if (got != size)
			return error_set(&copy->addition->why, JW_ERR_FORMAT, "%s",
							 cache_damage_text(CACHE_DAMAGE_TRUNCATED));
		if (!at && memcmp(copy->piece, copy->header, sizeof copy->header) != 0)
			return error_set(&copy->addition->why, JW_ERR_FORMAT,
							 "%s: was changed while it was read", copy->addition->path);
		hash_piece(copy, at, size);
		if (copy->place)
			copy->differs = os_file_read(NULL, copy->place, at, copy->other, size, &got) ||
							got != size || memcmp(copy->piece, copy->other, size) != 0;
		if (copy->to && os_file_write(err, copy->to, at, copy->piece, size))
			return -1;
		at += size;
	}
	if (copy->differs)
		return 0;
	if (cache_entry_identity(value.file, &copy->entry, identity))
		return error_set(&copy->addition->why, JW_ERR_FORMAT, "%s",
						 cache_damage_text(CACHE_DAMAGE_READ));
	return staging_judge(&copy->addition->why, copy->addition, &copy->entry, identity,
						 copy->key_state, copy->value_state, read_staged_value, &value);
}

static int copy_addition(struct jw_error *err, struct cache_live *live, struct copy *copy,
						 struct live_staged *staged, size_t number)
{
	struct os_stat stat;

	staged->replaces = !os_stat(NULL, staged->target, &stat);
	if (staged->replaces && stat.kind == OS_REGULAR && stat.size_bytes >= copy->size_bytes &&
		stat.size_bytes <= copy->size_bytes + STAGING_MAX_EXTRA)
		(void)os_file_open(NULL, staged->target, OS_OPEN_READ, &copy->place);
	if (copy->place) {
		if (read_and_judge(err, copy, &staged->identity))
			return -1;
		/* The existing file is equal, so nothing has to be written. */
		if (!copy->differs)
			return 0;
		os_file_close(copy->place);
		copy->place = NULL;
		copy->differs = false;
	}
	if (staging_begin(err, live, staged, number) ||
		os_file_open(err, staged->path, OS_OPEN_CREATE, &copy->to) ||
		read_and_judge(err, copy, &staged->identity) ||
		(staged->replaces && staging_is_taken(live, staged)))
		return -1;
	return staging_share(err, live, staged);
}

int stage_file(struct jw_error *err, struct cache_live *live, struct cache_addition *addition,
			   size_t number, struct live_staged *ret_staged)
{
	struct live_staged staged = {.addition = addition};
	struct copy copy = {.addition = addition};
	struct jw_error *why = &addition->why;
	enum cache_damage damage;
	struct os_stat stat;
	uint64_t size;
	size_t got;
	int result = -1;

	staged.target = cache_entry_path(live->dir, addition->key);
	if (os_stat(why, addition->path, &stat))
		goto done;
	/* Opening a pipe would block. */
	if (stat.kind != OS_REGULAR) {
		error_set(why, JW_ERR_FORMAT, "%s: not a regular file", addition->path);
		goto done;
	}
	if (os_file_open(why, addition->path, OS_OPEN_READ, &copy.from) ||
		os_file_size(why, copy.from, &size) ||
		os_file_read(why, copy.from, 0, copy.header, sizeof copy.header, &got))
		goto done;
	if (size > CACHE_MAX_ENTRY) {
		error_set(why, JW_ERR_LIMIT, "too large for an entry");
		goto done;
	}
	damage = cache_entry_header_read(copy.header, got, size, &copy.entry);
	if (damage != CACHE_SOUND) {
		error_set(why, JW_ERR_FORMAT, "%s", cache_damage_text(damage));
		goto done;
	}
	copy.size_bytes = size - copy.entry.extra_bytes;
	copy.piece_bytes = copy.size_bytes < PIECE ? (size_t)copy.size_bytes : PIECE;
	addition->row_bytes = copy.entry.key_bytes + copy.entry.value_bytes;
	result = copy_addition(err, live, &copy, &staged, number);
done:
	if (result && addition->why.code && addition->added != CACHE_ADDED_TAKEN)
		addition->added = CACHE_ADDED_REFUSED;
	os_file_close(copy.from);
	os_file_close(copy.place);
	os_file_close(copy.to);
	mem_free(copy.piece);
	mem_free(copy.other);
	if (result)
		staging_end(&staged);
	else
		*ret_staged = staged;
	return addition->added >= CACHE_ADDED_REFUSED ? 0 : result;
}

/* ---- several entries in parts, from a pack, which two threads write */

/* The work of the threads; each takes the next entry that is not taken. */
struct staging {
	struct cache_live *live;
	struct cache_addition *additions;
	struct live_staged *staged; /* the result for each addition */
	size_t count;
	uv_mutex_t mutex;
	size_t next;
	struct jw_error why; /* the first failure */
	int result;
};

static void stage_in_turn(void *argument)
{
	struct staging *staging = argument;

	uv_mutex_lock(&staging->mutex);
	while (!staging->result && staging->next < staging->count) {
		const size_t at = staging->next++;
		struct jw_error why = {0};
		int result;

		uv_mutex_unlock(&staging->mutex);
		result =
			stage_memory(&why, staging->live, &staging->additions[at], at, &staging->staged[at]);
		uv_mutex_lock(&staging->mutex);
		if (result && !staging->result)
			staging->why = why;
		if (result)
			staging->result = -1;
	}
	uv_mutex_unlock(&staging->mutex);
}

int stage_parts(struct jw_error *err, struct cache_live *live, struct cache_addition *additions,
				size_t count, struct live_staged *staged, size_t *ret_staged)
{
	struct staging staging = {
		.live = live, .additions = additions, .staged = staged, .count = count};
	uv_thread_t thread;
	size_t filled = 0;
	bool alone;

	os_mutex_make(&staging.mutex);
	alone = os_thread_start(&thread, stage_in_turn, &staging) != 0;
	stage_in_turn(&staging);
	if (!alone)
		(void)uv_thread_join(&thread);
	uv_mutex_destroy(&staging.mutex);
	/* Moves the staged entries together, in order. */
	for (size_t i = 0; i < count; i++)
		if (staged[i].target)
			staged[filled++] = staged[i];
	for (size_t i = filled; i < count; i++)
		staged[i] = (struct live_staged){0};
	*ret_staged = filled;
	return staging.result ? error_copy(err, &staging.why) : 0;
}
