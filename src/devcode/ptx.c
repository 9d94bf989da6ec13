#include "devcode/ptx.h"

#include "base/text.h"

#include <string.h>

struct text {
	const char *at, *end;
};

static bool is_ptx_word_character(char c)
{
	return text_is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static size_t left(const struct text *text)
{
	return (size_t)(text->end - text->at);
}

static bool starts(const struct text *text, const char *with, size_t length)
{
	return left(text) >= length && !memcmp(text->at, with, length);
}

/* Skips white space and both kinds of comments. */
static void skip_blank(struct text *text)
{
	while (text->at < text->end) {
		const char *stop;

		if (text_is_blank(*text->at)) {
			text->at++;
		} else if (starts(text, "//", 2)) {
			stop = memchr(text->at, '\n', left(text));
			text->at = stop ? stop : text->end;
		} else if (starts(text, "/*", 2)) {
			text->at += 2;
			while (text->at < text->end && !starts(text, "*/", 2))
				text->at++;
			text->at = starts(text, "*/", 2) ? text->at + 2 : text->end;
		} else {
			return;
		}
	}
}

/* Skips `.name` and the white space behind it, if it is here. */
static bool take_directive(struct text *text, const char *name)
{
	size_t length = strlen(name);

	if (!starts(text, name, length) || left(text) == length || !text_is_blank(text->at[length]))
		return false;
	text->at += length;
	skip_blank(text);
	return true;
}

static bool take_ptx_number(struct text *text, uint16_t *ret_value)
{
	unsigned value = 0;
	const char *first = text->at;

	while (text->at < text->end && text_is_digit(*text->at) && value < 1000)
		value = value * 10 + (unsigned)(*text->at++ - '0');
	if (text->at == first || (text->at < text->end && text_is_digit(*text->at)))
		return false;
	*ret_value = (uint16_t)value;
	return true;
}

static bool take_version(struct text *text, struct devcode_ptx_header *header)
{
	if (!take_directive(text, ".version") || !take_ptx_number(text, &header->isa_major) ||
		!starts(text, ".", 1))
		return false;
	text->at++;
	/* A number at the very end may be incomplete. */
	return take_ptx_number(text, &header->isa_minor) && text->at < text->end;
}

/* `.target sm_90a, texmode_independent`: the first word that is a target. */
static bool take_target(struct text *text, struct jw_target *target)
{
	uint16_t sm = 0;

	if (!take_directive(text, ".target"))
		return false;
	while (!starts(text, "sm_", 3) && !starts(text, "compute_", 8)) {
		while (text->at < text->end && is_ptx_word_character(*text->at))
			text->at++;
		skip_blank(text);
		if (!starts(text, ",", 1))
			return false;
		text->at++;
		skip_blank(text);
	}
	text->at += *text->at == 's' ? 3 : 8;
	if (!take_ptx_number(text, &sm) || text->at == text->end)
		return false;
	*target = (struct jw_target){.sm = sm};
	if (*text->at == 'a' || *text->at == 'f')
		target->suffix = *text->at++;
	return text->at < text->end && !is_ptx_word_character(*text->at);
}

bool ptx_is(const void *text, size_t size)
{
	struct text rest = {text, (const char *)text + size};

	skip_blank(&rest);
	return take_directive(&rest, ".version");
}

int ptx_header_read(struct jw_error *err, const void *text, size_t size,
					struct devcode_ptx_header *ret_header)
{
	struct text rest = {text, (const char *)text + size};
	struct devcode_ptx_header header = {0};

	skip_blank(&rest);
	if (!take_version(&rest, &header))
		return error_set(err, JW_ERR_FORMAT, "PTX without a .version at its beginning");
	skip_blank(&rest);
	if (!take_target(&rest, &header.target))
		return error_set(err, JW_ERR_FORMAT, "PTX without a .target behind its .version");
	*ret_header = header;
	return 0;
}
