/* jw_tune_advise: what should be set, from one call. */
#include "root.h"

#include <string.h>

#include <jitwarm/tune.h>

#include "os/platform.h"

static char *inside(const char *name)
{
	char *path = os_join(NULL, root, name);

	assert_non_null(path);
	return path;
}

static void set(const char *name, const char *inner)
{
	char *path = inner ? inside(inner) : NULL;

	assert_int_equal(os_env_set(NULL, name, path), 0);
	mem_free(path);
}

static struct jw_system *open_asleep(void)
{
	const struct jw_system_options asleep = {.size = sizeof asleep, .asleep = true};
	struct jw_system *system = NULL;

	set("HOME", "home");
	set("JITWARM_STATE", "state");
	set("CUDA_CACHE_PATH", "cache");
	set("VIRTUAL_ENV", NULL);
	set("CONDA_PREFIX", NULL);
	set("PATH", "nothing");
	assert_int_equal(os_env_set(NULL, "CUDA_CACHE_MAXSIZE", "2147483648"), 0);
	assert_int_equal(jw_system_open(NULL, &asleep, &system), 0);
	return system;
}

static void the_setting_in_force_is_kept_where_it_suffices(void **state)
{
	const struct jw_tune_question question = JW_TUNE_QUESTION_INIT;
	struct jw_system *system = open_asleep();
	struct jw_tune_advice *advice;

	(void)state;
	assert_int_equal(jw_tune_advise(NULL, system, &question, &advice), 0);
	assert_int_equal(advice->limit_bytes, INT64_C(2) << 30);
	assert_string_equal(advice->path, system->cache.path);
	assert_true(advice->settings->count >= 2);
	assert_string_equal(jw_tune_path(advice, JW_SCOPE_USER), advice->path);
	assert_null(jw_tune_path(advice, JW_SCOPE_SYSTEM));
	assert_null(jw_tune_path(advice, JW_SCOPE_UNIT));
	jw_tune_advice_free(advice);
	jw_system_free(system);
}

static void what_is_named_is_advised_for_every_scope(void **state)
{
	char *path = inside("else/where");
	const struct jw_tune_question question = {
		.size = sizeof question, .limit_bytes = UINT64_C(3) << 30, .path = path};
	struct jw_system *system = open_asleep();
	struct jw_tune_advice *advice;

	(void)state;
	assert_int_equal(jw_tune_advise(NULL, system, &question, &advice), 0);
	assert_int_equal(advice->limit_bytes, INT64_C(3) << 30);
	assert_string_equal(jw_tune_path(advice, JW_SCOPE_UNIT), path);
	jw_tune_advice_free(advice);
	jw_system_free(system);
	mem_free(path);
}

/* Three sources of warnings, and nothing of them is lost. */
static void all_warnings_are_together(void **state)
{
	char *path = inside("OneDrive/cache");
	const struct jw_tune_question question = {.size = sizeof question, .path = path};
	struct jw_system *system = open_asleep();
	struct jw_tune_advice *advice;
	size_t of_path = 0;

	(void)state;
	root_put("etc/environment", "CUDA_FORCE_PTX_JIT=1\n");
	assert_int_equal(jw_tune_advise(NULL, system, &question, &advice), 0);
	/* On Windows settings are not read from files. */
	assert_true(advice->settings->warning_count > 0 || !strcmp(os_name, "windows"));
	for (size_t i = 0; i < advice->warning_count; i++)
		of_path += strstr(advice->warnings[i], "OneDrive") != NULL;
	assert_true(of_path > 0);
	assert_int_equal(advice->warning_count,
					 system->cache.warning_count + advice->settings->warning_count + of_path);
	jw_tune_advice_free(advice);
	jw_system_free(system);
	mem_free(path);
}

static void a_name_that_leads_nowhere_is_a_failure(void **state)
{
	const char *name = "no/such/file";
	const struct jw_tune_question question = {
		.size = sizeof question, .names = &name, .name_count = 1};
	struct jw_system *system = open_asleep();
	struct jw_tune_advice *advice = NULL;
	struct jw_error err = {0};

	(void)state;
	assert_int_equal(jw_tune_advise(&err, system, &question, &advice), -1);
	assert_int_equal(err.code, JW_ERR_NOT_FOUND);
	assert_null(advice);
	jw_system_free(system);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_setting_in_force_is_kept_where_it_suffices),
		cmocka_unit_test(what_is_named_is_advised_for_every_scope),
		cmocka_unit_test(all_warnings_are_together),
		cmocka_unit_test(a_name_that_leads_nowhere_is_a_failure),
	};

	return cmocka_run_group_tests(tests, root_make, root_remove);
}
