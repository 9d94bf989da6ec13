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

/* Whether a shell takes the word literally, without quotes. */
static bool is_plain(const char *word, bool windows)
{
	static const char plain[] = "\\ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
								"0123456789_-+./:,@%=";

	return word[strspn(word, windows ? plain : plain + 1)] == '\0';
}

/* Uses single quotes for a POSIX shell; double ones on Windows, whose names cannot contain any. */
int reproduce_add_word(struct jw_error *err, struct buf *line, const char *word)
{
	bool windows = !strcmp(os_name, "windows");
	const char *quote = is_plain(word, windows) ? "" : windows ? "\"" : "'";

	if (add_text_to_line(err, line, " ") || add_text_to_line(err, line, quote))
		return -1;
	for (const char *at = word; *at; at++)
		if (*at == '\'' && !windows ? add_text_to_line(err, line, "'\\''")
									: buf_append(err, line, at, 1))
			return -1;
	return add_text_to_line(err, line, quote);
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
