/* Any text has a known error or none, and the numbers in it are described within bounds. */
#include <string.h>

#include "base/mem.h"
#include "driver/cuda_errors.h"
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = mem_string_n((const char *)data, size);
	struct cuda_error_found found[CUDA_ERRORS_FOUND];
	const size_t count = cuda_errors_find(text, found);

	MUST(count <= CUDA_ERRORS_FOUND);
	for (size_t i = 0; i < count; i++) {
		const struct cuda_error *error = found[i].error;

		MUST(*error->name && *error->cause && *found[i].cure);
		MUST(strlen(found[i].meaning) < sizeof found[i].meaning);
		MUST(!error->number || cuda_error_of(error->number)->number == error->number);
	}
	mem_free(text);
	return 0;
}
