/* Opaque packs: a whole directory, for one driver, into an empty place, or not at all. */
#include "folder.h"

#include <jitwarm/find.h>

#include "base/text.h"
#include "os/platform.h"
#include "pack/opaque_manifest.h"
#include "packs.h"

static char *cache, *target, *pack;

static const struct {
	const char *path, *text;
} files[] = {
	{"a/first", "some bytes"}, {"a/second", "some bytes"}, {"b/c/third", "others"}, {"empty", ""},
	{"index.7", "rows"},
};
enum { FILES = sizeof files / sizeof *files };

static struct jw_gpu gpu;
static struct jw_system machine;

/* A machine whose driver keeps its cache in an unknown form. */
static void make_machine(void)
{
	gpu = (struct jw_gpu){.target = {86, 0}};
	machine = (struct jw_system){.gpus = &gpu, .gpu_count = 1};
	machine.driver = (struct jw_driver_info){.library = "/lib/libcuda.so.1",
											 .version = {14000, {700, 10, 2}},
											 .stamp = "Jan  1 203001:02:03",
											 .trust = JW_TRUST_OPAQUE};
}

static struct jw_export_result export_all(void)
{
	const struct jw_export_options options = {
		.size = sizeof options, .system = &machine, .cache_dir = cache, .output = pack};
	struct jw_export_result result = {.size = sizeof result};
	struct jw_error err = {0};

	if (jw_export(&err, &options, &result))
		fail_msg("%s", err.message);
	return result;
}

static struct jw_import_result *import_into(const struct jw_system *system, uint64_t limit_bytes,
											struct jw_error *err)
{
	const struct jw_import_options options = {.size = sizeof options,
											  .path = pack,
											  .system = system,
											  .cache_dir = target,
											  .allow_unsigned = true,
											  .limit_bytes = limit_bytes};
	struct jw_import_result *result = NULL;

	return jw_import(err, &options, &result) ? NULL : result;
}

static void assert_import(const struct jw_system *system, bool accepted, const char *why)
{
	struct jw_error err = {0};
	struct jw_import_result *result = import_into(system, 1 << 20, &err);

	if (!result)
		fail_msg("%s", err.message);
	assert_true(result->opaque);
	assert_int_equal(result->entries, FILES);
	assert_int_equal(result->added, accepted ? FILES : 0);
	assert_int_equal(result->refused, accepted ? 0 : FILES);
	assert_int_equal(result->group_count, 1);
	if (!strstr(result->groups->why, why))
		fail_msg("“%s” does not say “%s”", result->groups->why, why);
	jw_import_result_free(result);
}

/* As after a run that was killed at its end. */
static void assert_there(void)
{
	struct jw_error err = {0};
	struct jw_import_result *result = import_into(&machine, 1 << 20, &err);

	if (!result)
		fail_msg("%s", err.message);
	assert_int_equal(result->there, FILES);
	assert_int_equal(result->accepted + result->refused + result->added, 0);
	assert_int_equal(result->groups->verdict, JW_IMPORT_THERE);
	jw_import_result_free(result);
}

static void assert_same(void)
{
	for (size_t i = 0; i < FILES; i++) {
		char *path = os_join(NULL, target, files[i].path);
		struct buf got = {0};

		assert_int_equal(os_read_file(NULL, path, 1 << 20, &got), 0);
		assert_string_equal(buf_text(&got), files[i].text);
		buf_free(&got);
		mem_free(path);
	}
}

/* Neither the directory nor the new one that would replace it. */
static void assert_nothing_left(void)
{
	struct os_names names;

	assert_false(os_exists(target));
	assert_int_equal(os_list(NULL, folder, &names), 0);
	for (size_t i = 0; i < names.count; i++)
		assert_null(strstr(names.items[i], "target.jitwarm-"));
	os_names_free(&names);
}

static void there_and_back(void **state)
{
	struct jw_export_result result = {.size = sizeof result};
	struct jw_error err = {0};

	(void)state;
	make_machine();
	result = export_all();
	assert_true(result.opaque);
	assert_int_equal(result.entries, FILES);
	assert_string_equal(result.targets, "sm_86");
	assert_import(&machine, true, "");
	assert_same();
	assert_there();
	{
		char *more = os_join(NULL, target, "more");

		assert_int_equal(os_write_atomic(NULL, more, "x", 1), 0);
		assert_import(&machine, false, "is not empty");
		mem_free(more);
	}
	assert_int_equal(os_remove_tree(NULL, target), 0);
	assert_int_equal(os_make_dirs(NULL, target, 0700), 0);
	assert_import(&machine, true, "");
	assert_same();
	assert_int_equal(os_remove_tree(NULL, target), 0);
	/* Who may read the directory may read what is in it, and write to no file but the index. */
	assert_int_equal(os_make_dirs(NULL, target, 0755), 0);
	assert_int_equal(os_set_mode(NULL, target, 0755), 0);
	assert_import(&machine, true, "");
	for (size_t i = 0; os_list_separator == ':' && i < FILES; i++) {
		char *path = os_join(NULL, target, files[i].path);
		struct os_stat stat;

		assert_int_equal(os_stat(NULL, path, &stat), 0);
		assert_int_equal(stat.mode & 0777, 0644);
		mem_free(path);
	}
	assert_int_equal(os_remove_tree(NULL, target), 0);
	assert_null(import_into(&machine, 20, &err));
	assert_int_equal(err.code, JW_ERR_LIMIT);
	assert_nothing_left();
}

/* A directory with as many files counts as imported only where names and bytes are the same. */
static void others_are_not_there(void **state)
{
	static const struct {
		const char *from, *to, *text;
	} cases[] = {{"a/first", "a/firsu", "some bytes"},
				 {"empty", "empty", "x"},
				 {"index.7", "index.7", ""},
				 {"index.7", "index.7", "cows"}};

	(void)state;
	make_machine();
	(void)export_all();
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		char *path = os_join(NULL, target, cases[i].from);

		assert_import(&machine, true, "");
		assert_there();
		assert_int_equal(os_remove(NULL, path), 0);
		files_put_text(target, cases[i].to, cases[i].text);
		assert_import(&machine, false, "is not empty");
		assert_int_equal(os_remove_tree(NULL, target), 0);
		mem_free(path);
	}
}

/* Remains of killed imports are removed; files of other names stay. */
static void leftovers_go(void **state)
{
	static const char *const names[] = {
		"target.jitwarm-01234567/1/2",       "target.jitwarm-89abcdef/1",
		"target.jitwarm-89abcdef.lock",      "target.jitwarm-aaaaaaaa.lock",
		"target.jitwarm-012345678/stays",    "target.jitwarm-0123456/stays",
		"target.jitwarm-01234567.old/stays", "garget.jitwarm-01234567/stays",
		"target-jitwarm-01234567/stays"};
	struct os_names left;
	size_t stays = 0;

	(void)state;
	make_machine();
	(void)export_all();
	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		char *path = os_join(NULL, folder, names[i]), *above = os_dir_name(NULL, path);

		assert_int_equal(os_make_dirs(NULL, above, 0700), 0);
		assert_int_equal(os_write_atomic(NULL, path, "x", 1), 0);
		mem_free(above);
		mem_free(path);
	}
	assert_import(&machine, true, "");
	assert_same();
	assert_int_equal(os_list(NULL, folder, &left), 0);
	for (size_t i = 0; i < left.count; i++)
		stays += strstr(left.items[i], "jitwarm-") != NULL;
	os_names_free(&left);
	assert_int_equal(stays, 5);
	for (size_t i = 4; i < sizeof names / sizeof *names; i++) {
		char *path = os_join(NULL, folder, names[i]), *above = os_dir_name(NULL, path);

		assert_int_equal(os_remove_tree(NULL, above), 0);
		mem_free(above);
		mem_free(path);
	}
	assert_int_equal(os_remove_tree(NULL, target), 0);
}

/* An opaque pack of version 1, which every later jitwarm has to read. */
static void kept_one(void **state)
{
	struct buf bytes = {0};

	(void)state;
	if (strcmp(os_name, "linux") != 0)
		skip(); /* it is for Linux */
	make_machine();
	assert_int_equal(os_read_file(NULL,
								  JITWARM_SOURCE_DIR "/tests/data/features/pack-1-opaque.jwpack",
								  1 << 20, &bytes),
					 0);
	assert_int_equal(os_write_atomic(NULL, pack, bytes.data, bytes.size), 0);
	buf_free(&bytes);
	assert_import(&machine, true, "");
	assert_same();
	assert_int_equal(os_remove_tree(NULL, target), 0);
}

static void only_the_same_machine(void **state)
{
	struct jw_system other;

	(void)state;
	make_machine();
	(void)export_all();
	other = machine;
	other.driver.stamp[0] = 'F';
	assert_import(&other, false, "driver stamp “Jan  1 2030 01:02:03” (this machine's is “Fan");
	other = machine;
	other.driver.version.release[1] = 11;
	assert_import(&other, false,
				  "driver version 700.10.02 (CUDA 14.0) (this machine's is 700.11.02");
	other = machine;
	other.driver.version.cuda = 14010;
	assert_import(&other, false, "driver version 700.10.02 (CUDA 14.0)");
	other = machine;
	other.driver.library[0] = 0;
	assert_import(&other, false, "no driver is here");
	other = machine;
	other.driver.stamp[0] = 0;
	other.driver.version = (struct jw_driver){0};
	assert_import(&other, false, "(this machine's is not known)");
	other = machine;
	other.driver.stamp[0] = 0;
	assert_import(&other, true, "");
	assert_int_equal(os_remove_tree(NULL, target), 0);
	other = machine;
	gpu.target.sm = 90;
	assert_import(&other, false, "architecture sm_86 (this machine has sm_90)");
	other.gpu_count = 0;
	assert_import(&other, true, "");
	assert_int_equal(os_remove_tree(NULL, target), 0);
	assert_import(NULL, false, "no driver is here");
	assert_nothing_left();
}

static bool any_key(void *context, uint64_t key)
{
	return !context || key;
}

static void directories_that_no_pack_can_hold_are_refused(void **state)
{
	static const struct jw_found found = {.file_count = 1};
	struct jw_export_options options = {
		.size = sizeof options, .system = &machine, .cache_dir = cache, .output = pack};
	struct jw_export_result result = {.size = sizeof result};
	struct jw_error err = {0};
	char *hidden = os_join(NULL, cache, "a/.hidden");

	(void)state;
	make_machine();
	files_put_text(cache, "a/.hidden", "x");
	assert_int_equal(jw_export(&err, &options, &result), -1);
	assert_int_equal(err.code, JW_ERR_UNSUPPORTED);
	assert_int_equal(os_remove(NULL, hidden), 0);
	mem_free(hidden);
	for (size_t i = 0; i < 4; i++) {
		struct jw_export_options part = options;

		switch (i) {
		case 0: part.found = &found; break;
		case 1: part.wanted = any_key; break;
		case 2: part.targets = &gpu.target, part.target_count = 1; break;
		default: part.paths = (const char *const[]){cache}, part.path_count = 1;
		}
		err = (struct jw_error){0};
		assert_int_equal(jw_export(&err, &part, &result), -1);
		assert_non_null(strstr(err.message, "it can only be packed as a whole"));
	}
	machine.driver.stamp[0] = 0;
	machine.driver.version = (struct jw_driver){0};
	assert_int_equal(jw_export(&err, &options, &result), -1);
	assert_int_equal(err.code, JW_ERR_UNSUPPORTED);
}

/* ---- hostile manifests */

#define HEAD                                                                                       \
	"{\"format\":\"jitwarm.pack/1\",\"requires\":[\"opaque\"],\"os\":\"%s\",\"pointer_bits\":64,"

struct hostile {
	const char *tree;
	enum jw_code code;
};

static void try_hostile(const char *name, const struct hostile *one, const char *drivers,
						const char *kind)
{
	char *manifest =
		mem_printf(NULL,
				   HEAD "\"drivers\":[%s],\"members\":[{\"name\":\"%s/%s\",\"bytes\":4}],"
						"\"entries\":[],\"targets\":[],\"tree\":[%s]}",
				   os_name, drivers, kind, name, one->tree);
	char full[TAR_MOST_NAME + 1];
	const struct packs_member member = {full, "rows", 4};
	struct jw_import_result *result;
	struct jw_error err = {0};
	struct buf bytes;

	(void)snprintf(full, sizeof full, "%s/%s", kind, name);
	packs_make(&bytes, manifest, &member, 1);
	assert_int_equal(os_write_atomic(NULL, pack, bytes.data, bytes.size), 0);
	result = import_into(&machine, 1 << 20, &err);
	if (err.code != one->code)
		fail_msg("%s: %s", manifest, err.message);
	jw_import_result_free(result);
	if (result)
		assert_int_equal(os_remove_tree(NULL, target), 0);
	assert_nothing_left();
	buf_free(&bytes);
	mem_free(manifest);
}

#define LEAF(path) "{\"path\":\"" path "\",\"member\":0}"
#define DRIVER     "{\"stamp\":\"Jan  1 203001:02:03\",\"release\":\"700.10.02\",\"cuda\":14000}"

/* On every system, as the pack may come from another one. */
static void names_of_devices_are_refused(void **state)
{
	static const char *const devices[] = {"con",  "PRN",    "aux.txt", "nul.", "com0",     "Com9",
										  "lpt0", "LPT9.x", "a/con",   "..",   "a/.hidden"};
	static const char *const names[] = {"cons", "co",   "com",  "com10", "lpt",   "comx", "com/",
										"com:", "lpt:", "xcon", "con_",  "a/b/c", "c0m1", "compa"};

	(void)state;
	for (size_t i = 0; i < sizeof devices / sizeof *devices; i++)
		assert_false(opaque_path_is_sound(devices[i]));
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		assert_int_equal(opaque_path_is_sound(names[i]),
						 !strpbrk(names[i], ":") && !text_ends(names[i], "/"));
}

/* A stamp or a release names the driver; without either nobody could tell for whom the pack is. */
static void half_known_drivers_are_named(void **state)
{
	static const struct {
		const char *stamp;
		uint32_t release;
		bool known;
	} cases[] = {{"Jan  1 203001:02:03", 700, true},
				 {"Jan  1 203001:02:03", 0, true},
				 {"", 700, true},
				 {"", 0, false}};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		const struct jw_export_options options = {
			.size = sizeof options, .system = &machine, .cache_dir = cache, .output = pack};
		struct jw_export_result result = {.size = sizeof result};

		make_machine();
		TEXT_COPY(machine.driver.stamp, cases[i].stamp);
		machine.driver.version.release[0] = cases[i].release;
		assert_int_equal(jw_export(NULL, &options, &result), cases[i].known ? 0 : -1);
	}
}

static void hostile_manifests(void **state)
{
	static const struct hostile cases[] = {
		{LEAF("a"), JW_OK},
		{LEAF("a/b/c/d/e/f/g/h"), JW_OK},
		{LEAF("a") ",{\"path\":\"b\"}", JW_OK},
		{LEAF("a") "," LEAF("b"), JW_OK},
		{LEAF("../a"), JW_ERR_FORMAT},
		{LEAF("a/../../b"), JW_ERR_FORMAT},
		{LEAF("/etc/passwd"), JW_ERR_FORMAT},
		{LEAF("a//b"), JW_ERR_FORMAT},
		{LEAF("a/"), JW_ERR_FORMAT},
		{LEAF(""), JW_ERR_FORMAT},
		{LEAF("."), JW_ERR_FORMAT},
		{LEAF(".ssh/authorized_keys"), JW_ERR_FORMAT},
		{LEAF("a."), JW_ERR_FORMAT},
		{LEAF("a\\\\b"), JW_ERR_FORMAT},
		{LEAF("c:a"), JW_ERR_FORMAT},
		{LEAF("a b"), JW_ERR_FORMAT},
		{LEAF("NUL"), JW_ERR_FORMAT},
		{LEAF("x/com1.txt"), JW_ERR_FORMAT},
		{LEAF("a/b/c/d/e/f/g/h/i"), JW_ERR_FORMAT},
		{LEAF("0123456789012345678901234567890123456789012345678901234567890123"), JW_OK},
		{LEAF("01234567890123456789012345678901234567890123456789012345678901234"), JW_ERR_FORMAT},
		{LEAF("a") "," LEAF("a"), JW_ERR_FORMAT},
		{LEAF("a") "," LEAF("A"), JW_ERR_FORMAT},
		{LEAF("b") "," LEAF("a"), JW_ERR_FORMAT},
		/* A file where a folder would have to be */
		{LEAF("a") "," LEAF("a/b"), JW_ERR_FORMAT},
		{LEAF("a") "," LEAF("a-b") "," LEAF("a/b"), JW_ERR_FORMAT},
		{LEAF("A") "," LEAF("a/b/c"), JW_ERR_FORMAT},
		{LEAF("a/B") "," LEAF("a/b/c"), JW_ERR_FORMAT},
		{LEAF("a-b") "," LEAF("a/b") "," LEAF("ab"), JW_OK},
		{"{\"path\":\"a\",\"member\":1}", JW_ERR_FORMAT},
		{"{\"path\":\"a\",\"member\":-1}", JW_ERR_FORMAT},
		{"{\"path\":\"a\",\"member\":0.5}", JW_ERR_FORMAT},
		{"{\"path\":\"a\",\"member\":4294967295}", JW_ERR_FORMAT},
		{"{\"path\":\"a\",\"member\":\"0\"}", JW_ERR_FORMAT},
		{"{\"path\":\"a\"}", JW_ERR_FORMAT}, /* nothing needs the member */
		{"", JW_ERR_FORMAT},
		{"7", JW_ERR_FORMAT},
	};
	struct pack_member member = {.kind = PACK_FILE};
	const struct hostile sound = {LEAF("a"), JW_ERR_FORMAT};
	char name[TAR_MOST_NAME + 1];

	(void)state;
	make_machine();
	digest_of(&member.digest, "rows", 4);
	(void)pack_member_name(name, &member);
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		try_hostile(name + 5, &cases[i], DRIVER, "file");
	try_hostile(name + 5, &sound, DRIVER "," DRIVER, "file");
	try_hostile(name + 5, &sound, "", "file");
	try_hostile(name + 5, &sound, "{\"stamp\":\"\"}", "file");
	try_hostile(name + 5, &sound, "{\"stamp\":\"x\",\"release\":\"1.2\"}", "file");
	try_hostile(name + 5, &sound, DRIVER, "ptx");
	/* Bytes that do not match the name */
	digest_of(&member.digest, "cows", 4);
	(void)pack_member_name(name, &member);
	try_hostile(name + 5, &sound, DRIVER, "file");
}

/* A pack that is right in all but its system */
static void another_system_takes_nothing(void **state)
{
	struct pack_member member = {.kind = PACK_FILE};
	char name[TAR_MOST_NAME + 1], *manifest;
	const struct packs_member rows = {name, "rows", 4};
	struct jw_import_result *result;
	struct jw_error err = {0};
	struct buf bytes;

	(void)state;
	make_machine();
	digest_of(&member.digest, "rows", 4);
	(void)pack_member_name(name, &member);
	manifest =
		mem_printf(NULL,
				   HEAD "\"drivers\":[" DRIVER "],\"members\":[{\"name\":\"%s\",\"bytes\":4}],"
						"\"entries\":[],\"targets\":[],\"tree\":[" LEAF("a") "]}",
				   "plan9", name);
	packs_make(&bytes, manifest, &rows, 1);
	assert_int_equal(os_write_atomic(NULL, pack, bytes.data, bytes.size), 0);
	result = import_into(&machine, 1 << 20, &err);
	if (!result)
		fail_msg("%s", err.message);
	assert_int_equal(result->added, 0);
	assert_non_null(strstr(result->groups->why, "OS plan9"));
	jw_import_result_free(result);
	assert_nothing_left();
	buf_free(&bytes);
	mem_free(manifest);
}

static int set_up(void **state)
{
	if (make_folder(state))
		return -1;
	cache = os_join(NULL, folder, "cache");
	target = os_join(NULL, folder, "target");
	pack = os_join(NULL, folder, "opaque.jwpack");
	for (size_t i = 0; i < FILES; i++)
		files_put_text(cache, files[i].path, files[i].text);
	files_put_text(cache, ".jitwarm-lock", "");
	return 0;
}

static int tear_down(void **state)
{
	mem_free(cache);
	mem_free(target);
	mem_free(pack);
	return remove_folder(state);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(there_and_back),
		cmocka_unit_test(kept_one),
		cmocka_unit_test(others_are_not_there),
		cmocka_unit_test(leftovers_go),
		cmocka_unit_test(only_the_same_machine),
		cmocka_unit_test(directories_that_no_pack_can_hold_are_refused),
		cmocka_unit_test(names_of_devices_are_refused),
		cmocka_unit_test(half_known_drivers_are_named),
		cmocka_unit_test(hostile_manifests),
		cmocka_unit_test(another_system_takes_nothing),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
