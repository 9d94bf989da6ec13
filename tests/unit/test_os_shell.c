/* Words of commands that are printed for copying (os/shell.h). */
#include "check.h"

#include <string.h>

#include "os/shell.h"

static void expect_quoted(const char *word, bool windows, const char *wanted)
{
	struct buf line = BUF_MAX(1000);

	shell_quote(&line, word, windows);
	assert_string_equal(buf_text(&line), wanted);
	buf_free(&line);
}

TEST(words_for_a_posix_shell)
{
	expect_quoted("/a/b.so", false, " /a/b.so");
	expect_quoted("a=b,c%d@e", false, " a=b,c%d@e");
	expect_quoted("", false, " ''");
	expect_quoted("it's $(x) `y`", false, " 'it'\\''s $(x) `y`'");
}

/* cmd expands words between two '%'; PowerShell runs $(…) in double quotes and takes “ for a double
 * quote. */
TEST(words_for_both_shells_of_windows)
{
	expect_quoted("C:\\a\\b.dll", true, " C:\\a\\b.dll");
	expect_quoted("C:\\a b\\c'd.dll", true, " \"C:\\a b\\c'd.dll\"");
	expect_quoted("C:\\a b\\", true, " \"C:\\a b\"");
	expect_quoted("a,b@c=d", true, " \"a,b@c=d\"");
	expect_quoted("%NAME%", true, " \"?NAME?\"");
	expect_quoted("$(calc) `n !x! \"q\"", true, " \"?(calc) ?n ?x? ?q?\"");
	expect_quoted("“;calc;” „ ‟é", true, " \"?;calc;? ? ‟é\"");
	expect_quoted("a&calc", true, " \"a&calc\"");
}

RUN_TESTS(NULL, NULL)
