#include "setup/marked_line.h"

#include <string.h>

const char *const marked_names[] = {"CUDA_CACHE_MAXSIZE", "CUDA_CACHE_PATH", "JITWARM_TUNED", NULL};

bool marked_claims(const char *at, size_t size, const char *mark, unsigned *claims)
{
	const size_t length = strlen(mark);

	while (size && (at[size - 1] == '\n' || at[size - 1] == '\r'))
		size--;
	if (size >= length && !memcmp(at + size - length, mark, length)) {
		*claims = size == length ? ~0U : 0;
		return true;
	}
	for (size_t i = 0; marked_names[i]; i++) {
		const size_t name = strlen(marked_names[i]);

		if (size > name && !memcmp(at, marked_names[i], name) && at[name] == '=' &&
			*claims & 1U << i) {
			*claims &= ~(1U << i);
			return true;
		}
	}
	*claims = 0;
	return false;
}

/* Removes the marked lines; *ret_at is the place of the first one in the remaining text, or
 * SIZE_MAX. */
static int take_marked(struct jw_error *err, const char *text, size_t size, const char *mark,
					   struct buf *rest, size_t *ret_at)
{
	const char *const end = text + size;
	unsigned claims = 0;

	*ret_at = SIZE_MAX;
	for (const char *at = text, *next; at < end; at = next) {
		const char *feed = memchr(at, '\n', (size_t)(end - at));

		next = feed ? feed + 1 : end;
		if (marked_claims(at, (size_t)(next - at), mark, &claims))
			*ret_at = *ret_at == SIZE_MAX ? rest->size : *ret_at;
		else if (buf_append(err, rest, at, (size_t)(next - at)))
			return -1;
	}
	return 0;
}

int marked_take(struct jw_error *err, const char *text, size_t size, const char *mark,
				struct buf *ret_text, bool *ret_there)
{
	struct buf rest = BUF_MAX(MARKED_MAX_FILE);
	size_t at;

	if (take_marked(err, text, size, mark, &rest, &at)) {
		buf_free(&rest);
		return -1;
	}
	*ret_text = rest;
	*ret_there = at != SIZE_MAX;
	return 0;
}

int marked_put(struct jw_error *err, const char *text, size_t size, const char *mark,
			   const char *line, bool is_new, struct buf *ret_text)
{
	struct buf whole = BUF_MAX(MARKED_MAX_FILE), rest = BUF_MAX(MARKED_MAX_FILE);
	size_t at;
	int result = take_marked(err, text, size, mark, &rest, &at);

	if (!result) {
		const bool ended = rest.size ? rest.data[rest.size - 1] == '\n' : is_new || at == 0;
		const size_t before = at < rest.size ? at : rest.size;

		result =
			buf_append(err, &whole, buf_text(&rest), before) ||
			buf_printf(err, &whole, "%s%s\n", before == rest.size && !ended ? "\n" : "", line) ||
			buf_append(err, &whole, buf_text(&rest) + before, rest.size - before);
	}
	buf_free(&rest);
	if (result) {
		buf_free(&whole);
		return -1;
	}
	*ret_text = whole;
	return 0;
}
