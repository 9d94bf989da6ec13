/* Wheels, tar and zstd: what comes out of libarchive and libzstd, and what we make of it. */
#include "fuzz_read.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	MUST(!fuzz_read(data, size));
	return 0;
}
