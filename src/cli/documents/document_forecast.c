#include "cli/documents/documents.h"

static const struct json_field span_fields[] = {
	JSON(struct jw_seconds, low, "it takes less in one case of twenty"),
	JSON(struct jw_seconds, likely, NULL),
	JSON(struct jw_seconds, high, "it takes more in one case of twenty"),
	{0},
};
const struct json_table document_span = {.fields = span_fields, .size = sizeof(struct jw_seconds)};

#define FORECAST(member, ...) JSON(struct jw_forecast, member, __VA_ARGS__)

static const struct json_field forecast_fields[] = {
	JSON_OBJECT_OF("start_seconds", struct jw_forecast, start, &document_span,
				   "the first start of programs: their driver compiles one module after the other, "
				   "on one core"),
	FORECAST(longest_seconds, "of the longest module"),
	JSON_OBJECT_OF("prime_seconds", struct jw_forecast, prime, &document_span,
				   "wall time of `prime` with these workers"),
	FORECAST(workers, "processes that compile at the same time"),
	FORECAST(cache_bytes, "growth of the driver's cache"),
	JSON_OBJECT_OF("link_seconds", struct jw_forecast, link, &document_span,
				   "run-time linking, which every start repeats, also a warm one; not in "
				   "`start_seconds`"),
	FORECAST(measured,
			 "false: how fast the compiler is on that machine is not known, and the times "
			 "are those of a usual one"),
	{0},
};
const struct json_table document_forecast = {.fields = forecast_fields,
											 .size = sizeof(struct jw_forecast)};
