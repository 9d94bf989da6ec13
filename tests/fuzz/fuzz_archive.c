/* Wheels, tar and zstd: what comes out of libarchive and libzstd, and what we make of it. */
#include "devcode/read.h"
#include "fuzz_devcode.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_seen seen = {0};
	struct devcode_sink sink = fuzz_sink(&seen);

	MUST(!devcode_read_memory(NULL, "input", data, size, &sink));
	return 0;
}
