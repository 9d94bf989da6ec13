/* Wheels, tar and zstd: reads archives through libarchive and libzstd. */
#include "fuzz_read.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	MUST(!fuzz_read(data, size));
	return 0;
}
