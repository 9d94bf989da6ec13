#include "run/time_left.h"

/* A module's prediction weighs as much as the measurements of an eighth as much work, and at least
 * PRIOR_MS: in a driver's process long modules of a library are off by the same factor as its short
 * ones, within a fifth. Of several weights this one was best for sixteen libraries, scheduled with
 * their real times and with predictions that are off by several factors
 * (tests/unit/test_run_time_left.c). */
static const double PRIOR_SHARE = 0.125, PRIOR_MS = 100;
/* What the machine's load is assumed to be, none, weighs as much as this. */
static const double IDLE_MS = 500;
/* For a module that takes longer than predicted: its remaining time as a share of its elapsed time.
 */
static const double OVERDUE = 0.1;
/* The load of the machine changes: this much wall time is remembered. */
static const double CROWD_MS = 60e3;

static bool is_time(double ms)
{
	return ms >= 0 && ms < 1e12;
}

void pace_take(struct pace *pace, enum cache_key_form form, double model_ms, double cpu_ms,
			   double wall_ms)
{
	struct pace_sum *sum = form == CACHE_KEY_LINK ? &pace->link : &pace->load;

	if (!is_time(model_ms) || !is_time(cpu_ms) || !is_time(wall_ms))
		return;
	sum->model_ms += model_ms;
	sum->cpu_ms += cpu_ms;
	pace->cpu_ms += cpu_ms;
	pace->wall_ms += wall_ms;
	if (pace->wall_ms > CROWD_MS) {
		pace->cpu_ms *= CROWD_MS / pace->wall_ms;
		pace->wall_ms = CROWD_MS;
	}
}

static double crowding(const struct pace *pace)
{
	const double times = (pace->wall_ms + IDLE_MS) / (pace->cpu_ms + IDLE_MS);

	return times > 1 ? times : 1;
}

void pace_take_running(struct pace *pace, enum cache_key_form form, double model_ms, double wall_ms)
{
	if (wall_ms > pace_ms(pace, form, model_ms))
		pace_take(pace, form, model_ms, wall_ms / crowding(pace), wall_ms);
}

double pace_ms(const struct pace *pace, enum cache_key_form form, double model_ms)
{
	const struct pace_sum *own = form == CACHE_KEY_LINK ? &pace->link : &pace->load;
	const double share_ms = model_ms * PRIOR_SHARE,
				 weight = share_ms > PRIOR_MS ? share_ms : PRIOR_MS;
	/* A form with few measurements is assumed to be as wrong as the other. */
	const double all = (pace->load.cpu_ms + pace->link.cpu_ms + weight) /
					   (pace->load.model_ms + pace->link.model_ms + weight);

	return model_ms * crowding(pace) * (own->cpu_ms + weight * all) / (own->model_ms + weight);
}

bool pace_is_measured(const struct pace *pace, double model_ms)
{
	const double measured_ms = pace->load.model_ms + pace->link.model_ms;

	return measured_ms > 0 && measured_ms >= model_ms * PRIOR_SHARE;
}

double pace_left_ms(const struct pace *pace, enum cache_key_form form, double model_ms,
					double run_ms)
{
	const double left = pace_ms(pace, form, model_ms) - run_ms, least = OVERDUE * run_ms;

	return left > least ? left : least;
}

static size_t first_free(const double *free_ms, size_t workers)
{
	size_t first = 0;

	for (size_t i = 1; i < workers; i++)
		if (free_ms[i] < free_ms[first])
			first = i;
	return first;
}

double schedule_ms(double *free_ms, size_t workers, const double *next_ms, size_t next_count,
				   double rest_ms)
{
	double sum = rest_ms, last = 0;

	if (!workers)
		return 0;
	for (size_t i = 0; i < next_count; i++)
		free_ms[first_free(free_ms, workers)] += next_ms[i];
	for (size_t i = 0; i < workers; i++) {
		sum += free_ms[i];
		last = free_ms[i] > last ? free_ms[i] : last;
	}
	/* Short modules fill the gaps. */
	return sum / (double)workers > last ? sum / (double)workers : last;
}
