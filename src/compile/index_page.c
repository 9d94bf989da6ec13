/* HTML is searched for <a href> within limits, and not parsed: a page of an index is a list of
 * links. A parser (libxml2's) would be the largest library of the program. */
#include "compile/index_page.h"

#include <ctype.h>
#include <curl/curl.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/json.h"
#include "base/text.h"

static const char blanks[] = " \t\r\n\f", hex_digits[] = "0123456789abcdefABCDEF";

struct html {
	const char *at, *end;
	const char *name; /* of the tag or attribute before `at` */
	size_t length;
	struct buf value; /* of the attribute, decoded */
	struct buf base, href;
	bool yanked;
	bool cut; /* a text of this tag is longer than INDEX_PAGE_MOST_TEXT */
};

/* Skips characters of `set`, or all others. */
static void skip(struct html *html, const char *set, bool inside)
{
	while (html->at < html->end && (*html->at && strchr(set, *html->at)) == inside)
		html->at++;
}

static bool is_element_named(const struct html *html, const char *name)
{
	return html->length == strlen(name) && curl_strnequal(html->name, name, html->length);
}

static void add_link_text(struct html *html, struct buf *buf, const char *text, size_t size)
{
	if (buf_append(NULL, buf, text, size))
		html->cut = true;
}

/* Decodes “&amp;”, “&#38;” or “&#x26;” at *at; 0 for anything else. An entity is never shorter than
 * its UTF-8. */
static size_t decode_entity(const char **at, char *to)
{
	static const struct {
		const char *text, means;
	} entities[] = {
		{"&amp;", '&'}, {"&lt;", '<'}, {"&gt;", '>'}, {"&quot;", '"'}, {"&apos;", '\''}};
	bool hex = text_starts_fold(*at, "&#x");
	const char *digits = *at + 2 + hex;
	unsigned long point;
	char *stop;

	for (size_t i = 0; i < sizeof entities / sizeof *entities; i++)
		if (text_starts(*at, entities[i].text)) {
			*at += strlen(entities[i].text);
			*to = entities[i].means;
			return 1;
		}
	if (!text_starts(*at, "&#") || !isxdigit((unsigned char)*digits))
		return 0;
	point = strtoul(digits, &stop, hex ? 16 : 10);
	if (stop == digits || *stop != ';')
		return 0;
	*at = stop + 1;
	return text_utf8_put(point && point <= 0x10ffff ? (uint32_t)point : 0xfffd, to);
}

static void take_attribute_value(struct html *html, const char *start, const char *end)
{
	struct buf *value = &html->value;
	const char *at;
	char *to;

	/* An address contains no NUL. */
	if (memchr(start, 0, (size_t)(end - start)))
		return;
	add_link_text(html, value, start, (size_t)(end - start));
	if (!value->size)
		return;
	for (at = to = (char *)value->data; *at;) {
		size_t length = decode_entity(&at, to);

		if (!length)
			*to = *at++;
		to += length ? length : 1;
	}
	*to = 0;
	value->size = (size_t)(to - (char *)value->data);
}

/* Reads the next attribute of the tag around `at`; false at the end of the tag. */
static bool next_attribute(struct html *html)
{
	const char *start, *close;

	skip(html, " \t\r\n\f/", true);
	if (html->at == html->end || *html->at == '>')
		return false;
	html->name = html->at++;
	skip(html, " \t\r\n\f/=>", false);
	html->length = (size_t)(html->at - html->name);
	buf_clear(&html->value);
	skip(html, blanks, true);
	if (html->at == html->end || *html->at != '=')
		return true;
	html->at++;
	skip(html, blanks, true);
	start = html->at;
	if (start < html->end && (*start == '"' || *start == '\'')) {
		close = memchr(start + 1, *start, (size_t)(html->end - start) - 1);
		html->at = close ? close + 1 : html->end;
		take_attribute_value(html, start + 1, close ? close : html->end);
	} else {
		skip(html, " \t\r\n\f>", false);
		take_attribute_value(html, start, html->at);
	}
	return true;
}

/* Moves behind the name of the next tag. */
static bool next_tag(struct html *html)
{
	while (html->at < html->end &&
		   (html->at = memchr(html->at, '<', (size_t)(html->end - html->at)))) {
		html->name = ++html->at;
		if (html->end - html->at >= 3 && !memcmp(html->at, "!--", 3)) {
			html->at += 3;
			while (html->end - html->at >= 3 && memcmp(html->at, "-->", 3) != 0)
				html->at++;
			continue;
		}
		while (html->at < html->end && (isalpha((unsigned char)*html->at) || *html->at == '!'))
			html->at++;
		if ((html->length = (size_t)(html->at - html->name)))
			return true;
	}
	return false;
}

/* For names of both kinds of page. */
static bool is_file_name(const char *name)
{
	return *name && strlen(name) <= INDEX_PAGE_MOST_TEXT && !strpbrk(name, "/\\\t\n") &&
		   text_is_utf8(name, strlen(name));
}

static bool is_sha256(const char *hex)
{
	return strlen(hex) == 64 && strspn(hex, hex_digits) == 64;
}

/* “…#sha256=HEX”, alone or among others; the fragment is cut behind it. */
static const char *find_sha256(char *fragment)
{
	char *at = strstr(fragment, "sha256=");

	if (!at || !strchr("#&", at[-1]))
		return NULL;
	at += strlen("sha256=");
	at[strcspn(at, "&")] = 0;
	return is_sha256(at) ? at : NULL;
}

static int take_link(struct jw_error *err, struct html *html, const struct index_reader *reader)
{
	char *href = (char *)html->href.data, *fragment, *name;
	size_t end = strcspn(buf_text(&html->href), "?#"), start = end;
	struct index_file file = {.base = buf_text(&html->base), .url = href, .yanked = html->yanked};
	int length, result = 0;

	while (start && href[start - 1] != '/')
		start--;
	if (start == end || html->cut)
		return 0;
	if (!(name = curl_easy_unescape(NULL, href + start, (int)(end - start), &length)))
		return error_set(err, JW_ERR_MEMORY, "out of memory");
	if ((fragment = strchr(href, '#'))) {
		file.sha256 = find_sha256(fragment);
		*fragment = 0;
	}
	file.name = name;
	if (strlen(name) == (size_t)length && is_file_name(name))
		result = reader->file(err, reader->context, &file);
	curl_free(name);
	return result;
}

static int read_tag(struct jw_error *err, struct html *html, const struct index_reader *reader)
{
	bool is_base = is_element_named(html, "base");
	struct buf *to = is_base ? &html->base : &html->href;

	if (!is_base && !is_element_named(html, "a"))
		return 0;
	html->yanked = html->cut = false;
	buf_clear(&html->href);
	while (next_attribute(html))
		if (is_element_named(html, "data-yanked"))
			html->yanked = true;
		else if (is_element_named(html, "href") && !to->size)
			add_link_text(html, to, buf_text(&html->value), html->value.size);
	return is_base ? 0 : take_link(err, html, reader);
}

int index_page_read_html(struct jw_error *err, const char *text, size_t size,
						 const struct index_reader *reader)
{
	struct html html = {.at = text,
						.end = size ? text + size : text,
						.value = BUF_MAX(INDEX_PAGE_MOST_TEXT),
						.base = BUF_MAX(INDEX_PAGE_MOST_TEXT),
						.href = BUF_MAX(INDEX_PAGE_MOST_TEXT)};
	bool any = false;
	int result = 0;

	while (!result && next_tag(&html)) {
		any = true;
		result = read_tag(err, &html, reader);
	}
	buf_free(&html.value);
	buf_free(&html.base);
	buf_free(&html.href);
	return any ? result : error_set(err, JW_ERR_FORMAT, "not HTML");
}

static int read_row(struct jw_error *err, const cJSON *row, const struct index_reader *reader)
{
	const cJSON *hashes = cJSON_GetObjectItemCaseSensitive(row, "hashes");
	const char *hash = json_text(hashes, "sha256", "");
	struct index_file file = {.name = json_text(row, "filename", ""),
							  .base = "",
							  .url = json_text(row, "url", ""),
							  .sha256 = is_sha256(hash) ? hash : NULL,
							  /* false, true or the reason */
							  .yanked =
								  json_bool(row, "yanked", false) || *json_text(row, "yanked", "")};

	if (!is_file_name(file.name) || !*file.url || strlen(file.url) > INDEX_PAGE_MOST_TEXT)
		return 0;
	return reader->file(err, reader->context, &file);
}

int index_page_read_json(struct jw_error *err, const char *text, size_t size,
						 const struct index_reader *reader)
{
	cJSON *document = json_parse(err, text, size);
	const cJSON *files = cJSON_GetObjectItemCaseSensitive(document, "files"), *row;
	const char *version =
		json_text(cJSON_GetObjectItemCaseSensitive(document, "meta"), "api-version", "");
	int result = 0;

	if (!document)
		return -1;
	if (!cJSON_IsArray(files) || !text_starts(version, "1."))
		result = error_set(err, JW_ERR_FORMAT, "not a project's page of API version 1 (PEP 691)");
	else
		cJSON_ArrayForEach(row, files) if ((result = read_row(err, row, reader))) break;
	cJSON_Delete(document);
	return result;
}
