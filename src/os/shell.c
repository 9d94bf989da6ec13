#include "os/shell.h"

#include <stdio.h>
#include <string.h>

#include "os/platform.h"

/* Whether a shell takes the word literally, without quotes. Of Windows' shells cmd replaces what is
 * between two '%', and PowerShell takes ',', '@' and '=' for its own. */
static bool is_plain(const char *word, bool windows)
{
	static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
								"0123456789_-+./:,@%=";
	static const char plain_windows[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
										"0123456789_-+./:\\";

	return *word && word[strspn(word, windows ? plain_windows : plain)] == '\0';
}

/* What ends a word in double quotes, or runs or replaces something there: '"', '$' and '`' for
 * PowerShell, which takes the quotes of typesetters (U+201C to U+201E) for '"', too; '%' and '!'
 * for cmd. Its length; 0: none begins here. */
static size_t acts_in_double_quotes(const char *at)
{
	if (strchr("\"$`%!", *at) || (unsigned char)*at < ' ')
		return 1;
	return !strncmp(at, "\xe2\x80\x9c", 3) || !strncmp(at, "\xe2\x80\x9d", 3) ||
				   !strncmp(at, "\xe2\x80\x9e", 3)
			   ? 3
			   : 0;
}

/* In single quotes "'" ends them; in double ones '?' stands for what acts there: no file's name has
 * one, so that the command finds nothing, and nothing runs. A last '\\' would keep a double quote
 * from ending the word, and a folder is the same without it. */
void shell_quote(struct buf *line, const char *word, bool windows)
{
	const char *const quote = windows ? "\"" : "'";
	const char *end = word + strlen(word);

	if (is_plain(word, windows)) {
		buf_add(line, " %s", word);
		return;
	}
	while (windows && end > word && end[-1] == '\\')
		end--;
	buf_add(line, " %s", quote);
	for (const char *at = word; at < end;) {
		const size_t acts = windows ? acts_in_double_quotes(at) : *at == '\'';

		if (acts)
			buf_add(line, "%s", windows ? "?" : "'\\''");
		else
			(void)buf_append(NULL, line, at, 1);
		at += acts ? acts : 1;
	}
	buf_add(line, "%s", quote);
}

void shell_add_word(struct buf *line, const char *word)
{
	shell_quote(line, word, os_is_windows);
}

void shell_add_words(struct buf *line, const char *const *words, size_t count)
{
	for (size_t i = 0; i < count; i++)
		shell_add_word(line, words[i]);
}

const char *shell_word(char text[SHELL_WORD], const char *word)
{
	struct buf line = BUF_MAX(SHELL_WORD);

	shell_add_word(&line, word);
	(void)snprintf(text, SHELL_WORD, "%s", line.overflowed ? "NAME" : buf_text(&line) + 1);
	buf_free(&line);
	return text;
}
