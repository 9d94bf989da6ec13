#include "cache/sound.h"

#include "base/hash.h"
#include "base/mem.h"

/* All pieces together fit in a core's second-level cache. */
enum { TOGETHER = 8, PIECE = 32 << 10 };

/* A file that is being read. */
struct sound_reading {
	struct os_file *file; /* NULL: not cancellable */
	size_t at;            /* which one */
	struct cache_entry entry;
	uint64_t position; /* behind the header */
	uint64_t key_state, value_state;
	struct fnv_lane key, value; /* its parts in the last piece */
	uint8_t *piece;             /* PIECE bytes */
};

struct sounding {
	const struct cache_sounding *how;
	const uint64_t *keys;
	size_t count;
	atomic_size_t own_next, *next;
	struct cache_brief brief;
	struct cache_loads loads;
	struct sound_reading readings[TOGETHER];
};

static enum cache_damage begin_entry(struct jw_error *why, struct sounding *sounding,
									 struct sound_reading *reading, size_t at)
{
	char *path = cache_entry_path(why, sounding->how->dir, sounding->keys[at]);
	struct os_stat stat;
	/* Opens only regular files: a pipe would block. */
	bool opened = path && !os_stat(why, path, &stat) && stat.kind == OS_REGULAR &&
				  !os_file_open(why, path, OS_OPEN_READ, &reading->file);

	mem_free(path);
	if (!opened)
		return CACHE_DAMAGE_READ;
	reading->at = at;
	reading->position = 0;
	reading->key_state = reading->value_state = FNV_START;
	return cache_entry_open(reading->file, &reading->entry);
}

static int read_mapped_value(struct jw_error *err, void *context, uint64_t offset, void *data,
							 size_t size)
{
	const struct sound_reading *reading = context;
	size_t got;

	if (os_file_read(err, reading->file, CACHE_ENTRY_HEADER + reading->entry.key_bytes + offset,
					 data, size, &got))
		return -1;
	return got == size ? 0 : error_set(err, JW_ERR_IO, "shorter than it was");
}

static enum cache_damage judge_value(struct sounding *sounding, struct sound_reading *reading)
{
	const struct cache_brief *brief = &sounding->brief;
	struct cache_key_parts parts;
	struct cache_code code = {.parts = &parts,
							  .read = read_mapped_value,
							  .context = reading,
							  .size = reading->entry.value_bytes};

	if (!cache_brief_split(brief, &parts))
		return CACHE_SOUND;
	return cache_code_damage(&sounding->loads, &code);
}

static int end_entry(struct jw_error *err, struct sounding *sounding, struct sound_reading *reading,
					 size_t at, enum cache_damage damage)
{
	struct cache_brief *brief = &sounding->brief;

	if (damage == CACHE_SOUND)
		damage = cache_brief_read(reading->file, &reading->entry, brief);
	if (damage == CACHE_SOUND)
		damage = judge_value(sounding, reading);
	os_file_close(reading->file);
	reading->file = NULL;
	return sounding->how->judged(err, sounding->how->context, at, damage,
								 damage == CACHE_SOUND ? brief : NULL);
}

/* Reads the next piece, and finds its parts of key and value. */
static enum cache_damage read_piece(struct sound_reading *reading)
{
	const struct cache_entry *entry = &reading->entry;
	uint64_t left = entry->key_bytes + entry->value_bytes - reading->position;
	uint64_t key_left =
		entry->key_bytes > reading->position ? entry->key_bytes - reading->position : 0;
	size_t size = left < PIECE ? (size_t)left : PIECE, got;
	size_t key = key_left < size ? (size_t)key_left : size;

	if (os_file_read(NULL, reading->file, CACHE_ENTRY_HEADER + reading->position, reading->piece,
					 size, &got))
		return CACHE_DAMAGE_READ;
	if (got != size)
		return CACHE_DAMAGE_TRUNCATED;
	reading->key = (struct fnv_lane){reading->key_state, reading->piece, key};
	reading->value = (struct fnv_lane){reading->value_state, reading->piece + key, size - key};
	reading->position += size;
	return CACHE_SOUND;
}

static enum cache_damage judge_hashes(const struct sounding *sounding,
									  const struct sound_reading *reading)
{
	return reading->key_state != sounding->keys[reading->at] ? CACHE_DAMAGE_NAME
		   : reading->value_state != reading->entry.checksum ? CACHE_DAMAGE_VALUE
															 : CACHE_SOUND;
}

/* Opens a file, if one is left, and reads its next piece. */
static int advance_reading(struct jw_error *err, struct sounding *sounding,
						   struct sound_reading *reading)
{
	const struct cache_sounding *how = sounding->how;

	for (;;) {
		enum cache_damage damage = CACHE_SOUND;
		struct jw_error why = {0};
		size_t at = reading->at;

		if (!reading->file) {
			at = atomic_fetch_add(sounding->next, 1);
			if (at >= sounding->count)
				return 0;
			if (cancel_check(err, &how->cancel))
				return -1;
			damage = begin_entry(&why, sounding, reading, at);
			if (error_if_memory(err, &why))
				return -1;
		}
		if (damage == CACHE_SOUND &&
			reading->position != reading->entry.key_bytes + reading->entry.value_bytes) {
			damage = read_piece(reading);
			if (damage == CACHE_SOUND)
				return 0;
		} else if (damage == CACHE_SOUND) {
			damage = judge_hashes(sounding, reading);
		}
		if (end_entry(err, sounding, reading, at, damage))
			return -1;
	}
}

/* Hashes pieces of keys first, then those of values: similar sizes side by side. */
static size_t hash_pieces(struct sounding *sounding)
{
	struct fnv_lane lanes[2 * TOGETHER];
	size_t count = 0;

	for (size_t i = 0; i < TOGETHER; i++)
		if (sounding->readings[i].file)
			lanes[count++] = sounding->readings[i].key;
	for (size_t i = 0; i < TOGETHER; i++)
		if (sounding->readings[i].file)
			lanes[count++] = sounding->readings[i].value;
	fnv_update_many(lanes, count);
	for (size_t i = 0, lane = 0; i < TOGETHER; i++) {
		struct sound_reading *reading = &sounding->readings[i];

		if (!reading->file)
			continue;
		reading->key_state = lanes[lane].state;
		reading->value_state = lanes[count / 2 + lane++].state;
	}
	return count;
}

int cache_sound_all(struct jw_error *err, const struct cache_sounding *how, const uint64_t *keys,
					size_t count)
{
	const size_t together = count < TOGETHER ? count : TOGETHER;
	struct sounding *sounding = mem_alloc(err, sizeof *sounding);
	/* Not zeroed: for one small entry that would take longer than judging it. */
	uint8_t *pieces = sounding ? mem_resize(err, NULL, (together ? together : 1) * PIECE) : NULL;
	int result = 0;

	if (!pieces) {
		mem_free(sounding);
		return -1;
	}
	for (size_t i = 0; i < together; i++)
		sounding->readings[i].piece = pieces + i * PIECE;
	sounding->how = how;
	sounding->next = how->next ? how->next : &sounding->own_next;
	sounding->loads.driver = how->driver;
	sounding->keys = keys;
	sounding->count = count;
	do {
		for (size_t i = 0; !result && i < together; i++)
			result = advance_reading(err, sounding, &sounding->readings[i]);
	} while (!result && hash_pieces(sounding));
	for (size_t i = 0; i < TOGETHER; i++)
		os_file_close(sounding->readings[i].file);
	mem_free(pieces);
	mem_free(sounding);
	return result;
}

static int keep_damage(struct jw_error *err, void *context, size_t at, enum cache_damage damage,
					   const struct cache_brief *brief)
{
	(void)err;
	(void)at;
	(void)brief;
	*(enum cache_damage *)context = damage;
	return 0;
}

enum cache_damage cache_sound(struct jw_error *err, const char *dir, struct sound_driver driver,
							  uint64_t key)
{
	enum cache_damage damage = CACHE_DAMAGE_READ;
	const struct cache_sounding how = {
		.dir = dir, .driver = driver, .context = &damage, .judged = keep_damage};

	return cache_sound_all(err, &how, &key, 1) ? CACHE_DAMAGE_READ : damage;
}
