#include "os/tree.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

static int compare_file_names(const void *a, const void *b)
{
	return strcmp(((const struct named *)a)->name, ((const struct named *)b)->name);
}

int names_finish(struct jw_error *err, struct named *found, size_t count,
				 struct os_names *ret_names)
{
	struct os_names names = {.count = count};

	names.items = mem_array(err, count, sizeof *names.items);
	names.kinds = mem_array(err, count, sizeof *names.kinds);
	if (!names.items || !names.kinds) {
		mem_free(names.items);
		mem_free(names.kinds);
		return -1;
	}
	if (count)
		qsort(found, count, sizeof *found, compare_file_names);
	for (size_t i = 0; i < count; i++) {
		names.items[i] = found[i].name;
		names.kinds[i] = found[i].kind;
	}
	*ret_names = names;
	return 0;
}

void os_names_free(struct os_names *names)
{
	for (size_t i = 0; i < names->count; i++)
		mem_free(names->items[i]);
	mem_free(names->items);
	mem_free(names->kinds);
	*names = (struct os_names){0};
}
