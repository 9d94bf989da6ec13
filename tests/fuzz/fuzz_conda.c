/* Any conda-meta/NAME-VERSION-BUILD.json is read or refused, and no path leaves the environment. */
#include <stddef.h>
#include <stdint.h>

#include "find/package_files.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct conda_package *package;

	if (!conda_parse(NULL, data, size, &package))
		jw_result_free(package);
	return 0;
}
