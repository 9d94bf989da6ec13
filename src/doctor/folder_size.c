#include "doctor/folder_size.h"

#include "base/mem.h"
#include "os/each.h"

struct sizing {
	struct folder_size size;
	uint64_t device;
	size_t names, most;
	const char *folder; /* that is read now */
	char **waiting;
	size_t count, capacity;
};

static int size_later(struct jw_error *err, struct sizing *sizing, const char *name)
{
	char *path = os_join(err, sizing->folder, name);

	if (!path || VEC_ROOM(err, sizing->waiting, sizing->capacity, sizing->count, sizing->most)) {
		mem_free(path);
		return -1;
	}
	sizing->waiting[sizing->count++] = path;
	return 0;
}

/* 1: enough. */
static int size_one(struct jw_error *err, void *context, const char *name,
					const struct os_stat *stat)
{
	struct sizing *sizing = context;
	struct folder_size *size = &sizing->size;

	if (sizing->names == sizing->most) {
		size->cut = true;
		return 1;
	}
	sizing->names++;
	if (stat->kind == OS_DIRECTORY)
		return stat->device == sizing->device ? size_later(err, sizing, name) : 0;
	if (stat->kind != OS_REGULAR)
		return 0;
	size->files++;
	size->bytes +=
		stat->size_bytes < UINT64_MAX - size->bytes ? stat->size_bytes : UINT64_MAX - size->bytes;
	if (stat->mtime_ns > size->newest_ns)
		size->newest_ns = stat->mtime_ns;
	return 0;
}

static int size_folder(struct jw_error *err, struct sizing *sizing, const char *path)
{
	struct jw_error why = {0};
	int result;

	sizing->folder = path;
	result = os_each(&why, path, size_one, sizing);
	if (result >= 0)
		return 0;
	if (why.code == JW_ERR_MEMORY)
		return error_copy(err, &why);
	sizing->size.unread++;
	return 0;
}

int folder_size(struct jw_error *err, const char *path, size_t most, struct folder_size *ret_size)
{
	struct sizing sizing = {.most = most};
	struct os_stat stat;
	int result = 0;

	if (os_stat(NULL, path, &stat)) {
		ret_size->unread = 1;
		return 0;
	}
	sizing.device = stat.device;
	result = size_folder(err, &sizing, path);
	while (sizing.count && !result && !sizing.size.cut) {
		char *next = sizing.waiting[--sizing.count];

		result = size_folder(err, &sizing, next);
		mem_free(next);
	}
	while (sizing.count)
		mem_free(sizing.waiting[--sizing.count]);
	mem_free(sizing.waiting);
	if (!result)
		*ret_size = sizing.size;
	return result;
}
