/* bench_progress JITWARM JOBS FILE… is the progress of a real run right?
 *
 * Primes the files with JOBS workers (the program JITWARM), records the progress reports, and
 * prints the prediction before the run, the one after five seconds, and how often the time left was
 * within 1.4 from then on. Exits with 1 if the bar does not begin at 0, runs back, or beyond its
 * end. The cache (CUDA_CACHE_PATH) has to be cold. EVENTS=1 prints the reports, too. */
#include <stdio.h>
#include <stdlib.h>

#include <jitwarm/prime.h>
#include <jitwarm/system.h>

#include "os/clock.h"

enum { MAX_EVENTS = 1 << 20 };

static struct event {
	double at_s, share, left_s;
	size_t done;
} events[MAX_EVENTS];
static size_t event_count;
static uint64_t began_ns;

static void take(void *context, const struct jw_prime_progress *progress)
{
	(void)context;
	if (progress->phase != JW_PRIME_COMPILING || event_count == MAX_EVENTS)
		return;
	if (!began_ns)
		began_ns = os_monotonic_ns();
	events[event_count++] = (struct event){
		.at_s = (double)(os_monotonic_ns() - began_ns) / 1e9,
		.share = progress->done_weight_ms / progress->total_weight_ms,
		.left_s = progress->seconds_left,
		.done = progress->done,
	};
}

static int judge_bar(void)
{
	if (!event_count || events[0].share > 0.01 || events[0].done)
		return (void)fprintf(stderr, "the bar does not begin at 0\n"), 1;
	for (size_t i = 0; i < event_count; i++)
		/* Sums of the same numbers in a different order differ a little. */
		if (events[i].share > 1 + 1e-9)
			return (void)fprintf(stderr, "the bar is full too early, at %.1f s\n", events[i].at_s),
				   1;
	for (size_t i = 1; i < event_count; i++)
		if (events[i].share < events[i - 1].share || events[i].done < events[i - 1].done)
			return (void)fprintf(stderr, "the bar runs back at %.1f s\n", events[i].at_s), 1;
	return 0;
}

/* Progress is shown to half a second. */
static bool is_near(double said, double truth)
{
	const double miss = said > truth ? said - truth : truth - said;

	return said > 0 && ((said <= truth * 1.4 && truth <= said * 1.4) || miss < 0.5);
}

static void judge_time(double end_s)
{
	size_t count = 0, near = 0;
	double total_s = 0;

	for (size_t i = 0; i < event_count; i++) {
		const double at_s = events[i].at_s, truth = end_s - at_s;

		/* The last half second is below that precision. */
		if (at_s < 5.1 || truth < 0.5)
			continue;
		total_s = count ? total_s : at_s + events[i].left_s;
		near += is_near(events[i].left_s, truth);
		count++;
	}
	if (count)
		(void)printf("  after 5 s %.1f s; then within 1.4 %.1f %% of %zu times\n", total_s,
					 100.0 * (double)near / (double)count, count);
}

int main(int argc, char **argv)
{
	const char *const worker[] = {argc > 1 ? argv[1] : "", "worker", NULL};
	const struct jw_system_options how = {.probe = true, .worker = worker};
	struct jw_prime_options options = {.plan.paths = (const char *const *)argv + 3,
									   .plan.path_count = argc > 3 ? (size_t)argc - 3 : 0,
									   .compile.jobs = argc > 2 ? (unsigned)atoi(argv[2]) : 0,
									   .reuse.no_store = true,
									   .progress = take};
	struct jw_prime_result *result;
	struct jw_system *system;
	const struct jw_seconds *start;
	struct jw_error err = {0};
	double end_s;

	if (argc < 4)
		return 64;
	if (jw_system_open(&err, &how, &system) || jw_prime(&err, system, &options, &result)) {
		(void)fprintf(stderr, "bench_progress: %s\n", err.message);
		return 2;
	}
	start = &result->plan.forecast.start;
	end_s = (double)(os_monotonic_ns() - began_ns) / 1e9;
	(void)printf("%zu modules, %u workers: predicted %.1f s, took %.1f s; processor %.1f s of "
				 "%.1f s compiling, predicted %.1f s (%.1f to %.1f)\n",
				 result->compile.compiled, result->plan.forecast.workers,
				 result->plan.forecast.prime.likely, end_s, result->compile.compile_cpu_seconds,
				 result->compile.compile_seconds, start->likely, start->low, start->high);
	judge_time(end_s);
	if (getenv("EVENTS"))
		for (size_t i = 0; i < event_count; i++)
			(void)printf("%.2f,%.4f,%.2f,%.2f,%zu\n", events[i].at_s, events[i].share,
						 events[i].left_s, end_s - events[i].at_s, events[i].done);
	jw_result_free(result);
	jw_system_free(system);
	return judge_bar();
}
