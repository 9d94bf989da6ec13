#include "cache/verified.h"

#include <stdlib.h>
#include <string.h>

#include <uv.h>

#include "base/buf.h"
#include "base/cursor.h"
#include "base/hash.h"
#include "base/mem.h"
#include "os/clock.h"
#include "os/file.h"
#include "os/platform.h"
#include "os/uv.h"

enum {
	WRITTEN_S = 900,
	ADJUSTED_S = 10,
};

bool settled_is(int64_t changed_s, int64_t now_s)
{
	return changed_s + WRITTEN_S < now_s;
}

uint64_t settled_boot_s(void)
{
	return (uint64_t)os_now_s() - os_monotonic_ns() / 1000000000;
}

bool settled_same_boot(uint64_t a, uint64_t b)
{
	return (a > b ? a - b : b - a) <= ADJUSTED_S;
}

enum {
	HEAD = 20,
	RECORD = 16,
	SUM = 8,
	MAX_FILE = HEAD + RECORD * CACHE_VERIFIED_MAX + SUM,
	FRESH_S = 2,
	REREAD_AFTER_MS = 20,
	MAX_THREADS = 8,
	THREAD_BYTES =
		8 << 20, /* from this many bytes on, another thread saves more than its start costs */
};
#define SETTLED UINT64_C(1)

static const uint8_t magic[8] = {'J', 'W', 'V', 'E', 'R', 0, 2, 0};

void cache_verified_free(struct cache_verified *verified)
{
	mem_free(verified->records);
	*verified = (struct cache_verified){0};
}

static int add_record(struct jw_error *err, struct cache_verified *verified,
					  struct cache_verified_record record)
{
	if (VEC_ROOM(err, verified->records, verified->capacity, verified->count, CACHE_VERIFIED_MAX))
		return -1;
	verified->records[verified->count++] = record;
	return 0;
}

void cache_verified_parse(const void *data, size_t size, uint64_t boot_s,
						  struct cache_verified *ret_verified)
{
	struct cursor at = cursor_of(data, size);
	const uint8_t *start = cursor_take(&at, sizeof magic);
	const uint64_t boot = cursor_u64(&at);
	const uint32_t count = cursor_u32(&at);
	const bool booted = !settled_same_boot(boot, boot_s);

	*ret_verified = (struct cache_verified){0};
	if (at.overrun || count > CACHE_VERIFIED_MAX || size != HEAD + (size_t)RECORD * count + SUM ||
		memcmp(start, magic, sizeof magic) != 0 ||
		fnv_update(FNV_START, data, size - SUM) != load_u64(at.end - SUM))
		return;
	at.end -= SUM;
	for (uint64_t last = 0; cursor_left(&at);) {
		const uint64_t key = cursor_u64(&at), mark = cursor_u64(&at);

		if (at.overrun || (ret_verified->count && key < last) ||
			((mark & SETTLED || !booted) &&
			 add_record(NULL, ret_verified, (struct cache_verified_record){key, mark}))) {
			cache_verified_free(ret_verified);
			return;
		}
		last = key;
	}
}

/* Saves the list; a failure does not matter, since the next call reads the entries again. */
static void save_verified(const struct cache_verified *verified, const char *state_dir,
						  const char *path)
{
	struct buf bytes = BUF_MAX(MAX_FILE);
	uint8_t head[HEAD], number[RECORD];

	memcpy(head, magic, sizeof magic);
	store_u64(head + 8, settled_boot_s());
	store_u32(head + 16, (uint32_t)verified->count);
	(void)buf_append(NULL, &bytes, head, sizeof head);
	for (size_t i = 0; i < verified->count; i++) {
		store_u64(number, verified->records[i].key);
		store_u64(number + 8, verified->records[i].mark);
		(void)buf_append(NULL, &bytes, number, RECORD);
	}
	store_u64(number, fnv_update(FNV_START, bytes.data, bytes.size));
	(void)buf_append(NULL, &bytes, number, SUM);
	if (!os_make_dirs(NULL, state_dir, 0700))
		(void)os_write_atomic(NULL, path, bytes.data, bytes.size);
	buf_free(&bytes);
}

/* FNV-1a would let a module be made whose mark is another one's. */
static uint64_t mark_of(const struct cache_candidate *candidate)
{
	const struct cache_probed *probed = &candidate->probed;
	uint8_t facts[32 + sizeof candidate->identity->bytes] = {0};
	struct digest digest;

	store_u64(facts, probed->stat.inode);
	store_u64(facts + 8, probed->stat.size_bytes);
	store_u64(facts + 16, (uint64_t)probed->stat.mtime_ns);
	store_u64(facts + 24, (uint64_t)probed->stat.changed_ns);
	if (candidate->identity)
		memcpy(facts + 32, candidate->identity->bytes, sizeof candidate->identity->bytes);
	digest_of(&digest, facts, sizeof facts);
	return load_u64(digest.bytes) & ~SETTLED;
}

static int by_key(const void *a, const void *b)
{
	const struct cache_verified_record *left = a, *right = b;

	return (left->key > right->key) - (left->key < right->key);
}

static struct cache_verified_record *find_verified(const struct cache_verified *verified,
												   uint64_t key)
{
	const struct cache_verified_record wanted = {.key = key};

	return verified->count
			   ? bsearch(&wanted, verified->records, verified->count, sizeof wanted, by_key)
			   : NULL;
}

/* Builds a new list from the records that stay and the new ones. */
static int renew(struct cache_verified *verified, const struct cache_candidate *candidates,
				 const size_t *read, size_t count, int64_t began_s)
{
	struct cache_verified fresh = {0};
	struct cache_verified_record *known;
	int result = 0;

	for (size_t i = 0; !result && i < count; i++) {
		const struct cache_candidate *one = &candidates[read[i]];
		const int64_t written_s = one->probed.stat.changed_ns / 1000000000;

		known = find_verified(verified, one->key);
		/* Another module's entry stays remembered as that module's. */
		if (known && one->damage != CACHE_DAMAGE_OTHER)
			known->mark = 0;
		if (one->damage == CACHE_SOUND && written_s && written_s + FRESH_S < began_s)
			result = add_record(NULL, &fresh,
								(struct cache_verified_record){
									one->key, mark_of(one) | settled_is(written_s, began_s)});
	}
	for (size_t i = 0; i < verified->count; i++)
		if (verified->records[i].mark && add_record(NULL, &fresh, verified->records[i]))
			break; /* the list is full: keep those of this call */
	if (fresh.count)
		qsort(fresh.records, fresh.count, sizeof *fresh.records, by_key);
	cache_verified_free(verified);
	*verified = fresh;
	return result;
}

/* The data that all threads share. */
struct verified_reading {
	struct cache_sounding how;
	struct cache_candidate *candidates;
	uint64_t *keys;
	const struct jw_identity **identities;
	const size_t *places; /* places of the keys among the candidates */
	size_t count;
	atomic_size_t next;
};

struct verified_reader {
	struct verified_reading *reading;
	struct jw_error why;
	int result;
};

static void keep_judgement(void *context, size_t at, enum cache_damage damage,
						   const struct cache_brief *brief)
{
	const struct verified_reading *reading = context;
	struct cache_candidate *candidate = &reading->candidates[reading->places[at]];
	struct cache_origin origin;

	candidate->damage = damage;
	if (brief) {
		cache_origin_of(brief->entry.key, (size_t)brief->entry.key_bytes, brief->entry.value,
						(size_t)brief->entry.value_bytes, &origin);
		candidate->kind = origin.kind;
	}
}

/* The body of each thread; cache_sound_all asks `how` for the next entry. */
static void read_entries(void *context)
{
	struct verified_reader *reader = context;
	const struct verified_reading *reading = reader->reading;

	reader->result = cache_sound_all(&reader->why, &reading->how, reading->keys, reading->count);
}

/* Reads the candidates in `read`; each thread takes the next one. */
static int read_candidates(struct jw_error *err, struct verified_reading *reading,
						   const size_t *read, size_t count)
{
	struct verified_reader readers[MAX_THREADS] = {0};
	uv_thread_t handles[MAX_THREADS];
	size_t started = 1, threads = os_cores();
	uint64_t bytes = 0;
	int result;

	for (size_t i = 0; i < count; i++)
		bytes += reading->candidates[read[i]].probed.stat.size_bytes;
	threads = threads < MAX_THREADS ? threads : MAX_THREADS;
	threads = threads < bytes / THREAD_BYTES ? threads : (size_t)(bytes / THREAD_BYTES);
	threads = threads ? threads : 1;
	reading->places = read;
	reading->count = count;
	atomic_store(&reading->next, 0);
	for (size_t i = 0; i < count; i++) {
		reading->keys[i] = reading->candidates[read[i]].key;
		reading->identities[i] = reading->candidates[read[i]].identity;
	}
	for (size_t t = 0; t < threads; t++)
		readers[t].reading = reading;
	while (started < threads &&
		   !os_thread_start(&handles[started], read_entries, &readers[started]))
		started++;
	read_entries(&readers[0]);
	result = readers[0].result ? error_copy(err, &readers[0].why) : 0;
	for (size_t t = 1; t < started; t++) {
		(void)uv_thread_join(&handles[t]);
		if (!result && readers[t].result)
			result = error_copy(err, &readers[t].why);
	}
	return result;
}

/* Reads damaged entries once more: a driver writes entries in place, so a torn one may be complete
 * a moment later. */
static int reread_damaged(struct jw_error *err, struct verified_reading *with, const size_t *read,
						  size_t count)
{
	size_t *damaged = mem_array(count, sizeof *damaged), left = 0;
	int result = 0;

	for (size_t i = 0; i < count; i++)
		if (with->candidates[read[i]].damage != CACHE_SOUND &&
			with->candidates[read[i]].damage != CACHE_DAMAGE_OTHER)
			damaged[left++] = read[i];
	if (left) {
		uv_sleep(REREAD_AFTER_MS);
		result = read_candidates(err, with, damaged, left);
	}
	mem_free(damaged);
	return result;
}

int cache_verified_judge(struct jw_error *err, const char *state_dir, const char *cache_dir,
						 struct sound_driver driver, const struct jw_cancel *cancel,
						 struct cache_candidate *candidates, size_t count)
{
	struct verified_reading with = {.how = {.dir = cache_dir,
											.driver = driver,
											.cancel = *cancel,
											.context = &with,
											.judged = keep_judgement,
											.next = &with.next},
									.candidates = candidates};
	char *path =
		state_dir
			? mem_printf("%s/verified-%016llx", state_dir,
						 (unsigned long long)fnv_update(FNV_START, cache_dir, strlen(cache_dir)))
			: NULL;
	const int64_t began_s = os_now_s();
	struct cache_verified verified = {0};
	struct buf bytes = {0};
	size_t *read = mem_array(count, sizeof *read), unknown = 0;
	int result = 0;

	with.keys = mem_array(count, sizeof *with.keys);
	with.how.identities = with.identities = mem_array(count, sizeof(void *));
	if (path && !os_read_file(NULL, path, MAX_FILE, &bytes))
		cache_verified_parse(bytes.data, bytes.size, settled_boot_s(), &verified);
	for (size_t i = 0; i < count; i++) {
		const struct cache_verified_record *record = find_verified(&verified, candidates[i].key);

		candidates[i].damage = CACHE_SOUND;
		if (!record || (record->mark & ~SETTLED) != mark_of(&candidates[i]))
			read[unknown++] = i;
	}
	if (unknown)
		result = read_candidates(err, &with, read, unknown);
	if (!result && unknown)
		result = reread_damaged(err, &with, read, unknown);
	if (!result && unknown && path && !renew(&verified, candidates, read, unknown, began_s))
		save_verified(&verified, state_dir, path);
	cache_verified_free(&verified);
	buf_free(&bytes);
	mem_free(with.keys);
	mem_free(with.identities);
	mem_free(read);
	mem_free(path);
	return result;
}
