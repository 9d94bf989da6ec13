#include "cli/parts/forecast_text.h"

#include "base/text.h"

void forecast_text_line(const struct output *out, const char *head,
						const struct jw_forecast *forecast, const char *end)
{
	char start[TEXT_SHORT], prime[TEXT_SHORT], cache[TEXT_SHORT];

	output_line(out, STYLE_PLAIN, "%sfirst start %s on one core, prime %s with %s, %s of cache%s",
				head, text_span(start, forecast->start.low, forecast->start.high),
				text_span(prime, forecast->prime.low, forecast->prime.high),
				TEXT_COUNT(forecast->workers, "worker", "workers"),
				text_bytes(cache, forecast->cache_bytes), end);
}

void forecast_text_doubt(const struct output *out, const struct jw_forecast *forecast)
{
	if (forecast->cache_bytes && !forecast->measured)
		output_line(
			out, STYLE_PLAIN,
			"The times are those of a usual machine: the compiler's speed was not measured.");
}
