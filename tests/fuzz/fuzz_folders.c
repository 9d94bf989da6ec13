/* What is remembered of folders: as a whole file, with a correct sum behind it, and as the names of
 * one folder in a file that is sound otherwise. */
#include "fuzz.h"

#include <string.h>

#include "find/folder_memory.h"
#include "fuzz_summed.h"

static const struct os_stat known = {
	.kind = OS_DIRECTORY, .device = 1, .inode = 1, .changed_ns = 1};

static void check(const void *data, size_t size)
{
	struct folder_memory *memory;
	struct os_names names;
	bool is_known;

	if (folder_memory_parse(NULL, data, size, &memory))
		return;
	MUST(!folder_memory_names(NULL, memory, &known, &names, &is_known));
	if (is_known) {
		MUST(folder_memory_knows(memory));
		for (size_t i = 0; i < names.count; i++)
			MUST(names.items[i][0] && !strchr(names.items[i], '/') &&
				 strcmp(names.items[i], ".") != 0 && strcmp(names.items[i], "..") != 0 &&
				 (names.kinds[i] == OS_DIRECTORY || names.kinds[i] == OS_REGULAR));
		os_names_free(&names);
	}
	folder_memory_close(memory);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct buf file = BUF_MAX(size + 64);
	uint8_t folder[28];

	check_with_sum(data, size, check);
	store_u64(folder, known.device);
	store_u64(folder + 8, known.inode);
	store_u64(folder + 16, (uint64_t)known.changed_ns);
	store_u32(folder + 24, (uint32_t)size);
	if (!buf_append(NULL, &file, folder_memory_head, FOLDER_MEMORY_HEAD) &&
		!buf_append(NULL, &file, folder, sizeof folder) && !buf_append(NULL, &file, data, size))
		check_with_sum(file.data, file.size, check);
	buf_free(&file);
	return 0;
}
