#include "os/shell.h"

#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "os/platform.h"

/* The characters that no shell acts on. */
#define PLAIN "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-+./:"

/* Returns whether a shell takes the word literally without quotes. zsh takes “=ls” for the path of
 * ls. Among Windows' shells, cmd replaces text between two '%', and PowerShell gives ',', '@' and
 * '=' a meaning. */
static bool is_plain(const char *word, bool windows)
{
	return *word && *word != '=' && word[strspn(word, windows ? PLAIN "\\" : PLAIN ",@%=")] == '\0';
}

/* Returns the length of a character that ends a word in double quotes, or runs or replaces
 * something there; 0 if there is none. In PowerShell these are '"', '$' and '`' and the typographic
 * quotes (U+201C to U+201E); in cmd '%' and '!'. */
static size_t acting_length(const char *at)
{
	if (strchr("\"$`%!", *at) || (unsigned char)*at < ' ')
		return 1;
	return !strncmp(at, "\xe2\x80\x9c", 3) || !strncmp(at, "\xe2\x80\x9d", 3) ||
				   !strncmp(at, "\xe2\x80\x9e", 3)
			   ? 3
			   : 0;
}

/* Returns whether output would escape a character of the word (terminal.h), so that the word would
 * name another file, or whether it has one of the quotes that messages put around a command. */
static bool has_hidden(const char *word)
{
	const size_t size = strlen(word);
	uint32_t point;

	for (size_t at = 0, length; at < size; at += length) {
		length = text_utf8_next(word + at, size - at, &point);
		if (!length || text_is_hidden(point) || point == 0x201c || point == 0x201d)
			return true;
	}
	return false;
}

/* Appends the word as what printf prints, because dash knows no $''. A character that some shell
 * acts on, also within these quotes (bash on '!'), and a '-' at the front become octal numbers. A
 * shell removes line feeds at the end, so such a name cannot be written: nothing has the path that
 * stands for it. */
static void quote_hidden(struct buf *line, const char *word)
{
	const size_t length = strlen(word);
	const char *at = word;

	buf_add(line, " \"$(printf '%s", length && word[length - 1] == '\n' ? "/dev/null/" : "");
	for (; *at; at++)
		if (!strchr(PLAIN " ", *at) || (*at == '-' && at == word))
			buf_add(line, "\\%03o", (unsigned)(uint8_t)*at);
		else
			(void)buf_append(NULL, line, at, 1);
	buf_add(line, "')\"");
}

/* Only "'" ends a word in single quotes; in fish, a '\\' before it does not let it. So both stand
 * outside of the quotes, after a '\\'. In double quotes '?' replaces every character that acts
 * there: no file name contains '?', so the command finds nothing and runs nothing. A '\\' at the
 * end is left out, because it would escape the double quote; a folder is the same without it. */
void shell_quote(struct buf *line, const char *word, bool windows)
{
	const char *const quote = windows ? "\"" : "'";
	const char *end = word + strlen(word);

	if (is_plain(word, windows)) {
		buf_add(line, " %s", word);
		return;
	}
	if (!windows && has_hidden(word)) {
		quote_hidden(line, word);
		return;
	}
	while (windows && end > word && end[-1] == '\\')
		end--;
	buf_add(line, " %s", quote);
	for (const char *at = word; at < end;) {
		const size_t acts = windows ? acting_length(at) : *at == '\'' || *at == '\\';

		if (acts && windows)
			buf_add(line, "?");
		else if (acts)
			buf_add(line, "'\\%c'", *at);
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

void shell_add_each(struct buf *line, const char *text)
{
	for (const char *at = text ? text : ""; *(at += strspn(at, " "));) {
		char *word = mem_string_n(at, strcspn(at, " "));

		shell_add_word(line, word);
		at += strlen(word);
		mem_free(word);
	}
}

const char *shell_word(char text[SHELL_WORD], const char *word)
{
	struct buf line = BUF_MAX(SHELL_WORD);

	if (*word == '-') {
		char *named = mem_printf("./%s", word);

		shell_add_word(&line, named);
		mem_free(named);
	} else {
		shell_add_word(&line, word);
	}
	(void)snprintf(text, SHELL_WORD, "%s", line.overflowed ? "NAME" : buf_text(&line) + 1);
	buf_free(&line);
	return text;
}
