#include "cli/parts/reproduce.h"

#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
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
void reproduce_quote(struct buf *line, const char *word, bool windows)
{
	const char *const quote = windows ? "\"" : "'";
	const char *end = word + strlen(word);

	if (is_plain(word, windows)) {
		buf_say(line, " %s", word);
		return;
	}
	while (windows && end > word && end[-1] == '\\')
		end--;
	buf_say(line, " %s", quote);
	for (const char *at = word; at < end;) {
		const size_t acts = windows ? acts_in_double_quotes(at) : *at == '\'';

		if (acts)
			buf_say(line, "%s", windows ? "?" : "'\\''");
		else
			(void)buf_append(NULL, line, at, 1);
		at += acts ? acts : 1;
	}
	buf_say(line, "%s", quote);
}

void reproduce_add_word(struct buf *line, const char *word)
{
	reproduce_quote(line, word, !strcmp(os_name, "windows"));
}

void reproduce_add_words(struct buf *line, const char *const *words, size_t count)
{
	for (size_t i = 0; i < count; i++)
		reproduce_add_word(line, words[i]);
}

char *reproduce_take(struct jw_error *err, struct buf *line)
{
	const char *begin = buf_text(line);
	char *text = line->lacking ? NULL : mem_string(err, begin + (*begin == ' '));

	if (line->lacking)
		error_set(err, JW_ERR_MEMORY, "out of memory");
	buf_free(line);
	return text;
}

void reproduce_line(const struct output *output, enum style style, const char *text,
					struct buf *line, const char *rest)
{
	output_expect_whole(output, line);
	if (!line->lacking)
		output_line_command(output, style, text, buf_text(line), rest);
	buf_free(line);
}

void reproduce_print(const struct output *output, const char *what, const char *begin,
					 const char *word)
{
	struct buf line = BUF_MAX(REPRODUCE_MOST);

	buf_say(&line, "%s", begin);
	reproduce_add_word(&line, word);
	output_expect_whole(output, &line);
	if (!line.lacking)
		output_command(output, what, buf_text(&line));
	buf_free(&line);
}

char *reproduce_command(struct jw_error *err, const struct options *options,
						const struct jw_prime_failure *failure)
{
	const char *cache = options_has(options, "cache") ? options_value(options, "cache") : NULL;
	struct buf line = BUF_MAX(REPRODUCE_MOST);

	buf_say(&line, "jitwarm prime%s", cache ? " --cache" : "");
	if (cache)
		reproduce_add_word(&line, cache);
	if (failure->path[0] == '-')
		buf_say(&line, " --");
	reproduce_add_word(&line, failure->path);
	return reproduce_take(err, &line);
}
