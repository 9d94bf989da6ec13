#include "cache/key.h"

#include <stdio.h>
#include <string.h>

#include <sodium.h>

#include "base/cursor.h"
#include "base/text.h"

size_t cache_key_write_start(char start[CACHE_KEY_MAX_START + 1], const char *stamp,
							 struct jw_target target)
{
	char sm[JW_TARGET_TEXT];

	return *stamp ? (size_t)snprintf(start, CACHE_KEY_MAX_START + 1, "%.19sHOST64%s", stamp,
									 jw_target_sm(sm, target))
				  : 0;
}

uint64_t cache_key_start(const char *stamp, uint16_t sm, size_t *ret_length)
{
	char start[CACHE_KEY_MAX_START + 1];
	const size_t length = cache_key_write_start(start, stamp, (struct jw_target){.sm = sm});

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

size_t cache_key_tail(char tail[CACHE_KEY_MAX_TAIL], enum cache_key_form form, const char *options,
					  size_t options_length)
{
	static const char load[] = "\0 ", link[] = "\0 -c";
	const char *lead = form == CACHE_KEY_LINK ? link : load;
	size_t lead_length = form == CACHE_KEY_LINK ? sizeof link - 1 : sizeof load - 1;
	const char *end = options_length ? memchr(options, 0, options_length) : NULL;

	if (end)
		options_length = (size_t)(end - options);
	if (options_length > CACHE_KEY_MAX_OPTIONS)
		return 0;
	memcpy(tail, lead, lead_length);
	if (options_length)
		memcpy(tail + lead_length, options, options_length);
	return lead_length + options_length;
}

/* The parts of a key before and after the payload. */
struct key_frame {
	char start[CACHE_KEY_MAX_START + 1], tail_text[CACHE_KEY_MAX_TAIL];
	const char *tail;
	size_t start_length, body_length, tail_length;
};

/* Makes the parts; false if there is no key. */
static bool frame_key(const char *stamp, const struct cache_key_input *input,
					  struct key_frame *frame)
{
	frame->start_length =
		cache_key_write_start(frame->start, stamp, (struct jw_target){.sm = input->sm});
	frame->body_length = cache_key_payload(input->form, input->payload, input->payload_size);
	frame->tail_length =
		cache_key_tail(frame->tail_text, input->form, input->options, input->options_length);
	if (!frame->start_length || !frame->tail_length)
		return false;
	frame->tail = frame->tail_text + input->bare;
	frame->tail_length -= input->bare;
	return true;
}

uint64_t cache_key_hash(const char *stamp, const struct cache_key_input *input,
						uint64_t *ret_key_bytes)
{
	struct key_frame frame;
	const bool has_key = frame_key(stamp, input, &frame);
	uint64_t hash;

	if (ret_key_bytes)
		*ret_key_bytes = has_key ? frame.start_length + frame.body_length + frame.tail_length : 0;
	if (!has_key)
		return 0;
	hash = fnv_update(FNV_START, frame.start, frame.start_length);
	hash = fnv_update(hash, input->payload, frame.body_length);
	return fnv_update(hash, frame.tail, frame.tail_length);
}

/* Returns whether `text` matches `shape`, in which 0 stands for a digit, A for a letter, _ for a
 * digit, letter or blank, and any other character for itself. */
static bool has_shape(const uint8_t *text, const char *shape)
{
	for (; *shape; shape++, text++) {
		bool letter = (*text | 32) >= 'a' && (*text | 32) <= 'z';

		if (*shape == '0'   ? !text_is_digit(*text)
			: *shape == 'A' ? !letter
			: *shape == '_' ? !text_is_digit(*text) && *text != ' '
							: *text != (uint8_t)*shape)
			return false;
	}
	return true;
}

/* Takes "sm_86" or "sm_120a" at the cursor. */
static bool take_key_target(struct cursor *at, struct jw_target *target)
{
	const uint8_t *lead = cursor_take(at, 3);
	unsigned sm = 0, digits = 0;

	if (!lead || memcmp(lead, "sm_", 3) != 0)
		return false;
	for (; at->at < at->end && text_is_digit(*at->at) && digits < 3; digits++)
		sm = 10 * sm + (unsigned)(*at->at++ - '0');
	target->sm = (uint16_t)sm;
	target->suffix = 0;
	if (at->at < at->end && (*at->at == 'a' || *at->at == 'f'))
		target->suffix = (char)*at->at++;
	return digits >= 2;
}

static bool part_starts(const uint8_t *data, size_t size, const char *lead)
{
	return size >= strlen(lead) && !memcmp(data, lead, strlen(lead));
}

static bool part_ends(const uint8_t *data, size_t size, const char *trail)
{
	return size >= strlen(trail) && !memcmp(data + size - strlen(trail), trail, strlen(trail));
}

static const uint8_t *find_text(const uint8_t *data, size_t size, const char *what)
{
	size_t length = strlen(what);

	for (; size >= length; data++, size--)
		if (*data == (uint8_t)*what && !memcmp(data, what, length))
			return data;
	return NULL;
}

bool cache_key_is_jitlink(const char *options, size_t length)
{
	const uint8_t *text = (const uint8_t *)options;

	return part_ends(text, length, " -c") &&
		   (part_starts(text, length, "-arch=sm_") || find_text(text, length, " -arch=sm_"));
}

/* Takes the start of a key: stamp, word size and architecture. */
static bool take_key_start(struct cursor *at, struct cache_key_parts *parts)
{
	const uint8_t *stamp = cursor_take(at, CACHE_STAMP_SIZE);
	const uint8_t *host = cursor_take(at, CACHE_KEY_HOST);

	if (!stamp || !host || !has_shape(stamp, "AAA _0 000000:00:00") || !has_shape(host, "HOST00"))
		return false;
	memcpy(parts->stamp, stamp, CACHE_STAMP_SIZE);
	parts->word_bits = (uint16_t)(10 * (host[4] - '0') + (host[5] - '0'));
	return take_key_target(at, &parts->target);
}

bool cache_key_split(const void *key, size_t size, struct cache_key_parts *ret_parts)
{
	struct cache_key_parts parts = {.word_bits = 64};
	struct cursor at = cursor_of(key, size);
	size_t end;

	if (!take_key_start(&at, &parts))
		return false;
	parts.payload = at.at;
	parts.payload_size = end = cursor_left(&at);
	/* Splits at the last NUL: options cannot contain one. */
	while (end && parts.payload[end - 1])
		end--;
	if (end) {
		const uint8_t *tail = parts.payload + end;
		const size_t tail_size = parts.payload_size - end;

		if (!part_starts(tail, tail_size, " "))
			return false;
		parts.payload_size = end - 1;
		parts.jitlink = cache_key_is_jitlink((const char *)tail + 1, tail_size - 1);
		parts.form =
			!parts.jitlink && part_starts(tail, tail_size, " -c") ? CACHE_KEY_LINK : CACHE_KEY_LOAD;
		parts.options = (const char *)tail + (parts.form == CACHE_KEY_LINK ? 3 : 1);
		parts.options_length = tail_size - (parts.form == CACHE_KEY_LINK ? 3 : 1);
	} else if (!find_text(parts.payload, parts.payload_size, ".version ")) {
		/* The payload is stored raw and fills its eight bytes, so the start of the options cannot
		 * be determined. */
		return false;
	}
	*ret_parts = parts;
	return true;
}

void cache_key_identity(struct jw_identity *ret_identity, const struct digest *payload,
						const void *rest, size_t rest_size)
{
	crypto_generichash_state state;

	crypto_generichash_init(&state, NULL, 0, sizeof ret_identity->bytes);
	crypto_generichash_update(&state, payload->bytes, DIGEST_SIZE);
	crypto_generichash_update(&state, rest, rest_size);
	crypto_generichash_final(&state, ret_identity->bytes, sizeof ret_identity->bytes);
}

enum { PIECE = 16 << 10 };

/* Hashes the part of a key from `from` up to `end`. */
static int hash_part(crypto_generichash_state *state, cache_key_read_fn read, void *context,
					 uint64_t from, uint64_t end)
{
	uint8_t piece[PIECE];

	while (from < end) {
		const size_t size = end - from < PIECE ? (size_t)(end - from) : PIECE;

		if (read(context, from, piece, size))
			return -1;
		crypto_generichash_update(state, piece, size);
		from += size;
	}
	return 0;
}

/* Finds the last NUL of a key from `start` on; *ret_end is `size` if there is none. */
static int find_rest(cache_key_read_fn read, void *context, uint64_t start, uint64_t size,
					 uint64_t *ret_end)
{
	uint8_t piece[PIECE];

	for (uint64_t end = size; end > start;) {
		size_t left = end - start < PIECE ? (size_t)(end - start) : PIECE;

		if (read(context, end - left, piece, left))
			return -1;
		for (end -= left; left-- > 0;)
			if (!piece[left]) {
				*ret_end = end + left;
				return 0;
			}
	}
	*ret_end = size;
	return 0;
}

/* Computes the identity of a key whose payload begins at `start`. */
static int identify(struct jw_identity *ret_identity, cache_key_read_fn read, void *context,
					uint64_t start, uint64_t size)
{
	crypto_generichash_state state;
	struct digest payload;
	uint64_t end;

	if (find_rest(read, context, start, size, &end))
		return -1;
	crypto_generichash_init(&state, NULL, 0, DIGEST_SIZE);
	if (hash_part(&state, read, context, start, end))
		return -1;
	crypto_generichash_final(&state, payload.bytes, DIGEST_SIZE);
	crypto_generichash_init(&state, NULL, 0, sizeof ret_identity->bytes);
	crypto_generichash_update(&state, payload.bytes, DIGEST_SIZE);
	if (hash_part(&state, read, context, end, size))
		return -1;
	crypto_generichash_final(&state, ret_identity->bytes, sizeof ret_identity->bytes);
	return 0;
}

int cache_key_identity_by(struct jw_identity *ret_identity, cache_key_read_fn read, void *context,
						  uint64_t size)
{
	const size_t most = size < CACHE_KEY_MAX_START ? (size_t)size : CACHE_KEY_MAX_START;
	uint8_t start[CACHE_KEY_MAX_START] = {0};
	struct cursor at = cursor_of(start, most);
	struct cache_key_parts parts = {0};

	if (read(context, 0, start, most))
		return -1;
	/* A key of another program has no start. */
	return identify(ret_identity, read, context,
					take_key_start(&at, &parts) ? (uint64_t)(at.at - start) : 0, size);
}

/* A key in memory, in two parts. */
struct two_parts {
	const uint8_t *body, *tail;
	size_t body_size;
};

static int read_two_parts(void *context, uint64_t offset, void *data, size_t size)
{
	const struct two_parts *parts = context;
	const size_t at = (size_t)offset, left = at < parts->body_size ? parts->body_size - at : 0;
	const size_t first = left < size ? left : size;

	if (first)
		memcpy(data, parts->body + at, first);
	if (first < size)
		memcpy((uint8_t *)data + first, parts->tail + (at + first - parts->body_size),
			   size - first);
	return 0;
}

void cache_key_identity_of(struct jw_identity *ret_identity, const void *key, size_t size)
{
	struct two_parts parts = {.body = key, .body_size = size};

	(void)cache_key_identity_by(ret_identity, read_two_parts, &parts, size);
}

void cache_key_identity_of_rest(struct jw_identity *ret_identity, const void *body,
								size_t body_size, const void *tail, size_t tail_size)
{
	struct two_parts parts = {body, tail, body_size};

	(void)identify(ret_identity, read_two_parts, &parts, 0, body_size + tail_size);
}

bool cache_identity_equal(const struct jw_identity *a, const struct jw_identity *b)
{
	return !memcmp(a->bytes, b->bytes, sizeof a->bytes);
}

uint64_t cache_identity_hash(const struct jw_identity *identity)
{
	return load_u64(identity->bytes);
}

bool cache_identity_read(const char *text, struct jw_identity *ret_identity)
{
	struct jw_identity identity;
	size_t got;

	if (strlen(text) != 2 * sizeof identity.bytes ||
		sodium_hex2bin(identity.bytes, sizeof identity.bytes, text, strlen(text), NULL, &got,
					   NULL) ||
		got != sizeof identity.bytes)
		return false;
	*ret_identity = identity;
	return true;
}

/* Returns whether the text is like "418.39" or "580.126.09", followed by a NUL. */
static bool is_release(const uint8_t *text, size_t length)
{
	if (!has_shape(text, "000.0"))
		return false;
	for (size_t i = 0; i < length; i++)
		if (!text_is_digit(text[i]) && text[i] != '.')
			return false;
	return true;
}

/* Finds the release near the end of an OpenCL key, between NULs: "\0" "418.39" "\0". */
static void opencl_driver(const uint8_t *key, size_t size, char driver[CACHE_STAMP_SIZE + 1])
{
	size_t end = size;

	while (end && key[end - 1])
		end--;
	for (size_t start = end ? end - 1 : 0; start && end - start <= CACHE_STAMP_SIZE + 1; start--) {
		size_t length = end - 1 - start;

		if (key[start - 1])
			continue;
		if (is_release(key + start, length)) {
			memcpy(driver, key + start, length);
			driver[length] = '\0';
		}
		return;
	}
}

static void opencl_target(const uint8_t *key, size_t size, struct jw_target *target)
{
	static const char option[] = "-cl-nv-arch ";
	const uint8_t *found = find_text(key, size, option);
	struct cursor at;

	if (!found)
		return;
	at = cursor_of(found + sizeof option - 1, (size_t)(key + size - found) - (sizeof option - 1));
	if (!take_key_target(&at, target))
		*target = (struct jw_target){0};
}

void cache_origin_of(const uint8_t *key, size_t key_size, const uint8_t *value, size_t value_size,
					 struct cache_origin *ret_origin)
{
	struct cache_origin origin = {.kind = JW_CACHE_OTHER};
	struct cache_key_parts parts;

	if (cache_key_split(key, key_size, &parts)) {
		origin.kind = JW_CACHE_CUDA;
		origin.target = parts.target;
		memcpy(origin.driver, parts.stamp, sizeof origin.driver);
	} else if (find_text(value, value_size < 4096 ? value_size : 4096, ".version ")) {
		/* In all PTX seen, the version is within the first 200 bytes. */
		origin.kind = JW_CACHE_OPENCL;
		opencl_target(key, key_size, &origin.target);
		opencl_driver(key, key_size, origin.driver);
	}
	*ret_origin = origin;
}
