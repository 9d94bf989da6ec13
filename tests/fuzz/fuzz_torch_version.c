/* torch/version.py, and library names that contain a CUDA version. */
#include "fuzz.h"

#include <stdlib.h>
#include <string.h>

#include "find/variants.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1);
	struct variant_name variant;
	unsigned major, minor;

	MUST(text != NULL);
	if (size)
		memcpy(text, data, size);
	text[size] = '\0';
	if (variant_torch_cuda(text, &major, &minor))
		MUST(major < 100 && minor < 100);
	if (variant_of_name(text, &variant))
		MUST(variant.start < variant.end && variant.end <= strlen(text) && variant.major < 1000);
	free(text);
	return 0;
}
