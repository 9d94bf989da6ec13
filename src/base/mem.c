#include "base/mem.h"
#include "base/text.h"

#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static _Thread_local size_t fail_in; /* see mem_fail_after */
static atomic_bool has_lacked;

size_t mem_fail_after(size_t allocations)
{
	size_t left = fail_in;

	fail_in = allocations;
	return left;
}

bool mem_has_lacked(void)
{
	return has_lacked;
}

static int must_fail(void)
{
	return fail_in > 0 && --fail_in == 0;
}

static void *checked(struct jw_error *err, void *pointer, size_t size)
{
	if (!pointer) {
		has_lacked = true;
		error_set(err, JW_ERR_MEMORY, "out of memory (%zu bytes wanted)", size);
	}
	return pointer;
}

void *mem_alloc(struct jw_error *err, size_t size)
{
	return checked(err, must_fail() ? NULL : calloc(1, size ? size : 1), size);
}

void *mem_array(struct jw_error *err, size_t count, size_t size)
{
	if (size && count > SIZE_MAX / size)
		return checked(err, NULL, SIZE_MAX);
	return mem_alloc(err, count * size);
}

void *mem_resize(struct jw_error *err, void *old, size_t size)
{
	return checked(err, must_fail() ? NULL : realloc(old, size ? size : 1), size);
}

void mem_free(void *pointer)
{
	free(pointer);
}

char *mem_string_n(struct jw_error *err, const char *text, size_t length)
{
	char *copy = mem_alloc(err, length + 1);

	if (copy && length)
		memcpy(copy, text, length);
	return copy;
}

char *mem_string(struct jw_error *err, const char *text)
{
	return mem_string_n(err, text, strlen(text));
}

int mem_add_string(struct jw_error *err, char ***list, size_t *count, size_t most, const char *text)
{
	char **larger;

	if (*count >= most)
		return 0;
	larger = mem_resize(err, *list, (*count + 1) * sizeof *larger);
	if (!larger)
		return -1;
	*list = larger;
	larger[*count] = mem_string(err, text);
	return larger[*count] ? (int)(++*count, 0) : -1;
}

char *mem_vprintf(struct jw_error *err, const char *format, va_list arguments)
{
	va_list again;
	char *text = NULL;
	int length;

	va_copy(again, arguments);
	length = vsnprintf(NULL, 0, format, arguments);
	if (length >= 0)
		text = mem_alloc(err, (size_t)length + 1);
	else
		error_set(err, JW_ERR_USAGE, "text cannot be formatted");
	if (text)
		(void)text_vformat(text, 0, (size_t)length + 1, format, again);
	va_end(again);
	return text;
}

char *mem_printf(struct jw_error *err, const char *format, ...)
{
	va_list arguments;
	char *text;

	va_start(arguments, format);
	text = mem_vprintf(err, format, arguments);
	va_end(arguments);
	return text;
}

int mem_room(struct jw_error *err, void **array, size_t *capacity, size_t count, size_t size,
			 size_t most)
{
	size_t wanted = *capacity ? *capacity : 8;
	void *larger;

	if (count < *capacity)
		return 0;
	if (count >= most)
		return error_set(err, JW_ERR_LIMIT, "more than %zu elements", most);
	if (wanted <= count)
		wanted = count + count / 2 + 1;
	if (wanted > most)
		wanted = most;
	if (wanted > SIZE_MAX / size)
		return error_set(err, JW_ERR_MEMORY, "out of memory");
	larger = mem_resize(err, *array, wanted * size);
	if (!larger)
		return -1;
	*array = larger;
	*capacity = wanted;
	return 0;
}

int mem_find_or_add(struct jw_error *err, const struct mem_list *list, const void *like,
					bool (*same)(const void *element, const void *like), size_t *ret_at)
{
	size_t at = 0;

	while (at < *list->count && !same((char *)*list->array + at * list->size, like))
		at++;
	if (at == *list->count && at < list->most) {
		if (mem_room(err, list->array, list->capacity, at, list->size, list->most))
			return -1;
		memcpy((char *)*list->array + at * list->size, like, list->size);
		++*list->count;
	} else if (at == *list->count) {
		at = list->most;
	}
	*ret_at = at;
	return 0;
}
