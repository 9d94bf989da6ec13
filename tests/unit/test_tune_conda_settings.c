/* What a conda environment sets: its JSON file, its activation scripts. */
#include "folder.h"

#include <string.h>

#include <jitwarm/tune.h>

#include "os/env.h"

static struct jw_settings *settings;

static void put(const char *name, const char *text)
{
	char *path = os_join(NULL, folder, name);

	assert_int_equal(os_make_parent(NULL, path, 0700), 0);
	assert_int_equal(os_write_atomic(NULL, path, text, strlen(text)), 0);
	mem_free(path);
}

static const char *value_of(const char *name)
{
	const char *value = NULL;

	jw_settings_free(settings);
	assert_int_equal(jw_settings_read(NULL, &settings), 0);
	for (size_t i = 0; i < settings->count; i++)
		if (!strcmp(settings->items[i].source, "conda environment") &&
			!strcmp(settings->items[i].name, name))
			value = settings->items[i].value;
	return value;
}

static size_t warnings_of(const char *word)
{
	size_t count = 0;

	for (size_t i = 0; i < settings->warning_count; i++)
		count += strstr(settings->warnings[i], word) != NULL;
	return count;
}

TEST(its_variables_are_read)
{
	assert_null(value_of("CUDA_CACHE_PATH"));
	assert_int_equal(warnings_of("conda-meta"), 0);
	put("conda-meta/state",
		"{\"env_vars\": {\"PATH\": \"/x\", \"CUDA_CACHE_PATH\": \"/fast/cache\", "
		"\"CUDA_CACHE_DISABLE\": 1}}");
	put("etc/conda/activate.d/gpu.sh", "export CUDA_CACHE_MAXSIZE=4294967296\n");
	put("etc/conda/activate.d/gpu.ps1", "export CUDA_CACHE_MAXSIZE=4294967296\n");
	assert_string_equal(value_of("CUDA_CACHE_PATH"), "/fast/cache");
	assert_string_equal(value_of("CUDA_CACHE_MAXSIZE"), "4294967296");
	/* No string, and none of the cache's */
	assert_null(value_of("CUDA_CACHE_DISABLE"));
	assert_null(value_of("PATH"));
}

TEST(a_damaged_one_is_told)
{
	put("conda-meta/state", "{\"env_vars\": {\"CUDA_CACHE_PATH\"");
	assert_null(value_of("CUDA_CACHE_PATH"));
	assert_int_equal(warnings_of("conda-meta"), 1);
}

static int enter(void **state)
{
	return make_folder(state) || os_env_set(NULL, "CONDA_PREFIX", folder);
}

static int leave(void **state)
{
	jw_settings_free(settings);
	return os_env_set(NULL, "CONDA_PREFIX", NULL) || remove_folder(state);
}

RUN_TESTS(enter, leave)
