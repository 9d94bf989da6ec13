/* A project's page in a package index: JSON. */
#include "fuzz_index.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct index_reader reader = {NULL, fuzz_on_file};

	(void)index_page_read_json(NULL, (const char *)data, size, &reader);
	return 0;
}
