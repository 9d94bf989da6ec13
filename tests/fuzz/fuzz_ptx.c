/* Any PTX header is read or refused, and the fast count of statements equals a plain one. */
#include <string.h>

#include "code/ptx.h"
#include "fuzz.h"

static size_t count(const uint8_t *text, size_t size, const char *word)
{
	size_t length = strlen(word), found = 0;

	for (size_t i = 0; i + length <= size; i++)
		found += !memcmp(text + i, word, length);
	return found;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct devcode_ptx_header header;
	struct ptx_features features;

	if (!ptx_header_read(NULL, data, size, &header))
		MUST(ptx_is(data, size));
	ptx_count(data, size, &features);
	MUST(features.statements == count(data, size, ";\n") + count(data, size, ";\r"));
	MUST(features.divisions == count(data, size, "rem.") + count(data, size, "div.s64") +
								   count(data, size, "div.u64") + count(data, size, "div.rn.f64"));
	MUST(features.entries == count(data, size, ".entry"));
	MUST(features.optix <= features.entries);
	MUST(features.code == (features.entries > features.optix));
	MUST(features.edited == (features.code && features.optix));
	return 0;
}
