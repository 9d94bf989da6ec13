#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <jitwarm/version.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/text.h"
#include "cli/documents/documents.h"
#include "cli/parts/gpu_targets.h"
#include "cli/terminal.h"
#include "os/file.h"
#include "report_css.h"

/* Writes HTML. Whatever comes from outside goes through html_text or html_attribute, which make it
 * harmless: `<`, `>`, `&` and quotes are escaped, and what html cannot hold or what would change
 * the direction of writing is shown as an escape (terminal.h). A failure (out of memory, the page's
 * limit) is remembered. */
struct html_page {
	struct buf text;
	struct jw_error err;
	bool failed;
};

/* "2026-11-22 10:15" of this machine's clock; "?" of a time that is none. Returns `text`. */
#define HTML_DATE 32

enum { MOST_TEXT = 64 << 10 };

static void put_html(struct html_page *html, const char *text, size_t size)
{
	html->failed = html->failed || buf_append(&html->err, &html->text, text, size);
}

/* Markup of this program, as it is: no text from outside. */
static void html_raw(struct html_page *html, const char *markup)
{
	put_html(html, markup, strlen(markup));
}

/* Markup with numbers: no %s of a text from outside. */
JW_PRINTF(2, 3) static void html_rawf(struct html_page *html, const char *format, ...)
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

/* Text, between tags or inside a quoted attribute. */
static void html_text(struct html_page *html, const char *text)
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

JW_PRINTF(2, 0)
static void put_textf(struct html_page *html, const char *format, va_list arguments)
{
	char *text = mem_vprintf(&html->err, format, arguments);

	if (text)
		html_text(html, text);
	html->failed = html->failed || !text;
	mem_free(text);
}

JW_PRINTF(2, 3) static void html_textf(struct html_page *html, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	put_textf(html, format, arguments);
	va_end(arguments);
}

/* <td class="CLASS">TEXT</td>; `class` is this program's. */
JW_PRINTF(3, 4)
static void html_cell(struct html_page *html, const char *class, const char *format, ...)
{
	va_list arguments;

	html_rawf(html, *class ? "<td class=\"%s\">" : "<td>%s", class);
	va_start(arguments, format);
	put_textf(html, format, arguments);
	va_end(arguments);
	html_raw(html, "</td>\n");
}

static const char *html_date(char text[HTML_DATE], int64_t time_s)
{
	static const int64_t year_10000 = INT64_C(253402300800);
	const time_t seconds = (time_t)time_s;
	const struct tm *local = time_s >= 0 && time_s < year_10000 ? localtime(&seconds) : NULL;

	if (!local || !strftime(text, HTML_DATE, "%Y-%m-%d %H:%M", local))
		(void)snprintf(text, HTML_DATE, "?");
	return text;
}

/* The heads of a table's columns, each behind a letter: "n" sets numbers, "h" does so and is hidden
 * on a phone; a space is none of these. NULL at the end. */
static void html_heads(struct html_page *html, const char *const *titles)
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

/* ---- the machine */

static void write_gpu(struct html_page *html, const struct jw_gpu *gpu)
{
	char target[JW_TARGET_TEXT], memory[TEXT_SHORT];

	html_raw(html, "<div class=\"card\"><b>");
	html_text(html, gpu->name);
	html_raw(html, "</b>");
	html_text(html, jw_target_sm(target, gpu->target));
	if (gpu->memory_bytes)
		html_textf(html, ", %s", text_bytes(memory, gpu->memory_bytes));
	html_raw(html, "</div>\n");
}

static void write_machine(struct html_page *html, const struct jw_system *system)
{
	char driver[JW_DRIVER_TEXT];

	html_raw(html, "<h2 id=\"machine\">This machine</h2>\n<div class=\"cards\">\n");
	for (size_t i = 0; i < system->gpu_count; i++)
		write_gpu(html, &system->gpus[i]);
	if (!system->gpu_count) {
		html_raw(html, "<div class=\"card\"><b>No GPU</b>");
		html_text(html, system->why_none);
		html_raw(html, "</div>\n");
	}
	if (system->driver.library[0]) {
		html_raw(html, "<div class=\"card\"><b>Driver</b>");
		html_text(html, jw_driver_text(driver, &system->driver.version));
		html_raw(html, "</div>\n");
	}
	html_raw(html, "</div>\n");
}

/* ---- packages and GPUs */

enum { MOST_PACKAGES = 200 };

static void write_package_gpu(struct html_page *html, const struct jw_check_package_gpu *gpu)
{
	char time[TEXT_SHORT];

	if (gpu->cold)
		html_cell(html, "warn", "%s to compile, %s", TEXT_COUNT(gpu->cold, "module", "modules"),
				  text_span(time, gpu->forecast.start.low, gpu->forecast.start.high));
	else if (gpu->failing)
		html_cell(html, "bad", "will fail: no code that runs there");
	else if (gpu->warm)
		html_cell(html, "good", "warm, %s", TEXT_COUNT(gpu->warm, "module", "modules"));
	else
		html_cell(html, "", "runs as it is");
}

static void write_package(struct html_page *html, const struct jw_check_package *package)
{
	html_raw(html, "<tr>");
	html_cell(html, "", "%s%s%s", package->name ? package->name : "other files",
			  package->version ? " " : "", package->version ? package->version : "");
	for (size_t t = 0; t < package->gpu_count; t++)
		write_package_gpu(html, &package->gpus[t]);
	html_raw(html, "</tr>\n");
}

static void write_packages(struct html_page *html, const struct report_data *data)
{
	const struct jw_check_result *result = data->packages;
	char name[GPUS_NAME];

	html_raw(html, "<h2 id=\"packages\">Packages and GPUs</h2>\n");
	if (!result || !result->package_count) {
		html_raw(html, "<p>");
		html_text(html, result ? "No package with device code." : data->why_no_packages);
		html_raw(html, "</p>\n");
		return;
	}
	html_raw(html, "<p class=\"soft\">What the first start of each has the driver compile, one "
				   "module after the other on one core");
	if (data->environment)
		html_textf(html, " (%s)", data->environment);
	html_raw(html, ".</p>\n<div class=\"wide\"><table>\n<tr><th>package</th>");
	for (size_t t = 0; t < result->gpu_count; t++) {
		html_raw(html, "<th>");
		html_text(html, gpu_targets_name(name, result->gpus[t].target));
		html_raw(html, "</th>");
	}
	html_raw(html, "</tr>\n");
	for (size_t i = 0; i < result->package_count && i < MOST_PACKAGES; i++)
		write_package(html, &result->packages[i]);
	html_raw(html, "</table></div>\n");
	if (result->package_count > MOST_PACKAGES)
		html_rawf(html, "<p class=\"soft\">and %zu more</p>\n",
				  result->package_count - MOST_PACKAGES);
}

static void write_cache(struct html_page *html, const struct jw_cache_info *cache)
{
	char size[TEXT_SHORT], limit[TEXT_SHORT];

	html_raw(html, "<h2 id=\"cache\">The driver&rsquo;s cache</h2>\n<p>");
	if (cache->path)
		html_textf(html, "%s: %s, %s of %s%s", cache->path,
				   TEXT_COUNT(cache->outlook.entries, "entry", "entries"),
				   text_bytes(size, cache->outlook.bytes), text_bytes(limit, cache->limit_bytes),
				   cache->limit_set ? "" : " (the driver's default limit)");
	else
		html_text(html, "None: the driver does not cache.");
	html_raw(html, "</p>\n");
	for (size_t i = 0; i < cache->warning_count; i++) {
		html_raw(html, "<p>");
		html_text(html, cache->warnings[i]);
		html_raw(html, "</p>\n");
	}
}

/* ---- past runs: the log may hold anything */

enum { MOST_RUNS = 50 };

static bool is_run_line(const cJSON *run)
{
	return !strcmp(json_text(run, "schema", ""), "jitwarm.run/1");
}

/* A time that somebody may have written: nothing that is not one. */
static double seconds_of(const cJSON *run, const char *name)
{
	const double seconds = json_number(run, name, 0);

	return seconds > 0 && seconds < 1e9 ? seconds : 0;
}

static void write_run(struct html_page *html, const cJSON *run)
{
	char date[HTML_DATE], took[TEXT_SHORT], saved[TEXT_SHORT];

	html_raw(html, "<tr>");
	html_cell(html, "", "%s", html_date(date, (int64_t)json_count(run, "time_s")));
	html_cell(html, "n", "%llu", (unsigned long long)json_count(run, "compiled"));
	html_cell(html, "n hide", "%llu", (unsigned long long)json_count(run, "restored"));
	html_cell(html, "n", "%llu", (unsigned long long)json_count(run, "failed"));
	html_cell(html, "n", "%s", text_duration(took, seconds_of(run, "seconds")));
	html_cell(html, "n", "%s", text_duration(saved, seconds_of(run, "saved_seconds")));
	html_cell(html, "", "%.512s", json_text(run, "problem", ""));
	html_raw(html, "</tr>\n");
}

static void write_runs(struct html_page *html, const cJSON *runs)
{
	static const char *const heads[] = {" run",  "ncompiled", "hrestored", "nfailed",
										"ntook", "nsaved",    " ",         NULL};
	const int count = cJSON_GetArraySize(runs);
	double saved_s = 0;
	char text[TEXT_SHORT];
	size_t known = 0;

	for (int i = 0; i < count; i++) {
		known += is_run_line(cJSON_GetArrayItem(runs, i));
		saved_s += is_run_line(cJSON_GetArrayItem(runs, i))
					   ? seconds_of(cJSON_GetArrayItem(runs, i), "saved_seconds")
					   : 0;
	}
	html_raw(html, "<h2 id=\"runs\">Runs</h2>\n");
	if (!known) {
		html_raw(html, "<p>None is remembered.</p>\n");
		return;
	}
	html_raw(html, "<p class=\"soft\">");
	html_textf(html,
			   "%s saved first starts %s of one core's time. Restored modules were compiled "
			   "by an earlier run, another machine or an older driver.",
			   TEXT_COUNT(known, "run", "runs"), text_duration(text, saved_s));
	html_raw(html, "</p>\n");
	html_heads(html, heads);
	for (int i = count, shown = 0; i-- > 0 && shown < MOST_RUNS;)
		if (is_run_line(cJSON_GetArrayItem(runs, i))) {
			write_run(html, cJSON_GetArrayItem(runs, i));
			shown++;
		}
	html_raw(html, "</table></div>\n");
}

/* ---- the whole */

static void write_head(struct html_page *html, const struct report_data *data)
{
	char date[HTML_DATE];

	html_raw(html, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
				   "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
				   "style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'\">\n"
				   "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
				   "<meta name=\"referrer\" content=\"no-referrer\">\n"
				   "<title>jitwarm report</title>\n<style>\n");
	html_raw(html, report_css);
	html_raw(html, "</style>\n</head>\n<body>\n<main>\n<h1>jitwarm report</h1>\n"
				   "<p class=\"soft\">");
	html_textf(html, "%s, jitwarm %s", html_date(date, data->time_s), jw_version());
	html_raw(html, "</p>\n");
}

int report_page_write(struct jw_error *err, struct buf *ret_html, const struct report_data *data)
{
	struct html_page html = {.text = BUF_MAX(REPORT_MOST)};

	write_head(&html, data);
	write_machine(&html, data->system);
	write_packages(&html, data);
	write_cache(&html, &data->system->cache);
	write_runs(&html, data->runs);
	html_raw(&html, "</main>\n</body>\n</html>\n");
	*ret_html = html.text;
	return html.failed ? error_copy(err, &html.err) : 0;
}
