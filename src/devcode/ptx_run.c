#include "devcode/ptx_run.h"

#include <stdbool.h>

#include "base/smaller.h"
#include "base/text.h"
#include "devcode/ptx_text.h"

enum {
	COMPILERS_END = 2, /* line breaks with which nvcc ends a text */
	LITERALS_LEAD = 1, /* line breaks with which a multi-line literal begins */
};

/* White space around a run's texts: before the first, between two, behind the last. `…_sure`: a NUL
 * follows it, so that all of it belongs to the text. */
struct edges {
	size_t before, least_gap, first_gap, behind;
	bool before_sure, behind_sure;
};

size_t ptx_run_blanks_behind(const uint8_t *text, size_t size)
{
	size_t blanks = 0;

	while (blanks < size && text_is_blank(text[size - 1 - blanks]))
		blanks++;
	return blanks;
}

size_t ptx_run_blanks_before(const uint8_t *text, size_t size)
{
	size_t blanks = 0;

	while (blanks < size && text_is_blank(text[blanks]))
		blanks++;
	return blanks;
}

/* Splits a gap into the end of one text and the beginning of the next, neither longer than at an
 * edge where another string may have added to it. */
static size_t choose_lead(const struct edges *edges)
{
	const size_t most = smaller(edges->before, edges->least_gap),
				 least = edges->first_gap > edges->behind ? edges->first_gap - edges->behind : 0;

	if (edges->before_sure || least >= most)
		return most;
	if (edges->behind_sure || edges->least_gap <= COMPILERS_END || least > LITERALS_LEAD)
		return least;
	return LITERALS_LEAD;
}

static void see_before(const uint8_t *version, size_t before, struct edges *edges)
{
	const size_t lead = ptx_text_lead(version, before);

	edges->before = ptx_run_blanks_before(version - lead, lead);
	edges->before_sure = lead == before || !*(version - lead - 1);
}

void ptx_run_measure(const uint8_t *version, size_t before, size_t size, struct ptx_run *ret_run)
{
	const size_t left = smaller(size, PTX_TEXT_MOST);
	struct ptx_run run = {0};
	struct edges edges = {.least_gap = SIZE_MAX};

	for (size_t at = 0, next = 0; at < left; at += next) {
		size_t read, length = ptx_text_length(version + at, left - at, &read);

		run.read = at + read;
		if (!length)
			break;
		run.size = at + length;
		run.count++;
		edges.behind = ptx_run_blanks_behind(version + at, length);
		edges.behind_sure = run.size == left || !version[run.size];
		next = length + ptx_text_next(version + run.size, left - run.size);
		if (at + next >= left)
			break;
		edges.first_gap = run.count == 1 ? edges.behind : edges.first_gap;
		edges.least_gap = smaller(edges.least_gap, edges.behind);
	}
	see_before(version, before, &edges);
	if (run.count > 1) {
		run.lead = choose_lead(&edges);
		run.first_lead = edges.before_sure ? edges.before : smaller(edges.before, run.lead);
		run.trail =
			edges.behind_sure ? edges.behind : smaller(edges.behind, edges.first_gap - run.lead);
	}
	*ret_run = run;
}
