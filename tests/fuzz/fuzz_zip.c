/* Zip files that are written again: what is copied is what was there, and the new file's directory
 * can be read. The members are unpacked, too. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "devcode/zip_directory.h"
#include "os/file.h"
#include "package/zip_write.h"

enum { MOST_CONTENT = 1 << 20 };

#define MUST(condition)                                                                            \
	do {                                                                                           \
		if (!(condition))                                                                          \
			abort();                                                                               \
	} while (0)

static void check_copy(const char *path, const struct zip_directory *before,
					   const struct os_map *old)
{
	struct zip_directory after;
	struct os_map map;

	MUST(!os_map_open(NULL, path, &map));
	MUST(!zip_directory_read(NULL, map.data, map.size, &after));
	MUST(after.count == before->count);
	for (size_t i = 0; i < after.count; i++) {
		const struct zip_member *a = &before->members[i], *b = &after.members[i];

		MUST(!strcmp(a->name, b->name) && a->crc == b->crc && a->external == b->external);
		MUST(a->size_bytes == b->size_bytes && a->packed_bytes == b->packed_bytes);
		MUST(!memcmp(old->data + a->data_offset, map.data + b->data_offset,
					 (size_t)a->packed_bytes));
		MUST(zip_directory_find(&after, a->name) == b);
	}
	zip_directory_free(&after);
	os_map_close(&map);
}

static void write_again(const struct zip_directory *directory, const struct os_map *map)
{
	struct zip_writer *writer;
	struct os_file *file;
	char *path;
	int failed;

	MUST(!os_file_make(NULL, "/tmp/jitwarm-fuzz-zip", &file, &path));
	MUST(!zip_writer_open(NULL, file, directory->count, &writer));
	failed = 0;
	for (size_t i = 0; !failed && i < directory->count; i++)
		failed = zip_writer_copy(NULL, writer, i, map, &directory->members[i],
								 directory->members[i].name, NULL);
	failed = failed || zip_writer_finish(NULL, writer, directory->comment);
	zip_writer_close(writer);
	os_file_close(file);
	if (!failed)
		check_copy(path, directory, map);
	(void)os_remove(NULL, path);
	mem_free(path);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct os_map map = {.data = data, .size = size};
	struct zip_directory directory;

	if (zip_directory_read(NULL, data, size, &directory))
		return 0;
	for (size_t i = 0; i < directory.count; i++) {
		struct buf content = {0};
		uint8_t head[64];

		MUST(zip_name_is_safe(directory.members[i].name, strlen(directory.members[i].name)));
		(void)zip_member_head(NULL, &map, &directory.members[i], head, &(size_t){sizeof head});
		if (!zip_member_read(NULL, &map, &directory.members[i], MOST_CONTENT, &content))
			MUST(content.size == directory.members[i].size_bytes);
		buf_free(&content);
	}
	write_again(&directory, &map);
	zip_directory_free(&directory);
	return 0;
}
