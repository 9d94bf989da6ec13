#include "cache/key.h"

#include <stdio.h>
#include <string.h>

#include "base/cursor.h"

/* Returns its length; 0 without a stamp. */
static size_t write_key_start(char start[CACHE_KEY_MOST_START + 1],
							  const struct cache_profile *profile, uint16_t sm)
{
	return profile->stamp[0] ? (size_t)snprintf(start, CACHE_KEY_MOST_START + 1, "%.19sHOST64sm_%u",
												profile->stamp, (unsigned)sm)
							 : 0;
}

uint64_t cache_key_start(const struct cache_profile *profile, uint16_t sm, size_t *ret_length)
{
	char start[CACHE_KEY_MOST_START + 1];
	const size_t length = write_key_start(start, profile, sm);

	if (ret_length)
		*ret_length = length;
	return length ? fnv_update(FNV_START, start, length) : 0;
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

/* What lies in front of the payload and behind it. */
struct key_frame {
	char start[CACHE_KEY_MOST_START + 1], tail_text[CACHE_KEY_MOST_TAIL];
	const char *tail;
	size_t start_length, body_length, tail_length;
};

/* false: it has no key. */
static bool frame_key(const struct cache_profile *profile, const struct cache_key_input *input,
					  struct key_frame *frame)
{
	frame->start_length = write_key_start(frame->start, profile, input->sm);
	frame->body_length = cache_key_payload(input->form, input->payload, input->payload_size);
	frame->tail_length =
		cache_key_tail(frame->tail_text, input->form, input->options, input->options_length);
	if (!frame->start_length || !frame->tail_length)
		return false;
	frame->tail = frame->tail_text + input->bare;
	frame->tail_length -= input->bare;
	return true;
}

uint64_t cache_key_hash(const struct cache_profile *profile, const struct cache_key_input *input,
						uint64_t *ret_key_bytes)
{
	struct key_frame frame;
	const bool has_key = frame_key(profile, input, &frame);
	uint64_t hash;

	if (ret_key_bytes)
		*ret_key_bytes = has_key ? frame.start_length + frame.body_length + frame.tail_length : 0;
	if (!has_key)
		return 0;
	hash = fnv_update(FNV_START, frame.start, frame.start_length);
	hash = fnv_update(hash, input->payload, frame.body_length);
	return fnv_update(hash, frame.tail, frame.tail_length);
}

bool cache_key_is(const struct cache_profile *profile, const struct cache_key_input *input,
				  const void *key, uint64_t key_bytes)
{
	struct cursor cursor = cursor_of(key, (size_t)key_bytes);
	const uint8_t *start, *body, *tail;
	struct key_frame frame;

	if (!frame_key(profile, input, &frame))
		return false;
	start = cursor_take(&cursor, frame.start_length);
	body = cursor_take(&cursor, frame.body_length);
	tail = cursor_take(&cursor, frame.tail_length);
	return !cursor.overrun && !cursor_left(&cursor) &&
		   !memcmp(start, frame.start, frame.start_length) &&
		   !memcmp(tail, frame.tail, frame.tail_length) &&
		   (!frame.body_length || !memcmp(body, input->payload, frame.body_length));
}
