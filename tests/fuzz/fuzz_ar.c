/* Static archives. */
#include <string.h>

#include "fuzz_read.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{

	if (size < 8 || memcmp(data, "!<arch>\n", 8) != 0)
		return -1; /* not for this target: libFuzzer drops it */
	MUST(!fuzz_read(data, size));
	return 0;
}
