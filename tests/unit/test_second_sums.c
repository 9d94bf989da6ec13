/* Sums over modules, GPUs and files, computed a second time as plainly as possible, without code of
 * src, for random numbers of a seed. */
#include "check.h"

#include <math.h>

#include "plan/forecast.h"
#include "plan/plan.h"

static unsigned seed = 1;

static unsigned any(unsigned most)
{
	seed = seed * 1103515245u + 12345u;
	return seed / 65536 % most;
}

static bool near(double a, double b)
{
	return fabs(a - b) < 1e-6;
}

/* The sum over several GPUs is that over all of their modules, in whatever order. */
TEST(the_forecast_of_several_gpus_has_all_their_modules)
{
	enum { GPUS = 4, MODULES = 5 };

	for (unsigned round = 0; round < 2000; round++) {
		const struct plan plan = {.speed = {.factor = 1, .measured = round % 2}};
		struct jw_forecast gpus[GPUS] = {{0}}, all = {0};
		double likely = 0, lazy = 0, restored = 0, longest = 0;
		uint64_t bytes = 0;
		size_t eager = 0, on_demand = 0;

		for (unsigned i = 0; i < GPUS; i++) {
			for (unsigned k = any(MODULES); k > 0; k--) {
				const struct plan_module module = {
					.state = any(3) ? PLAN_COLD : PLAN_RESTORED,
					.cost_ms = 1 + any(1000),
					.entry_bytes = 1 + any(1000),
					.on_demand = any(2),
				};
				const double seconds = module.cost_ms / 1000;

				forecast_add(&gpus[i], &plan, &module);
				likely += seconds;
				lazy += module.on_demand ? seconds : 0;
				restored += module.state == PLAN_RESTORED ? seconds : 0;
				if (module.state == PLAN_COLD && seconds > longest)
					longest = seconds;
				bytes += module.entry_bytes;
				eager += !module.on_demand;
				on_demand += module.on_demand;
			}
		}
		for (unsigned i = 0; i < GPUS; i++)
			forecast_join(&all, &gpus[i]);
		assert_true(near(all.start.likely, likely));
		assert_true(near(all.start.low, (likely - lazy) / PLAN_RANGE));
		assert_true(near(all.start.high, likely * PLAN_RANGE));
		assert_true(near(all.restored_seconds, restored));
		assert_true(near(all.longest_seconds, longest));
		assert_int_equal(all.cache_bytes, bytes);
		assert_int_equal(all.loading,
						 (eager ? JW_LOADING_EAGER : 0) | (on_demand ? JW_LOADING_LAZY : 0));
		assert_int_equal(all.measured, round % 2 && eager + on_demand);
	}
}

/* Refused modules count for their own file and GPU, with the first result. */
TEST(refused_modules_count_by_file_and_gpu)
{
	enum { FILES = 3, GPUS = 3 };
	static const char *const names[FILES][2] = {{"/a", NULL}, {"/a", "b"}, {"/b", NULL}};
	static const unsigned results[] = {200, 209, 218};

	for (unsigned round = 0; round < 500; round++) {
		struct fates fates = {0};
		size_t counts[FILES][GPUS] = {{0}}, pairs = 0;
		unsigned first[FILES][GPUS] = {{0}};

		for (unsigned k = any(12); k > 0; k--) {
			const unsigned file = any(FILES), gpu = any(GPUS), result = results[any(3)];

			fates_add_refused(&fates, names[file][0], names[file][1], gpu, result);
			if (!counts[file][gpu]++) {
				first[file][gpu] = result;
				pairs++;
			}
		}
		assert_int_equal(fates.count, pairs);
		for (size_t i = 0; i < fates.count; i++) {
			const struct file_fate *fate = &fates.items[i];
			const unsigned file = !strcmp(fate->file, "/a")      ? 0
								  : !strcmp(fate->file, "/a: b") ? 1
																 : 2;

			assert_int_equal(fate->refused, counts[file][fate->target]);
			assert_int_equal(fate->result, first[file][fate->target]);
			counts[file][fate->target] = 0;
		}
		fates_free(&fates);
	}
}

RUN_TESTS(NULL, NULL)
