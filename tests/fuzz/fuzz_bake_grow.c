/* Any program or library is copied in a longer form or refused, and the copy has the same
 * containers. */

#include "fuzz_grow.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *folder;

	if (os_make_temp_dir(NULL, "jitwarm-fuzz", &folder))
		return 0;
	(void)fuzz_grow(folder, data, size);
	MUST(!os_remove_tree(NULL, folder));
	mem_free(folder);
	return 0;
}
