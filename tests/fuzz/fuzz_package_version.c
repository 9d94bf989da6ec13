/* A version, and behind a line break what is asked of it. */
#include "fuzz.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/package_version.h"
#include "find/requirement.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1), *wanted;
	struct typed_package typed;

	MUST(text != NULL);
	if (size)
		memcpy(text, data, size);
	text[size] = '\0';
	wanted = strchr(text, '\n');
	if (wanted)
		*wanted++ = '\0';
	else
		wanted = text + size;
	MUST(!version_fits(text, wanted) || version_is_wanted(wanted));
	if (requirement_typed(wanted, &typed))
		MUST(typed.versions <= wanted + strlen(wanted) && *typed.written);
	/* A version is itself, and of "<=" and ">" one holds. */
	if (size < 200) {
		char least[256], more[256];

		(void)snprintf(least, sizeof least, "<=%s", wanted);
		(void)snprintf(more, sizeof more, ">%s", wanted);
		MUST(!version_is_wanted(least) || !version_fits(text, least) || !version_fits(text, more));
		(void)snprintf(more, sizeof more, ">=%s", text);
		MUST(!version_is_wanted(more) || strpbrk(text, ", \t") || version_fits(text, more));
	}
	free(text);
	return 0;
}
