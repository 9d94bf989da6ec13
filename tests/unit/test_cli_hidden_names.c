#include "check.h"

#include "base/mem.h"
#include "cli/parts/hidden_names.h"
#include "os/env.h"

static void check_hidden(const char *text, const char *expected)
{
	struct jw_error err = {0};
	char *hidden = hidden_names(&err, text);

	assert_non_null(hidden);
	assert_string_equal(hidden, expected);
	mem_free(hidden);
}

static void folders_are_hidden(void **state)
{
	(void)state;
	check_hidden("most of /home/alice/x.so: cold", "most of …/x.so: cold");
	check_hidden("/a/x.so and /b/y.so", "…/x.so and …/y.so");
	check_hidden("prime /a/x.so /b/y.so", "prime …/x.so …/y.so");
	check_hidden("prime '/a b/x.so' '/c/y.so'", "prime '…/x.so' '…/y.so'");
	check_hidden("C:\\Users\\Alice B\\x.dll: cold", "…/x.dll: cold");
	check_hidden("X=/home/carol", "X=…/carol");
	check_hidden("CUDA/12.4 of 3/4", "CUDA/12.4 of 3/4");
}

static void folders_have_any_name(void **state)
{
	(void)state;
	check_hidden("/home/Bob Smith/sub dir/x.so: cold", "…/x.so: cold");
	check_hidden("/home/o'brien/a (old)/x.so: cold", "…/x.so: cold");
	check_hidden("/home/\303\234mit/\303\200/x.so", "…/x.so");
	check_hidden("it is “/home/alice/x”, not “/home/bob/y”", "it is “…/x”, not “…/y”");
	check_hidden("CUDA_CACHE_PATH=alice/cache is relative", "CUDA_CACHE_PATH=…/cache is relative");
}

static void the_account_is_hidden(void **state)
{
	(void)state;
	check_hidden("alice's malice, alice", "USER's malice, USER");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(folders_are_hidden),
		cmocka_unit_test(folders_have_any_name),
		cmocka_unit_test(the_account_is_hidden),
	};

	if (os_env_set(NULL, "USER", "alice"))
		return 1;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
