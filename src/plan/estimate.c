#include "plan/estimate.h"

#include "code/find_bytes.h"
#include "code/ptx.h"
#include "os/platform.h"

/* Fitted by scripts/fit-costs.py to the test data; tests/unit/test_plan_fit.c fits them again. */
#define START_MS     1.89
#define ENTRY_MS     1.59
#define DIVISION_MS  0.98
#define STATEMENT_MS 0.0267 /* in a kernel of a thousand statements */

/* The time of cuLinkAddData and cuLinkComplete, per MB of machine code
 * (docs/internals/estimates.md). */
static const double LINK_MB_MS = 6;

/* The throughput that the second thread of a core adds to the first: 62 s of compiles in one to
 * four threads of eight cores took 108 s of processor time in all sixteen
 * (docs/internals/estimates.md). */
static const double SECOND_THREAD = 0.15;

/* Parts of a key: stamp, "HOST64", the architecture, and the end of the text
 * (docs/internals/driver-cache.md). */
enum { KEY_BYTES = 19 + 6 + 5 + 2 };

/* Computes a cube root by Newton's method from above, for values from 0 to 2^32; accurate to a
 * millionth, without libm. It ends when a step changes nothing: a library has thousands of
 * modules. */
static double cube_root(double value)
{
	double root = value > 1 ? value : 1, last = 0;

	for (int i = 0; i < 64 && value > 0 && root != last; i++) {
		last = root;
		root -= (root - value / (root * root)) / 3;
	}
	return value > 0 ? root : 0;
}

/* A statement of a long kernel takes longer than one of a short kernel. */
static double model_ms(const struct plan_features *features)
{
	const double statements = features->statements;
	const double kernels = features->entries ? features->entries : 1;

	return START_MS + ENTRY_MS * features->entries + DIVISION_MS * features->divisions +
		   STATEMENT_MS * statements * cube_root(statements / kernels / 1000);
}

static double factor_or_usual(const struct jw_speed *speed)
{
	return speed->factor > 0 ? speed->factor : PLAN_USUAL_FACTOR;
}

void plan_estimate(struct plan_estimate *ret_estimate, const struct plan_features *features,
				   uint64_t payload_bytes, const struct jw_speed *speed)
{
	const double cost_ms = model_ms(features);
	/* The names in the text, its instructions, and a line table with an entry for each. The sums of
	 * five frameworks are within 15 %. */
	const double statement_bytes = features->line_info ? 52 : 12;
	const double cubin_bytes = 0.25 * (double)payload_bytes +
							   statement_bytes * features->statements + 3500.0 * features->entries +
							   1000;

	*ret_estimate = (struct plan_estimate){
		.cost_ms = speed ? cost_ms * factor_or_usual(speed) : cost_ms,
		.cubin_bytes = (uint64_t)cubin_bytes,
		.entry_bytes = payload_bytes + KEY_BYTES + (uint64_t)cubin_bytes,
		/* 25 MiB, and 3 to 3.7 KiB per statement (the median; up to 7.4 in the larger modules),
		 * doubled: no module of the four frameworks needed more. */
		.memory_bytes = 2 * ((UINT64_C(25) << 20) + UINT64_C(3584) * features->statements),
	};
}

struct plan_features plan_features_of(const void *text, size_t size)
{
	static const char managed[] = ".managed";
	struct ptx_features counted;

	ptx_count(text, size, &counted);
	return (struct plan_features){
		.statements = (uint32_t)counted.statements,
		.divisions = (uint32_t)counted.divisions,
		.entries = (uint32_t)counted.entries,
		.managed = find_bytes(text, size, size, managed, sizeof managed - 1) < size};
}

double plan_link_ms(const struct jw_speed *speed, uint64_t cubin_bytes)
{
	return LINK_MB_MS * (double)cubin_bytes / 1e6 * factor_or_usual(speed) / PLAN_USUAL_FACTOR;
}

const char *jw_loading_name(enum jw_loading loading)
{
	static const char *const names[] = {[JW_LOADING_NONE] = "",
										[JW_LOADING_EAGER] = "eager",
										[JW_LOADING_LAZY] = "lazy",
										[JW_LOADING_MIXED] = "mixed"};

	return names[loading];
}

struct jw_seconds plan_seconds(double likely, bool lazy)
{
	return (struct jw_seconds){lazy ? 0 : likely / PLAN_RANGE, likely, likely * PLAN_RANGE};
}

double plan_capacity(unsigned workers, unsigned threads, unsigned cores)
{
	if (workers > threads)
		workers = threads;
	if (!workers)
		workers = 1;
	return workers > cores && cores ? cores + SECOND_THREAD * (workers - cores) : workers;
}

double jw_workers_capacity(unsigned workers)
{
	return plan_capacity(workers, os_cores(), os_physical_cores());
}

bool jw_may_need_none(const struct jw_seconds *start)
{
	return start->likely > 0 && (start->low <= 0 || (start->low < 0.05 && start->likely >= 0.1));
}

double jw_makespan(double total, double longest, double capacity)
{
	double shared = total / (capacity > 0 ? capacity : 1);

	return shared > longest ? shared : longest;
}
