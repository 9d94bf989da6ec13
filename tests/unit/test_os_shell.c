/* Words of printed commands survive copying into a POSIX shell, cmd and PowerShell (os/shell.h). */
#include "check.h"

#include <stdio.h>
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
	expect_quoted("a\x1b[1m'\\\nb", false, " \"$(printf 'a\\033\\1331m\\047\\134\\012b')\"");
	expect_quoted("\xe2\x80\xae\xff", false, " \"$(printf '\\342\\200\\256\\377')\"");
	/* A shell removes line feeds at the end; a '/' after them would follow a link. */
	expect_quoted("/a\n", false, " \"$(printf '/dev/null//a\\012')\"");
	/* A quote of the message's would end the command too early. */
	expect_quoted("a” b", false, " \"$(printf 'a\\342\\200\\235 b')\"");
	expect_quoted("=ls", false, " '=ls'");
}

TEST(words_of_one_text)
{
	struct buf line = BUF_MAX(1000);

	shell_add_each(&line, NULL);
	shell_add_each(&line, " ");
	assert_int_equal(line.size, 0);
	shell_add_each(&line, "  --index-url https://a.example/whl  b");
	assert_string_equal(buf_text(&line), " --index-url https://a.example/whl b");
	buf_free(&line);
}

#ifndef _WIN32
/* Each shell that is here reads every byte as it is, also where it has a meaning. */
TEST(what_shells_read)
{
	static const char *const shells[] = {"sh", "dash", "bash", "zsh", "fish"};
	char words[3][260] = {"-%s%d\n!!\n\x80\xff\xe2\x80\xae", "=ls", ""}, got[600];

	for (int byte = 1; byte < 256; byte++)
		words[2][byte - 1] = (char)byte;
	for (size_t i = 0; i < sizeof shells / sizeof *shells; i++)
		for (size_t at = 0; at < 3; at++) {
			struct buf command = BUF_MAX(4000), line = BUF_MAX(16000);
			FILE *pipe;

			buf_add(&command, "printf %%s");
			shell_quote(&command, words[at], false);
			buf_add(&line, "command -v %s >/dev/null || exit 3; %s -c", shells[i], shells[i]);
			shell_quote(&line, buf_text(&command), false);
			pipe = popen(buf_text(&line), "r");
			assert_non_null(pipe);
			got[fread(got, 1, sizeof got - 1, pipe)] = 0;
			if (pclose(pipe) != 3 << 8) /* it is here */
				assert_string_equal(got, words[at]);
			buf_free(&line);
			buf_free(&command);
		}
}
#endif

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
