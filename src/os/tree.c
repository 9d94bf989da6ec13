#include "os/tree.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

/* A directory with more names than this is not read. */
enum { NAMES_MOST = 4000000 };

static int compare_file_names(const void *a, const void *b)
{
	return strcmp(((const struct named *)a)->name, ((const struct named *)b)->name);
}

int names_add(struct jw_error *err, struct named_list *list, char *name, enum os_kind kind)
{
	if (!name)
		return -1;
	if (VEC_ROOM(err, list->items, list->capacity, list->count, NAMES_MOST)) {
		mem_free(name);
		return -1;
	}
	list->items[list->count++] = (struct named){name, kind};
	return 0;
}

int names_finish(struct jw_error *err, int result, struct named_list *list,
				 struct os_names *ret_names)
{
	struct os_names names = {.count = list->count};

	if (!result) {
		names.items = mem_array(err, list->count, sizeof *names.items);
		names.kinds = mem_array(err, list->count, sizeof *names.kinds);
	}
	if (names.items && names.kinds) {
		if (list->count)
			qsort(list->items, list->count, sizeof *list->items, compare_file_names);
		for (size_t i = 0; i < list->count; i++) {
			names.items[i] = list->items[i].name;
			names.kinds[i] = list->items[i].kind;
		}
		*ret_names = names;
	} else {
		result = -1;
		mem_free(names.items);
		mem_free(names.kinds);
		for (size_t i = 0; i < list->count; i++)
			mem_free(list->items[i].name);
	}
	mem_free(list->items);
	return result;
}

void os_names_free(struct os_names *names)
{
	for (size_t i = 0; i < names->count; i++)
		mem_free(names->items[i]);
	mem_free(names->items);
	mem_free(names->kinds);
	*names = (struct os_names){0};
}
