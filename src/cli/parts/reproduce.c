#include "cli/parts/reproduce.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/text.h"
#include "os/platform.h"

enum { MOST_COMMAND = 1 << 16 };

/* "8000" or "0x1f40" */
static bool read_offset(const char *text, uint64_t *ret_offset)
{
	enum { MOST_DIGITS = 16 };
	const bool hex = text_starts_fold(text, "0x");
	const char *digits = text + (hex ? 2 : 0);
	const size_t count = strspn(digits, hex ? "0123456789abcdefABCDEF" : "0123456789");

	if (!count || count > MOST_DIGITS || digits[count])
		return false;
	*ret_offset = strtoull(digits, NULL, hex ? 16 : 10);
	return true;
}

int reproduce_offsets(struct jw_error *err, const struct options *options, uint64_t **ret_offsets,
					  size_t *ret_count)
{
	size_t count = options_count(options, "only");
	uint64_t *offsets = mem_array(err, count, sizeof *offsets);

	if (!offsets)
		return -1;
	for (size_t i = 0; i < count; i++) {
		const char *text = options_item(options, "only", i);

		if (!read_offset(text, &offsets[i])) {
			mem_free(offsets);
			return error_set(err, JW_ERR_USAGE,
							 "--only takes an offset such as 8000 or 0x1f40, not “%.200s”", text);
		}
	}
	*ret_offsets = offsets;
	*ret_count = count;
	return 0;
}

static int add_text_to_line(struct jw_error *err, struct buf *line, const char *text)
{
	return buf_append(err, line, text, strlen(text));
}

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

static int add_double_quoted(struct jw_error *err, struct buf *line, const char *word)
{
	int result = add_text_to_line(err, line, "\"");

	for (const char *at = word; *at && !result;) {
		const size_t acts = acts_in_double_quotes(at);

		/* No file's name has a '?': the command finds nothing, and nothing runs. */
		result = acts ? add_text_to_line(err, line, "?") : buf_append(err, line, at, 1);
		at += acts ? acts : 1;
	}
	return result || add_text_to_line(err, line, "\"") ? -1 : 0;
}

static int add_single_quoted(struct jw_error *err, struct buf *line, const char *word)
{
	int result = add_text_to_line(err, line, "'");

	for (const char *at = word; *at && !result; at++)
		result = *at == '\'' ? add_text_to_line(err, line, "'\\''") : buf_append(err, line, at, 1);
	return result || add_text_to_line(err, line, "'") ? -1 : 0;
}

int reproduce_quote(struct jw_error *err, struct buf *line, const char *word, bool windows)
{
	if (add_text_to_line(err, line, " "))
		return -1;
	if (is_plain(word, windows))
		return add_text_to_line(err, line, word);
	return windows ? add_double_quoted(err, line, word) : add_single_quoted(err, line, word);
}

int reproduce_add_word(struct jw_error *err, struct buf *line, const char *word)
{
	return reproduce_quote(err, line, word, !strcmp(os_name, "windows"));
}

void reproduce_print(const struct output *output, const char *what, const char *begin,
					 const char *word)
{
	struct buf line = BUF_MAX(MOST_COMMAND);

	if (!add_text_to_line(NULL, &line, begin) && !reproduce_add_word(NULL, &line, word))
		output_command(output, what, buf_text(&line));
	else
		output_expect_whole(output, &line);
	buf_free(&line);
}

static int add_option(struct jw_error *err, struct buf *line, const struct options *options,
					  const char *name)
{
	const char *value = options_value(options, name);

	if (!value)
		return 0;
	return add_text_to_line(err, line, " --") || add_text_to_line(err, line, name) ||
				   reproduce_add_word(err, line, value)
			   ? -1
			   : 0;
}

char *reproduce_command(struct jw_error *err, const struct options *options,
						const struct jw_prime_failure *failure)
{
	struct buf line = BUF_MAX(MOST_COMMAND);
	char *only =
		mem_printf(err, "jitwarm prime --only 0x%llx", (unsigned long long)failure->offset);
	char *result = NULL;

	if (only && !add_text_to_line(err, &line, only) && !add_option(err, &line, options, "cache") &&
		!add_option(err, &line, options, "module-timeout") &&
		!(failure->path[0] == '-' && add_text_to_line(err, &line, " --")) &&
		!reproduce_add_word(err, &line, failure->path))
		result = mem_string(err, buf_text(&line));
	mem_free(only);
	buf_free(&line);
	return result;
}
