/* The environment as the driver interprets it: each case was tried on a real driver. */
#include "check.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "cache/settings.h"
#include "folder.h"
#include "lacking.h"
#include "os/env.h"
#include "os/file.h"

static const char *const names[] = {
	"CUDA_CACHE_PATH", "CUDA_CACHE_MAXSIZE",   "CUDA_CACHE_DISABLE", "CUDA_FORCE_PTX_JIT",
	"CUDA_FORCE_JIT",  "CUDA_DISABLE_PTX_JIT", "CUDA_DISABLE_JIT",   "CUDA_CACHE_MAX_SIZE",
	"CUDA_CACHE_DIR",  "CUDA_CACHE_SIZE",      "CUDA_CACHE_DISABLED"};

static int clean_environment(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (os_env_set(NULL, names[i], NULL))
			return -1;
	return os_env_set(NULL, "HOME", folder);
}

static bool warns_of(const struct cache_settings *settings, const char *what)
{
	for (size_t i = 0; i < settings->warning_count; i++)
		if (strstr(settings->warnings[i], what))
			return true;
	return false;
}

static void limits_are_decimal_prefixes(void **state)
{
	static const struct {
		const char *text;
		uint64_t limit;
	} cases[] = {
		{"5000", 5000},
		{" 5000", 5000},
		{"+5000", 5000},
		{"05000", 5000},
		{"5000x", 5000},
		{"1G", 1},
		{"0x2000", 0},
		{"1e4", 1},
		{"", 0},
		{"abc", 0},
		{"4294967295", UINT64_C(4294967295)},
		{"4294967296", CACHE_MOST_LIMIT},
		{"8589934592", CACHE_MOST_LIMIT},
		{"-1", CACHE_MOST_LIMIT},
		{"99999999999999999999999", CACHE_MOST_LIMIT},
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		assert_int_equal(cache_parse_limit(cases[i].text), cases[i].limit);
}

static void variables_are_read_as_the_driver_does(void **state)
{
	static const struct {
		const char *name, *value;
		bool disabled, force, force_jit, no_ptx, warned;
	} cases[] = {
		{.name = "CUDA_CACHE_DISABLE", .value = "1", .disabled = true, .warned = true},
		{.name = "CUDA_CACHE_DISABLE", .value = "01", .disabled = true, .warned = true},
		{.name = "CUDA_CACHE_DISABLE", .value = " 1", .disabled = true, .warned = true},
		{.name = "CUDA_CACHE_DISABLE", .value = "0"},
		{.name = "CUDA_CACHE_DISABLE", .value = "2"},
		{.name = "CUDA_CACHE_DISABLE", .value = "true"},
		{.name = "CUDA_CACHE_DISABLE", .value = ""},
		{.name = "CUDA_FORCE_PTX_JIT", .value = "1", .force = true},
		{.name = "CUDA_FORCE_PTX_JIT", .value = "yes"},
		{.name = "CUDA_FORCE_JIT", .value = "1", .force_jit = true},
		{.name = "CUDA_DISABLE_PTX_JIT", .value = "1", .no_ptx = true, .warned = true},
		{.name = "CUDA_DISABLE_JIT", .value = "1", .no_ptx = true, .warned = true},
		{.name = "CUDA_CACHE_MAX_SIZE", .value = "1000000", .warned = true},
		{.name = "CUDA_CACHE_DIR", .value = "/tmp", .warned = true},
		{.name = "CUDA_CACHE_MAXSIZE", .value = "1G", .warned = true},
		{.name = "CUDA_CACHE_MAXSIZE", .value = "2 GiB", .warned = true},
		{.name = "CUDA_CACHE_MAXSIZE", .value = "abc", .warned = true},
		{.name = "CUDA_CACHE_MAXSIZE", .value = "8589934592", .warned = true},
		{.name = "CUDA_CACHE_MAXSIZE", .value = "1073741824"},
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct cache_settings settings;

		assert_int_equal(clean_environment(state), 0);
		assert_int_equal(os_env_set(NULL, cases[i].name, cases[i].value), 0);
		assert_int_equal(cache_settings_read(NULL, NULL, NULL, &settings), 0);
		assert_int_equal(settings.disabled, cases[i].disabled);
		assert_int_equal(settings.force_ptx_jit, cases[i].force);
		assert_int_equal(settings.force_jit, cases[i].force_jit);
		assert_int_equal(settings.disable_ptx_jit, cases[i].no_ptx);
		assert_int_equal(settings.warning_count, cases[i].warned);
		if (cases[i].warned)
			assert_true(warns_of(&settings, cases[i].name));
		cache_settings_free(&settings);
	}
}

static void one_variable_overrides_the_other(void **state)
{
	struct cache_settings settings;

	(void)state;
	assert_int_equal(os_env_set(NULL, "CUDA_FORCE_PTX_JIT", "0"), 0);
	assert_int_equal(os_env_set(NULL, "CUDA_FORCE_JIT", "1"), 0);
	assert_int_equal(cache_settings_read(NULL, NULL, NULL, &settings), 0);
	assert_false(settings.force_ptx_jit || settings.force_jit);
	cache_settings_free(&settings);
}

static void the_place_follows_the_driver(void **state)
{
	struct cache_settings settings;
	char *expected = os_join(NULL, folder, ".nv/ComputeCache"), *here;

	(void)state;
	assert_int_equal(cache_settings_read(NULL, NULL, NULL, &settings), 0);
	assert_string_equal(settings.path, expected);
	assert_false(settings.path_set);
	assert_false(settings.exists);
	assert_int_equal(settings.limit_bytes, UINT64_C(1) << 30);
	assert_int_equal(settings.warning_count, 0);
	cache_settings_free(&settings);

	assert_int_equal(os_env_set(NULL, "HOME", ""), 0);
	assert_int_equal(cache_settings_read(NULL, NULL, NULL, &settings), 0);
	assert_string_equal(settings.path, "/.nv/ComputeCache");
	cache_settings_free(&settings);

	assert_int_equal(os_env_set(NULL, "HOME", NULL), 0);
	assert_int_equal(cache_settings_read(NULL, NULL, NULL, &settings), 0);
	assert_null(settings.path);
	assert_true(warns_of(&settings, "HOME"));
	cache_settings_free(&settings);

	assert_int_equal(os_env_set(NULL, "CUDA_CACHE_PATH", ""), 0);
	assert_int_equal(cache_settings_read(NULL, NULL, NULL, &settings), 0);
	assert_null(settings.path);
	assert_true(settings.path_set);
	assert_true(warns_of(&settings, "CUDA_CACHE_PATH"));
	cache_settings_free(&settings);

	assert_int_equal(os_env_set(NULL, "CUDA_CACHE_PATH", "no/such/levels"), 0);
	assert_int_equal(cache_settings_read(NULL, NULL, NULL, &settings), 0);
	assert_int_equal(os_real_path(NULL, ".", &here), 0);
	assert_true(!strncmp(settings.path, here, strlen(here)));
	assert_true(warns_of(&settings, "relative"));
	cache_settings_free(&settings);
	mem_free(here);
	mem_free(expected);
}

static void an_unusable_directory_is_reported(void **state)
{
	struct cache_settings settings;
	char *file = os_join(NULL, folder, "file"), *dir = os_join(NULL, folder, "dir");

	(void)state;
	assert_int_equal(os_write_atomic(NULL, file, "x", 1), 0);
	assert_int_equal(cache_settings_read(NULL, file, NULL, &settings), 0);
	assert_false(settings.usable);
	assert_true(warns_of(&settings, "not a directory"));
	cache_settings_free(&settings);

	assert_int_equal(os_make_dirs(NULL, dir, 0700), 0);
	assert_int_equal(cache_settings_read(NULL, dir, NULL, &settings), 0);
	assert_true(settings.usable && settings.exists);
	assert_int_equal(settings.warning_count, 0);
	cache_settings_free(&settings);

	if (getuid()) { /* root may write anywhere */
		assert_int_equal(chmod(dir, 0500), 0);
		assert_int_equal(cache_settings_read(NULL, dir, NULL, &settings), 0);
		assert_false(settings.usable);
		assert_int_equal(settings.warning_count, 1);
		cache_settings_free(&settings);
		assert_int_equal(chmod(dir, 0700), 0);
	}
	mem_free(file);
	mem_free(dir);
}

static int read_settings(struct jw_error *err, void *context)
{
	struct cache_settings settings;

	(void)context;
	if (cache_settings_read(err, NULL, NULL, &settings))
		return -1;
	cache_settings_free(&settings);
	return 0;
}

static void a_lack_of_memory_is_no_setting(void **state)
{
	struct cache_settings settings;

	(void)state;
	STARVE(cache_settings_read(&err, NULL, NULL, &settings), cache_settings_free(&settings));
	STARVE(cache_settings_read(&err, folder, NULL, &settings), cache_settings_free(&settings));
	/* Nor is a warning left out silently. */
	assert_int_equal(os_env_set(NULL, "CUDA_CACHE_SIZE", "1"), 0);
	assert_int_equal(os_env_set(NULL, "CUDA_CACHE_DISABLED", "1"), 0);
	each_allocation_lacks(read_settings, NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(limits_are_decimal_prefixes, clean_environment),
		cmocka_unit_test_setup(variables_are_read_as_the_driver_does, clean_environment),
		cmocka_unit_test_setup(one_variable_overrides_the_other, clean_environment),
		cmocka_unit_test_setup(the_place_follows_the_driver, clean_environment),
		cmocka_unit_test_setup(an_unusable_directory_is_reported, clean_environment),
		cmocka_unit_test_setup(a_lack_of_memory_is_no_setting, clean_environment),
	};

	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
