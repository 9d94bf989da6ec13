/* Static archives. */
#include <string.h>

#include "devcode/read.h"
#include "fuzz_devcode.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_seen seen = {0};
	struct devcode_sink sink = fuzz_sink(&seen);

	if (size < 8 || memcmp(data, "!<arch>\n", 8) != 0)
		return -1; /* nothing for this target: libFuzzer drops it */
	MUST(!devcode_read_memory(NULL, "input", data, size, &sink));
	return 0;
}
