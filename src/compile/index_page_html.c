/* A bounded search for <a href>, and no HTML parser: an index' page is a list of links, and a page
 * that is anything else holds no wheel. A parser (libxml2's) would be the largest library here. */
#include <string.h>

#include "base/buf.h"
#include "base/text.h"
#include "compile/index_page.h"

static const char blanks[] = " \t\r\n\f";

struct html {
	const char *at, *end;
	struct buf name, value;      /* of an attribute, decoded */
	struct buf base, href, file; /* file: the name at the end of href */
	bool has_base, has_href, yanked;
	bool cut; /* something in this tag is longer than INDEX_PAGE_MOST_TEXT */
};

static bool is_one_of(char c, const char *set)
{
	return c && strchr(set, c);
}

static bool is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static void skip_blanks(struct html *html, const char *set)
{
	while (html->at < html->end && is_one_of(*html->at, set))
		html->at++;
}

static void add(struct html *html, struct buf *buf, const void *data, size_t size)
{
	if (buf_append(NULL, buf, data, size))
		html->cut = true;
}

/* ---- entities */

static const struct {
	const char *text, *means;
} entities[] = {{"&amp;", "&"},   {"&lt;", "<"},   {"&gt;", ">"},
				{"&quot;", "\""}, {"&apos;", "'"}, {"&#x2F;", "/"}};

/* “&#38;” or “&#x26;”: its length, 0 where it is none. */
static size_t number_entity(const char *at, const char *end, uint32_t *ret_point)
{
	const char *c = at + 2;
	uint32_t point = 0, radix = 10;

	if (end - at < 4 || at[1] != '#')
		return 0;
	if (is_one_of(*c, "xX")) {
		radix = 16;
		c++;
	}
	for (; c < end && c - at < 10 && *c != ';'; c++) {
		uint32_t digit = *c >= '0' && *c <= '9'                ? (uint32_t)(*c - '0')
						 : is_letter(*c) && (*c | 0x20) <= 'f' ? (uint32_t)((*c | 0x20) - 'a' + 10)
															   : radix;

		if (digit >= radix)
			return 0;
		point = point * radix + digit;
	}
	if (c == end || *c != ';' || !is_one_of(c[-1], "0123456789abcdefABCDEF"))
		return 0;
	*ret_point = point;
	return (size_t)(c - at) + 1;
}

static size_t decode_entity(struct html *html, const char *at, struct buf *to)
{
	uint32_t point;
	size_t length = number_entity(at, html->end, &point);
	char utf8[4];

	if (length) {
		add(html, to, utf8, text_utf8_put(point, utf8));
		return length;
	}
	for (size_t i = 0; i < sizeof entities / sizeof *entities; i++) {
		length = strlen(entities[i].text);
		if ((size_t)(html->end - at) >= length && !memcmp(at, entities[i].text, length)) {
			add(html, to, entities[i].means, 1);
			return length;
		}
	}
	add(html, to, at, 1);
	return 1;
}

static void decode(struct html *html, const char *at, const char *end)
{
	struct buf *to = &html->value;

	buf_clear(to);
	while (at < end) {
		const char *next = memchr(at, '&', (size_t)(end - at));

		if (next != at) {
			add(html, to, at, (size_t)((next ? next : end) - at));
			at = next ? next : end;
		} else {
			at += decode_entity(html, at, to);
		}
	}
}

/* ---- tags */

/* The next attribute of the tag that `at` is in; false at its end. */
static bool next_attribute(struct html *html)
{
	const char *start, *close;

	skip_blanks(html, " \t\r\n\f/");
	if (html->at == html->end || *html->at == '>')
		return false;
	start = html->at++;
	while (html->at < html->end && !is_one_of(*html->at, " \t\r\n\f/=>"))
		html->at++;
	buf_clear(&html->name);
	buf_clear(&html->value);
	add(html, &html->name, start, (size_t)(html->at - start));
	skip_blanks(html, blanks);
	if (html->at == html->end || *html->at != '=')
		return true;
	html->at++;
	skip_blanks(html, blanks);
	if (html->at < html->end && is_one_of(*html->at, "\"'")) {
		start = html->at + 1;
		close = memchr(start, *html->at, (size_t)(html->end - start));
		html->at = close ? close + 1 : html->end;
		decode(html, start, close ? close : html->end);
		return true;
	}
	start = html->at;
	while (html->at < html->end && !is_one_of(*html->at, " \t\r\n\f>"))
		html->at++;
	decode(html, start, html->at);
	return true;
}

static void keep_href(struct html *html, bool is_base)
{
	struct buf *to = is_base ? &html->base : &html->href;

	if (is_base ? html->has_base : html->has_href)
		return;
	*(is_base ? &html->has_base : &html->has_href) = true;
	buf_clear(to);
	/* What has a NUL in it is no address. */
	if (!memchr(buf_text(&html->value), 0, html->value.size))
		add(html, to, buf_text(&html->value), html->value.size);
}

static void read_attributes(struct html *html, bool is_base)
{
	while (next_attribute(html))
		if (text_equal_fold(buf_text(&html->name), "href"))
			keep_href(html, is_base);
		else if (text_equal_fold(buf_text(&html->name), "data-yanked"))
			html->yanked = true;
}

/* Whether there is another tag; its name is in `name`, and `at` behind it. */
static bool next_tag(struct html *html)
{
	const char *start;

	while (html->at < html->end &&
		   (start = memchr(html->at, '<', (size_t)(html->end - html->at)))) {
		html->at = start + 1;
		if (html->end - html->at >= 3 && !memcmp(html->at, "!--", 3)) {
			html->at += 3;
			while (html->end - html->at >= 3 && memcmp(html->at, "-->", 3) != 0)
				html->at++;
			continue;
		}
		while (html->at < html->end && (is_letter(*html->at) || *html->at == '!'))
			html->at++;
		if (html->at == start + 1)
			continue;
		buf_clear(&html->name);
		add(html, &html->name, start + 1, (size_t)(html->at - start) - 1);
		return true;
	}
	return false;
}

/* ---- files */

static int hex_digit(char c)
{
	return c >= '0' && c <= '9'                ? c - '0'
		   : is_letter(c) && (c | 0x20) <= 'f' ? (c | 0x20) - 'a' + 10
											   : -1;
}

/* The last part of the path, without its escapes; false where it cannot be a file's name. */
static bool name_file(struct html *html, const char *href)
{
	size_t end = strcspn(href, "?#"), at = end;
	struct buf *file = &html->file;

	while (at && href[at - 1] != '/')
		at--;
	buf_clear(file);
	for (; at < end; at++) {
		char c = href[at];

		if (c == '%' && hex_digit(href[at + 1]) >= 0 && hex_digit(href[at + 2]) >= 0) {
			c = (char)(hex_digit(href[at + 1]) << 4 | hex_digit(href[at + 2]));
			at += 2;
		}
		add(html, file, &c, 1);
	}
	return file->size && !strpbrk(buf_text(file), "/\\\t\n") &&
		   strlen(buf_text(file)) == file->size && text_is_utf8(file->data, file->size);
}

/* “…#sha256=HEX”, alone or among others. */
static const char *find_sha256(const char *fragment, char hex[65])
{
	const char *at = fragment ? strstr(fragment, "sha256=") : NULL;
	size_t length = 0;

	if (!at || !is_one_of(at[-1], "#&"))
		return NULL;
	for (at += strlen("sha256="); length < 64 && hex_digit(at[length]) >= 0; length++)
		hex[length] = (char)(is_letter(at[length]) ? at[length] | 0x20 : at[length]);
	hex[length] = 0;
	return length == 64 && hex_digit(at[64]) < 0 ? hex : NULL;
}

static int hand_over(struct jw_error *err, struct html *html, const struct index_reader *reader)
{
	char *href = html->href.size ? (char *)html->href.data : NULL, *fragment, hex[65];
	struct index_file file;

	if (!href || !name_file(html, href) || html->cut)
		return 0;
	fragment = strchr(href, '#');
	file = (struct index_file){.name = buf_text(&html->file),
							   .base = buf_text(&html->base),
							   .url = href,
							   .sha256 = find_sha256(fragment, hex),
							   .yanked = html->yanked};
	if (fragment)
		*fragment = 0;
	return reader->file(err, reader->context, &file);
}

static int read_tags(struct jw_error *err, struct html *html, const struct index_reader *reader)
{
	bool any = false;

	while (next_tag(html)) {
		bool is_base = text_equal_fold(buf_text(&html->name), "base");

		any = true;
		if (!is_base && !text_equal_fold(buf_text(&html->name), "a"))
			continue;
		html->has_href = html->yanked = html->cut = false;
		buf_clear(&html->href);
		read_attributes(html, is_base);
		if (!is_base && hand_over(err, html, reader))
			return -1;
	}
	return any ? 0 : error_set(err, JW_ERR_FORMAT, "not HTML");
}

int index_page_read_html(struct jw_error *err, const char *text, size_t size,
						 const struct index_reader *reader)
{
	struct html html = {.at = text,
						.end = size ? text + size : text,
						.name = BUF_MAX(INDEX_PAGE_MOST_TEXT),
						.value = BUF_MAX(INDEX_PAGE_MOST_TEXT),
						.base = BUF_MAX(INDEX_PAGE_MOST_TEXT),
						.href = BUF_MAX(INDEX_PAGE_MOST_TEXT),
						.file = BUF_MAX(INDEX_PAGE_MOST_TEXT)};
	int result = read_tags(err, &html, reader);

	buf_free(&html.name);
	buf_free(&html.value);
	buf_free(&html.base);
	buf_free(&html.href);
	buf_free(&html.file);
	return result;
}
