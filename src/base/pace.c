#include "base/pace.h"

/* The weight of a module's prediction: that of the measurements of an eighth as much work, and
 * at least PRIOR_MS. In a driver's process the predictions of a library's long modules are wrong by
 * the same factor as those of its short ones, within a fifth. Of several weights this one was best
 * for sixteen libraries, scheduled with their real times and with predictions that are wrong by
 * several factors (tests/unit/test_work_time_left.c). */
static const double PRIOR_SHARE = 0.125, PRIOR_MS = 100;
/* The assumption that a module takes no extra time weighs as much as this part of a predicted
 * millisecond. */
static const double PRIOR_COUNT = 0.3;
/* The assumption that the machine has no other load weighs as much as this. */
static const double IDLE_MS = 100;
/* A module that takes longer than predicted is expected to need this share of its elapsed time
 * again. */
static const double OVERDUE = 0.1;
/* The machine's load changes, so only this much wall time is remembered. */
static const double CROWD_MS = 20e3;

/* If a new guess is longer by less than this factor, the displayed time does not change. */
static const double PATIENCE = 1.1;

static bool is_time(double ms)
{
	return ms >= 0 && ms < 1e12;
}

void pace_take(struct pace *pace, double count, double model_ms, double cpu_ms)
{
	if (!is_time(model_ms) || !is_time(cpu_ms) || model_ms <= 0)
		return;
	pace->model_ms += model_ms;
	pace->real_ms += cpu_ms;
	pace->count += count;
	pace->count_count += count * count / model_ms;
	pace->count_real += count * cpu_ms / model_ms;
}

void pace_spend(struct pace *pace, double cpu_ms, double wall_ms)
{
	if (!is_time(cpu_ms) || !is_time(wall_ms))
		return;
	pace->cpu_ms += cpu_ms;
	pace->wall_ms += wall_ms;
	if (pace->wall_ms > CROWD_MS) {
		pace->cpu_ms *= CROWD_MS / pace->wall_ms;
		pace->wall_ms = CROWD_MS;
	}
}

/* Returns the share of a core that a compile gets; it is more than 1 if a compile has several
 * threads. */
static double pace_share(const struct pace *pace)
{
	return (pace->cpu_ms + IDLE_MS) / (pace->wall_ms + IDLE_MS);
}

void pace_take_running(struct pace *pace, double model_ms, double wall_ms)
{
	if (wall_ms > pace_ms(pace, 1, model_ms))
		pace_take(pace, 1, model_ms, wall_ms * pace_share(pace));
}

double pace_ms(const struct pace *pace, double count, double model_ms)
{
	const double share_ms = model_ms * PRIOR_SHARE,
				 weight = share_ms > PRIOR_MS ? share_ms : PRIOR_MS;
	/* Finished modules show by what factor predictions are wrong; this corrects the prediction
	 * itself. */
	const double expected = (pace->real_ms + weight) / (pace->model_ms + weight),
				 least = expected / 4, model = pace->model_ms + weight,
				 real = pace->real_ms + weight * expected,
				 fit = pace->count_real * model - real * pace->count,
				 each_ms = fit > 0 ? fit / ((pace->count_count + PRIOR_COUNT) * model -
											pace->count * pace->count)
								   : 0,
				 factor = (real - each_ms * pace->count) / model;

	return (each_ms * count + (factor > least ? factor : least) * model_ms) / pace_share(pace);
}

double pace_left_ms(const struct pace *pace, double count, double model_ms, double run_ms)
{
	const double left = pace_ms(pace, count, model_ms) - run_ms, least = OVERDUE * run_ms;

	return left > least ? left : least;
}

double steady_seconds(double shown, double guess)
{
	return guess > shown && guess < shown * PATIENCE ? shown : guess;
}

double schedule_ms(const double *free_ms, size_t workers, double next_ms, double rest_ms)
{
	double sum = rest_ms, first = workers ? free_ms[0] : 0, last = 0;

	for (size_t i = 0; i < workers; i++) {
		sum += free_ms[i];
		first = free_ms[i] < first ? free_ms[i] : first;
		last = free_ms[i] > last ? free_ms[i] : last;
	}
	last = first + next_ms > last ? first + next_ms : last;
	sum /= workers ? (double)workers : 1;
	return sum > last ? sum : last;
}

/* ---- the time left of a watched process */

void watch_left_spend(struct watch_left *left, double wall_ms, double cpu_ms)
{
	left->since_ms += cpu_ms;
	pace_spend(&left->pace, cpu_ms, wall_ms);
}

void watch_left_count(struct watch_left *left, size_t files, size_t modules, double model_ms,
					  double longest_ms)
{
	/* If a library was loaded in between, the difference does not show how many modules were
	 * compiled. */
	if (left->known && left->files == files && model_ms < left->model_ms) {
		pace_take(&left->pace, left->modules - (double)modules, left->model_ms - model_ms,
				  left->since_ms);
		left->since_ms = 0;
	}
	left->known = true;
	left->files = files;
	left->modules = (double)modules;
	left->model_ms = model_ms;
	left->longest_ms = longest_ms;
}

/* The longest module may be compiling now, and no other one takes as long. The time by which it
 * exceeds its prediction is therefore not taken from the other modules. */
double watch_left_seconds(const struct watch_left *left)
{
	const double others = left->modules > 1 ? left->modules - 1 : 0,
				 longest_ms = others > 0 ? left->longest_ms : left->model_ms;

	if (!left->known || left->model_ms <= 0)
		return -1;
	return (pace_left_ms(&left->pace, left->modules - others, longest_ms,
						 left->since_ms / pace_share(&left->pace)) +
			pace_ms(&left->pace, others, left->model_ms - longest_ms)) /
		   1000;
}
