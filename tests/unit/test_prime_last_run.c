/* `prime --if-changed` compares the files of an environment that `prime` would read. */
#include "environments.h"

#include <jitwarm/startup.h>

#include <stdio.h>
#include <string.h>

#include <uv.h>

#include "base/mem.h"
#include "base/text.h"
#include "os/platform.h"

#define SITE "venv/lib/python3.11/site-packages/"

/* The environment has frame, which requires core, and other. */
static void make_environment(void)
{
	put("venv/pyvenv.cfg", "home = /nowhere/bin\n");
	put(SITE "frame-2.0.dist-info/METADATA", "Name: frame\nVersion: 2.0\nRequires-Dist: core\n");
	put(SITE "frame-2.0.dist-info/RECORD", "frame/lib.so.1,,\nframe/__init__.py,,\n");
	put(SITE "frame/lib.so.1", "x");
	put(SITE "core-1.dist-info/METADATA", "Name: core\nVersion: 1\n");
	put(SITE "core-1.dist-info/RECORD", "core.so,,\n");
	put(SITE "core.so", "x");
	put(SITE "other-1.dist-info/METADATA", "Name: other\nVersion: 1\n");
	put(SITE "other-1.dist-info/RECORD", "other.so,,\n");
	put(SITE "other.so", "x");
	set("VIRTUAL_ENV", "venv");
	set("JITWARM_STATE", "state");
	set("CUDA_CACHE_PATH", "cache");
}

static char said[256];
static const char *named_cache; /* NULL: the account's */

/* Says whether a package differs from the last time (NULL: the whole environment); `said` is the
 * difference. */
static bool has_changed(const char *package)
{
	const struct jw_run_key key = {
		.names = &package, .name_count = package ? 1 : 0, .cache_dir = named_cache};
	struct jw_run_state *now = NULL;
	const char *changes = NULL;
	bool changed;

	OK(jw_run_compare(why, &key, &now, &changes));
	changed = *changes != '\0';
	TEXT_COPY(said, changes);
	OK(jw_run_remember(why, now));
	jw_result_free(now);
	return changed;
}

/* Writes an entry of 100 bytes with a time so many seconds after 2001-09-09. */
static void put_entry(const char *name, int64_t second)
{
	char path[64], bytes[101];
	char *whole;

	memset(bytes, 'x', 100);
	bytes[100] = '\0';
	(void)snprintf(path, sizeof path, "cache/a/b/%s", name);
	put(path, bytes);
	whole = keep(at(path));
	check_set_mtime(whole, (1000000000 + second) * 1000000000);
}

static void put_index(uint32_t version)
{
	char *path = keep(at("cache/index"));

	OK(os_write_atomic(why, path, (const uint32_t[]){version, 0, 0, 0}, 16));
}

CASE(lost_and_damaged_entries_are_seen)
{
	static const char one[] = "00000000000001", other[] = "00000000000002";
	char *cut = keep(at("cache/a/b/00000000000001")), *index = keep(at("cache/index"));
	struct os_file *file;

	set("JITWARM_STATE", "state");
	set("CUDA_CACHE_PATH", "cache");
	put_entry(one, 1);
	put_entry(other, 2);
	put_index(0x41);
	assert_true(has_changed("frame"));
	assert_false(has_changed("frame"));
	put_entry("00000000000003", 3); /* another program's */
	assert_false(has_changed("frame"));
	/* truncated, with its old time */
	OK(os_file_open(why, cut, OS_OPEN_UPDATE, &file));
	OK(os_file_truncate(why, file, 99));
	os_file_close(file);
	check_set_mtime(cut, INT64_C(1000000001) * 1000000000);
	assert_true(has_changed("frame"));
	put_entry(one, 1);
	assert_true(has_changed("frame"));
	/* overwritten in place, with its old size and time */
	OK(os_file_open(why, cut, OS_OPEN_UPDATE, &file));
	OK(os_file_write(why, file, 50, "y", 1));
	os_file_close(file);
	check_set_mtime(cut, INT64_C(1000000001) * 1000000000);
	assert_true(has_changed("frame"));
	put_entry(other, 4); /* written again */
	assert_true(has_changed("frame"));
	OK(os_remove(why, cut));
	assert_true(has_changed("frame"));
	assert_string_equal(said, "cache");
	assert_false(has_changed("frame"));
	/* unsound, so that the driver would wipe the cache */
	put_index(0x4a4a4a4a);
	assert_true(has_changed("frame"));
	assert_true(has_changed("frame"));
	OK(os_remove(why, index));
	assert_true(has_changed("frame"));
	put_index(0x41);
	assert_false(has_changed("frame"));
}

CASE(a_cache_that_was_named_is_looked_at)
{
	char *cache = keep(at("cache")), *entry = keep(at("cache/a/b/00000000000001"));

	set("JITWARM_STATE", "state");
	set("CUDA_CACHE_PATH", "elsewhere");
	put_entry("00000000000001", 1);
	put_index(0x41);
	named_cache = cache;
	assert_true(has_changed("frame"));
	assert_false(has_changed("frame"));
	OK(os_remove(why, entry));
	assert_true(has_changed("frame"));
	assert_string_equal(said, "cache");
	named_cache = NULL;
}

/* Replaces the last run's record of `name`. */
static void remember_as(const char *name, const char *value)
{
	char *path = keep(at("state/state.json")), *start;
	struct buf text = {0}, changed = BUF_MAX(1 << 16);

	OK(os_read_file(why, path, 1 << 16, &text));
	start = strstr(buf_text(&text), "last-run-");
	assert_non_null(start);
	start = strstr(start, name);
	assert_non_null(start);
	start += strlen(name);
	OK(buf_append(why, &changed, text.data, (size_t)(start - buf_text(&text))));
	OK(buf_append(why, &changed, value, strlen(value)));
	start += strcspn(start, ",}");
	OK(buf_append(why, &changed, start, strlen(start)));
	OK(os_write_atomic(why, path, changed.data, changed.size));
	buf_free(&changed);
	buf_free(&text);
}

/* The entries have their old size and time, after damage to the disk, or a power loss soon after
 * the run. */
CASE(entries_of_old_times_are_doubted)
{
	static const char one[] = "00000000000001";

	set("JITWARM_STATE", "state");
	set("CUDA_CACHE_PATH", "cache");
	put_entry(one, 1);
	put_index(0x41);
	assert_true(has_changed("frame"));
	assert_false(has_changed("frame"));
	uv_sleep(50); /* a file system's clock may be as coarse as that */
	put_entry(one, 1);
	assert_true(has_changed("frame"));
	assert_false(has_changed("frame"));
	remember_as("\"boot_s\":", "\"1\"");
	assert_true(has_changed("frame"));
	assert_false(has_changed("frame"));
	remember_as("\"boot_s\":", "\"1\"");
	remember_as("\"settled\":", "true");
	assert_false(has_changed("frame"));
}

/* Each of these alone makes another run necessary, and only one run. */
CASE(each_part_of_a_run_counts)
{
	static const char *const variables[] = {"CUDA_CACHE_MAXSIZE",   "CUDA_CACHE_DISABLE",
											"CUDA_FORCE_PTX_JIT",   "CUDA_FORCE_JIT",
											"CUDA_VISIBLE_DEVICES", "CUDA_DEVICE_ORDER"};
	static const char *const gpus[] = {"10de:2204@0000:01:00.0", "10de:2204@0000:02:00.0",
									   "10de:2206@0000:02:00.0",
									   "10de:2206@0000:02:00.0,10de:2206@0000:03:00.0", ""};
	char *folders = keep(os_env("LD_LIBRARY_PATH")), *core = keep(at(SITE "core.so"));

	make_environment();
	assert_true(has_changed("frame"));
	for (size_t i = 0; i < 2 * sizeof variables / sizeof *variables; i++) {
		OK(os_env_set(why, variables[i / 2], i % 2 ? NULL : "1"));
		if (!has_changed("frame") || strcmp(said, "settings") != 0 || has_changed("frame"))
			fail_msg("%s: %s", variables[i / 2], said);
	}
	for (size_t i = 0; i < sizeof gpus / sizeof *gpus; i++) {
		OK(os_env_set(why, "JITWARM_PCI_DEVICES", gpus[i]));
		if (!has_changed("frame") || has_changed("frame"))
			fail_msg("%s", gpus[i]);
	}
	OK(os_env_set(why, "JITWARM_PCI_DEVICES", NULL));
	(void)has_changed("frame");
	/* The code alone changes, also without a change of size. */
	put(SITE "frame/__init__.py", "x");
	assert_false(has_changed("frame"));
	check_set_mtime(core, INT64_C(1000000001) * 1000000000);
	OK(os_env_set(why, "JITWARM_PCI_DEVICES", gpus[0]));
	assert_true(has_changed("frame"));
	assert_string_equal(said, "GPUs, packages");
	OK(os_env_set(why, "JITWARM_PCI_DEVICES", NULL));
	assert_true(has_changed("frame") && !has_changed("frame"));
	if (!os_is_windows) {
		set("LD_LIBRARY_PATH", "driver");
		put("driver/libcuda.so.1", "x");
		assert_true(has_changed("frame") && !has_changed("frame"));
		put("driver/libcuda.so.1", "xy");
		assert_true(has_changed("frame") && !has_changed("frame"));
		OK(os_env_set(why, "LD_LIBRARY_PATH", folders));
		(void)has_changed("frame");
	}
	/* Other names are another run, and the record may be of another kind. */
	assert_true(has_changed("core") && !has_changed("frame") && !has_changed("core"));
	OK(os_remove_tree(why, root));
	make_environment();
	(void)has_changed("frame");
	assert_false(has_changed("frame"));
	remember_as("\"schema\":", "\"jitwarm.last-run/2\"");
	assert_true(has_changed("frame") && !has_changed("frame"));
}

/* A named cache belongs to another run, too. */
CASE(each_cache_has_its_run)
{
	char *caches[] = {NULL, at("cache1"), at("cache2")};

	make_environment();
	for (int i = 0; i < 6; i++) {
		const struct jw_run_key key = {.cache_dir = caches[i % 3]};
		struct jw_run_state *now = NULL;
		const char *changes = NULL;

		OK(jw_run_compare(why, &key, &now, &changes));
		assert_string_equal(changes, i < 3 ? "first run" : "");
		OK(jw_run_remember(why, now));
		jw_result_free(now);
	}
	mem_free(caches[1]);
	mem_free(caches[2]);
}

RUN_TESTS(NULL, NULL)
