/* The page that `report` writes: HTML that holds all that it shows, and asks for nothing else. It
 * is in English, like other files that are read elsewhere. */
#pragma once

#include <jitwarm/cache.h>
#include <jitwarm/check.h>
#include <jitwarm/system.h>

#include "cli/parts/html.h"

#include <cjson/cJSON.h>

struct report_data {
	const struct jw_system *system;
	int64_t time_s;
	const struct jw_check_result *packages; /* NULL: there is none, or no GPU to ask about: */
	const char *why_no_packages;
	const char *environment;                /* NULL: files were named */
	const struct jw_cache_listing *entries; /* NULL: none can be listed */
	const cJSON *timeline;                  /* jitwarm.timeline/1, hostile; NULL: none */
	const cJSON *runs; /* an array of jitwarm.run/1, the newest last, hostile; never NULL */
};

/* Appends the page; html->failed says whether that failed. */
void report_page_write(struct html_page *html, const struct report_data *data);

/* ---- between the files of a page */

/* report_runs.c: what earlier runs have left */
void report_runs_timeline(struct html_page *html, const cJSON *timeline);
void report_runs_history(struct html_page *html, const cJSON *runs);

/* report_cache.c */
void report_cache_write(struct html_page *html, const struct jw_cache_info *cache,
						const struct jw_cache_listing *entries);
