/* Limits, settings and budgets, computed a second time as plainly as docs/internals/driver-cache.md
 * and the help put them, without code of src, for every value of small sets. */
#include "base/arena.h"
#include "check.h"

#include <jitwarm/system.h>

#include "base/text.h"
#include "cache/outlook.h"
#include "cache/settings.h"
#include "environments.h"
#include "prime/budget.h"

#define MIB      (UINT64_C(1) << 20)
#define GIB      (UINT64_C(1) << 30)
#define COUNT(a) (sizeof(a) / sizeof *(a))

/* Reads blanks, a sign and digits; other characters are ignored, and a number that is too large
 * becomes the largest. */
static uint64_t plain_number(const char *text)
{
	uint64_t number = 0;
	bool minus = false, too_large = false;

	while (*text == ' ' || (*text >= '\t' && *text <= '\r'))
		text++;
	if (*text == '+' || *text == '-')
		minus = *text++ == '-';
	for (; *text >= '0' && *text <= '9'; text++) {
		const uint64_t digit = (uint64_t)(*text - '0');

		too_large = too_large || number > (UINT64_MAX - digit) / 10;
		number = number * 10 + digit;
	}
	return too_large ? UINT64_MAX : minus ? 0 - number : number;
}

static const char *const sizes[] = {NULL,         "",           "0",     "1",
									"268435456",  " 12",        "+5",    "-1",
									"-0",         "1G",         "2 GiB", "8g",
									"4294967296", "4294967297", "abc",   "99999999999999999999999",
									"1048575",    "0x10",       "\t7kB", "4294967295"};
static const char *const switches[] = {NULL, "",   "0", "1",  "01",  "+1",
									   " 1", "1x", "2", "-1", "true"};

static bool plain_on(const char *text)
{
	return text && plain_number(text) == 1;
}

static uint64_t plain_limit(const char *text)
{
	const uint64_t number = text ? plain_number(text) : GIB;

	return number > 4 * GIB ? 4 * GIB : number;
}

/* No driver is known: a new one keeps 1 GiB. Of two variables with one meaning, the first counts if
 * it is set at all. The settings are not those of this process. */
CASE(settings_are_those_of_the_environment)
{
	void *owner = arena_open(0);

	put("cache/index", "");
	set("CUDA_CACHE_PATH", "cache");
	for (size_t i = 0; i < COUNT(sizes); i++)
		for (size_t k = 0; k < COUNT(switches); k++)
			for (size_t m = 0; m < COUNT(switches); m++) {
				struct jw_cache_info settings;
				const char *other = switches[(k + m) % COUNT(switches)];

				OK(os_env_set(why, "CUDA_CACHE_MAXSIZE", sizes[i]));
				OK(os_env_set(why, "CUDA_CACHE_DISABLE", switches[k]));
				OK(os_env_set(why, "CUDA_FORCE_PTX_JIT", switches[m]));
				OK(os_env_set(why, "CUDA_FORCE_JIT", other));
				OK(os_env_set(why, "CUDA_DISABLE_PTX_JIT", other));
				OK(os_env_set(why, "CUDA_DISABLE_JIT", switches[m]));
				cache_settings_forget_adopted();
				if (i % 2) {
					OK(cache_settings_adopt(why, "CUDA_CACHE_MAXSIZE", "77"));
					OK(cache_settings_adopt(why, "CUDA_CACHE_DISABLE", "1"));
				}
				OK(cache_settings_read(why, owner, NULL, &settings));
				assert_int_equal(settings.limit_bytes, i % 2 ? 77 : plain_limit(sizes[i]));
				assert_int_equal(settings.limit_set, i % 2 || sizes[i]);
				assert_int_equal(settings.disabled, i % 2 || plain_on(switches[k]));
				assert_int_equal(settings.now.limit_bytes, sizes[i] ? plain_limit(sizes[i]) : 0);
				assert_int_equal(settings.now.limit_set, sizes[i] != NULL);
				assert_int_equal(settings.now.disabled, plain_on(switches[k]));
				assert_int_equal(settings.force_ptx_jit, plain_on(switches[m]));
				assert_int_equal(settings.force_jit, !switches[m] && plain_on(other));
				assert_int_equal(settings.disable_ptx_jit,
								 other ? plain_on(other) : plain_on(switches[m]));
				assert_string_equal(settings.path, settings.now.path);
			}
	jw_result_free(owner);
	cache_settings_forget_adopted();
}

/* Returns the least multiple of 256 MiB from 1 GiB on that holds the present bytes and 1.25 times
 * the new ones. */
static uint64_t plain_tune(uint64_t present, uint64_t predicted)
{
	for (uint64_t limit = GIB; limit < 4 * GIB; limit += 256 * MIB)
		if (present <= limit && 4 * (limit - present) >= 5 * predicted)
			return limit;
	return 4 * GIB;
}

TEST(advised_limits_hold_what_is_there_and_what_comes)
{
	static const uint64_t bytes[] = {0,       1,   100 * MIB, 205 * MIB, 800 * MIB,
									 GIB - 1, GIB, GIB + 1,   3 * GIB,   5 * GIB};
	static const uint64_t limits[] = {0, 1, MIB - 1, MIB, 256 * MIB, GIB, 4 * GIB};

	for (size_t i = 0; i < COUNT(bytes); i++)
		for (size_t k = 0; k < COUNT(bytes); k++)
			for (size_t m = 0; m < COUNT(limits); m++)
				for (size_t n = 0; n < COUNT(limits); n++) {
					const uint64_t whole = bytes[i] + bytes[k], kept = limits[(m + n) % 5 + 2];
					uint64_t wanted = plain_tune(bytes[i], bytes[k]);
					struct jw_cache_info cache = {
						.limit_bytes = limits[m], .meant_bytes = limits[n], .kept_bytes = kept};

					cache.outlook.bytes = bytes[i];
					assert_int_equal(jw_tune_limit(bytes[i], bytes[k]), wanted);
					/* The limit in the settings counts if it holds everything, or more than is
					 * advised. */
					if (limits[n] && (limits[n] >= whole || limits[n] > wanted))
						wanted = limits[n];
					if (limits[m] > wanted)
						wanted = limits[m];
					/* No limit is lowered that jitwarm itself has set before. */
					if (kept > wanted)
						wanted = kept;
					assert_int_equal(jw_cache_limit(&cache, bytes[k]), wanted);
					assert_int_equal(jw_cache_holds(&cache, bytes[k]),
									 limits[n] == 0 && limits[m] >= MIB && whole <= limits[m]);
				}
}

/* The effect of the next module on a cache with a sound index: rows go from the front until the
 * rest fits. Files without a row count only while everything has space. */
TEST(an_outlook_counts_what_goes_and_what_has_no_row)
{
	static const uint64_t sizes_of_rows[] = {10, 20, 30};
	static const uint64_t limits[] = {0, 9, 10, 29, 30, 49, 50, 59, 60, 61, 100};
	static const uint64_t extra[] = {0, 1, 30, 60};

	for (size_t rows = 0; rows <= COUNT(sizes_of_rows); rows++)
		for (size_t files = 0; files < 6; files++)
			for (size_t more = 0; more < COUNT(extra); more++)
				for (size_t m = 0; m < COUNT(limits) * COUNT(extra); m++) {
					const uint64_t limit = limits[m % COUNT(limits)];
					const uint64_t on_disk = 15 * files + extra[m / COUNT(limits)];
					struct cache_row row[COUNT(sizes_of_rows)];
					struct cache_index index = {.rows = row, .count = rows};
					struct jw_cache_outlook outlook;
					uint64_t sum = 0, left, gone = 0;
					size_t evicted = 0;

					for (size_t i = 0; i < rows; i++) {
						row[i] = (struct cache_row){i + 1, sizes_of_rows[i]};
						sum += sizes_of_rows[i];
					}
					index.total_bytes = left = sum + extra[more];
					cache_outlook_of(&index, files, on_disk, limit, &outlook);
					if (limit && extra[more] < limit && sum > limit)
						while (left > limit && evicted < rows) {
							left -= sizes_of_rows[evicted];
							gone += sizes_of_rows[evicted++];
						}
					assert_int_equal(outlook.entries, files);
					assert_int_equal(outlook.bytes, on_disk);
					assert_int_equal(outlook.evicted, evicted);
					assert_int_equal(outlook.evicted_bytes, gone);
					assert_int_equal(outlook.uncounted,
									 files > rows && on_disk <= limit ? files - rows : 0);
					assert_int_equal(outlook.harmful, limit && extra[more] >= limit);
					assert_string_equal(outlook.next_insert, !limit                 ? "adds"
															 : extra[more] >= limit ? "evicts_all"
															 : evicted              ? "evicts"
															 : extra[more]          ? "evicts_soon"
																					: "adds");
				}
}

/* Programs have another cache, none, or one with too small a limit. */
TEST(programs_of_today_use_the_cache_if_nothing_of_theirs_differs)
{
	static char here[] = "/here", there[] = "/there";
	static char *const paths[] = {NULL, here, there};
	static const uint64_t bytes[] = {0, 50, 100, 150, 201};

	for (unsigned bits = 0; bits < 8; bits++)
		for (size_t i = 0; i < 9; i++)
			for (size_t k = 0; k < COUNT(bytes); k++)
				for (size_t m = 0; m < 9; m++) {
					struct jw_cache_info cache = {
						.path = paths[i / 3], .named = bits & 1, .disabled = bits & 2};
					bool same = true;

					cache.limit_bytes = m / 3 * 100;
					cache.now.path = paths[i % 3];
					cache.now.disabled = bits & 4;
					cache.now.limit_bytes = m % 3 * 100;
					if (!(bits & 1)) {
						same = i / 3 == i % 3 && ((bits & 2) != 0) == ((bits & 4) != 0);
						if (bytes[k] > m % 3 * 100 && m / 3 > m % 3)
							same = false;
					}
					/* Without any directory, there is no other cache. */
					if (i)
						assert_int_equal(jw_cache_serves_now(&cache, bytes[k]), same);
				}
}

/* 256 MiB before driver 525 and on Jetson and DRIVE, 1 GiB since. */
CASE(a_driver_and_its_gpus_have_a_limit)
{
	static const struct {
		const char *name;
		uint64_t bytes;
	} drivers[] = {{"460.106.00", 256 * MIB}, {"470.256.02", 256 * MIB}, {"525.147.05", GIB},
				   {"535.309.01", GIB},       {"550.163.01", GIB},       {"555.58.02", GIB}};
	static const struct {
		uint16_t sm;
		bool tegra;
	} gpus[] = {{61, false}, {62, true}, {72, true}, {75, false}, {80, false}};

	set("JITWARM_STATE", "state");
	set("CUDA_CACHE_PATH", "cache");
	OK(os_env_set(why, "CUDA_CACHE_DISABLE", NULL));
	for (size_t d = 0; d < COUNT(drivers); d++)
		for (size_t i = 0; i < COUNT(gpus); i++)
			for (size_t k = 0; k < COUNT(gpus); k++)
				for (size_t size = 0; size < 2; size++) {
					const struct jw_target targets[] = {{gpus[i].sm, 0}, {gpus[k].sm, 0}};
					const struct jw_system_options options = {.asleep = true,
															  .targets = targets,
															  .target_count = i == k ? 1 : 2,
															  .driver = drivers[d].name,
															  .nameless = true};
					const bool small = gpus[i].tegra || gpus[k].tegra;
					struct jw_system *system = NULL;

					OK(os_env_set(why, "CUDA_CACHE_MAXSIZE", size ? "12345678" : NULL));
					OK(jw_system_open(why, &options, &system));
					assert_int_equal(system->cache.limit_bytes, size    ? 12345678
																: small ? 256 * MIB
																		: drivers[d].bytes);
					jw_system_free(system);
				}
}

/* Takes the best of the remaining modules, again and again. */
static void plain_budget(struct plan_module *modules, size_t count,
						 const struct budget_request *request)
{
	uint64_t there = 0;
	double total = 0, longest = 0;
	bool seen[8] = {false};

	for (size_t i = 0; i < count; i++)
		if (modules[i].state == PLAN_WARM || modules[i].state == PLAN_RESTORED)
			there += modules[i].entry_bytes;
	for (size_t turn = 0; (request->budget_bytes || request->budget_ms) && turn < count; turn++) {
		size_t best = count;
		double worth = 0;

		for (size_t i = 0; i < count; i++) {
			const double one =
				modules[i].cost_ms / (request->budget_bytes ? (double)modules[i].entry_bytes : 1);

			if (seen[i] || modules[i].state != PLAN_COLD)
				continue;
			if (best == count || (!modules[i].on_demand && modules[best].on_demand) ||
				(modules[i].on_demand == modules[best].on_demand && one > worth)) {
				best = i;
				worth = one;
			}
		}
		if (best == count)
			return;
		seen[best] = true;
		{
			struct plan_module *module = &modules[best];
			const uint64_t bytes = module->entry_bytes;
			const double most = module->cost_ms > longest ? module->cost_ms : longest;
			const double wall = (total + module->cost_ms) / request->capacity;

			if ((request->budget_bytes &&
				 (there + bytes > request->budget_bytes || there + bytes > request->limit_bytes)) ||
				(request->budget_ms && (wall > most ? wall : most) > (double)request->budget_ms)) {
				module->state = PLAN_OVER_BUDGET;
				continue;
			}
			there += bytes;
			total += module->cost_ms;
			longest = most;
		}
	}
}

TEST(budgets_take_the_best_of_what_is_left)
{
	unsigned seed = 1;

	for (unsigned round = 0; round < 20000; round++) {
		static const enum plan_state states[] = {PLAN_COLD, PLAN_COLD, PLAN_COLD, PLAN_WARM,
												 PLAN_RESTORED};
		struct plan_module modules[7], plain[7];
		struct plan plan = {.modules = modules, .module_count = COUNT(modules)};
		struct budget_request request;
		struct jw_prime_plan sum = {.modules = 0};
		unsigned over = 0;

		memset(modules, 0, sizeof modules);
		for (size_t i = 0; i < COUNT(modules); i++) {
			seed = seed * 1103515245u + 12345u;
			modules[i].cost_ms = 1 + seed / 65536 % 16 * 10;
			modules[i].entry_bytes = 1 + seed / 1048576 % 16 * 10;
			seed = seed * 1103515245u + 12345u;
			modules[i].on_demand = seed / 65536 % 4 == 0;
			modules[i].state = states[seed / 262144 % 5];
		}
		seed = seed * 1103515245u + 12345u;
		request = (struct budget_request){
			seed / 65536 % 500 + 1, seed / 131072 % 3 ? seed / 524288 % 500 : 0,
			seed / 65536 % 2 ? seed / 1048576 % 500 : 0, 1 + seed / 65536 % 3};
		memcpy(plain, modules, sizeof plain);
		plain_budget(plain, COUNT(plain), &request);
		budget_choose(&plan, &request, &sum);
		for (size_t i = 0; i < COUNT(modules); i++) {
			over += plain[i].state == PLAN_OVER_BUDGET;
			assert_int_equal(modules[i].state, plain[i].state);
		}
		assert_int_equal(sum.over_budget, over);
	}
}

RUN_TESTS(NULL, NULL)
