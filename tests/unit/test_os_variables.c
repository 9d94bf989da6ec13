/* Variables in Windows' registry are read and written with their type; other systems have none. */
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
	struct os_variable variable;

	if (os_variables_kept())
		skip();
	GIVES(JW_ERR_UNSUPPORTED, os_variable_read(why, OS_VARIABLES_USER, name, &variable));
	assert_int_equal(os_variable_write(why, OS_VARIABLES_USER, name, NULL), -1);
}

TEST(values_come_back_with_their_type)
{
	char plain[] = "plain", expands[] = "%APPDATA%\\캐시", empty[] = "";
	const struct os_variable values[] = {{plain, false}, {expands, true}, {empty, false}};
	struct os_variable variable;

	if (!os_variables_kept())
		skip();
	GIVES(JW_ERR_NOT_FOUND, os_variable_read(why, OS_VARIABLES_USER, name, &variable));
	for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
		OK(os_variable_write(why, OS_VARIABLES_USER, name, &values[i]));
		OK(os_variable_read(why, OS_VARIABLES_USER, name, &variable));
		assert_string_equal(variable.value, values[i].value);
		assert_int_equal(variable.expands, values[i].expands);
		mem_free(variable.value);
	}
	OK(os_variable_write(why, OS_VARIABLES_USER, name, NULL));
	OK(os_variable_write(why, OS_VARIABLES_USER, name, NULL));
	assert_int_equal(os_variable_read(why, OS_VARIABLES_USER, name, &variable), -1);
}

/* Access lists forbid writing, as for a user without administrator's rights, or under a policy. */
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
		int result;

		make_key_read_only(cases[i].where, &key);
		result = os_variable_write(why, cases[i].where, name, &value);
		make_key_writable(&key);
		(void)os_variable_write(NULL, cases[i].where, name, NULL);
		assert_int_equal(result, -1);
		assert_int_equal(why->code, JW_ERR_IO);
		assert_non_null(strstr(why->message, cases[i].hint));
	}
#endif
}

RUN_TESTS(NULL, NULL)
