/* Any text has a known error or none, and the numbers in it are described within bounds. */
#include <string.h>

#include "base/mem.h"
#include "driver/cuda_errors.h"
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = mem_string_n((const char *)data, size), meaning[CUDA_ERROR_MEANING];
	const struct cuda_error *error = cuda_error_find(text, meaning);

	if (error) {
		MUST(*error->name && *error->cause && *error->cure);
		MUST(strlen(meaning) < sizeof meaning);
		MUST(!error->number || cuda_error_of(error->number)->number == error->number);
	}
	mem_free(text);
	return 0;
}
