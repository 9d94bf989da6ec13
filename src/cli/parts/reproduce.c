#include "cli/parts/reproduce.h"

#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "os/platform.h"

enum { MOST_COMMAND = 1 << 16 };

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
 * one, so that the command finds nothing, and nothing runs. */
int reproduce_quote(struct jw_error *err, struct buf *line, const char *word, bool windows)
{
	const char *const quote = windows ? "\"" : "'";
	int failed;

	if (is_plain(word, windows))
		return buf_printf(err, line, " %s", word);
	failed = buf_printf(err, line, " %s", quote);
	for (const char *at = word; *at && !failed;) {
		const size_t acts = windows ? acts_in_double_quotes(at) : *at == '\'';

		failed = acts ? buf_printf(err, line, "%s", windows ? "?" : "'\\''")
					  : buf_append(err, line, at, 1);
		at += acts ? acts : 1;
	}
	return failed || buf_printf(err, line, "%s", quote) ? -1 : 0;
}

int reproduce_add_word(struct jw_error *err, struct buf *line, const char *word)
{
	return reproduce_quote(err, line, word, !strcmp(os_name, "windows"));
}

void reproduce_print(const struct output *output, const char *what, const char *begin,
					 const char *word)
{
	struct buf line = BUF_MAX(MOST_COMMAND);

	if (!buf_printf(NULL, &line, "%s", begin) && !reproduce_add_word(NULL, &line, word))
		output_command(output, what, buf_text(&line));
	else
		output_expect_whole(output, &line);
	buf_free(&line);
}

char *reproduce_command(struct jw_error *err, const struct options *options,
						const struct jw_prime_failure *failure)
{
	const char *cache = options_has(options, "cache") ? options_value(options, "cache") : NULL;
	struct buf line = BUF_MAX(MOST_COMMAND);
	char *result = NULL;
	int failed = buf_printf(err, &line, "jitwarm prime");

	if (cache && !failed)
		failed = buf_printf(err, &line, " --cache") || reproduce_add_word(err, &line, cache);
	if (!failed && failure->path[0] == '-')
		failed = buf_printf(err, &line, " --");
	if (!failed && !reproduce_add_word(err, &line, failure->path))
		result = mem_string(err, buf_text(&line));
	buf_free(&line);
	return result;
}
