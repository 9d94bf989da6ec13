/* Profiles of AWS */
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "share/object_s3.h"

static bool is_word(const char *text)
{
	for (; *text; text++)
		if (*text <= ' ' || *text > '~')
			return false;
	return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	for (int config = 0; config < 2; config++) {
		struct aws_profile profile = {0};
		char *text = calloc(size + 1, 1);

		if (text && size)
			memcpy(text, data, size);
		if (text && !aws_profile_read(NULL, text, config ? "lab" : "default", config, &profile)) {
			MUST(!*profile.keys.id == !*profile.keys.secret);
			MUST(is_word(profile.keys.id) && is_word(profile.keys.secret));
			MUST(is_word(profile.keys.token));
			MUST(is_word(profile.region) && is_word(profile.endpoint));
		}
		free(text);
	}
	return 0;
}
