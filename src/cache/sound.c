#include "cache/sound.h"

#include <string.h>

#include "base/hash.h"
#include "base/mem.h"
#include "base/text.h"
#include "cache/profile.h"
#include "code/rules.h"
#include "os/folders.h"

enum cache_damage cache_entry_open(struct os_file *file, struct cache_entry *ret_entry)
{
	uint8_t header[CACHE_ENTRY_HEADER];
	uint64_t size;
	size_t got;

	if (os_file_size(NULL, file, &size) || os_file_read(NULL, file, 0, header, sizeof header, &got))
		return CACHE_DAMAGE_READ;
	return cache_entry_header_read(header, got, size, ret_entry);
}

static enum cache_damage read_brief_part(struct os_file *file, uint64_t offset, uint8_t *bytes,
										 size_t size)
{
	size_t got;

	if (os_file_read(NULL, file, offset, bytes, size, &got))
		return CACHE_DAMAGE_READ;
	return got == size ? CACHE_SOUND : CACHE_DAMAGE_TRUNCATED;
}

/* Reads all but the first `got` bytes of the file, which are there already. */
static enum cache_damage read_brief_rest(struct os_file *file, const struct cache_entry *entry,
										 size_t got, struct cache_brief *brief)
{
	const uint64_t both = 2 * CACHE_BRIEF_END, key_end = CACHE_ENTRY_HEADER + entry->key_bytes;
	const bool whole = entry->key_bytes <= both;
	const size_t key = (size_t)(whole ? entry->key_bytes : both);
	const size_t value =
		(size_t)(entry->value_bytes < CACHE_BRIEF_VALUE ? entry->value_bytes : CACHE_BRIEF_VALUE);
	const size_t end = CACHE_ENTRY_HEADER + key + value;
	const size_t head = whole ? end : CACHE_ENTRY_HEADER + CACHE_BRIEF_END;
	enum cache_damage damage = CACHE_SOUND;

	if (got < head)
		damage = read_brief_part(file, got, brief->bytes + got, head - got);
	if (damage == CACHE_SOUND && !whole)
		damage = read_brief_part(file, key_end - CACHE_BRIEF_END, brief->bytes + head, end - head);
	brief->key_bytes = entry->key_bytes;
	brief->value_bytes = entry->value_bytes;
	brief->entry = *entry;
	brief->entry.key = brief->bytes + CACHE_ENTRY_HEADER;
	brief->entry.key_bytes = key;
	brief->entry.value = brief->entry.key + key;
	brief->entry.value_bytes = value;
	return damage;
}

enum cache_damage cache_brief_read(struct os_file *file, const struct cache_entry *entry,
								   struct cache_brief *ret_brief)
{
	return read_brief_rest(file, entry, 0, ret_brief);
}

enum cache_damage cache_brief_open(struct os_file *file, struct cache_brief *ret_brief)
{
	struct cache_entry entry;
	enum cache_damage damage;
	uint64_t size;
	size_t got;

	/* Most entries are read with one call. */
	if (os_file_size(NULL, file, &size) ||
		os_file_read(NULL, file, 0, ret_brief->bytes, CACHE_ENTRY_HEADER + CACHE_BRIEF_END, &got))
		return CACHE_DAMAGE_READ;
	damage = cache_entry_header_read(ret_brief->bytes, got, size, &entry);
	return damage == CACHE_SOUND ? read_brief_rest(file, &entry, got, ret_brief) : damage;
}

bool cache_brief_split(const struct cache_brief *brief, struct cache_key_parts *ret_parts)
{
	struct cache_key_parts parts;

	if (!cache_key_split(brief->entry.key, (size_t)brief->entry.key_bytes, &parts))
		return false;
	parts.payload_size += (size_t)(brief->key_bytes - brief->entry.key_bytes);
	*ret_parts = parts;
	return true;
}

enum {
	SM_90 = 90, /* from here on code may be limited to its own capability, which is not recorded */
	CUDA_12_5 = 12050,
	CUDA_12_8 = 12080, /* the first release whose drivers know cubin ABI 8 */
};

/* Returns whether drivers load machine code for `device` whose flags have `sm`. */
static bool cubin_sm_loads(uint16_t sm, struct jw_target device)
{
	const struct jw_target code = {.sm = sm};

	return sm == device.sm || (sm < SM_90 && gpu_sass_fit(code, device) != GPU_FIT_NONE);
}

bool cache_abi_loads(enum cubin_abi abi, uint32_t cuda)
{
	return abi != CUBIN_ABI_8 || !cuda || cuda >= CUDA_12_8;
}

enum cache_damage cache_cubin_damage(const struct cubin_header *cubin, struct jw_target device,
									 enum cache_key_form form, uint32_t cuda)
{
	if (!cubin)
		return CACHE_DAMAGE_CUBIN;
	/* The linker of 12.5 takes ABI 8; its loader does not. */
	if (!cache_abi_loads(cubin->abi, cuda) && (form != CACHE_KEY_LINK || cuda < CUDA_12_5))
		return CACHE_DAMAGE_ABI;
	if (!cubin_sm_loads(cubin->sm, device))
		return CACHE_DAMAGE_GPU;
	return form == CACHE_KEY_LINK && !cubin->relocatable ? CACHE_DAMAGE_LINKED : CACHE_SOUND;
}

struct sound_driver sound_driver_of(const struct jw_driver_info *info)
{
	return info ? (struct sound_driver){info->stamp, info->version.cuda} : (struct sound_driver){0};
}

/* Judges a stamp: the current driver, those of the table, and those whose profile is kept are
 * known. */
static void ask_stamp(struct cache_loads *loads, const char *stamp)
{
	const struct cache_known_driver *known;
	struct cache_profile profile;
	char *state_dir = NULL;

	loads->known = false;
	loads->cuda = 0;
	TEXT_COPY(loads->stamp, stamp);
	if (loads->driver.stamp && !strcmp(loads->driver.stamp, stamp)) {
		loads->known = true;
		loads->cuda = loads->driver.cuda;
	}
	for (size_t i = 0; !loads->known && (known = cache_known_driver_at(i)); i++)
		if (!strcmp(known->stamp, stamp)) {
			loads->known = true;
			loads->cuda = known->cuda;
		}
	if (!loads->known && !os_state_dir(NULL, &state_dir) &&
		!cache_profile_of_stamp(NULL, state_dir, stamp, &profile)) {
		loads->known = true;
		loads->cuda = profile.driver.cuda;
	}
	mem_free(state_dir);
}

enum cache_damage cache_code_damage(struct cache_loads *loads, const struct cache_code *code)
{
	const struct cache_key_parts *parts = code->parts;
	struct cubin_header cubin;
	struct jw_error why = {0};

	if (parts->jitlink || parts->word_bits != 64)
		return CACHE_SOUND;
	if (strcmp(loads->stamp, parts->stamp) != 0)
		ask_stamp(loads, parts->stamp);
	if (!loads->known)
		return CACHE_SOUND;
	if (!cubin_read_by(&why, code->read, code->context, code->size, &cubin))
		return cache_cubin_damage(&cubin, parts->target, parts->form, loads->cuda);
	if (why.code == JW_ERR_IO)
		return CACHE_DAMAGE_READ;
	if (why.code == JW_ERR_UNSUPPORTED && cache_abi_loads(CUBIN_ABI_8, loads->cuda))
		return CACHE_SOUND;
	return cache_cubin_damage(NULL, parts->target, parts->form, loads->cuda);
}

/* The most files read together; all pieces together fit in a core's second-level cache. */
enum { TOGETHER = 8, PIECE = 32 << 10 };

/* A file that is being read. */
struct sound_reading {
	struct os_file *file; /* NULL if it cannot be opened */
	size_t at;            /* the number of the file among those to judge */
	struct cache_entry entry;
	uint64_t position; /* the place after the header that was reached */
	uint64_t key_state, value_state;
	struct fnv_lane key, value; /* the parts of key and value in the last piece */
	uint8_t *piece;             /* a buffer of PIECE bytes */
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

static enum cache_damage begin_entry(const struct sounding *sounding, struct sound_reading *reading,
									 size_t at)
{
	char *path = cache_entry_path(sounding->how->dir, sounding->keys[at]);
	struct os_stat stat = {.kind = OS_OTHER};
	enum cache_damage damage;

	(void)os_stat(NULL, path, &stat);
	damage = cache_file_open(path, &stat, &reading->file);
	mem_free(path);
	if (damage != CACHE_SOUND)
		return damage;
	reading->at = at;
	reading->position = 0;
	reading->key_state = reading->value_state = FNV_START;
	return cache_entry_open(reading->file, &reading->entry);
}

static int read_sounded_value(struct jw_error *err, void *context, uint64_t offset, void *data,
							  size_t size)
{
	const struct sound_reading *reading = context;
	size_t got;

	if (os_file_read(err, reading->file, CACHE_ENTRY_HEADER + reading->entry.key_bytes + offset,
					 data, size, &got))
		return -1;
	return got == size ? 0 : error_set(err, JW_ERR_IO, "shorter than it was");
}

/* Closes an entry whose value was read, judges its machine code, and reports its damage. */
static void end_entry(struct sounding *sounding, struct sound_reading *reading, size_t at,
					  enum cache_damage damage)
{
	const struct jw_identity *identity =
		sounding->how->identities ? sounding->how->identities[at] : NULL;
	struct cache_brief *brief = &sounding->brief;
	struct jw_identity is;
	struct cache_key_parts parts;
	const struct cache_code code = {.parts = &parts,
									.read = read_sounded_value,
									.context = reading,
									.size = reading->entry.value_bytes};

	if (damage == CACHE_SOUND)
		damage = cache_brief_read(reading->file, &reading->entry, brief);
	if (damage == CACHE_SOUND && cache_brief_split(brief, &parts))
		damage = cache_code_damage(&sounding->loads, &code);
	if (damage == CACHE_SOUND && identity)
		damage = cache_entry_identity(reading->file, &reading->entry, &is) ? CACHE_DAMAGE_READ
				 : !cache_identity_equal(&is, identity)                    ? CACHE_DAMAGE_OTHER
																		   : CACHE_SOUND;
	os_file_close(reading->file);
	reading->file = NULL;
	sounding->how->judged(sounding->how->context, at, damage, damage == CACHE_SOUND ? brief : NULL);
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

/* Opens a file, if one is left, and reads its next piece. */
static int advance_reading(struct jw_error *err, struct sounding *sounding,
						   struct sound_reading *reading)
{
	const struct cache_sounding *how = sounding->how;

	for (;;) {
		enum cache_damage damage = CACHE_SOUND;
		size_t at = reading->at;

		if (!reading->file) {
			at = atomic_fetch_add(sounding->next, 1);
			if (at >= sounding->count)
				return 0;
			if (cancel_check(err, &how->cancel))
				return -1;
			damage = begin_entry(sounding, reading, at);
		}
		if (damage == CACHE_SOUND &&
			reading->position != reading->entry.key_bytes + reading->entry.value_bytes) {
			damage = read_piece(reading);
			if (damage == CACHE_SOUND)
				return 0;
		} else if (damage == CACHE_SOUND) {
			damage = reading->key_state != sounding->keys[reading->at] ? CACHE_DAMAGE_NAME
					 : reading->value_state != reading->entry.checksum ? CACHE_DAMAGE_VALUE
																	   : CACHE_SOUND;
		}
		end_entry(sounding, reading, at, damage);
	}
}

/* Hashes the pieces of keys first, then those of values, so that similar sizes are side by side. */
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
	struct sounding *sounding = mem_alloc(sizeof *sounding);
	/* The memory is not zeroed, which would take longer than judging one small entry. */
	uint8_t *pieces = mem_resize(NULL, (together ? together : 1) * PIECE);
	int result = 0;

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

static void keep_damage(void *context, size_t at, enum cache_damage damage,
						const struct cache_brief *brief)
{
	(void)at;
	(void)brief;
	*(enum cache_damage *)context = damage;
}

enum cache_damage cache_sound(const char *dir, struct sound_driver driver, uint64_t key)
{
	enum cache_damage damage = CACHE_DAMAGE_READ;
	const struct cache_sounding how = {
		.dir = dir, .driver = driver, .context = &damage, .judged = keep_damage};

	(void)cache_sound_all(NULL, &how, &key, 1);
	return damage;
}
