/* Any zip file's members are unpacked by its directory, never beyond their stated sizes. */
#include <stdlib.h>
#include <string.h>

#include "code/zip_directory.h"
#include "os/file.h"

enum { MAX_CONTENT = 1 << 20 };

#define MUST(condition)                                                                            \
	do {                                                                                           \
		if (!(condition))                                                                          \
			abort();                                                                               \
	} while (0)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct os_map map = {.data = data, .size = size};
	struct zip_directory directory;

	if (zip_directory_read(NULL, &map, &directory))
		return 0;
	for (size_t i = 0; i < directory.count; i++) {
		struct buf content = {0};
		uint8_t head[64];

		MUST(zip_name_is_safe(directory.members[i].name, strlen(directory.members[i].name)));
		(void)zip_member_head(&map, &directory.members[i], head, sizeof head);
		if (!zip_member_read(NULL, &map, &directory.members[i], MAX_CONTENT, &content))
			MUST(content.size == directory.members[i].size_bytes);
		buf_free(&content);
	}
	zip_directory_free(&directory);
	return 0;
}
