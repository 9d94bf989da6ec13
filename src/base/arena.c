#include "base/arena.h"

#include <stdarg.h>
#include <string.h>

/* A slab of an arena; those of an owner follow it, the newest first. */
struct slab {
	struct slab *next;
	void *kept;          /* memory of base/mem.h; NULL if the bytes are below */
	max_align_t bytes[]; /* which the caller has */
};

static struct slab *slab_of(void *bytes)
{
	return (struct slab *)(void *)((char *)bytes - offsetof(struct slab, bytes));
}

static struct slab *add_slab(void *owner, size_t size)
{
	struct slab *first = slab_of(owner), *slab = mem_alloc(sizeof *slab + size);

	slab->next = first->next;
	first->next = slab;
	return slab;
}

void *arena_open(size_t size)
{
	return ((struct slab *)mem_alloc(sizeof(struct slab) + size))->bytes;
}

void *arena_alloc(void *owner, size_t size)
{
	return add_slab(owner, size)->bytes;
}

void *arena_array(void *owner, size_t count, size_t size)
{
	return arena_keep(owner, mem_array(count, size));
}

void *arena_keep(void *owner, void *pointer)
{
	if (pointer)
		add_slab(owner, 0)->kept = pointer;
	return pointer;
}

char *arena_string(void *owner, const char *text)
{
	const size_t size = text ? strlen(text) + 1 : 0;

	return text ? memcpy(arena_alloc(owner, size), text, size) : NULL;
}

char *arena_printf(void *owner, const char *format, ...)
{
	va_list arguments;
	char *text;

	va_start(arguments, format);
	text = arena_keep(owner, mem_vprintf(format, arguments));
	va_end(arguments);
	return text;
}

void arena_join(void *owner, void *other)
{
	struct slab *first = slab_of(owner), *last = slab_of(other);

	while (last->next)
		last = last->next;
	last->next = first->next;
	first->next = slab_of(other);
}

/* Keeps an array that is new (`old` is NULL), or that has moved from `old`, which the owner keeps.
 */
static void keep_array(void *owner, const void *old, void *array)
{
	struct slab *slab = slab_of(owner);

	if (!old) {
		(void)arena_keep(owner, array);
		return;
	}
	while (slab->kept != old)
		slab = slab->next;
	slab->kept = array;
}

int arena_room(struct jw_error *err, void *owner, void **array, size_t *capacity, size_t count,
			   size_t size, size_t most)
{
	const void *const old = *array;

	if (mem_room(err, array, capacity, count, size, most))
		return -1;
	if (*array != old)
		keep_array(owner, old, *array);
	return 0;
}

void arena_add_string(void *owner, char ***list, size_t *count, size_t most, const char *text)
{
	char **const old = *list;

	if (*count >= most)
		return;
	/* Full: the number of places is the next power of two. */
	if (!(*count & (*count - 1)))
		*list = mem_resize(old, (*count ? 2 * *count : 1) * sizeof *old);
	if (*list != old)
		keep_array(owner, old, *list);
	(*list)[(*count)++] = arena_string(owner, text);
}

void jw_result_free(void *result)
{
	for (struct slab *slab = result ? slab_of(result) : NULL, *next; slab; slab = next) {
		next = slab->next;
		mem_free(slab->kept);
		mem_free(slab);
	}
}
