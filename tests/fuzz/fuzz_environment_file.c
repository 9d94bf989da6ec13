/* The files that EnvironmentFile= of a unit names. */
#include "fuzz.h"

#include <string.h>

#include "doctor/environment_file.h"

struct seen {
	const char *end, *last;
};

/* Names and values lie in the text, one behind the other. */
static int see(void *context, char *name, char *value)
{
	struct seen *seen = context;

	MUST(*name && name >= seen->last && name + strlen(name) < value);
	MUST(value + strlen(value) <= seen->end);
	seen->last = value + strlen(value);
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1);
	struct seen seen;

	if (!text)
		return 0;
	memcpy(text, data, size);
	text[size] = '\0';
	seen = (struct seen){text + size, text};
	MUST(!environment_file_each(text, see, &seen));
	free(text);
	return 0;
}
