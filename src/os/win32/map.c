#include "os/open_file.h"
#include "os/win32/win32.h"

void *map_view(struct jw_error *err, int fd, const char *path, size_t size)
{
	HANDLE section = CreateFileMappingW(uv_get_osfhandle(fd), NULL, PAGE_READONLY, 0, 0, NULL);
	void *view = section ? MapViewOfFile(section, FILE_MAP_READ, 0, 0, size) : NULL;

	if (!view)
		win32_error(err, path);
	/* The view keeps section and file open. */
	if (section)
		(void)CloseHandle(section);
	return view;
}

void map_unview(void *view, size_t size)
{
	(void)size;
	(void)UnmapViewOfFile(view);
}

void os_map_forget(const struct os_map *map, size_t offset, size_t size)
{
	const size_t page = 4096;
	size_t start = (offset + page - 1) / page * page, end = (offset + size) / page * page;

	/* Unlocking pages that are not locked removes them from the working set and fails with
	 * ERROR_NOT_LOCKED (documentation of VirtualUnlock, remarks). */
	if (map->handle && end > start && end <= map->size)
		(void)VirtualUnlock((uint8_t *)map->handle + start, end - start);
}
