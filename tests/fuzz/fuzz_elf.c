/* Any ELF file gives the same containers in memory and from an archive. */
#include "fuzz_leaf.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	return fuzz_leaf(KIND_ELF, data, size);
}
