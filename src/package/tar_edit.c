#include "package/tar_edit.h"

#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/text.h"

enum {
	BLOCK = 512,
	STEP = 1 << 18,
	NAME_BYTES = 100,
	PREFIX_BYTES = 155,
	MOST_TAR_NAME = 4096,
	MOST_PAX = 1 << 20,
	SIZE_AT = 124,
	SIZE_DIGITS = 12,
	SUM_AT = 148,
	KIND_AT = 156,
	LINK_AT = 157,
	MAGIC_AT = 257,
	PREFIX_AT = 345,
};
/* The largest size that a header's own field holds: 11 octal digits. */
static const uint64_t most_octal = (UINT64_C(1) << 33) - 1;

struct tar_state {
	const struct tar_edit *edit;
	uint8_t header[BLOCK];
	uint8_t step[STEP];
	char name[MOST_TAR_NAME], link[MOST_TAR_NAME]; /* of the file at hand */
	char long_name[MOST_TAR_NAME], long_link[MOST_TAR_NAME];
	uint64_t pax_size; /* UINT64_MAX: none */
};

static int fail_tar(struct jw_error *err, const char *why)
{
	return error_set(err, JW_ERR_FORMAT, "its tar archive is damaged: %s", why);
}

/* ---- numbers */

static bool read_octal(const uint8_t *digits, size_t count, uint64_t *ret_value)
{
	uint64_t value = 0;
	size_t at = 0;

	while (at < count && digits[at] == ' ')
		at++;
	for (; at < count && digits[at] >= '0' && digits[at] <= '7'; at++)
		value = value << 3 | (uint64_t)(digits[at] - '0');
	if (at < count && digits[at] && digits[at] != ' ')
		return false;
	*ret_value = value;
	return true;
}

static uint32_t sum_of_header(const uint8_t header[BLOCK])
{
	uint32_t sum = 0;

	for (size_t i = 0; i < BLOCK; i++)
		sum += i >= SUM_AT && i < SUM_AT + 8 ? ' ' : header[i];
	return sum;
}

static int read_size(struct jw_error *err, const struct tar_state *state, uint64_t *ret_size)
{
	const uint8_t *field = state->header + SIZE_AT;
	uint64_t value = 0, sum;

	if (!read_octal(state->header + SUM_AT, 8, &sum) || sum != sum_of_header(state->header))
		return fail_tar(err, "a header's checksum is wrong");
	if (*field & 0x80) { /* GNU's binary form */
		if (*field != 0x80 || field[1] || field[2] || field[3])
			return fail_tar(err, "a size is too large");
		for (size_t i = 4; i < SIZE_DIGITS; i++)
			value = value << 8 | field[i];
	} else if (!read_octal(field, SIZE_DIGITS, &value)) {
		return fail_tar(err, "a size is no number");
	}
	if (value > INT64_MAX)
		return fail_tar(err, "a size is too large");
	*ret_size = value;
	return 0;
}

/* ---- names */

static void join_name(struct tar_state *state)
{
	const char *header = (const char *)state->header;
	char name[NAME_BYTES + 1], prefix[PREFIX_BYTES + 1] = "";

	(void)snprintf(name, sizeof name, "%.*s", NAME_BYTES, header);
	if (!memcmp(header + MAGIC_AT, "ustar\0", 6))
		(void)snprintf(prefix, sizeof prefix, "%.*s", PREFIX_BYTES, header + PREFIX_AT);
	if (*state->long_name)
		TEXT_COPY(state->name, state->long_name);
	else
		(void)snprintf(state->name, sizeof state->name, "%s%s%s", prefix, *prefix ? "/" : "", name);
	if (*state->long_link)
		TEXT_COPY(state->link, state->long_link);
	else
		(void)snprintf(state->link, sizeof state->link, "%.*s", NAME_BYTES, header + LINK_AT);
}

/* One that says something about the next file. Others (attributes, comments) may be of any length,
 * and hold any bytes. */
static int take_pax(struct jw_error *err, struct tar_state *state, const char *key,
					const char *value, size_t length)
{
	char digits[32];
	const bool path = text_starts(key, "path="), link = text_starts(key, "linkpath="),
			   size = text_starts(key, "size=");

	if (!path && !link && !size)
		return 0;
	if (length >= (size ? sizeof digits : MOST_TAR_NAME) || memchr(value, 0, length))
		return fail_tar(err, "a pax header's value is too long");
	if (path)
		(void)snprintf(state->long_name, MOST_TAR_NAME, "%.*s", (int)length, value);
	else if (link)
		(void)snprintf(state->long_link, MOST_TAR_NAME, "%.*s", (int)length, value);
	if (!size)
		return 0;
	(void)snprintf(digits, sizeof digits, "%.*s", (int)length, value);
	return text_number(digits, INT64_MAX, &state->pax_size) ? 0
															: fail_tar(err, "a pax header's size");
}

/* “LENGTH KEY=VALUE\n”, where LENGTH counts all of it. */
static int read_pax(struct jw_error *err, struct tar_state *state, const struct buf *records)
{
	const char *at = buf_text(records), *end = at + records->size;

	while (at < end) {
		const char *record = at, *key, *equals;
		size_t length = 0, value;

		for (; at < end && text_is_digit(*at) && length < MOST_PAX; at++)
			length = length * 10 + (size_t)(*at - '0');
		if (at == end || *at != ' ' || length > (size_t)(end - record) ||
			record + length <= at + 1 || record[length - 1] != '\n')
			return fail_tar(err, "a pax header");
		key = at + 1;
		equals = memchr(key, '=', (size_t)(record + length - key));
		if (!equals)
			return fail_tar(err, "a pax header");
		value = (size_t)(record + length - 1 - equals - 1);
		if (take_pax(err, state, key, equals + 1, value))
			return -1;
		at = record + length;
	}
	return 0;
}

/* ---- bytes */

static int put_tar(struct jw_error *err, const struct tar_state *state, const uint8_t *data,
				   size_t size)
{
	return state->edit->write ? state->edit->write(err, state->edit->context, data, size) : 0;
}

static int read_tar_bytes(struct jw_error *err, struct tar_state *state, uint8_t *to, size_t size)
{
	size_t got;

	if (state->edit->read(err, state->edit->context, to, size, &got))
		return -1;
	return got == size ? 0 : fail_tar(err, "it is cut off");
}

static size_t padding_of(uint64_t size)
{
	return (size_t)(-size & (BLOCK - 1));
}

typedef int (*tar_put)(struct jw_error *err, struct tar_state *state, const uint8_t *data,
					   size_t size);

static int take_piece(struct jw_error *err, struct tar_state *state, const uint8_t *data,
					  size_t size)
{
	return state->edit->take(err, state->edit->context, data, size);
}

static int put_piece(struct jw_error *err, struct tar_state *state, const uint8_t *data,
					 size_t size)
{
	return put_tar(err, state, data, size);
}

/* The rest of a content of which `head_size` bytes are in `step`, and its padding, which is not
 * passed on. */
static int pass_content(struct jw_error *err, struct tar_state *state, size_t head_size,
						uint64_t size, tar_put put)
{
	if (head_size && put(err, state, state->step, head_size))
		return -1;
	for (uint64_t left = size - head_size; left;) {
		const size_t step = left < STEP ? (size_t)left : STEP;

		if (read_tar_bytes(err, state, state->step, step) || put(err, state, state->step, step))
			return -1;
		left -= step;
	}
	return read_tar_bytes(err, state, state->step, padding_of(size));
}

static int pad_tar(struct jw_error *err, const struct tar_state *state, uint64_t size)
{
	static const uint8_t zeros[BLOCK];

	return put_tar(err, state, zeros, padding_of(size));
}

/* ---- members */

/* A header before the file's own: a long name, pax records. */
static int pass_extra(struct jw_error *err, struct tar_state *state, char kind, uint64_t size)
{
	struct buf text = BUF_MAX(MOST_PAX);
	int result = 0;

	if (size > MOST_PAX)
		return fail_tar(err, "a long header");
	if (buf_reserve(err, &text, (size_t)size + BLOCK))
		return -1;
	result = read_tar_bytes(err, state, text.data, (size_t)size + padding_of(size));
	if (!result)
		result = put_tar(err, state, state->header, BLOCK) ||
				 put_tar(err, state, text.data, (size_t)size + padding_of(size));
	if (!result) {
		text.size = (size_t)size;
		text.data[text.size] = 0;
		if (kind == 'x')
			result = read_pax(err, state, &text);
		else if (size > MOST_TAR_NAME)
			result = fail_tar(err, "a name is too long");
		else if (kind == 'L')
			TEXT_COPY(state->long_name, buf_text(&text));
		else if (kind == 'K')
			TEXT_COPY(state->long_link, buf_text(&text));
	}
	buf_free(&text);
	return result ? -1 : 0;
}

static int put_taken(struct jw_error *err, struct tar_state *state)
{
	const uint8_t *data;
	uint64_t size;

	if (state->edit->taken(err, state->edit->context, state->name, &data, &size))
		return -1;
	if (!state->edit->write)
		return 0;
	if (size > most_octal)
		return error_set(err, JW_ERR_LIMIT, "%.300s: is too large for a tar header", state->name);
	(void)snprintf((char *)state->header + SIZE_AT, SIZE_DIGITS, "%011llo",
				   (unsigned long long)size);
	(void)snprintf((char *)state->header + SUM_AT, 8, "%06o", sum_of_header(state->header));
	state->header[SUM_AT + 7] = ' ';
	if (put_tar(err, state, state->header, BLOCK))
		return -1;
	for (uint64_t at = 0; at < size; at += STEP)
		if (put_tar(err, state, data + at, size - at < STEP ? (size_t)(size - at) : STEP))
			return -1;
	return pad_tar(err, state, size);
}

static int pass_file(struct jw_error *err, struct tar_state *state, uint64_t size)
{
	const struct tar_edit *edit = state->edit;
	const size_t head = size < TAR_HEAD ? (size_t)size : TAR_HEAD;

	if (read_tar_bytes(err, state, state->step, head))
		return -1;
	/* A size in a pax header would have to change there. */
	if (state->pax_size == UINT64_MAX && size <= most_octal &&
		edit->wants(edit->context, state->name, size, state->step, head))
		return pass_content(err, state, head, size, take_piece) || put_taken(err, state) ? -1 : 0;
	return put_tar(err, state, state->header, BLOCK) ||
				   pass_content(err, state, head, size, put_piece) || pad_tar(err, state, size)
			   ? -1
			   : 0;
}

static int pass_member(struct jw_error *err, struct tar_state *state)
{
	const char kind = (char)state->header[KIND_AT];
	uint64_t size = 0;
	int result;

	if (read_size(err, state, &size))
		return -1;
	if (kind == 'x' || kind == 'L' || kind == 'K')
		return pass_extra(err, state, kind, size);
	if (state->pax_size != UINT64_MAX && kind != 'g')
		size = state->pax_size;
	join_name(state);
	if (kind == '0' || !kind || kind == '7') {
		result = pass_file(err, state, size);
	} else {
		/* Links, folders and devices have no content, whatever their size says. */
		if (kind >= '1' && kind <= '6')
			size = 0;
		result = kind == '1'
					 ? state->edit->link(err, state->edit->context, state->name, state->link)
					 : 0;
		result = result || put_tar(err, state, state->header, BLOCK) ||
				 pass_content(err, state, 0, size, put_piece) || pad_tar(err, state, size);
	}
	if (kind != 'g') {
		*state->long_name = *state->long_link = 0;
		state->pax_size = UINT64_MAX;
	}
	return result ? -1 : 0;
}

static bool is_zero_block(const uint8_t block[BLOCK])
{
	for (size_t i = 0; i < BLOCK; i++)
		if (block[i])
			return false;
	return true;
}

/* What follows the end's zeros stays. */
static int pass_end(struct jw_error *err, struct tar_state *state)
{
	size_t got = BLOCK;

	if (put_tar(err, state, state->header, BLOCK))
		return -1;
	while (got) {
		if (state->edit->read(err, state->edit->context, state->step, STEP, &got) ||
			(got && put_tar(err, state, state->step, got)))
			return -1;
	}
	return 0;
}

static int pass_members(struct jw_error *err, struct tar_state *state)
{
	for (;;) {
		size_t got;

		if (state->edit->read(err, state->edit->context, state->header, BLOCK, &got))
			return -1;
		if (!got)
			return 0;
		if (got != BLOCK)
			return fail_tar(err, "it is cut off");
		if (is_zero_block(state->header))
			return pass_end(err, state);
		if (pass_member(err, state))
			return -1;
	}
}

int tar_edit(struct jw_error *err, const struct tar_edit *edit)
{
	struct tar_state *state = mem_alloc(err, sizeof *state);
	int result;

	if (!state)
		return -1;
	state->edit = edit;
	state->pax_size = UINT64_MAX;
	result = pass_members(err, state);
	mem_free(state);
	return result;
}
