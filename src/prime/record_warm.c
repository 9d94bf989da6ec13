/* Inserts a command's compiled modules into the user's cache, so that no start compiles them. */
#include "base/mem.h"
#include "cache/entry.h"
#include "cache/insert.h"
#include "prime/record_entries.h"

/* The most entries added under one lock; cache_insert also releases it in between. */
enum { BATCH = 64 };

/* Ctrl-C takes effect within five seconds. */
enum { LOCK_WAIT_MS = 3000 };

static void note_known(struct recorder *recorder)
{
	const char *cache = recorder->system->cache.path;

	for (size_t i = 0; i < recorder->result->recording->module_count; i++) {
		struct jw_recorded_module *module = &recorder->result->recording->modules[i];
		struct jw_identity identity;

		module->known_before =
			cache && !cache_entry_identity_at(recorder->cache_dir, module->key, &identity) &&
			cache_presence(cache, module->key, &identity, NULL) == CACHE_PRESENT;
	}
}

static void count_addition(struct jw_record_result *result, const struct cache_addition *addition)
{
	switch (addition->added) {
	case CACHE_ADDED_NEW:
	case CACHE_ADDED_REPLACED:
		result->added++;
		if (addition->grown_bytes > 0)
			result->added_bytes += (uint64_t)addition->grown_bytes;
		break;
	case CACHE_ADDED_SAME: result->there++; break;
	case CACHE_ADDED_REFUSED: result->refused++; break;
	case CACHE_ADDED_TAKEN:
		result->refused++;
		record_note(result, addition->why.message);
		break;
	case CACHE_ADDED_NOT: break;
	}
}

/* Entries that are inserted together. */
struct batch {
	struct cache_addition additions[BATCH];
	char *paths[BATCH];
	size_t count;
};

static int put_in(struct jw_error *err, struct cache_live *live, struct recorder *recorder,
				  struct batch *batch)
{
	int failed = batch->count ? cache_insert(err, live, batch->additions, batch->count) : 0;

	for (size_t i = 0; i < batch->count; i++)
		count_addition(recorder->result, &batch->additions[i]);
	return failed;
}

static void batch_clear(struct batch *batch)
{
	for (size_t i = 0; i < batch->count; i++)
		mem_free(batch->paths[i]);
	batch->count = 0;
}

static void add_to_batch(const struct recorder *recorder, size_t at, struct batch *batch)
{
	const struct jw_recorded_module *module = &recorder->result->recording->modules[at];
	char *path = cache_entry_path(recorder->cache_dir, module->key);

	batch->paths[batch->count] = path;
	batch->additions[batch->count++] = (struct cache_addition){
		.path = path,
		.key = module->key,
		.key_bytes = module->key_bytes,
		.sm = module->target.sm,
		.form = recorder->entries[at].form,
	};
}

static int insert_recorded(struct jw_error *err, struct cache_live *live, struct recorder *recorder)
{
	struct batch batch = {.count = 0};
	int failed = 0;

	for (size_t i = 0; !failed && i < recorder->result->recording->module_count; i++) {
		if (!batch.count && record_is_stopped(recorder)) {
			failed = error_set(err, JW_ERR_INTERRUPTED, "interrupted before all of it was written");
			break;
		}
		if (!recorder->entries[i].insertable) {
			/* NVRTC's own results are not code */
			recorder->result->refused +=
				recorder->result->recording->modules[i].kind != JW_RECORDED_JITLINK;
			continue;
		}
		add_to_batch(recorder, i, &batch);
		if (batch.count == BATCH) {
			failed = put_in(err, live, recorder, &batch);
			batch_clear(&batch);
		}
	}
	if (!failed)
		failed = put_in(err, live, recorder, &batch);
	batch_clear(&batch);
	return failed;
}

static int warm(struct jw_error *err, struct recorder *recorder)
{
	const struct jw_cache_info *cache = &recorder->system->cache;
	const struct cache_live_options how = {.limit_bytes = cache->limit_bytes,
										   .when_full = CACHE_FULL_EVICT,
										   .stamp = recorder->system->driver.stamp,
										   .lock_wait_ms = LOCK_WAIT_MS};
	struct cache_live_counts counts;
	struct cache_live *live;
	int failed;

	if (!recorder->result->recording->module_count)
		return 0;
	if (cache->why_useless[0] || !cache->path || !cache->limit_bytes)
		return error_set(err, JW_ERR_UNSUPPORTED, "%s",
						 cache->why_useless[0]
							 ? cache->why_useless
							 : "CUDA_CACHE_MAXSIZE makes the driver store nothing");
	if (cache_live_open(err, cache->path, &how, &live))
		return -1;
	failed = insert_recorded(err, live, recorder);
	cache_live_counts(live, &counts);
	recorder->result->evicted = counts.evicted;
	recorder->result->evicted_in_use = counts.evicted_in_use;
	if (cache_live_close(failed ? NULL : err, live))
		failed = -1;
	return failed;
}

void record_warm(struct recorder *recorder)
{
	struct jw_error why = {0};

	if (recorder->result->live) {
		recorder->result->added = recorder->result->recording->module_count;
		return;
	}
	note_known(recorder);
	if (warm(&why, recorder))
		recorder->result->unwarmed = why;
}
