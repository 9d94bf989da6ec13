/* The timeline of the last run, and the history of runs. Both files may hold anything. */
#include <string.h>

#include "base/json.h"
#include "base/text.h"
#include "cli/parts/report_page.h"

enum { MOST_LANES = 128, MOST_SLICES = 10000, MOST_RUNS = 50 };

/* ---- the timeline */

struct span_of_slice {
	unsigned lane;
	double from_s, took_s;
};

/* False for one that cannot be drawn. */
static bool read_slice(const cJSON *slice, struct span_of_slice *ret_span)
{
	const double lane = json_number(slice, "worker", -1);

	ret_span->from_s = json_number(slice, "from_s", -1);
	ret_span->took_s = json_number(slice, "took_s", -1);
	ret_span->lane = lane >= 0 && lane < MOST_LANES ? (unsigned)lane : MOST_LANES;
	return ret_span->lane < MOST_LANES && ret_span->from_s >= 0 && ret_span->took_s >= 0 &&
		   ret_span->from_s + ret_span->took_s < 1e9;
}

struct timeline_shape {
	unsigned lanes;
	double whole_s;
	size_t modules;
};

static struct timeline_shape shape_of(const cJSON *slices)
{
	struct timeline_shape shape = {0};
	const cJSON *slice;
	size_t count = 0;

	cJSON_ArrayForEach(slice, slices)
	{
		struct span_of_slice span;

		if (count++ >= MOST_SLICES)
			break;
		if (!read_slice(slice, &span))
			continue;
		shape.modules += strcmp(json_text(slice, "what", ""), "start") != 0;
		if (span.lane >= shape.lanes)
			shape.lanes = span.lane + 1;
		if (span.from_s + span.took_s > shape.whole_s)
			shape.whole_s = span.from_s + span.took_s;
	}
	return shape;
}

static void write_percent(struct html_page *html, const char *property, double part)
{
	const unsigned hundredths = (unsigned)(part * 10000 + 0.5);

	html_rawf(html, "%s:%u.%02u%%;", property, hundredths / 100, hundredths % 100);
}

static void write_slice(struct html_page *html, const cJSON *slice,
						const struct span_of_slice *span, double whole_s)
{
	const char *what = json_text(slice, "what", ""), *name = json_text(slice, "name", "");
	char time[TEXT_SHORT];

	html_raw(html, !strcmp(what, "start")    ? "<i class=\"start\""
				   : !strcmp(what, "failed") ? "<i class=\"failed\""
											 : "<i");
	html_raw(html, " style=\"");
	write_percent(html, "left", span->from_s / whole_s);
	write_percent(html, "width", span->took_s / whole_s);
	html_raw(html, "\" title=\"");
	html_textf(html, "%.120s, %s", *name ? name : "starting the driver",
			   text_duration(time, span->took_s));
	html_raw(html, "\"></i>");
}

static void write_lane(struct html_page *html, const cJSON *slices, unsigned lane, double whole_s)
{
	const cJSON *slice;
	size_t count = 0;

	html_rawf(html, "<div class=\"lane\"><span>%u</span><div class=\"track\">", lane + 1);
	cJSON_ArrayForEach(slice, slices)
	{
		struct span_of_slice span;

		if (count++ >= MOST_SLICES)
			break;
		if (read_slice(slice, &span) && span.lane == lane)
			write_slice(html, slice, &span, whole_s);
	}
	html_raw(html, "</div></div>\n");
}

void report_runs_timeline(struct html_page *html, const cJSON *timeline)
{
	const cJSON *slices = cJSON_GetObjectItemCaseSensitive(timeline, "slices");
	const struct timeline_shape shape = shape_of(slices);
	char date[HTML_DATE], time[TEXT_SHORT];

	html_raw(html, "<h2 id=\"prime\">The last prime</h2>\n");
	if (!shape.lanes || shape.whole_s <= 0) {
		html_raw(html, "<p>No run has compiled anything for this account yet: “jitwarm prime” "
					   "does.</p>\n");
		return;
	}
	html_raw(html, "<p class=\"soft\">");
	html_textf(html, "%s: %s by %s in %s", html_date(date, (int64_t)json_count(timeline, "time_s")),
			   TEXT_COUNT(shape.modules, "module", "modules"),
			   TEXT_COUNT(shape.lanes, "worker", "workers"), text_duration(time, shape.whole_s));
	html_raw(html, "</p>\n");
	for (unsigned lane = 0; lane < shape.lanes; lane++)
		write_lane(html, slices, lane, shape.whole_s);
	html_raw(html, "<div class=\"ends\"><span>0</span><span>");
	html_text(html, time);
	html_raw(html, "</span></div>\n<p class=\"soft\"><span class=\"key start\"></span> its driver "
				   "starts <span class=\"key\"></span> compiles a module <span class=\"key "
				   "failed\"></span> a module that failed</p>\n");
}

/* ---- the history */

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

void report_runs_history(struct html_page *html, const cJSON *runs)
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
