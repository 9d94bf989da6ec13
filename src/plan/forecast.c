#include "plan/forecast.h"

#include "os/platform.h"

static void add_seconds(struct jw_seconds *sum, const struct jw_seconds *more)
{
	sum->low += more->low;
	sum->likely += more->likely;
	sum->high += more->high;
}

void forecast_add(struct jw_forecast *forecast, const struct plan *plan,
				  const struct plan_module *module)
{
	const double likely = module->cost_ms / 1000;
	const struct jw_seconds seconds = plan_seconds(likely, module->on_demand);

	forecast->measured = plan->speed.measured;
	add_seconds(&forecast->start, &seconds);
	forecast->loading |= module->on_demand ? JW_LOADING_LAZY : JW_LOADING_EAGER;
	if (module->state == PLAN_RESTORED)
		forecast->restored_seconds += likely;
	else if (likely > forecast->longest_seconds)
		forecast->longest_seconds = likely;
	forecast->cache_bytes += module->entry_bytes;
}

void forecast_add_link(struct jw_forecast *forecast, const struct plan *plan, size_t target)
{
	const struct jw_seconds seconds =
		plan_seconds(plan_link_ms(&plan->speed, plan->targets[target].link_bytes) / 1000, false);

	add_seconds(&forecast->link, &seconds);
}

void forecast_join(struct jw_forecast *forecast, const struct jw_forecast *other)
{
	if (other->cache_bytes || other->start.likely > 0)
		forecast->measured = other->measured;
	add_seconds(&forecast->start, &other->start);
	forecast->loading |= other->loading;
	forecast->restored_seconds += other->restored_seconds;
	add_seconds(&forecast->link, &other->link);
	if (other->longest_seconds > forecast->longest_seconds)
		forecast->longest_seconds = other->longest_seconds;
	forecast->cache_bytes += other->cache_bytes;
}

void forecast_part(struct jw_forecast *sum, const struct jw_forecast *gpu, bool first)
{
	if (first || gpu->start.likely > sum->start.likely)
		sum->start = gpu->start;
}

unsigned forecast_workers(size_t modules)
{
	const unsigned cores = os_cores();

	return modules < cores ? (unsigned)modules : cores;
}

void forecast_share(struct jw_forecast *forecast, unsigned workers)
{
	const struct jw_seconds *start = &forecast->start;
	const double likely = jw_makespan(start->likely - forecast->restored_seconds,
									  forecast->longest_seconds, jw_workers_capacity(workers));

	forecast->workers = workers;
	forecast->prime = plan_seconds(likely, false);
}
