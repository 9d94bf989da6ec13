/* One call of jw_tune_advise gives the advice about all settings. */
#include "root.h"

#include <string.h>

#include <jitwarm/tune.h>

#include "os/platform.h"

static char *inside(const char *name)
{
	char *path = os_join(root, name);

	assert_non_null(path);
	return path;
}

static void set(const char *name, const char *inner)
{
	char *path = inner ? inside(inner) : NULL;

	OK(os_env_set(why, name, path));
	mem_free(path);
}

static struct jw_system *open_asleep(void)
{
	const struct jw_system_options asleep = {.asleep = true};
	struct jw_system *system = NULL;

	set("HOME", "home");
	set("JITWARM_STATE", "state");
	set("CUDA_CACHE_PATH", "cache");
	set("VIRTUAL_ENV", NULL);
	set("CONDA_PREFIX", NULL);
	set("PATH", "nothing");
	OK(os_env_set(why, "CUDA_CACHE_MAXSIZE", "2147483648"));
	OK(jw_system_open(why, &asleep, &system));
	return system;
}

TEST(the_setting_in_force_is_kept_where_it_suffices)
{
	const struct jw_tune_question question = {0};
	struct jw_system *system = open_asleep();
	struct jw_tune_advice *advice;

	OK(jw_tune_advise(why, system, &question, &advice));
	assert_int_equal(advice->limit_bytes, INT64_C(2) << 30);
	assert_string_equal(advice->path, system->cache.path);
	assert_true(advice->settings->count >= 2);
	assert_string_equal(jw_tune_path(advice, JW_SCOPE_USER), advice->path);
	assert_null(jw_tune_path(advice, JW_SCOPE_SYSTEM));
	jw_result_free(advice);
	jw_system_free(system);
}

/* A limit that suffices is left alone. */
TEST(a_limit_for_files_is_set_where_it_is_too_small)
{
	struct jw_tune_result *result = NULL;
	struct jw_system *system = open_asleep();

	if (os_is_windows)
		skip(); /* it would write to the registry */
	OK(os_env_set(why, "SHELL", "/bin/sh"));
	OK(os_env_set(why, "XDG_CONFIG_HOME", NULL));
	for (int less = 0; less < 2; less++) {
		system->cache.outlook.bytes = 2 << 20;
		system->cache.limit_bytes = ((uint64_t)2 << 20) - (uint64_t)less;
		OK(jw_tune_for_files(why, system, NULL, 0, &result));
		assert_int_equal(result != NULL, less);
		assert_int_equal(system->cache.limit_bytes, (uint64_t)(less ? 1 << 30 : 2 << 20));
	}
	assert_int_equal(result->count, 2);
	assert_string_equal(result->changes[1].what, "written");
	jw_result_free(result);
	jw_system_free(system);
}

/* The warnings have two sources, and none of them is lost. */
TEST(all_warnings_are_together)
{
	char *path = keep(inside("OneDrive/cache"));
	const struct jw_tune_question question = {.path = path};
	struct jw_system *system = open_asleep();
	struct jw_tune_advice *advice;
	size_t of_path = 0;

	OK(jw_tune_advise(why, system, &question, &advice));
	for (size_t i = 0; i < advice->warning_count; i++)
		of_path += strstr(advice->warnings[i], "OneDrive") != NULL;
	assert_true(of_path > 0);
	assert_int_equal(advice->warning_count, system->cache.warning_count + of_path);
	jw_result_free(advice);
	jw_system_free(system);
}

TEST(limits)
{
	static const struct {
		uint64_t present, predicted, wanted;
	} cases[] = {
		{0, 0, UINT64_C(1) << 30},
		{UINT64_C(1) << 30, 0, UINT64_C(1) << 30},
		{UINT64_C(1) << 30, 1, (UINT64_C(1) << 30) + (256 << 20)},
		{UINT64_C(1) << 30, 800000000, UINT64_C(2147483648)},
		{UINT64_C(3) << 30, UINT64_C(1) << 30, UINT64_C(1) << 32},
		{UINT64_MAX, 5, UINT64_C(1) << 32},
		{5, UINT64_MAX, UINT64_C(1) << 32},
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		assert_int_equal(jw_tune_limit(cases[i].present, cases[i].predicted), cases[i].wanted);
}

RUN_TESTS(root_make, root_remove)
