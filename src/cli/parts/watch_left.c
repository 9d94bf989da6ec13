#include "cli/parts/watch_left.h"

static const double FIRST_S = 10, MOST_S = 600;
/* As in run/time_left.c: a prediction weighs as much as the measurements of an eighth as much work;
 * what takes longer than predicted goes on for a tenth of the time that it has taken. */
static const double PRIOR_SHARE = 0.125, PRIOR_MS = 100, OVERDUE = 0.1;

void watch_left_spend(struct watch_left *left, double wall_ms)
{
	left->since_ms += wall_ms;
}

void watch_left_count(struct watch_left *left, size_t files, double model_ms)
{
	const double done_ms = left->model_ms - model_ms;

	/* Modules of a library that was loaded meanwhile hide how many were compiled. */
	if (left->known && left->files == files && done_ms > 0) {
		left->done_ms += done_ms;
		left->took_ms += left->since_ms;
		left->since_ms = 0;
	}
	left->known = true;
	left->files = files;
	left->model_ms = model_ms;
}

/* Real time relative to the predicted one. The prediction counts at first, and soon hardly at all.
 */
static double pace_of(const struct watch_left *left)
{
	const double share_ms = left->model_ms * PRIOR_SHARE,
				 weight_ms = share_ms > PRIOR_MS ? share_ms : PRIOR_MS,
				 rough = (left->took_ms + weight_ms) / (left->done_ms + weight_ms);

	return (left->took_ms + weight_ms * rough) / (left->done_ms + weight_ms);
}

double watch_left_seconds(const struct watch_left *left)
{
	const double left_ms = left->model_ms * pace_of(left) - left->since_ms,
				 least_ms = OVERDUE * left->since_ms;

	if (!left->known || left->model_ms <= 0)
		return -1;
	return (left_ms > least_ms ? left_ms : least_ms) / 1000;
}

double watch_left_share(const struct watch_left *left)
{
	const double whole_ms = left->done_ms + left->model_ms;

	return left->known && whole_ms > 0 ? left->done_ms / whole_ms : -1;
}

bool watch_rhythm_due(struct watch_rhythm *rhythm, double now_s, bool changed, bool news)
{
	const bool fresh = !rhythm->said || changed, quiet = !fresh && !news;

	if (!fresh && now_s - rhythm->said_s < (quiet ? rhythm->every_s : FIRST_S))
		return false;
	rhythm->every_s = !quiet                         ? FIRST_S
					  : rhythm->every_s * 2 < MOST_S ? rhythm->every_s * 2
													 : MOST_S;
	rhythm->said = true;
	rhythm->said_s = now_s;
	return true;
}
