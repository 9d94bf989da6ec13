/* Any METADATA or PKG-INFO of an installed package is read within its bytes. */
#include <stddef.h>
#include <stdint.h>

#include "find/requirement.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct metadata metadata;

	if (!metadata_parse(NULL, data, size, &metadata)) {
		for (size_t i = 0; i < metadata.require_count; i++)
			(void)requirement_applies(&metadata.requires[i], "dev,cuda12");
		metadata_free(&metadata);
	}
	return 0;
}
