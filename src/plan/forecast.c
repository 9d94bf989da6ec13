#include "plan/forecast.h"

#include "os/cores.h"

static void add_seconds(struct jw_seconds *sum, const struct jw_seconds *more)
{
	sum->low += more->low;
	sum->likely += more->likely;
	sum->high += more->high;
}

void forecast_add(struct jw_forecast *forecast, const struct plan *plan,
				  const struct plan_module *module)
{
	const double likely = module->cost_ms / 1000, spread = plan_spread(&plan->factors);

	forecast->measured = plan->factors.spread > 0;
	add_seconds(&forecast->start, &(struct jw_seconds){likely / spread, likely, likely * spread});
	if (likely > forecast->longest_seconds)
		forecast->longest_seconds = likely;
	/* A module that replaces an entry needs no additional room. */
	forecast->cache_bytes += module->carried ? 0 : module->entry_bytes;
}

void forecast_add_link(struct jw_forecast *forecast, const struct plan *plan, size_t target)
{
	const double spread = plan_spread(&plan->factors);
	const double likely = plan_link_ms(&plan->factors, plan->targets[target].link_bytes) / 1000;

	add_seconds(&forecast->link, &(struct jw_seconds){likely / spread, likely, likely * spread});
}

void forecast_join(struct jw_forecast *forecast, const struct jw_forecast *other)
{
	if (other->cache_bytes || other->start.likely > 0)
		forecast->measured = other->measured;
	add_seconds(&forecast->start, &other->start);
	add_seconds(&forecast->link, &other->link);
	if (other->longest_seconds > forecast->longest_seconds)
		forecast->longest_seconds = other->longest_seconds;
	forecast->cache_bytes += other->cache_bytes;
}

unsigned forecast_workers(size_t modules)
{
	const unsigned cores = os_cores();

	return modules < cores ? (unsigned)modules : cores;
}

void forecast_share(struct jw_forecast *forecast, unsigned workers)
{
	const struct jw_seconds *start = &forecast->start;
	const double likely =
		jw_makespan_seconds(start->likely, forecast->longest_seconds, jw_workers_capacity(workers));
	/* Only the speed is uncertain: it scales both alike. */
	const double share = start->likely > 0 ? likely / start->likely : 0;

	forecast->workers = workers;
	forecast->prime = (struct jw_seconds){start->low * share, likely, start->high * share};
}
