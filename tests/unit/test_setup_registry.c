/* tune with Windows' registry: a key that may not be written stays unchanged, and nothing is
 * recorded. tests/windows/test_tune.sh has other faults. */
#include "check.h"

#include <string.h>

#include <jitwarm/tune.h>

#include "os/env.h"
#include "os/file.h"
#include "os/folders.h"

#ifdef _WIN32
#include "read_only_key.h"
#endif

static char *state_dir;

static int make_state(void **state)
{
	(void)state;
	return os_make_temp_dir(why, "jitwarm-시험", &state_dir) ||
		   os_env_set(why, "JITWARM_STATE", state_dir);
}

static int remove_state(void **state)
{
	(void)state;
	return os_env_set(why, "JITWARM_STATE", NULL) || os_remove_tree(why, state_dir);
}

TEST_WITH(a_key_that_may_not_be_written_is_reported, make_state, remove_state)
{
#ifndef _WIN32
	skip();
#else
	static const enum jw_scope scopes[] = {JW_SCOPE_USER, JW_SCOPE_SYSTEM};
	static const enum os_variables keys[] = {OS_VARIABLES_USER, OS_VARIABLES_MACHINE};

	for (size_t i = 0; i < sizeof scopes / sizeof *scopes; i++) {
		const struct jw_tune_request request = {.scope = scopes[i],
												.limit_bytes = UINT64_C(2) << 30};
		struct jw_tune_result *result;
		struct os_variable now;
		struct read_only_key key;
		int failed;

		OK(os_variable_write(why, keys[i], "CUDA_CACHE_MAXSIZE", NULL));
		make_key_read_only(keys[i], &key);
		failed = jw_tune_apply(why, &request, &result);
		make_key_writable(&key);
		assert_int_equal(failed, -1);
		assert_int_equal(why->code, JW_ERR_IO);
		assert_non_null(strstr(why->message, "Permission denied"));
		assert_int_equal(os_variable_read(NULL, keys[i], "CUDA_CACHE_MAXSIZE", &now), -1);
		/* If the setting were recorded, undoing would take the missing value for another program's
		 * change. */
		OK(jw_tune_undo(why, NULL, &result));
		assert_int_equal(result->count, 0);
		jw_result_free(result);

		/* It is set once the key is writable again; a setting that cannot be reverted stays
		 * recorded. */
		OK(jw_tune_apply(why, &request, &result));
		jw_result_free(result);
		make_key_read_only(keys[i], &key);
		failed = jw_tune_undo(why, NULL, &result);
		make_key_writable(&key);
		assert_int_equal(failed, -1);
		OK(jw_tune_undo(why, NULL, &result));
		assert_int_equal(result->count, 1);
		assert_string_equal(result->changes[0].what, "removed");
		jw_result_free(result);
		assert_int_equal(os_variable_read(NULL, keys[i], "CUDA_CACHE_MAXSIZE", &now), -1);
	}
#endif
}

RUN_TESTS(NULL, NULL)
