#include "cli/module_text.h"

#include "base/text.h"
#include "cli/next_step.h"

const char *module_text_all(char text[TEXT_SHORT], size_t count)
{
	(void)text_format(text, TEXT_SHORT, count == 1 ? "the only module" : "all %zu modules", count);
	return text;
}

const char *module_text_link(char text[MODULE_TEXT], const char *head, size_t link,
							 const struct jw_forecast *forecast, const char *end)
{
	char time[TEXT_SHORT];

	/* A shorter time is not worth a line. */
	if (forecast->link.high < 0.1)
		return NULL;
	(void)text_span(time, forecast->link.low, forecast->link.high);
	if (link)
		(void)text_format(text, MODULE_TEXT,
						  *end ? "%sThe driver links %zu of them at every start (%s)%s"
							   : "%sthe driver links %zu of them at every start (%s)%s",
						  head, link, time, end);
	else
		(void)text_format(text, MODULE_TEXT,
						  *end ? "%sThe driver links code at every start (%s)%s"
							   : "%sthe driver links code at every start (%s)%s",
						  head, time, end);
	return text;
}

void plan_notes_print(const struct output *out, const struct options *options, char *const *notes,
					  size_t count, size_t assumptions)
{
	static const char *const kept[] = {"target",    "driver", "environment", "cache",
									   "recording", "all",    NULL};
	struct buf line = BUF_MAX(NEXT_STEP_MAX);

	buf_add(&line, "jitwarm check --json");
	next_step_keep(&line, options, kept);
	next_step_names(&line, options);
	for (size_t i = 0; i < count - assumptions; i++)
		output_note(out, "%s", notes[i]);
	if (assumptions && !line.overflowed)
		output_note(
			out,
			"the answer leaves out some PTX, or assumes how programs load it: “%s” lists this PTX",
			buf_text(&line));
	buf_free(&line);
}

void module_text_warn_evicted(const struct output *out, size_t entries)
{
	if (entries)
		output_warning(out,
					   "%s for this driver evicted: the next start compiles the modules again; "
					   "raise the limit with “jitwarm tune --apply”, or prime fewer packages",
					   TEXT_COUNT(entries, "entry", "entries"));
}

const char *forecast_text(char text[MODULE_TEXT], const char *head,
						  const struct jw_forecast *forecast, const char *end)
{
	char start[TEXT_SHORT], prime[TEXT_SHORT], cache[TEXT_SHORT];

	/* Everything comes from the store. */
	if (!forecast->workers)
		(void)text_format(text, MODULE_TEXT,
						  "%sfirst start %s on one core, prime %s, %s of cache%s", head,
						  text_span(start, forecast->start.low, forecast->start.high),
						  text_span(prime, forecast->prime.low, forecast->prime.high),
						  text_bytes(cache, forecast->cache_bytes), end);
	else
		(void)text_format(text, MODULE_TEXT,
						  "%sfirst start %s on one core, prime %s with %s, %s of cache%s", head,
						  text_span(start, forecast->start.low, forecast->start.high),
						  text_span(prime, forecast->prime.low, forecast->prime.high),
						  TEXT_COUNT(forecast->workers, "worker", "workers"),
						  text_bytes(cache, forecast->cache_bytes), end);
	return text;
}

const char *forecast_doubt(const struct jw_forecast *forecast)
{
	return forecast->cache_bytes && !forecast->measured ? "Times assume a typical machine." : NULL;
}
