/* Any wheel, tar or zstd file is read to its end or refused, through libarchive and libzstd. */
#include "fuzz_read.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	MUST(!fuzz_read(data, size));
	return 0;
}
