#include "code/ptx.h"

#include <string.h>

#include "base/cursor.h"
#include "base/text.h"
#include "code/lanes.h"

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

/* Skips `.name` and the white space after it, if it is next. */
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

	for (; text->at < text->end && value < 1000; text->at++) {
		const char digit = (char)load_u8(text->at);

		if (!text_is_digit(digit))
			break;
		value = value * 10 + (unsigned)(digit - '0');
	}
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

/* Finds the first word that is a target: `.target sm_90a, texmode_independent`. */
static bool take_target(struct text *text, struct jw_target *target)
{
	uint16_t sm = 0;
	char suffix;

	if (!take_directive(text, ".target"))
		return false;
	for (;;) {
		/* The text may change (os/file.h, os_map): each byte that matters is read once. */
		const size_t length = starts(text, "sm_", 3) ? 3 : starts(text, "compute_", 8) ? 8 : 0;

		text->at += length;
		if (length)
			break;
		while (text->at < text->end && is_ptx_word_character(*text->at))
			text->at++;
		skip_blank(text);
		if (!starts(text, ",", 1))
			return false;
		text->at++;
		skip_blank(text);
	}
	if (!take_ptx_number(text, &sm) || text->at == text->end)
		return false;
	suffix = (char)load_u8(text->at);
	*target = (struct jw_target){.sm = sm};
	if (suffix == 'a' || suffix == 'f') {
		target->suffix = suffix;
		text->at++;
	}
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
		return error_set(err, JW_ERR_FORMAT, "PTX without a .target after its .version");
	*ret_header = header;
	return 0;
}

/* Counts the inputs of the cost model. */

enum {
	STEPS = 128,           /* steps between two checks of the counters, which hold up to 255 */
	BLOCK = LANES * STEPS, /* bytes between two checks of the counters */
	AHEAD = 12,            /* the farthest that a counted word ends after its start */
};

/* Returns whether the name after `.entry` is that of an OptiX program. OptiX compiles such PTX
 * itself, into its own cache; for the driver its calls of _optix_… are unknown symbols (error 218).
 */
static bool is_optix(const uint8_t *at, size_t left)
{
	static const char *const names[] = {"__raygen__",     "__miss__",         "__anyhit__",
										"__closesthit__", "__intersection__", "__exception__"};

	for (; left && text_is_blank((char)*at); at++)
		left--;
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (left > strlen(names[i]) && !memcmp(at, names[i], strlen(names[i])))
			return true;
	return false;
}

/* Counts the entries at `size` places, one after the other. */
static void count_kernels(const uint8_t *at, size_t size, size_t left,
						  struct ptx_features *features)
{
	const uint8_t *dot = at, *end = at + size;

	while ((dot = memchr(dot, '.', (size_t)(end - dot)))) {
		const size_t rest = left - (size_t)(dot - at);

		if (rest >= 6 && !memcmp(dot, ".entry", 6)) {
			features->entries++;
			features->optix += is_optix(dot + 6, rest - 6);
		}
		dot++;
	}
}

static bool is_division(const uint8_t *at, size_t left)
{
	static const char *const words[] = {"rem.", "div.s64", "div.u64", "div.rn.f64"};

	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		if (left >= strlen(words[i]) && !memcmp(at, words[i], strlen(words[i])))
			return true;
	return false;
}

/* Marks where a division may begin, including words that look similar. */
static lanes near_division(const uint8_t *at)
{
	lanes zero = lanes_load(at), one = lanes_load(at + 1), two = lanes_load(at + 2),
		  three = lanes_load(at + 3);

	return lanes_equal(three, '.') &
		   ((lanes_equal(zero, 'd') & lanes_equal(one, 'i') & lanes_equal(two, 'v')) |
			(lanes_equal(zero, 'r') & lanes_equal(one, 'e') & lanes_equal(two, 'm')));
}

static void count_divisions(const uint8_t *at, size_t left, struct ptx_features *features)
{
	for (size_t i = 0; i < BLOCK; i += LANES) {
		if (!lanes_any(near_division(at + i)))
			continue;
		for (size_t k = i; k < i + LANES; k++)
			features->divisions += is_division(at + k, left - k);
	}
}

static void count_block(const uint8_t *at, size_t left, struct ptx_features *features)
{
	lanes statements = {0}, divisions = {0}, entries = {0};

	for (size_t i = 0; i < BLOCK; i += LANES) {
		lanes zero = lanes_load(at + i), one = lanes_load(at + i + 1), two = lanes_load(at + i + 2);

		statements -= lanes_equal(zero, ';') & (lanes_equal(one, '\n') | lanes_equal(one, '\r'));
		divisions |= near_division(at + i);
		entries |= lanes_equal(zero, '.') & lanes_equal(one, 'e') & lanes_equal(two, 'n');
	}
	for (size_t i = 0; i < LANES; i++)
		features->statements += statements[i];
	if (lanes_any(divisions))
		count_divisions(at, left, features);
	if (lanes_any(entries))
		count_kernels(at, BLOCK, left, features);
}

void ptx_count(const void *text, size_t size, struct ptx_features *ret_features)
{
	struct ptx_features features = {0};
	const uint8_t *at = text;

	for (; size >= BLOCK + AHEAD; at += BLOCK, size -= BLOCK)
		count_block(at, size, &features);
	for (size_t i = 0; i < size; i++) {
		if (at[i] == ';' && size - i > 1 && (at[i + 1] == '\n' || at[i + 1] == '\r'))
			features.statements++;
		else if (at[i] == 'd' || at[i] == 'r')
			features.divisions += is_division(at + i, size - i);
	}
	count_kernels(at, size, size, &features);
	features.code = features.entries > features.optix;
	features.edited = features.code && features.optix;
	*ret_features = features;
}
