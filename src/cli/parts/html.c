#include "cli/parts/html.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/mem.h"
#include "cli/terminal.h"

enum { MOST_TEXT = 64 << 10 };

static void put_html(struct html_page *html, const char *text, size_t size)
{
	html->failed = html->failed || buf_append(&html->err, &html->text, text, size);
}

void html_raw(struct html_page *html, const char *markup)
{
	put_html(html, markup, strlen(markup));
}

void html_rawf(struct html_page *html, const char *format, ...)
{
	char *markup;
	va_list arguments;

	va_start(arguments, format);
	markup = mem_vprintf(&html->err, format, arguments);
	va_end(arguments);
	if (markup)
		html_raw(html, markup);
	html->failed = html->failed || !markup;
	mem_free(markup);
}

static const char *escaped(char c)
{
	switch (c) {
	case '<': return "&lt;";
	case '>': return "&gt;";
	case '&': return "&amp;";
	case '"': return "&quot;";
	case '\'': return "&#39;";
	default: return NULL;
	}
}

void html_text(struct html_page *html, const char *text)
{
	struct buf clean = BUF_MAX(MOST_TEXT);
	const char *at, *end;

	/* A text that is too long ends where it became too long. */
	if (terminal_append(&html->err, &clean, text) && html->err.code != JW_ERR_LIMIT)
		html->failed = true;
	at = buf_text(&clean);
	for (end = at; *end; end++) {
		const char *instead = escaped(*end);

		if (!instead)
			continue;
		put_html(html, at, (size_t)(end - at));
		html_raw(html, instead);
		at = end + 1;
	}
	put_html(html, at, (size_t)(end - at));
	buf_free(&clean);
}

static void put_textf(struct html_page *html, const char *format, va_list arguments)
	JW_PRINTF(2, 0);
static void put_textf(struct html_page *html, const char *format, va_list arguments)
{
	char *text = mem_vprintf(&html->err, format, arguments);

	if (text)
		html_text(html, text);
	html->failed = html->failed || !text;
	mem_free(text);
}

void html_textf(struct html_page *html, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	put_textf(html, format, arguments);
	va_end(arguments);
}

void html_cell(struct html_page *html, const char *class, const char *format, ...)
{
	va_list arguments;

	html_rawf(html, *class ? "<td class=\"%s\">" : "<td>%s", class);
	va_start(arguments, format);
	put_textf(html, format, arguments);
	va_end(arguments);
	html_raw(html, "</td>\n");
}

const char *html_date(char text[HTML_DATE], int64_t time_s)
{
	static const int64_t year_10000 = INT64_C(253402300800);
	const time_t seconds = (time_t)time_s;
	const struct tm *local = time_s >= 0 && time_s < year_10000 ? localtime(&seconds) : NULL;

	if (!local || !strftime(text, HTML_DATE, "%Y-%m-%d %H:%M", local))
		(void)snprintf(text, HTML_DATE, "?");
	return text;
}

void html_heads(struct html_page *html, const char *const *titles)
{
	html_raw(html, "<div class=\"wide\"><table>\n<tr>");
	for (; *titles; titles++) {
		html_raw(html, **titles == 'n'   ? "<th class=\"n\">"
					   : **titles == 'h' ? "<th class=\"n hide\">"
					   : **titles == 'b' ? "<th class=\"hide\">"
										 : "<th>");
		html_text(html, *titles + 1);
		html_raw(html, "</th>");
	}
	html_raw(html, "</tr>\n");
}

void html_bar(struct html_page *html, double part)
{
	const double share = part >= 0 && part <= 1 ? part : part > 1 ? 1 : 0;
	/* No decimal sign of any language */
	const unsigned tenths = (unsigned)(share * 1000 + 0.5);

	html_rawf(html, "<td class=\"bar hide\"><i style=\"width:%u.%u%%\"></i></td>\n", tenths / 10,
			  tenths % 10);
}

void html_free(struct html_page *html)
{
	buf_free(&html->text);
}
