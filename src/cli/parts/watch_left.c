#include "cli/parts/watch_left.h"

/* A prediction weighs as much as the measurements of a twentieth as much work, and that a module
 * takes no time beside that as one module of 50 ms. What takes longer than predicted goes on for a
 * tenth of the time that it has taken. Of several weights these were the best for recorded starts
 * and for the libraries of tests/data/compile-costs, in several orders. */
static const double PRIOR_SHARE = 0.05, PRIOR_MS = 100, PRIOR_COUNT = 0.02, OVERDUE = 0.1;
/* The machine's speed and its load change: so much is remembered. */
static const double REMEMBERED_MS = 60e3, IDLE_MS = 500;

void watch_left_spend(struct watch_left *left, double wall_ms, double cpu_ms)
{
	left->since_ms += cpu_ms;
	left->wall_ms += wall_ms;
	left->cpu_ms += cpu_ms;
	if (left->wall_ms > REMEMBERED_MS) {
		left->cpu_ms *= REMEMBERED_MS / left->wall_ms;
		left->wall_ms = REMEMBERED_MS;
	}
}

static void learn_took(struct watch_left *left, double count, double model_ms)
{
	left->count_count += count * count / model_ms;
	left->count_model += count;
	left->model_model += model_ms;
	left->count_cpu += left->since_ms * count / model_ms;
	left->model_cpu += left->since_ms;
	if (left->model_cpu > REMEMBERED_MS) {
		const double part = REMEMBERED_MS / left->model_cpu;

		left->count_count *= part;
		left->count_model *= part;
		left->model_model *= part;
		left->count_cpu *= part;
		left->model_cpu = REMEMBERED_MS;
	}
}

void watch_left_count(struct watch_left *left, size_t files, size_t modules, double model_ms)
{
	const double done_ms = left->model_ms - model_ms;

	/* Modules of a library that was loaded meanwhile hide how many were compiled. */
	if (left->known && left->files == files && done_ms > 0 && modules < left->modules) {
		learn_took(left, (double)(left->modules - modules), done_ms);
		left->since_ms = 0;
	}
	left->known = true;
	left->files = files;
	left->modules = modules;
	left->model_ms = model_ms;
}

/* Processor time for what is left: so much for each module, and so much for each predicted
 * millisecond, as of those that were compiled (least squares; a module's square of the error counts
 * the less, the longer it is predicted to take). */
static double work_left_ms(const struct watch_left *left)
{
	const double share_ms = left->model_ms * PRIOR_SHARE,
				 weight_ms = share_ms > PRIOR_MS ? share_ms : PRIOR_MS,
				 rough = (left->model_cpu + weight_ms) / (left->model_model + weight_ms),
				 model = left->model_model + weight_ms, cpu = left->model_cpu + weight_ms * rough,
				 count = left->count_count + PRIOR_COUNT,
				 determinant = count * model - left->count_model * left->count_model,
				 fit = left->count_cpu * model - cpu * left->count_model,
				 each_ms = determinant > 0 && fit > 0 ? fit / determinant : 0,
				 pace = (cpu - each_ms * left->count_model) / model, least_pace = rough / 4;

	return each_ms * (double)left->modules +
		   (pace > least_pace ? pace : least_pace) * left->model_ms;
}

double watch_left_seconds(const struct watch_left *left)
{
	const double crowding = (left->wall_ms + IDLE_MS) / (left->cpu_ms + IDLE_MS),
				 least_ms = OVERDUE * left->since_ms;
	double left_ms;

	if (!left->known || left->model_ms <= 0)
		return -1;
	left_ms = work_left_ms(left) - left->since_ms;
	return (left_ms > least_ms ? left_ms : least_ms) * crowding / 1000;
}
