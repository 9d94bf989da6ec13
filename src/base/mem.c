#include "base/mem.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jitwarm/error.h>

#include "base/text.h"

enum { EXIT_FAILED = 3 };

/* In English only, since a translation needs memory. */
void mem_ended(size_t wanted)
{
	if (wanted)
		(void)fprintf(stderr, "jitwarm: out of memory (%zu bytes wanted)\n", wanted);
	else
		(void)fputs("jitwarm: out of memory\n", stderr);
	(void)fflush(stderr);
	_Exit(EXIT_FAILED);
}

void *mem_alloc(size_t size)
{
	void *made = calloc(1, size ? size : 1);

	if (!made)
		mem_ended(size);
	return made;
}

void *mem_array(size_t count, size_t size)
{
	if (size && count > SIZE_MAX / size)
		mem_ended(SIZE_MAX);
	return mem_alloc(count * size);
}

void *mem_resize(void *old, size_t size)
{
	void *made = realloc(old, size ? size : 1);

	if (!made)
		mem_ended(size);
	return made;
}

void mem_free(void *pointer)
{
	free(pointer);
}

void jw_text_free(char *text)
{
	mem_free(text);
}

void jw_lines_free(char **lines, size_t count)
{
	for (size_t i = 0; lines && i < count; i++)
		mem_free(lines[i]);
	mem_free(lines);
}

char *mem_string_n(const char *text, size_t length)
{
	char *copy;

	/* The end was before the start. */
	if (length == SIZE_MAX)
		mem_ended(length);
	copy = mem_alloc(length + 1);
	if (length)
		memcpy(copy, text, length);
	return copy;
}

char *mem_string(const char *text)
{
	return mem_string_n(text, strlen(text));
}

void mem_add_string(char ***list, size_t *count, size_t most, const char *text)
{
	if (*count >= most)
		return;
	*list = mem_resize(*list, (*count + 1) * sizeof **list);
	(*list)[(*count)++] = mem_string(text);
}

char *mem_vprintf(const char *format, va_list arguments)
{
	va_list again;
	char *text;
	int length;

	va_copy(again, arguments);
	length = vsnprintf(NULL, 0, format, arguments);
	text = mem_alloc(length < 0 ? 1 : (size_t)length + 1);
	if (length > 0)
		(void)text_vformat(text, 0, (size_t)length + 1, format, again);
	va_end(again);
	return text;
}

char *mem_printf(const char *format, ...)
{
	va_list arguments;
	char *text;

	va_start(arguments, format);
	text = mem_vprintf(format, arguments);
	va_end(arguments);
	return text;
}

int mem_room(struct jw_error *err, void **array, size_t *capacity, size_t count, size_t size,
			 size_t most)
{
	size_t wanted = *capacity ? *capacity : 8;

	if (count >= most)
		return error_set(err, JW_ERR_LIMIT, "more than %zu elements", most);
	if (count < *capacity)
		return 0;
	if (wanted <= count)
		wanted = count > SIZE_MAX / 2 ? SIZE_MAX : count + count / 2 + 1;
	if (wanted > most)
		wanted = most;
	if (wanted > SIZE_MAX / size)
		mem_ended(SIZE_MAX);
	*array = mem_resize(*array, wanted * size);
	*capacity = wanted;
	return 0;
}

size_t mem_find_or_add(const struct mem_list *list, const void *like,
					   bool (*same)(const void *element, const void *like))
{
	size_t at = 0;

	while (at < *list->count && !same((char *)*list->array + at * list->size, like))
		at++;
	if (at == *list->count &&
		!mem_room(NULL, list->array, list->capacity, at, list->size, list->most)) {
		memcpy((char *)*list->array + at * list->size, like, list->size);
		++*list->count;
	}
	return at < *list->count ? at : list->most;
}
