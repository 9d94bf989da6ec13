#include "os/file.h"

#include "os/open_file.h"

int os_map_open(struct jw_error *err, const char *path, struct os_map *ret_map)
{
	struct os_map map = {.data = (const uint8_t *)""};
	int fd = open_regular(err, path, &map.stat), result = 0;

	if (fd < 0)
		return -1;
	if (map.stat.size_bytes > SIZE_MAX / 2)
		result = error_set(err, JW_ERR_LIMIT, "%s: too large to map", path);
	else if (map.stat.size_bytes) {
		map.size = (size_t)map.stat.size_bytes;
		map.handle = map_view(err, fd, path, map.size);
		map.data = map.handle;
		result = map.handle ? 0 : -1;
	}
	(void)close_fd(NULL, path, fd);
	if (!result)
		*ret_map = map;
	return result;
}

void os_map_close(struct os_map *map)
{
	if (map->handle)
		map_unview(map->handle, map->size);
	*map = (struct os_map){0};
}
