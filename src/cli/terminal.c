#include "cli/terminal.h"

#include <ctype.h>
#include <stdint.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "os/console.h"
#include "os/env.h"

struct code_range {
	uint32_t first, last;
};

/* The blocks of East Asian Wide and Fullwidth characters (Unicode 15, EastAsianWidth.txt, joined to
 * blocks), and emoji. */
static const struct code_range wide[] = {
	{0x1100, 0x115f},   {0x2e80, 0x303e},   {0x3041, 0x33ff},   {0x3400, 0x4dbf},
	{0x4e00, 0x9fff},   {0xa000, 0xa4cf},   {0xa960, 0xa97f},   {0xac00, 0xd7a3},
	{0xf900, 0xfaff},   {0xfe30, 0xfe6f},   {0xff00, 0xff60},   {0xffe0, 0xffe6},
	{0x1f300, 0x1f64f}, {0x1f680, 0x1f6ff}, {0x1f900, 0x1f9ff}, {0x20000, 0x3fffd},
};

/* The blocks of combining marks. */
static const struct code_range combining[] = {
	{0x300, 0x36f},   {0x483, 0x489},   {0x591, 0x5bd},   {0x610, 0x61a},
	{0x64b, 0x65f},   {0x1160, 0x11ff}, {0x1ab0, 0x1aff}, {0x1dc0, 0x1dff},
	{0x20d0, 0x20ff}, {0x302a, 0x302f}, {0x3099, 0x309a}, {0xfe20, 0xfe2f},
};

static bool within(const struct code_range *ranges, size_t count, uint32_t point)
{
	for (size_t i = 0; i < count; i++)
		if (point >= ranges[i].first && point <= ranges[i].last)
			return true;
	return false;
}

#define WITHIN(ranges, point) within(ranges, sizeof(ranges) / sizeof *(ranges), point)

static size_t point_width(uint32_t point)
{
	if (point < 0x300)
		return 1;
	if (WITHIN(combining, point))
		return 0;
	return WITHIN(wide, point) ? 2 : 1;
}

bool terminal_rewrites(int fd)
{
	char *term = os_env("TERM");
	const bool dumb = term && !strcmp(term, "dumb");

	mem_free(term);
	return os_is_terminal(fd) && !dumb;
}

const char *terminal_ascii(uint32_t point)
{
	switch (point) {
	case 0x201c:
	case 0x201d: return "\"";
	case 0x2013: return "-";
	case 0x2026: return "...";
	case 0x00b7: return "-";
	case 0x2192: return "->";
	case 0x00d7: return "x";
	case 0x00bd: return "1/2";
	default: return NULL;
	}
}

/* Returns the printed width, also before terminal_to_locale. */
static size_t width_of(const char *text, size_t size)
{
	const bool utf8 = os_prints_utf8();
	size_t width = 0;

	for (size_t at = 0; at < size;) {
		uint32_t point = 0;
		const size_t length = text_utf8_next(text + at, size - at, &point);
		const char *sign = utf8 || !length ? NULL : terminal_ascii(point);

		width += sign ? strlen(sign) : length ? point_width(point) : 1;
		at += length ? length : 1;
	}
	return width;
}

size_t terminal_width(const char *text)
{
	return width_of(text, strlen(text));
}

void terminal_append(struct buf *buf, const char *text)
{
	const size_t size = strlen(text);

	for (size_t at = 0; at < size;) {
		uint32_t point = 0;
		const size_t length = text_utf8_next(text + at, size - at, &point);

		if (!length)
			buf_add(buf, "\\x%02x", (unsigned)(uint8_t)text[at]);
		else if (!text_is_hidden(point))
			(void)buf_append(NULL, buf, text + at, length);
		else
			buf_add(buf,
					point < 0x80      ? "\\x%02x"
					: point < 0x10000 ? "\\u%04x"
									  : "\\U%08x",
					(unsigned)point);
		at += length ? length : 1;
	}
}

void terminal_to_locale(struct buf *buf)
{
	struct buf ascii = BUF_MAX(buf->most);
	const char *text = buf_text(buf);

	if (os_prints_utf8())
		return;
	for (size_t at = 0; at < buf->size;) {
		uint32_t point = 0;
		const size_t length = text_utf8_next(text + at, buf->size - at, &point),
					 step = length ? length : 1;
		const char *sign = terminal_ascii(length ? point : 0);

		if (buf_append(NULL, &ascii, sign ? sign : text + at, sign ? strlen(sign) : step)) {
			buf_free(&ascii);
			return;
		}
		at += step;
	}
	buf_free(buf);
	*buf = ascii;
}

/* Returns whether the blank at `at` stands between a number and its unit, as in “27 s” and
 * “10.1 MiB”. */
static bool is_before_unit(const char *text, size_t at)
{
	static const char *const units[] = {"s", "ms", "min", "h", "B", "KiB", "MiB", "GiB", "GB", "%"};

	if (!at || text[at] != ' ' || text[at - 1] < '0' || text[at - 1] > '9')
		return false;
	for (size_t i = 0; i < sizeof units / sizeof *units; i++)
		if (text_starts(text + at + 1, units[i]) &&
			!isalnum((unsigned char)text[at + 1 + strlen(units[i])]))
			return true;
	return false;
}

/* Returns the bytes of the word at `text`. Words in quotes are one word, because each command in a
 * message stands in quotes (scripts/make-catalogue.py), and is copied in one piece. */
static size_t word_length(const char *text)
{
	static const char opening[] = "“", closing[] = "”";
	size_t length = 0;

	while (text[length] && (!strchr(" \n", text[length]) || is_before_unit(text, length))) {
		const char *at = text + length,
				   *close = text_starts(at, opening) ? strstr(at, closing) : NULL;

		length += close ? (size_t)(close - at) + strlen(closing) : 1;
	}
	return length;
}

static void break_line(struct buf *buf, size_t indent)
{
	buf_add(buf, "\n%*s", (int)indent, "");
}

void terminal_wrap(struct buf *buf, const char *text, size_t indent, size_t columns)
{
	size_t column = indent;

	while (*text) {
		size_t length = word_length(text), width = width_of(text, length);

		if (column > indent && column + 1 + width > columns) {
			break_line(buf, indent);
			column = indent;
		} else if (column > indent && length) {
			(void)buf_append(NULL, buf, " ", 1);
			column++;
		}
		(void)buf_append(NULL, buf, text, length);
		column += width;
		text += length;
		if (*text == '\n') {
			break_line(buf, text[1] == '\n' ? 0 : indent);
			column = indent;
		}
		text += *text != 0;
	}
}

/* Returns the column where the text after a label begins: two or more blanks end a label. A line
 * without a label gets two columns more than its own indentation. */
static size_t hanging_indent(const char *line, size_t columns)
{
	enum { WIDEST_LABEL = 24 };
	const size_t begin = strspn(line, " ");
	const char *gap = strstr(line + begin, "  ");
	const size_t label = gap ? width_of(line, (size_t)(gap - line) + strspn(gap, " ")) : 0;

	return label && label <= WIDEST_LABEL && label <= columns / 2 ? label
		   : begin + 2 <= columns / 2                             ? begin + 2
																  : 0;
}

void terminal_fold(struct buf *buf, const char *line, size_t command, size_t taken, size_t columns)
{
	const size_t indent = hanging_indent(line, columns);
	const char *const begin = line;
	size_t column = taken;

	for (size_t words = 0; *line; words++) {
		const size_t gap = strspn(line, " ");
		const bool is_command = command && line + gap >= begin + command;
		const size_t length = is_command ? strlen(line + gap) : word_length(line + gap),
					 width = width_of(line + gap, length);
		const bool helps = is_command ? words > 1 : (words || taken) && column + gap > indent;

		if (helps && column + gap + width > columns) {
			if (length) {
				break_line(buf, indent);
				(void)buf_append(NULL, buf, line + gap, length);
			}
			column = indent + width;
		} else {
			(void)buf_append(NULL, buf, line, gap + length);
			column += gap + width;
		}
		line += gap + length;
	}
}
