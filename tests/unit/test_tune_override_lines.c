/* Lines that set a variable are commented out, and restored to the byte. */
#include "check.h"

#include <stdio.h>
#include <string.h>

#include <jitwarm/tune.h>

#include "tune/override_lines.h"

static const char name[] = "CUDA_CACHE_MAXSIZE";

static void a_whole_line_is_commented_out_and_restored(void **state)
{
	static const char *const lines[] = {
		"export CUDA_CACHE_MAXSIZE=1000",   "  export CUDA_CACHE_MAXSIZE='1 0'  # small",
		"CUDA_CACHE_MAXSIZE=\"$SIZE\";",    "set -gx CUDA_CACHE_MAXSIZE 1000",
		"setenv CUDA_CACHE_MAXSIZE 1000\r", "\tunset CUDA_CACHE_MAXSIZE",
		"declare -x CUDA_CACHE_MAXSIZE=",
	};
	static const char *const ends[] = {"", "\n", "\nfi\n", "\r\n\xff"};

	(void)state;
	for (size_t i = 0; i < sizeof lines / sizeof *lines * 4; i++) {
		char text[200];
		struct buf without, again;
		bool there;

		(void)snprintf(text, sizeof text, "if true; then\n%s%s", lines[i / 4], ends[i % 4]);
		assert_int_equal(override_comment(NULL, text, strlen(text), 2, name, i & 1, &without), 0);
		assert_non_null(strstr(buf_text(&without), "# jitwarm tune removed # "));
		assert_int_equal(override_restore(NULL, buf_text(&without), without.size, &again, &there),
						 0);
		assert_true(there);
		assert_int_equal(again.size, strlen(text));
		assert_memory_equal(buf_text(&again), text, again.size);
		buf_free(&without);
		buf_free(&again);
	}
}

static void a_line_that_does_more_stays(void **state)
{
	static const char *const texts[] = {
		"export CUDA_CACHE_MAXSIZE=1 OTHER=2\n",  "export OTHER=2 CUDA_CACHE_MAXSIZE=1\n",
		"CUDA_CACHE_MAXSIZE=1 python x.py\n",     "export CUDA_CACHE_MAXSIZE=1; other\n",
		"export CUDA_CACHE_MAXSIZE=1 \\\n",       "export CUDA_CACHE_MAXSIZE=$(size)\n",
		"export CUDA_CACHE_MAXSIZE='1\n",         "export CUDA_CACHE_MAXSIZES=1\n",
		"if a; then CUDA_CACHE_MAXSIZE=1; fi\n",  "export CUDA_CACHE_MAXSIZE=1 && other\n",
		"export CUDA_CACHE_MAXSIZE=\"`size`\"\n", "# export CUDA_CACHE_MAXSIZE=1\n",
	};
	struct buf without;
	bool there;

	(void)state;
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
		assert_int_equal(
			override_comment(NULL, texts[i], strlen(texts[i]), 1, name, false, &without), 0);
		assert_int_equal(without.size, 0);
	}
	assert_int_equal(override_comment(NULL, "export A=1 \\\nCUDA_CACHE_MAXSIZE=1\n", 34, 2, name,
									  false, &without),
					 0);
	assert_int_equal(without.size, 0);
	assert_int_equal(override_comment(NULL, "x\n", 2, 7, name, false, &without), 0);
	assert_int_equal(without.size, 0);
	assert_int_equal(override_restore(NULL, "a # jitwarm tune removed # b\n", 29, &without, &there),
					 0);
	assert_false(there);
	buf_free(&without);
}

/* What tune may comment out by itself: a line of an account's own profile that jitwarm did not
 * write. */
static void only_an_own_profiles_line_is_removable(void **state)
{
	static char home[] = "/home/x/.bashrc", machine[] = "/etc/profile";
	const struct {
		struct jw_setting setting;
		bool removable;
	} cases[] = {
		{{.source = "shell profile", .where = home, .line = 3}, true},
		{{.source = "shell profile", .where = machine, .line = 3}, false},
		{{.source = "shell profile", .where = home, .line = 0}, false},
		{{.source = "shell profile", .where = home, .line = 3, .ours = true}, false},
		{{.source = "environment.d", .where = home, .line = 3}, false},
	};

	(void)state;
#ifdef _WIN32
	skip(); /* no shell profiles */
#endif
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		assert_int_equal(jw_tune_is_removable(&cases[i].setting), cases[i].removable);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_whole_line_is_commented_out_and_restored),
		cmocka_unit_test(a_line_that_does_more_stays),
		cmocka_unit_test(only_an_own_profiles_line_is_removable),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
