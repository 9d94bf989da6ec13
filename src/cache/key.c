#include "cache/key.h"

#include <stdio.h>
#include <string.h>

uint64_t cache_key_start(const struct cache_profile *profile, uint16_t sm, size_t *ret_length)
{
	char start[CACHE_KEY_MOST_START + 1];
	int length = 0;

	if (profile->stamp[0])
		length = snprintf(start, sizeof start, "%.19sHOST64sm_%u", profile->stamp, (unsigned)sm);
	if (ret_length)
		*ret_length = (size_t)length;
	return length ? fnv_update(FNV_START, start, (size_t)length) : 0;
}

size_t cache_key_payload(enum cache_key_form form, const void *payload, size_t payload_size)
{
	const char *end =
		form == CACHE_KEY_TEXT && payload_size ? memchr(payload, 0, payload_size) : NULL;

	return end ? (size_t)(end - (const char *)payload) : payload_size;
}

size_t cache_key_tail(char tail[CACHE_KEY_MOST_TAIL], enum cache_key_form form, const char *options,
					  size_t options_length)
{
	static const char load[] = "\0 ", link[] = "\0 -c";
	const char *lead = form == CACHE_KEY_LINK ? link : load;
	size_t lead_length = form == CACHE_KEY_LINK ? sizeof link - 1 : sizeof load - 1;
	const char *end = options_length ? memchr(options, 0, options_length) : NULL;

	if (end)
		options_length = (size_t)(end - options);
	if (options_length > CACHE_KEY_MOST_TAIL - lead_length)
		return 0;
	memcpy(tail, lead, lead_length);
	if (options_length)
		memcpy(tail + lead_length, options, options_length);
	return lead_length + options_length;
}

uint64_t cache_key_hash(const struct cache_profile *profile, const struct cache_key_input *input,
						uint64_t *ret_key_bytes)
{
	char tail[CACHE_KEY_MOST_TAIL];
	size_t start_length;
	size_t tail_length = cache_key_tail(tail, input->form, input->options, input->options_length);
	size_t body_length = cache_key_payload(input->form, input->payload, input->payload_size);
	uint64_t hash = cache_key_start(profile, input->sm, &start_length);

	if (!start_length || !tail_length) {
		if (ret_key_bytes)
			*ret_key_bytes = 0;
		return 0;
	}
	hash = fnv_update(hash, input->payload, body_length);
	if (ret_key_bytes)
		*ret_key_bytes = start_length + body_length + tail_length;
	return fnv_update(hash, tail, tail_length);
}
