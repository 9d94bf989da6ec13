#include "cli/parts/prime_bar.h"

void prime_bar_end(struct prime_bar *bar)
{
	if (bar->is_shown)
		progress_finish(&bar->progress);
	bar->is_shown = false;
}

void prime_bar_report(void *bar, const struct jw_prime_progress *report)
{
	static const enum progress_left lefts[] = {[JW_LEFT_MEASURED] = LEFT_BY_PACE,
											   [JW_LEFT_PREDICTED] = LEFT_PREDICTED,
											   [JW_LEFT_OVERDUE] = LEFT_OVERDUE};
	struct prime_bar *prime_bar = bar;
	struct progress *progress = &prime_bar->progress;

	if (report->phase == JW_PRIME_KEEPING) {
		prime_bar_end(prime_bar);
		return;
	}
	if (!prime_bar->is_shown)
		progress_start(progress, prime_bar->output, report->total, report->total_weight,
					   report->phase == JW_PRIME_CARRYING ? "carrying over" : "compiling");
	prime_bar->is_shown = true;
	progress_tell_left(progress, report->seconds_left, lefts[report->left]);
	progress_update(progress, report->done, report->done_weight, report->done_bytes);
}

void prime_bar_message(void *bar, const char *line)
{
	struct prime_bar *prime_bar = bar;

	if (prime_bar->is_shown)
		progress_message(&prime_bar->progress, line);
	else
		output_note(prime_bar->output, "%s", line);
}
