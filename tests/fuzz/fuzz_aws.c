/* Profiles of AWS and the documents of instance roles */
#include <string.h>

#include "fuzz.h"
#include "share/aws_profile.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *text = (const char *)data;

	for (int config = 0; config < 2; config++) {
		struct aws_profile profile = {0};

		if (aws_profile_parse(NULL, text, size, config ? "lab" : "default", config, &profile))
			continue;
		MUST(!*profile.keys.id == !*profile.keys.secret);
		MUST(!*profile.keys.id || aws_is_word(profile.keys.id));
		MUST(!*profile.keys.token || aws_is_word(profile.keys.token));
		MUST(!*profile.region || aws_is_word(profile.region));
		MUST(!*profile.endpoint || aws_is_word(profile.endpoint));
	}
	struct aws_keys keys = {0};
	if (!aws_keys_parse(NULL, text, size, &keys))
		MUST(aws_is_word(keys.id) && aws_is_word(keys.secret) && aws_is_word(keys.token) &&
			 keys.expires_s >= 0);
	return 0;
}
