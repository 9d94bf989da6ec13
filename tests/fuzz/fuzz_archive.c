/* Wheels, tar and zstd: the output of libarchive and libzstd, and our reading of it. */
#include "fuzz_read.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	MUST(!fuzz_read(data, size));
	return 0;
}
