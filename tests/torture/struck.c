/* Caches, packs, the store, settings and keys, and the reading of device code from files
 * (struck_try.h). */
#include "check.h"

#include <string.h>

#include <jitwarm/cache.h>
#include <jitwarm/key.h>
#include <jitwarm/pack.h>
#include <jitwarm/store.h>
#include <jitwarm/tune.h>
#include <jitwarm/uninstall.h>

#include "cache/insert.h"
#include "entries.h"
#include "files.h"
#include "os/folders.h"
#include "pack/ledger.h"
#include "packs.h"
#include "struck_try.h"

/* This header must follow those that have parameters with its names. */
#include "make_archive.h"

enum { ENTRIES = 4, USUAL_EVERY = 29, READ_MAX = 2 };

/* ---- the state before each call */

static char *now, *cache, *target, *state, *pack, *loose, *codes[READ_MAX];
static size_t usual[READ_MAX]; /* containers in each of them */
static struct jw_system machine;

static void put(const char *dir, unsigned n)
{
	struct entries_entry entry;

	entries_make(&entry, n, n);
	packs_put(dir, entry.key, entry.bytes, entry.size);
}

static uint64_t key_of(unsigned n)
{
	struct entries_entry entry;

	entries_make(&entry, n, n);
	return entry.key;
}

static void put_cache(void)
{
	for (unsigned n = 0; n < ENTRIES; n++)
		put(cache, n);
}

static void put_pack(void)
{
	put_cache();
	(void)packs_export(cache, pack);
	OK(os_remove_tree(why, cache));
}

/* Makes the pack, and a target cache with one sound and one damaged entry of it. */
static void put_target(void)
{
	struct entries_entry entry;

	put_pack();
	put(target, 0);
	entries_make(&entry, 1, 1);
	packs_put(target, entry.key, entry.bytes, entry.size - 20);
}

static void put_loose(void)
{
	struct entries_entry entry;

	put(cache, 0);
	entries_make(&entry, 1, 1);
	OK(os_write_atomic(why, loose, entry.bytes, entry.size));
}

/* Makes a truncated entry, one with another entry's value, and an index without rows. */
static void put_broken(void)
{
	struct entries_entry entry;

	put_cache();
	entries_make(&entry, 1, 1);
	packs_put(cache, entry.key, entry.bytes, entry.size - 20);
	entries_make(&entry, 2, 2);
	entry.bytes[entry.size - 1] ^= 1;
	packs_put(cache, entry.key, entry.bytes, entry.size);
	files_put(cache, "index", "A\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0", 16);
}

static void put_store(void)
{
	put_cache();
	packs_keep(&machine, ENTRIES);
	OK(os_remove_tree(why, cache));
}

static void put_profile(void)
{
	files_put_text(now, "home/.bashrc", "export CUDA_CACHE_MAXSIZE=5\nexport OTHER=1\n");
}

static void put_key(void)
{
	struct jw_key key;

	OK(jw_key_generate(why, state, "ours", &key));
}

static int read_one(struct jw_error *err, size_t i, size_t *ret_containers)
{
	struct code_reader *reader;
	struct code_found found;
	struct jw_error trouble = {0};
	size_t containers = 0;
	int step;

	if (code_open(err, codes[i], NULL, &reader))
		return -1;
	while ((step = code_next(err, reader, &found)) > CODE_END) {
		containers += step == CODE_CONTAINER;
		trouble = step == CODE_TROUBLE ? found.why : trouble;
	}
	code_close(reader);
	if (step)
		return -1;
	*ret_containers = containers;
	return trouble.code ? error_copy(err, &trouble) : 0;
}

static void put_codes(void)
{
	struct buf code[READ_MAX] = {make_buf(), make_buf()}, tar = make_buf();
	const struct packed_file files[] = {{"a/lib.so", &code[0]}};

	make_library(&code[0], 100);
	make_archive(&tar, true, "", files, 1);
	make_zstd(&code[1], &tar);
	files_put(now, "codes/lib.so", code[0].data, code[0].size);
	files_put(now, "codes/pkg.tar.zst", code[1].data, code[1].size);
	for (size_t i = 0; i < READ_MAX; i++)
		buf_free(&code[i]);
	buf_free(&tar);
	for (size_t i = 0; i < READ_MAX; i++)
		OK(read_one(why, i, &usual[i]));
}

/* ---- the actions: they return 0, STRUCK_NOT_WHOLE if they report that something is missing, or
 * -1 */

static int inserts(struct jw_error *err)
{
	const struct cache_live_options options = {.limit_bytes = 1 << 30};
	struct entries_entry entries[ENTRIES];
	struct cache_part parts[ENTRIES][2];
	struct cache_addition additions[ENTRIES] = {{0}};
	struct cache_live *live;
	int result;

	for (unsigned n = 0; n < ENTRIES; n++) {
		size_t head;

		entries_make(&entries[n], n, n);
		head = CACHE_ENTRY_HEADER + (size_t)entries[n].key_bytes;
		parts[n][0] = (struct cache_part){entries[n].bytes, head};
		parts[n][1] = (struct cache_part){entries[n].bytes + head, entries[n].size - head};
		additions[n] = (struct cache_addition){.path = n == 1 ? loose : NULL,
											   .bytes = entries[n].bytes,
											   .size_bytes = entries[n].size,
											   .key = entries[n].key,
											   .key_bytes = entries[n].key_bytes,
											   .sm = 86,
											   .identity = &entries[n].identity,
											   .parts = n >= 2 ? parts[n] : NULL,
											   .part_count = n >= 2 ? 2 : 0,
											   .verified = n >= 2};
	}
	if (cache_live_open(err, cache, &options, &live))
		return -1;
	result = cache_insert(err, live, additions, ENTRIES);
	if (cache_live_close(result ? NULL : err, live))
		return -1;
	for (unsigned n = 0; !result && n < ENTRIES; n++)
		if (additions[n].added == CACHE_ADDED_REFUSED && *additions[n].why.message)
			return STRUCK_NOT_WHOLE;
	return result;
}

static int writes_pack(struct jw_error *err, const char *sign_key)
{
	const struct jw_export_options options = {
		.cache_dir = cache, .output = pack, .sign_key = sign_key, .state_dir = state};
	struct jw_export_result result = {0};

	if (jw_export(err, &options, &result))
		return -1;
	return result.damaged + result.unreadable ? STRUCK_NOT_WHOLE : 0;
}

static int exports(struct jw_error *err)
{
	return writes_pack(err, NULL);
}

static int signs(struct jw_error *err)
{
	return writes_pack(err, "ours");
}

static void put_signed_pack(void)
{
	put_cache();
	put_key();
	OK(signs(why));
}

static int imports(struct jw_error *err)
{
	const struct jw_import_options options = {.path = pack,
											  .cache_dir = target,
											  .allow_unsigned = true,
											  .state_dir = state,
											  .limit_bytes = 1 << 30};
	struct jw_import_result *result;
	size_t missing;

	if (jw_import(err, &options, &result))
		return -1;
	missing = ENTRIES - result->there - result->added - result->replaced;
	jw_result_free(result);
	return missing ? STRUCK_NOT_WHOLE : 0;
}

static int repairs(struct jw_error *err)
{
	const struct jw_cache_options options = {.path = cache};
	struct jw_cache_repaired repaired;

	if (jw_cache_repair(err, &options, &repaired))
		return -1;
	/* A file that cannot be examined stays. */
	return repaired.removed < 2 || repaired.counted < 2 ? STRUCK_NOT_WHOLE : 0;
}

static int clears(struct jw_error *err)
{
	const struct jw_cache_options options = {.path = cache};
	struct jw_cache_cleared *cleared;
	size_t removed;

	if (jw_cache_clear(err, &options, false, &cleared))
		return -1;
	removed = cleared->removed;
	jw_result_free(cleared);
	return removed < ENTRIES ? STRUCK_NOT_WHOLE : 0;
}

static int keeps(struct jw_error *err)
{
	const struct jw_store_keep_options options = {.system = &machine};
	size_t entries;

	if (jw_store_keep(err, &options, &entries))
		return -1;
	return entries < ENTRIES ? STRUCK_NOT_WHOLE : 0;
}

static int refills(struct jw_error *err)
{
	uint64_t keys[ENTRIES];
	const struct jw_store_refill_options options = {
		.system = &machine, .keys = keys, .count = ENTRIES};
	struct jw_store_refilled refilled = {0};

	for (unsigned n = 0; n < ENTRIES; n++)
		keys[n] = key_of(n);
	if (jw_store_refill(err, &options, &refilled))
		return -1;
	return refilled.entries < ENTRIES ? STRUCK_NOT_WHOLE : 0;
}

static int marks(struct jw_error *err)
{
	static const struct ledger_new_mark mark = {.module = 1, .result = 218};
	const struct ledger_change change = {.marks = &mark, .mark_count = 1};

	return ledger_change_marks(err, state, cache, &change);
}

static int tunes(struct jw_error *err)
{
	struct jw_tune_request request = {0};
	struct jw_tune_result *result;

	request.scope = JW_SCOPE_SHELL;
	request.limit_bytes = 1u << 30;
	request.path = target;
	if (jw_tune_apply(err, &request, &result))
		return -1;
	jw_result_free(result);
	return 0;
}

static void put_tuned(void)
{
	put_profile();
	OK(tunes(why));
}

static int untunes(struct jw_error *err)
{
	struct jw_tune_result *result;

	if (jw_tune_undo(err, NULL, &result))
		return -1;
	jw_result_free(result);
	return 0;
}

static void put_all(void)
{
	put_cache();
	put_tuned();
	put_key();
}

static int uninstalls(struct jw_error *err)
{
	const struct jw_uninstall_options options = {.with_keys = true};

	(void)err;
	return jw_uninstall(&options) ? STRUCK_NOT_WHOLE : 0;
}

static int trusts(struct jw_error *err)
{
	struct jw_key key;
	char *text = os_join(state, "keys/ours.pub");
	int result = jw_key_trust(err, state, "second", text, &key);

	mem_free(text);
	return result && err && err->code == JW_ERR_USAGE ? 0 : result;
}

static int lists_keys(struct jw_error *err)
{
	struct jw_keys *keys;

	if (jw_key_list(err, state, &keys))
		return -1;
	assert_int_equal(keys->count, 1);
	jw_result_free(keys);
	return 0;
}

/* Either all containers are found, or a message says what is missing. */
static int reads_code(struct jw_error *err)
{
	for (size_t i = 0; i < READ_MAX; i++) {
		size_t containers;

		if (read_one(err, i, &containers))
			return -1;
		assert_true(containers > 0);
		assert_int_equal(containers, usual[i]);
	}
	return 0;
}

static const struct struck_scenario scenarios[] = {
	{"insert", put_loose, inserts, "", ALWAYS},
	{"export", put_cache, exports, "", ALWAYS},
	{"export, signed", put_all, signs, "state/keys", ALWAYS},
	{"import", put_target, imports, "target", ALWAYS},
	{"repair", put_broken, repairs, "cache", ALWAYS},
	{"clear", put_cache, clears, "cache", ALWAYS},
	{"keep", put_cache, keeps, "state/store", AT_FIRST},
	{"refill", put_store, refills, "cache", ALWAYS},
	{"mark", put_cache, marks, "state", ALWAYS},
	{"tune", put_profile, tunes, "home", ALWAYS},
	{"undo", put_tuned, untunes, "", ALWAYS},
	{"uninstall", put_all, uninstalls, "home", ALWAYS},
	{"trust", put_key, trusts, "state", ALWAYS},
	{"import, signed", put_signed_pack, imports, "target", ALWAYS},
	{"list keys", put_key, lists_keys, "", ALWAYS},
	{"read code", put_codes, reads_code, "", ALWAYS},
};

static const struct struck_path paths[] = {
	{&cache, "cache"},
	{&target, "target"},
	{&pack, "a.jwpack"},
	{&loose, "loose"},
	{&state, "state"},
	{&codes[0], "codes/lib.so"},
	{&codes[1], "codes/pkg.tar.zst"},
	{NULL, NULL},
};

const struct struck_group struck_files = {
	&now, paths, &machine, scenarios, sizeof scenarios / sizeof *scenarios, USUAL_EVERY};
