#include "setup/block.h"

#include <stdio.h>
#include <string.h>

static const char begin_mark[] = "# >>> jitwarm tune", end_mark[] = "# <<< jitwarm tune <<<";

static bool range_starts(const char *at, const char *end, const char *start)
{
	size_t length = strlen(start);

	return (size_t)(end - at) >= length && !memcmp(at, start, length);
}

static const char *line_end(const char *at, const char *end)
{
	const char *feed = memchr(at, '\n', (size_t)(end - at));

	return feed ? feed + 1 : end;
}

/* After the mark: " >>>", " (joined) >>>", " (made 2) >>>". Any other line is not ours. */
static bool read_flags(const char *at, const char *end, struct block_found *found)
{
	char rest[48] = {0};
	size_t size = (size_t)(end - at);
	unsigned made = 0;
	int used = -1;

	while (size && (at[size - 1] == '\n' || at[size - 1] == '\r'))
		size--;
	if (size >= sizeof rest || memchr(at, '\0', size))
		return false;
	memcpy(rest, at, size);
	found->joined = !strcmp(rest, " (joined) >>>");
	found->made = 0;
	if (found->joined || !strcmp(rest, " >>>"))
		return true;
	/* NOLINTNEXTLINE(cert-err34-c): two digits cannot overflow */
	if (sscanf(rest, " (made %2u) >>>%n", &made, &used) != 1 || used != (int)size)
		return false;
	found->made = made;
	return made > 0 && made <= BLOCK_MOST_MADE;
}

int block_find(struct jw_error *err, const char *text, size_t size, bool *ret_there,
			   struct block_found *ret_found)
{
	const char *end = text + size, *next;
	struct block_found found = {0};
	bool inside = false;

	for (const char *at = text; at < end; at = next) {
		next = line_end(at, end);
		if (range_starts(at, end, begin_mark) &&
			read_flags(at + sizeof begin_mark - 1, next, &found)) {
			if (inside) /* what lies between may be the user's */
				break;
			inside = true;
			found.start = (size_t)(at - text);
		} else if (inside && range_starts(at, end, end_mark)) {
			found.end = (size_t)(next - text);
			*ret_found = found;
			*ret_there = true;
			return 0;
		}
	}
	if (inside)
		return error_set(err, JW_ERR_FORMAT,
						 "the block that begins with “%s” has lost its last line; please repair "
						 "it by hand",
						 begin_mark);
	*ret_there = false;
	return 0;
}

static int append_block(struct jw_error *err, const char *body, const struct block_found *how,
						struct buf *text)
{
	char flags[32] = "";

	if (how->joined)
		(void)snprintf(flags, sizeof flags, " (joined)");
	else if (how->made)
		(void)snprintf(flags, sizeof flags, " (made %u)", how->made);
	return buf_printf(err, text, "%s%s >>>\n%s%s\n", begin_mark, flags, body, end_mark);
}

int block_put(struct jw_error *err, const char *text, size_t size, const char *body, unsigned made,
			  struct buf *ret_text)
{
	struct buf whole = BUF_MAX(BLOCK_MOST_FILE), rest = {0};
	struct block_found found = {0}, other;
	bool there, more;
	int result = -1;

	if (block_find(err, text, size, &there, &found))
		return -1;
	if (!there)
		found = (struct block_found){.start = size,
									 .end = size,
									 .joined = size && text[size - 1] != '\n',
									 .made = size ? 0 : made};
	/* What a second one sets would win. */
	if (!block_take(err, text + found.end, size - found.end, &rest, &more, &other) &&
		!buf_append(err, &whole, text, found.start) &&
		(there || !found.joined || !buf_append(err, &whole, "\n", 1)) &&
		!append_block(err, body, &found, &whole))
		result = buf_append(err, &whole, buf_text(&rest), rest.size);
	buf_free(&rest);
	if (result)
		buf_free(&whole);
	else
		*ret_text = whole;
	return result;
}

int block_take(struct jw_error *err, const char *text, size_t size, struct buf *ret_text,
			   bool *ret_there, struct block_found *ret_found)
{
	struct buf whole = BUF_MAX(BLOCK_MOST_FILE);
	struct block_found found = {0};
	const char *const end = text + size;
	bool there = false, any = false;

	do {
		const size_t left = (size_t)(end - text);
		const int result = block_find(err, text, left, &there, &found);
		size_t before = there ? found.start : left;

		/* Removes our own line feed too, unless text was added after the block. */
		if (!result && there && found.joined && found.end == left && before)
			before--;
		if (result || buf_append(err, &whole, text, before)) {
			buf_free(&whole);
			return -1;
		}
		any = any || there;
		text += there ? found.end : left;
	} while (there);
	*ret_text = whole;
	*ret_there = any;
	*ret_found = found;
	return 0;
}
