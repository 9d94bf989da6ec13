#include "base/text.h"

#include <stdio.h>
#include <string.h>

#include "base/smaller.h"

const struct text_language *text_language;

int text_vformat(char *text, size_t from, size_t size, const char *format, va_list arguments)
{
	va_list again;
	int length;

	va_copy(again, arguments);
	length = vsnprintf(text + from, size - from, format, arguments);
	if (length >= 0 && text_language)
		text_language->made(text, from, format, again);
	va_end(again);
	return length;
}

int text_format(char *text, size_t size, const char *format, ...)
{
	va_list arguments;
	int length;

	va_start(arguments, format);
	length = text_vformat(text, 0, size, format, arguments);
	va_end(arguments);
	return length;
}

void text_append(char *text, size_t size, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	(void)text_vformat(text, strlen(text), size, format, arguments);
	va_end(arguments);
}

const char *text_bytes(char text[TEXT_SHORT], uint64_t size_bytes)
{
	static const char *const unit[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
	double value = (double)size_bytes;
	size_t step = 0;

	while (value >= 1023.5 && step + 1 < sizeof unit / sizeof *unit) {
		value /= 1024;
		step++;
	}
	(void)text_format(text, TEXT_SHORT, "%.*f %s",
					  value >= 99.95 || value == (double)(uint64_t)value ? 0
					  : step > 2                                         ? 2
																		 : 1,
					  value, unit[step]);
	return text;
}

const char *text_duration(char text[TEXT_SHORT], double seconds)
{
	uint64_t whole = seconds > 0 ? (uint64_t)(seconds + 0.5) : 0;

	if (seconds > 0 && seconds < 0.05)
		(void)text_format(text, TEXT_SHORT, "under 0.1 s");
	else if (seconds < 9.95)
		(void)text_format(text, TEXT_SHORT, "%.1f s", seconds > 0 ? seconds : 0.0);
	else if (whole < 60)
		(void)text_format(text, TEXT_SHORT, "%u s", (unsigned)whole);
	else if (whole < 3600)
		(void)text_format(text, TEXT_SHORT, "%u min %u s", (unsigned)(whole / 60),
						  (unsigned)(whole % 60));
	else
		(void)text_format(text, TEXT_SHORT, "%u h %u min", (unsigned)(whole / 3600),
						  (unsigned)(whole / 60 % 60));
	return text;
}

const char *text_set_time(char text[TEXT_SHORT], uint64_t ms)
{
	enum { SECOND = 1000, MINUTE = 60 * SECOND, HOUR = 60 * MINUTE };
	const uint64_t unit = !ms                             ? SECOND
						  : ms % HOUR == 0                ? HOUR
						  : ms % MINUTE == 0 && ms < HOUR ? MINUTE
						  : ms >= SECOND && ms < MINUTE   ? SECOND
														  : 1;
	char number[32];

	if (ms > MINUTE && unit == 1)
		return text_duration(text, (double)ms / SECOND);
	/* Seconds alone have a rest. */
	if (ms % unit)
		(void)text_format(number, sizeof number, "%.*f",
						  ms % 10    ? 3
						  : ms % 100 ? 2
									 : 1,
						  (double)ms / SECOND);
	else
		(void)snprintf(number, sizeof number, "%llu", (unsigned long long)(ms / unit));
	(void)text_format(text, TEXT_SHORT,
					  unit == HOUR     ? "%s h"
					  : unit == MINUTE ? "%s min"
					  : unit == SECOND ? "%s s"
									   : "%s ms",
					  number);
	return text;
}

/* By Howard Hinnant's “chrono-compatible low-level date algorithms”: years begin in March. */
const char *text_utc(char text[TEXT_UTC], int64_t since_1970_s)
{
	const int64_t days = since_1970_s / 86400 + 719468, rest = since_1970_s % 86400,
				  era = days / 146097, of_era = days - era * 146097,
				  year = (of_era - of_era / 1460 + of_era / 36524 - of_era / 146096) / 365,
				  of_year = of_era - (365 * year + year / 4 - year / 100),
				  part = (5 * of_year + 2) / 153, month = part < 10 ? part + 3 : part - 9;
	char whole[96];

	(void)text_format(whole, sizeof whole, "%04d-%02d-%02dT%02d:%02d:%02dZ",
					  (int)((year + era * 400 + (month <= 2)) % 10000), (int)month,
					  (int)(of_year - (153 * part + 2) / 5 + 1), (int)(rest / 3600),
					  (int)(rest / 60 % 60), (int)(rest % 60));
	text_copy(text, TEXT_UTC, whole);
	return text;
}

/* A time in a suitable unit. Two times that are printed together can share the unit. */
struct rough_time {
	char number[16], text[TEXT_SHORT];
	int unit; /* 's', 'm' or 'h' */
};

static struct rough_time rough_time(double seconds)
{
	struct rough_time time = {.unit = seconds < 89.5 ? 's' : seconds < 89.5 * 60 ? 'm' : 'h'};

	seconds = seconds > 0 ? seconds : 0;
	(void)snprintf(time.number, sizeof time.number,
				   seconds < 1.95 || time.unit == 'h' ? "%.1f" : "%.0f",
				   time.unit == 's'   ? seconds
				   : time.unit == 'm' ? seconds / 60
									  : seconds / 3600);
	(void)text_format(time.text, sizeof time.text,
					  time.unit == 's'   ? "%s s"
					  : time.unit == 'm' ? "%s min"
										 : "%s h",
					  time.number);
	return time;
}

const char *text_span(char text[TEXT_SHORT], double low_s, double high_s)
{
	const struct rough_time low = rough_time(low_s), high = rough_time(high_s);

	if (!strcmp(high.number, "0.0"))
		(void)text_format(text, TEXT_SHORT, "under 0.1 s");
	else if (!strcmp(low.number, "0.0"))
		(void)text_format(text, TEXT_SHORT, "up to %s", high.text);
	else if (strcmp(low.text, high.text) != 0)
		(void)text_format(text, TEXT_SHORT, "%s to %s",
						  low.unit != high.unit ? low.text : low.number, high.text);
	else
		(void)text_format(text, TEXT_SHORT, "about %s", high.text);
	return text;
}

const char *text_count(char text[TEXT_COUNTED], uint64_t count, const char *one, const char *many)
{
	/* The word is part of the format, because it depends on the number in other languages, too. */
	int (*const print)(char *, size_t, const char *, ...) = text_format;
	char format[TEXT_COUNTED];

	(void)snprintf(format, sizeof format, "%%llu %s", count == 1 ? one : many);
	(void)print(text, TEXT_COUNTED, format, (unsigned long long)count);
	return text;
}

void text_copy(char *to, size_t size, const char *from)
{
	size_t length = strlen(from);

	if (length >= size)
		length = size - 1;
	memcpy(to, from, length);
	to[length] = '\0';
}

bool text_same(const char *a, const char *b)
{
	return a && b ? !strcmp(a, b) : a == b;
}

bool text_starts(const char *text, const char *start)
{
	return !strncmp(text, start, strlen(start));
}

static size_t length_of_form(const char *text, char form)
{
	switch (form) {
	case '#': return strspn(text, "0123456789");
	case '%': return strspn(text, "0123456789abcdef");
	case '?': return text_is_digit(*text) || (*text >= 'a' && *text <= 'z');
	default: return *text == form;
	}
}

bool text_has_form(const char *text, const char *form)
{
	if (*form == '*') {
		const size_t length = strlen(text), rest = strlen(++form);

		if (length <= rest)
			return false;
		text += length - rest;
	}
	for (size_t length; *form; form++, text += length)
		if (!(length = length_of_form(text, *form)))
			return false;
	return !*text;
}

bool text_fits(const char *text, const char *pattern)
{
	const char *star = NULL, *from = text;

	while (*text) {
		if (*pattern == '*') {
			star = pattern++;
			from = text;
		} else if (*pattern == '?' || *pattern == *text) {
			pattern++;
			text++;
		} else if (star) {
			pattern = star + 1;
			text = ++from;
		} else {
			return false;
		}
	}
	while (*pattern == '*')
		pattern++;
	return !*pattern;
}

bool text_ends(const char *text, const char *end)
{
	size_t length = strlen(text), tail = strlen(end);

	return length >= tail && !strcmp(text + length - tail, end);
}

static unsigned char lower(char c)
{
	return (unsigned char)(c >= 'A' && c <= 'Z' ? c + ('a' - 'A') : c);
}

bool text_starts_fold(const char *text, const char *start)
{
	while (*start && lower(*text) == lower(*start)) {
		text++;
		start++;
	}
	return !*start;
}

bool text_equal_fold(const char *a, const char *b)
{
	return strlen(a) == strlen(b) && text_starts_fold(a, b);
}

bool text_number(const char *text, uint64_t most, uint64_t *ret_value)
{
	uint64_t value = 0;

	if (!*text)
		return false;
	for (; *text; text++) {
		uint64_t digit = (uint64_t)(*text - '0');

		if (*text < '0' || *text > '9' || value > (most - digit) / 10 || digit > most)
			return false;
		value = value * 10 + digit;
	}
	*ret_value = value;
	return true;
}

size_t text_numbers(const char *text, size_t max_digits, uint32_t *numbers, size_t most)
{
	size_t count = 0;

	for (;;) {
		uint32_t value = 0;
		size_t digits = 0;

		for (; text[digits] >= '0' && text[digits] <= '9'; digits++) {
			if (digits == max_digits)
				return 0;
			value = value * 10 + (uint32_t)(text[digits] - '0');
		}
		if (!digits || count == most)
			return 0;
		numbers[count++] = value;
		text += digits;
		if (!*text)
			return count;
		if (*text++ != '.')
			return 0;
	}
}

static bool is_dash(char c)
{
	return c == '-' || c == '_' || c == '.';
}

bool package_normalise(const char *text, size_t length, char name[PACKAGE_MAX_NAME])
{
	size_t used = 0;

	if (!length || length >= PACKAGE_MAX_NAME || !text_is_alnum(text[0]) ||
		!text_is_alnum(text[length - 1]))
		return false;
	for (size_t i = 0; i < length; i++)
		if (!text_is_alnum(text[i]) && !is_dash(text[i]))
			return false;
	for (size_t i = 0; i < length; i++) {
		if (!is_dash(text[i]))
			name[used++] =
				(char)(text[i] >= 'A' && text[i] <= 'Z' ? text[i] + ('a' - 'A') : text[i]);
		else if (used && name[used - 1] != '-')
			name[used++] = '-';
	}
	name[used] = 0;
	return true;
}

bool version_read(const char *text, struct version *ret_version, const char **ret_rest)
{
	enum { MAX_DIGITS = 9 };
	struct version version = {.count = 0};

	do {
		const char *at = text + (version.count > 0);
		uint32_t value = 0;
		size_t digits = 0;

		for (; text_is_digit(at[digits]) && digits < MAX_DIGITS; digits++)
			value = value * 10 + (uint32_t)(at[digits] - '0');
		if (!digits || text_is_digit(at[digits]) || version.count == VERSION_NUMBERS)
			return false;
		version.numbers[version.count++] = value;
		text = at + digits;
	} while (*text == '.' && text_is_digit(text[1]));
	*ret_version = version;
	*ret_rest = text;
	return true;
}

int version_order(const struct version *a, const struct version *b, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (a->numbers[i] != b->numbers[i])
			return a->numbers[i] > b->numbers[i] ? 1 : -1;
	return 0;
}

/* RFC 3629: no overlong forms, no surrogates. */
size_t text_utf8_next(const void *data, size_t size, uint32_t *ret_point)
{
	const uint8_t *b = data;
	size_t length = !size                   ? 0
					: b[0] < 0x80           ? 1
					: (b[0] & 0xe0) == 0xc0 ? 2
					: (b[0] & 0xf0) == 0xe0 ? 3
					: (b[0] & 0xf8) == 0xf0 ? 4
											: 0;
	uint32_t point;

	if (!length || length > size)
		return 0;
	point = length == 1 ? b[0] : b[0] & (0x7fu >> length);
	for (size_t i = 1; i < length; i++) {
		if ((b[i] & 0xc0) != 0x80)
			return 0;
		point = point << 6 | (b[i] & 0x3f);
	}
	if ((length == 2 && point < 0x80) || (length == 3 && point < 0x800) ||
		(length == 4 && point < 0x10000) || point > 0x10ffff ||
		(point >= 0xd800 && point <= 0xdfff))
		return 0;
	if (ret_point)
		*ret_point = point;
	return length;
}

size_t text_utf8_put(uint32_t point, char utf8[4])
{
	static const uint8_t head[] = {0, 0, 0xc0, 0xe0, 0xf0};
	size_t length;

	if (point > 0x10ffff || (point >= 0xd800 && point <= 0xdfff))
		point = 0xfffd;
	length = point < 0x80 ? 1 : point < 0x800 ? 2 : point < 0x10000 ? 3 : 4;
	if (length == 1) {
		utf8[0] = (char)point;
		return 1;
	}
	for (size_t i = length; i-- > 1; point >>= 6)
		utf8[i] = (char)(0x80 | (point & 0x3f));
	utf8[0] = (char)(head[length] | point);
	return length;
}

/* Unicode 16: control characters (Cc), separators of lines and paragraphs (Zl, Zp), annotations,
 * and DerivedCoreProperties.txt's Default_Ignorable_Code_Point, which has the marks of direction,
 * joiners, fillers, variation selectors and tags. In order. */
static const struct {
	uint32_t first, last;
} hidden[] = {
	{0, 0x1f},        {0x7f, 0x9f},       {0xad, 0xad},       {0x34f, 0x34f},     {0x61c, 0x61c},
	{0x115f, 0x1160}, {0x17b4, 0x17b5},   {0x180b, 0x180f},   {0x200b, 0x200f},   {0x2028, 0x202e},
	{0x2060, 0x206f}, {0x3164, 0x3164},   {0xfe00, 0xfe0f},   {0xfeff, 0xfeff},   {0xffa0, 0xffa0},
	{0xfff0, 0xfffb}, {0x1bca0, 0x1bca3}, {0x1d173, 0x1d17a}, {0xe0000, 0xe0fff},
};

bool text_is_hidden(uint32_t point)
{
	size_t i = 0;

	while (i < sizeof hidden / sizeof *hidden && point > hidden[i].last)
		i++;
	return i < sizeof hidden / sizeof *hidden && point >= hidden[i].first;
}

bool text_is_utf8(const void *data, size_t size)
{
	const uint8_t *bytes = data;

	for (size_t i = 0; i < size;) {
		size_t length = text_utf8_next(bytes + i, size - i, NULL);

		if (!length || (bytes[i] < 0x20 && bytes[i] != '\t' && bytes[i] != '\n') ||
			bytes[i] == 0x7f)
			return false;
		i += length;
	}
	return true;
}

const char *text_unquoted(char *room, size_t size, const char *path)
{
	static const struct {
		const char *quote, *shown;
	} quotes[] = {{"“", "\\u201c"}, {"”", "\\u201d"}, {"\"", "\\x22"}};
	size_t used = 0;

	while (*path) {
		size_t i = 0;

		while (i < sizeof quotes / sizeof *quotes && !text_starts(path, quotes[i].quote))
			i++;
		if (i < sizeof quotes / sizeof *quotes) {
			const size_t length = strlen(quotes[i].shown);

			if (used + length >= size)
				break;
			memcpy(room + used, quotes[i].shown, length);
			used += length;
			path += strlen(quotes[i].quote);
		} else {
			if (used + 1 >= size)
				break;
			room[used++] = *path++;
		}
	}
	room[used] = '\0';
	return room;
}

enum { LONGEST = 64 };

/* Edit distance (insert, delete, replace, swap of neighbours) without regard to capitals, one row
 * at a time. */
static size_t distance_of(const char *a, size_t a_length, const char *b, size_t b_length)
{
	size_t rows[3][LONGEST + 1];
	size_t *before = rows[0], *last = rows[1], *now = rows[2];

	for (size_t j = 0; j <= b_length; j++)
		before[j] = last[j] = j;
	for (size_t i = 1; i <= a_length; i++) {
		size_t *free_row = before;

		now[0] = i;
		for (size_t j = 1; j <= b_length; j++) {
			now[j] = smaller(smaller(last[j], now[j - 1]) + 1,
							 last[j - 1] + (size_t)(lower(a[i - 1]) != lower(b[j - 1])));
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
				now[j] = smaller(now[j], before[j - 2] + 1);
		}
		before = last;
		last = now;
		now = free_row;
	}
	return last[b_length];
}

struct suggest suggest_for(const char *typed, size_t length)
{
	/* Up to a quarter of the letters may differ, and always at least one. */
	return (struct suggest){
		.typed = typed, .length = length, .distance = length < 8 ? 1 : length / 4};
}

void suggest_offer(struct suggest *suggest, const char *candidate)
{
	size_t length = strlen(candidate), distance;

	if (suggest->length > LONGEST || length > LONGEST)
		return;
	/* The beginning of a name is a good match, no matter how much of it is missing. */
	if (!suggest->whole && suggest->length >= 3 && length > suggest->length &&
		!memcmp(candidate, suggest->typed, suggest->length))
		distance = 1;
	else
		distance = distance_of(suggest->typed, suggest->length, candidate, length);
	if (distance < suggest->distance || (!suggest->best && distance == suggest->distance)) {
		suggest->distance = distance;
		suggest->best = candidate;
	}
}
