#include "cli/document.h"

#include <jitwarm/verdict.h>

int document_print(struct output *out, const struct json_table *document, const void *values)
{
	cJSON *made;

	if (!out->json)
		return 0;
	made = json_object(document, values);
	output_json(out, made);
	cJSON_Delete(made);
	return 0;
}

const char *document_sm(char room[JSON_ROOM], const void *target)
{
	const struct jw_target *given = target;

	return given->sm ? jw_target_sm(room, *given) : "";
}

const char *document_driver(char room[JSON_ROOM], const void *driver)
{
	_Static_assert(JW_DRIVER_TEXT <= JSON_ROOM, "a driver's text");
	return jw_driver_text(room, driver);
}

const char *document_needs(char room[JSON_ROOM], const void *driver)
{
	const struct jw_driver *needs = driver;

	return needs->cuda ? jw_driver_text(room, needs) : "";
}

const char *document_verdict(char room[JSON_ROOM], const void *verdict)
{
	(void)room;
	return jw_verdict_name(*(const enum jw_verdict *)verdict);
}

const char *document_runs(char room[JSON_ROOM], const void *runs)
{
	(void)room;
	return jw_runs_name(*(const enum jw_runs *)runs);
}

static const struct json_field fate_fields[] = {
	JSON(struct jw_fate, reason, "a line on the first file with which a program fails",
		 .presence = JSON_IF_SET),
	JSON(struct jw_fate, part,
		 "a line on the first file with a part that fails when a program uses it",
		 .presence = JSON_IF_SET),
	JSON_FORMATTED("needs", struct jw_fate, needs, document_needs,
				   "the first driver with which the files do not fail: `550.54.14 (CUDA 12.4)`; "
				   "absent if no newer driver helps",
				   .presence = JSON_IF_SET),
	{0},
};
const struct json_table document_fate = {.fields = fate_fields, .size = sizeof(struct jw_fate)};

double document_seconds(const void *ns)
{
	return (double)*(const uint64_t *)ns / 1e9;
}

double document_whole_seconds(const void *ns)
{
	const int64_t seconds = *(const int64_t *)ns / 1000000000;

	return (double)seconds;
}

static const char *const code_names[] = {
	[JW_OK] = "ok",
	[JW_ERR_USAGE] = "usage",
	[JW_ERR_NOT_FOUND] = "not_found",
	[JW_ERR_IO] = "io",
	[JW_ERR_FORMAT] = "format",
	[JW_ERR_LIMIT] = "limit",
	[JW_ERR_UNSUPPORTED] = "unsupported",
	[JW_ERR_DRIVER] = "driver",
	[JW_ERR_BUSY] = "busy",
	[JW_ERR_INTERRUPTED] = "interrupted",
	[JW_ERR_INTERRUPTED + 1] = NULL,
};

static const struct json_field error_fields[] = {
	JSON_AS("error", struct jw_error, message, "the message of standard error, one line"),
	JSON(struct jw_error, code, "the kind of failure", .names = code_names),
	{0},
};
const struct json_table document_error = {
	.schema = "jitwarm.error/1",
	.text = "Instead of any other document where a command fails.",
	.fields = error_fields,
};

static const struct json_field text_fields[] = {
	JSON(struct text_document, text, "what the command prints without `--json`"),
	{0},
};
const struct json_table document_text = {
	.schema = "jitwarm.text/1",
	.text = "Of `help` and `completion`.",
	.fields = text_fields,
};

static const struct json_field span_fields[] = {
	JSON(struct jw_seconds, low, "the lower bound in seconds; in 5 % of cases it takes less time"),
	JSON(struct jw_seconds, likely, "the most likely time in seconds"),
	JSON(struct jw_seconds, high, "the upper bound in seconds; in 5 % of cases it takes more time"),
	{0},
};
const struct json_table document_span = {.fields = span_fields, .size = sizeof(struct jw_seconds)};

const char *document_loading(char room[JSON_ROOM], const void *loading)
{
	(void)room;
	return jw_loading_name(*(const enum jw_loading *)loading);
}

#define FORECAST(member, ...) JSON(struct jw_forecast, member, __VA_ARGS__)

static const struct json_field forecast_fields[] = {
	JSON_OBJECT_OF(
		"start_seconds", struct jw_forecast, start, &document_span,
		"the first start of programs, in which the driver compiles one module after the other, "
		"on one core; for several other machines, the longest start"),
	JSON_FORMATTED(
		"loading", struct jw_forecast, loading, document_loading,
		"when a program compiles the modules: `eager` (all at its start), `lazy` (each at its "
		"first use) or `mixed`; absent without modules",
		.presence = JSON_IF_SET),
	FORECAST(longest_seconds, "the time that the longest module takes"),
	JSON_OBJECT_OF("prime_seconds", struct jw_forecast, prime, &document_span,
				   "wall time of `prime` with these workers"),
	FORECAST(workers, "processes that compile at the same time"),
	FORECAST(cache_bytes, "by how many bytes the driver's cache grows"),
	JSON_OBJECT_OF("link_seconds", struct jw_forecast, link, &document_span,
				   "run-time linking, which every start repeats, also a warm one; not in "
				   "`start_seconds`"),
	FORECAST(measured,
			 "false: the compiler's speed on that machine is unknown, and the times are those of a "
			 "typical machine"),
	{0},
};
const struct json_table document_forecast = {.fields = forecast_fields,
											 .size = sizeof(struct jw_forecast)};

#define OUTLOOK(member, ...) JSON(struct jw_cache_outlook, member, __VA_ARGS__)

static const struct json_field outlook_fields[] = {
	OUTLOOK(index, OUTLOOK_INDEX),
	OUTLOOK(next_insert, OUTLOOK_NEXT),
	OUTLOOK(harmful, "`prime` or `cache verify --repair` is needed before the next start"),
	OUTLOOK(evicted, OUTLOOK_EVICTED),
	OUTLOOK(evicted_bytes, "the size of the entries that are evicted"),
	OUTLOOK(text, "the state of the cache, in one line", .presence = JSON_IF_SET),
	{0},
};
const struct json_table document_outlook = {.fields = outlook_fields,
											.size = sizeof(struct jw_cache_outlook)};
