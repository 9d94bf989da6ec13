/* Any name of an artifact (oci://…) is split or refused. */
#include <string.h>

#include "base/mem.h"
#include "fuzz.h"
#include "share/reference.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = mem_string_n((const char *)data, size);
	struct reference reference;

	if (!reference_parse(NULL, text, &reference)) {
		MUST(*reference.host && !strpbrk(reference.host, "/@ \r\n"));
		MUST(reference_is_repository(reference.repository));
		MUST(!strstr(reference.repository, "..") && !strpbrk(reference.repository, "\\:?# %"));
		MUST(!*reference.tag || reference_is_tag(reference.tag));
	}
	mem_free(text);
	return 0;
}
