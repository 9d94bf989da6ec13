/* Opaque and signed packs, keys, and what device code is read from files (struck_try.h). */
#include "check.h"

#include <stdio.h>
#include <string.h>

#include <jitwarm/key.h>
#include <jitwarm/pack.h>

#include <sodium.h>

#include "entries.h"
#include "files.h"
/* Behind those that have parameters of its names */
#include "make_archive.h"

#include "packs.h"
#include "struck_try.h"

enum { ENTRIES = 4, USUAL_EVERY = 29, READ_MOST = 3 };

static char *now, *cache, *target, *state, *pack, *codes[READ_MOST];
static struct jw_system machine;
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

/* A driver keeps its cache in a form that is not known. */
static void put_unknown(void)
{
	files_put_text(cache, "a/first", "some bytes");
	files_put_text(cache, "a/second", "some bytes");
	files_put_text(cache, "b/c/third", "others");
	files_put_text(cache, "empty", "");
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

static int exports(struct jw_error *err, bool opaque, bool signs)
{
	const struct jw_export_options options = {.size = sizeof options,
											  .cache_dir = cache,
											  .system = opaque ? &machine : NULL,
											  .output = pack,
											  .sign_key = signs ? "ours" : NULL,
											  .state_dir = state};
	struct jw_export_result result = {.size = sizeof result};

	if (jw_export(err, &options, &result))
		return -1;
	return result.damaged + result.unreadable ? STRUCK_NOT_WHOLE : 0;
}

static int imports(struct jw_error *err, bool opaque)
{
	const struct jw_import_options options = {.size = sizeof options,
											  .path = pack,
											  .cache_dir = target,
											  .system = opaque ? &machine : NULL,
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

static int exports_unknown(struct jw_error *err)
{
	return exports(err, true, false);
}

static void put_unknown_pack(void)
{
	put_unknown();
	assert_int_equal(exports_unknown(NULL), 0);
	assert_int_equal(os_make_dirs(NULL, target, 0700), 0);
}

static int imports_unknown(struct jw_error *err)
{
	return imports(err, true);
}

static int imports_entries(struct jw_error *err)
{
	return imports(err, false);
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
	assert_int_equal(exports(NULL, false, true), 0);
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

static int copies_a_key(struct jw_error *err)
{
	struct jw_error why = {0};
	struct jw_key key;
	char *path = os_join(err, state, "keys/ours.key");
	int result = path ? jw_key_import(&why, state, "copy", path, NULL, &key) : -1;

	mem_free(path);
	if (result && why.code == JW_ERR_USAGE)
		return 0; /* done again */
	return result && why.code ? error_copy(err, &why) : result;
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
	{"export an unknown form", put_unknown, exports_unknown, "", ALWAYS},
	{"import an unknown form", put_unknown_pack, imports_unknown, "target", ALWAYS},
	{"import, signed", put_signed_pack, imports_entries, "target", ALWAYS},
	{"copy a key", put_key, copies_a_key, "state/keys", ALWAYS},
	{"list keys", put_key, lists_keys, "", ALWAYS},
	{"read code", put_codes, reads_code, "", ALWAYS},
};

/* ---- */

static void what_fails_is_said_and_packed_again(void **unused)
{
	(void)unused;
	struck_try(scenarios, sizeof scenarios / sizeof *scenarios, USUAL_EVERY);
}

static int set_up(void **unused)
{
	(void)unused;
	now = struck_set_up();
	cache = struck_inside("cache", NULL);
	target = struck_inside("target", NULL);
	state = struck_inside("state", NULL);
	pack = struck_inside("a.jwpack", NULL);
	codes[0] = struck_inside("codes/lib.so", NULL);
	codes[1] = struck_inside("codes/lib.a", NULL);
	codes[2] = struck_inside("codes/pkg.tar.zst", NULL);
	machine = struck_machine(cache);
	machine.driver.trust = JW_TRUST_OPAQUE;
	(void)snprintf(machine.driver.library, sizeof machine.driver.library, "/lib/libcuda.so.1");
	return 0;
}

static int tear_down(void **unused)
{
	char **const all[] = {&cache, &target, &state, &pack, &codes[0], &codes[1], &codes[2]};

	(void)unused;
	for (size_t i = 0; i < sizeof all / sizeof *all; i++)
		mem_free(*all[i]);
	return struck_tear_down();
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(what_fails_is_said_and_packed_again)};

	return sodium_init() < 0 ? 1 : cmocka_run_group_tests(tests, set_up, tear_down);
}
