/* Words of printed commands survive copying into a POSIX shell, cmd and PowerShell (os/shell.h). */
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
	/* fish reads \' and \\ in single quotes as one character. */
	expect_quoted("a\\' b", false, " 'a'\\\\''\\'' b'");
	expect_quoted("가 나", false, " '가 나'");
	expect_quoted("a\x1b[1m'\\\n", false, " $'a\\033[1m\\047\\134\\012'");
	expect_quoted("\xe2\x80\xae\xff", false, " $'\\342\\200\\256\\377'");
}

TEST(names_in_messages)
{
	char word[SHELL_WORD];

	assert_string_equal(shell_word(word, "-rf.ptx"), "./-rf.ptx");
	assert_string_equal(shell_word(word, "a.ptx"), "a.ptx");
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
