#include "cli/parts/module_text.h"

#include <stdio.h>

void module_text_marks(const struct output *out, const char *head, const char *what, size_t carried,
					   size_t split, const char *end)
{
	if (carried)
		output_line(out, STYLE_PLAIN,
					"%s%zu of %s %s carried over from older drivers: “jitwarm prime "
					"--recompile-carried” replaces %s%s",
					head, carried, what, carried == 1 ? "was" : "were",
					carried == 1 ? "it" : "them", end);
	if (split)
		output_line(out, STYLE_PLAIN,
					"%s%zu of %s %s compiled over several threads (prime --split): equivalent "
					"code, but not the driver's own bytes%s",
					head, split, what, split == 1 ? "was" : "were", end);
}

const char *module_text_all(char text[TEXT_SHORT], size_t count)
{
	(void)snprintf(text, TEXT_SHORT, count == 1 ? "the only module" : "all %zu modules", count);
	return text;
}

void module_text_link(const struct output *out, const char *head, size_t link,
					  const struct jw_forecast *forecast, const char *end)
{
	char inputs[TEXT_SHORT + 64] = "", time[TEXT_SHORT];

	if (link)
		(void)snprintf(inputs, sizeof inputs, "%zu of them %s of run-time linking; ", link,
					   link == 1 ? "is an input" : "are inputs");
	if (link || forecast->link.likely > 0)
		output_line(out, STYLE_PLAIN, "%s%s%s linking itself, %s, is done again at every start%s",
					head, inputs, *end && !link ? "The" : "the",
					text_span(time, forecast->link.low, forecast->link.high), end);
}
