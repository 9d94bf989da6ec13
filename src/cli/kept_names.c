#include "cli/kept_names.h"

#include <string.h>

#include "base/mem.h"

/* A mark is 1, two letters for the number of the name, 2. */
enum { MOST_NAMES = 256, MOST_NAME = 4096, MARK_SIZE = 4, LETTERS = 16, MARK = 1, MARK_END = 2 };

void kept_names_add(struct kept_names *kept, const char *name)
{
	const size_t size = name ? strlen(name) : 0;
	char *copy;

	if (!size || size > MOST_NAME || name[strspn(name, " ")] == 0 ||
		kept_names_has(kept, name, size) ||
		VEC_ROOM(NULL, kept->names, kept->capacity, kept->count, MOST_NAMES))
		return;
	copy = mem_string(NULL, name);
	if (copy)
		kept->names[kept->count++] = copy;
}

void kept_names_free(struct kept_names *kept)
{
	for (size_t i = 0; i < kept->count; i++)
		mem_free(kept->names[i]);
	mem_free(kept->names);
	*kept = (struct kept_names){0};
}

bool kept_names_has(const struct kept_names *kept, const char *text, size_t size)
{
	for (size_t i = 0; i < kept->count; i++)
		if (strlen(kept->names[i]) == size && !memcmp(kept->names[i], text, size))
			return true;
	return false;
}

static bool continues_word(char letter)
{
	return (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') ||
		   (letter >= '0' && letter <= '9');
}

/* The longest name of several words at this place of a line; NULL: none. */
static char *const *name_at(const struct kept_names *kept, const char *line, const char *at)
{
	char *const *found = NULL;

	if (at > line && continues_word(at[-1]) && continues_word(*at))
		return NULL;
	for (size_t i = 0; i < kept->count; i++) {
		const char *name = kept->names[i];
		const size_t size = strlen(name);

		if (strchr(name, ' ') && !strncmp(at, name, size) &&
			!(continues_word(name[size - 1]) && continues_word(at[size])) &&
			(!found || size > strlen(*found)))
			found = &kept->names[i];
	}
	return found;
}

bool kept_names_hide(const struct kept_names *kept, const char *line, struct buf *ret_hidden)
{
	if (strchr(line, MARK))
		return false;
	for (const char *at = line; *at;) {
		char *const *name = name_at(kept, line, at);
		const size_t number = name ? (size_t)(name - kept->names) : 0;
		const char mark[MARK_SIZE] = {MARK, (char)('a' + number / LETTERS),
									  (char)('a' + number % LETTERS), MARK_END};

		(void)buf_append(NULL, ret_hidden, name ? mark : at, name ? MARK_SIZE : 1);
		at += name ? strlen(*name) : 1;
	}
	return !ret_hidden->lacking;
}

void kept_names_show(const struct kept_names *kept, struct buf *text)
{
	struct buf shown = BUF_MAX(text->most);

	for (size_t at = 0; at < text->size; at++) {
		const size_t number =
			text->data[at] == MARK && text->size - at >= MARK_SIZE
				? (size_t)(text->data[at + 1] - 'a') * LETTERS + (size_t)(text->data[at + 2] - 'a')
				: kept->count;

		if (number < kept->count) {
			(void)buf_append(NULL, &shown, kept->names[number], strlen(kept->names[number]));
			at += MARK_SIZE - 1;
		} else {
			(void)buf_append(NULL, &shown, text->data + at, 1);
		}
	}
	buf_free(text);
	*text = shown;
}
