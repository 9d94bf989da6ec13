/* Writes HTML. Whatever comes from outside goes through html_text or html_attribute, which make it
 * harmless: `<`, `>`, `&` and quotes are escaped, and what html cannot hold or what would change
 * the direction of writing is shown as an escape (terminal.h). A failure (out of memory, the page's
 * limit) is remembered. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <cjson/cJSON.h>

#include <jitwarm/check.h>
#include <jitwarm/system.h>

#include "base/buf.h"

struct html_page {
	struct buf text;
	struct jw_error err;
	bool failed;
};

enum { HTML_MOST = 32 << 20 };
#define HTML_NEW ((struct html_page){.text = BUF_MAX(HTML_MOST)})

/* Markup of this program, as it is: no text from outside. */
void html_raw(struct html_page *html, const char *markup);
/* Markup with numbers: no %s of a text from outside. */
void html_rawf(struct html_page *html, const char *format, ...) JW_PRINTF(2, 3);
/* Text, between tags or inside a quoted attribute. */
void html_text(struct html_page *html, const char *text);
void html_textf(struct html_page *html, const char *format, ...) JW_PRINTF(2, 3);
/* <td class="CLASS">TEXT</td>; `class` is this program's. */
void html_cell(struct html_page *html, const char *class, const char *format, ...) JW_PRINTF(3, 4);
/* "2026-11-22 10:15" of this machine's clock; "?" of a time that is none. Returns `text`. */
#define HTML_DATE 32
const char *html_date(char text[HTML_DATE], int64_t time_s);
/* The heads of a table's columns, each behind a letter: "n" sets numbers, "h" does so and is hidden
 * on a phone; a space is none of these. NULL at the end. */
void html_heads(struct html_page *html, const char *const *titles);
void html_free(struct html_page *html);

/* The page that `report` writes: HTML that holds all that it shows, and asks for nothing else. It
 * is in English, like other files that are read elsewhere. */
struct report_data {
	const struct jw_system *system;
	int64_t time_s;
	const struct jw_check_result *packages; /* NULL: there is none, or no GPU to ask about: */
	const char *why_no_packages;
	const char *environment; /* NULL: files were named */
	const cJSON *runs;       /* an array of jitwarm.run/1, the newest last, hostile; never NULL */
};

/* Appends the page; html->failed says whether that failed. */
void report_page_write(struct html_page *html, const struct report_data *data);
