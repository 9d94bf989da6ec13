/* Opaque and signed packs, keys, and what device code is read from files (struck_try.h). */
#include "check.h"

#include <stdio.h>
#include <string.h>

#include <jitwarm/key.h>
#include <jitwarm/pack.h>

#include "entries.h"
#include "files.h"
/* Behind those that have parameters of its names */
#include "make_archive.h"

#include "packs.h"
#include "struck_try.h"

enum { ENTRIES = 4, USUAL_EVERY = 29, READ_MOST = 3 };

static char *now, *cache, *target, *state, *pack, *codes[READ_MOST];
static size_t usual[READ_MOST]; /* containers in each of them */

/* ---- what is there */

static void put_cache(void)
{
	for (unsigned n = 0; n < ENTRIES; n++) {
		struct entries_entry entry;

		entries_make(&entry, n, n);
		packs_put(cache, entry.key, entry.bytes, entry.size);
	}
}

struct read_code {
	size_t containers;
	struct jw_error why;
};

static int count_code(struct jw_error *err, void *context, const struct devcode_container *found)
{
	struct read_code *read = context;

	(void)err;
	(void)found;
	read->containers++;
	return 0;
}

static void note_trouble(void *context, const char *path, const char *member,
						 const struct jw_error *why)
{
	struct read_code *read = context;

	(void)path;
	(void)member;
	read->why = *why;
}

static int read_one(struct jw_error *err, size_t i, size_t *ret_containers)
{
	struct read_code read = {0};
	const struct devcode_sink sink = {
		.context = &read, .container = count_code, .trouble = note_trouble};

	if (devcode_read(err, codes[i], &sink))
		return -1;
	*ret_containers = read.containers;
	return read.why.code ? error_copy(err, &read.why) : 0;
}

static void put_codes(void)
{
	struct buf code[READ_MOST] = {make_buf(), make_buf(), make_buf()}, tar = make_buf();
	const struct packed_file files[] = {{"a/lib.so", &code[0]}, {"a/lib.a", &code[1]}};

	make_library(&code[0], 100);
	make_ar(&code[1]);
	make_archive(&tar, true, "", files, 2);
	make_zstd(&code[2], &tar);
	files_put(now, "codes/lib.so", code[0].data, code[0].size);
	files_put(now, "codes/lib.a", code[1].data, code[1].size);
	files_put(now, "codes/pkg.tar.zst", code[2].data, code[2].size);
	for (size_t i = 0; i < READ_MOST; i++)
		buf_free(&code[i]);
	buf_free(&tar);
	for (size_t i = 0; i < READ_MOST; i++)
		assert_int_equal(read_one(NULL, i, &usual[i]), 0);
}

/* ---- what is done */

static int exports(struct jw_error *err, bool signs)
{
	const struct jw_export_options options = {.size = sizeof options,
											  .cache_dir = cache,
											  .output = pack,
											  .sign_key = signs ? "ours" : NULL,
											  .state_dir = state};
	struct jw_export_result result = {.size = sizeof result};

	if (jw_export(err, &options, &result))
		return -1;
	return result.damaged + result.unreadable ? STRUCK_NOT_WHOLE : 0;
}

static int imports(struct jw_error *err)
{
	const struct jw_import_options options = {.size = sizeof options,
											  .path = pack,
											  .cache_dir = target,
											  .allow_unsigned = true,
											  .state_dir = state,
											  .limit_bytes = 1 << 30};
	struct jw_import_result *result;
	size_t there;

	if (jw_import(err, &options, &result))
		return -1;
	there = result->added + result->there;
	there = result->entries == ENTRIES && *result->unmarked == 0 ? there : 0;
	jw_import_result_free(result);
	return there < ENTRIES ? STRUCK_NOT_WHOLE : 0;
}

static void put_key(void)
{
	struct jw_key key;

	assert_int_equal(jw_key_generate(NULL, state, "ours", NULL, &key), 0);
}

static void put_signed_pack(void)
{
	put_cache();
	put_key();
	assert_int_equal(exports(NULL, true), 0);
}

static int lists_keys(struct jw_error *err)
{
	struct jw_keys keys;

	if (jw_key_list(err, state, &keys))
		return -1;
	assert_int_equal(keys.count, 1);
	jw_keys_free(&keys);
	return 0;
}

/* All that is there, or a word about it. */
static int reads_code(struct jw_error *err)
{
	for (size_t i = 0; i < READ_MOST; i++) {
		size_t containers;

		if (read_one(err, i, &containers))
			return -1;
		assert_true(containers > 0);
		assert_int_equal(containers, usual[i]);
	}
	return 0;
}

static const struct struck_scenario scenarios[] = {
	{"import, signed", put_signed_pack, imports, "target", ALWAYS},
	{"list keys", put_key, lists_keys, "", ALWAYS},
	{"read code", put_codes, reads_code, "", ALWAYS},
};

int main(void)
{
	static const struct struck_path paths[] = {
		{&cache, "cache"},
		{&target, "target"},
		{&state, "state"},
		{&pack, "a.jwpack"},
		{&codes[0], "codes/lib.so"},
		{&codes[1], "codes/lib.a"},
		{&codes[2], "codes/pkg.tar.zst"},
		{NULL, NULL},
	};

	return struck_main(&now, paths, NULL, scenarios, sizeof scenarios / sizeof *scenarios,
					   USUAL_EVERY);
}
