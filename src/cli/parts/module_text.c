#include "cli/parts/module_text.h"

#include <stdio.h>

void module_text_marks(const struct output *out, const char *head, const char *what, size_t carried,
					   const char *end)
{
	if (carried)
		output_line(out, STYLE_PLAIN,
					"%s%zu of %s %s carried over from older drivers: “jitwarm prime "
					"--recompile-carried” replaces %s%s",
					head, carried, what, carried == 1 ? "was" : "were",
					carried == 1 ? "it" : "them", end);
}

const char *module_text_all(char text[TEXT_SHORT], size_t count)
{
	(void)snprintf(text, TEXT_SHORT, count == 1 ? "the only module" : "all %zu modules", count);
	return text;
}

void module_text_link(const struct output *out, const char *head, size_t link,
					  const struct jw_forecast *forecast, const char *end)
{
	char time[TEXT_SHORT];

	(void)text_span(time, forecast->link.low, forecast->link.high);
	if (link)
		output_line(out, STYLE_PLAIN,
					link == 1 ? "%s%zu of them is an input of run-time linking; the linking "
								"itself, %s, is done again at every start%s"
							  : "%s%zu of them are inputs of run-time linking; the linking "
								"itself, %s, is done again at every start%s",
					head, link, time, end);
	else if (forecast->link.likely > 0)
		output_line(out, STYLE_PLAIN,
					*end ? "%sThe linking itself, %s, is done again at every start%s"
						 : "%sthe linking itself, %s, is done again at every start%s",
					head, time, end);
}
