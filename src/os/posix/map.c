#include <sys/mman.h>
#include <unistd.h>

#include "os/open_file.h"
#include "os/posix/posix.h"

void *map_view(struct jw_error *err, int fd, const char *path, size_t size)
{
	void *view = mmap(NULL, size, PROT_READ, MAP_PRIVATE, fd, 0);

	if (view != MAP_FAILED)
		return view;
	posix_error(err, path);
	return NULL;
}

void map_unview(void *view, size_t size)
{
	(void)munmap(view, size);
}

void os_map_forget(const struct os_map *map, size_t offset, size_t size)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE), start = (offset + page - 1) / page * page,
		   end = (offset + size) / page * page;

	if (map->handle && end > start && end <= map->size)
		(void)madvise((uint8_t *)map->handle + start, end - start, MADV_DONTNEED);
}
