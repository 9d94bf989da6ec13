/* Variables in Windows' registry; elsewhere there are none. */
#include "check.h"

#include <string.h>

#include "base/mem.h"
#include "os/env.h"

#ifdef _WIN32
#include "read_only_key.h"
#endif

static const char name[] = "JITWARM_TEST_변수 😀";

TEST(elsewhere_there_is_no_registry)
{
	struct jw_error err = {0};
	struct os_variable variable;

	if (os_variables_kept())
		skip();
	assert_int_equal(os_variable_read(&err, OS_VARIABLES_USER, name, &variable), -1);
	assert_int_equal(err.code, JW_ERR_UNSUPPORTED);
	assert_int_equal(os_variable_write(&err, OS_VARIABLES_USER, name, NULL), -1);
}

TEST(values_come_back_with_their_type)
{
	char plain[] = "plain", expands[] = "%APPDATA%\\캐시", empty[] = "";
	const struct os_variable values[] = {{plain, false}, {expands, true}, {empty, false}};
	struct jw_error err = {0};
	struct os_variable variable;

	if (!os_variables_kept())
		skip();
	assert_int_equal(os_variable_read(&err, OS_VARIABLES_USER, name, &variable), -1);
	assert_int_equal(err.code, JW_ERR_NOT_FOUND);
	for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
		assert_int_equal(os_variable_write(NULL, OS_VARIABLES_USER, name, &values[i]), 0);
		assert_int_equal(os_variable_read(NULL, OS_VARIABLES_USER, name, &variable), 0);
		assert_string_equal(variable.value, values[i].value);
		assert_int_equal(variable.expands, values[i].expands);
		mem_free(variable.value);
	}
	assert_int_equal(os_variable_write(NULL, OS_VARIABLES_USER, name, NULL), 0);
	assert_int_equal(os_variable_write(NULL, OS_VARIABLES_USER, name, NULL), 0);
	assert_int_equal(os_variable_read(&err, OS_VARIABLES_USER, name, &variable), -1);
}

/* As for a user without administrator's rights, and under a policy: by access lists. */
TEST(a_key_that_may_not_be_written)
{
#ifndef _WIN32
	skip();
#else
	static const struct {
		enum os_variables where;
		const char *hint;
	} cases[] = {
		{OS_VARIABLES_USER, "Permission denied"},
		{OS_VARIABLES_MACHINE, "Run as administrator"},
	};
	char text[] = "x";
	const struct os_variable value = {text, false};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct read_only_key key;
		struct jw_error err = {0};
		int result;

		make_key_read_only(cases[i].where, &key);
		result = os_variable_write(&err, cases[i].where, name, &value);
		make_key_writable(&key);
		(void)os_variable_write(NULL, cases[i].where, name, NULL);
		assert_int_equal(result, -1);
		assert_int_equal(err.code, JW_ERR_IO);
		assert_non_null(strstr(err.message, cases[i].hint));
	}
#endif
}

RUN_TESTS(NULL, NULL)
