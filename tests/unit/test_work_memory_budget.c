/* As many workers are admitted as the memory allows, by prediction, measurement and pressure. */
#include "check.h"

#include "work/memory_budget.h"

#define MIB ((uint64_t)1 << 20)
#define S   UINT64_C(1000000000)

TEST(workers_are_admitted_by_their_need_of_memory)
{
	struct memory_budget memory;

	memory_budget_begin(&memory, 8, 0, 4000 * MIB);
	assert_int_equal(memory.budget_bytes, 3000 * MIB);
	assert_int_equal(memory_budget_need(&memory, 0), 128 * MIB);
	assert_int_equal(memory_budget_need(&memory, 1000 * MIB), 1128 * MIB);
	assert_true(memory_budget_admits(&memory, 0, 9000 * MIB)); /* as the only worker */
	assert_true(memory_budget_admits(&memory, 1128 * MIB, 1128 * MIB));
	assert_false(memory_budget_admits(&memory, 2256 * MIB, 1128 * MIB));
	assert_false(memory_budget_admits(&memory, 5000 * MIB, 0));
	memory_budget_begin(&memory, 8, 500 * MIB, 4000 * MIB);
	assert_int_equal(memory.budget_bytes, 500 * MIB);
	memory_budget_begin(&memory, 8, 5000 * MIB, 4000 * MIB);
	assert_int_equal(memory.budget_bytes, 5000 * MIB);
	/* The system does not report its memory. */
	memory_budget_begin(&memory, 8, 0, 0);
	assert_true(memory_budget_admits(&memory, 9000 * MIB, 9000 * MIB));
}

TEST(measured_memory_counts)
{
	struct memory_budget memory;

	memory_budget_begin(&memory, 8, 0, 4000 * MIB);
	memory_budget_measured(&memory, 50 * MIB, 150 * MIB); /* as expected */
	assert_int_equal(memory_budget_need(&memory, 0), 128 * MIB);
	/* This driver's context is larger. */
	memory_budget_measured(&memory, 50 * MIB, 278 * MIB);
	assert_int_equal(memory_budget_need(&memory, 0), 228 * MIB);
	assert_int_equal(memory_budget_need(&memory, 1000 * MIB), 1228 * MIB);
	/* This compiler needs twice the predicted memory for large modules. */
	memory_budget_measured(&memory, 1000 * MIB, 2228 * MIB);
	assert_int_equal(memory_budget_need(&memory, 0), 228 * MIB);
	assert_int_equal(memory_budget_need(&memory, 1000 * MIB), 2228 * MIB);
	memory_budget_measured(&memory, 1000 * MIB, UINT64_MAX); /* nonsense */
	assert_int_equal(memory_budget_need(&memory, 1000 * MIB), 2228 * MIB);
	/* Eight times the prediction is the most that counts. */
	memory_budget_measured(&memory, 256 * MIB, 8192 * MIB);
	assert_int_equal(memory_budget_need(&memory, 1000 * MIB), 8228 * MIB);
}

TEST(pressure_makes_them_fewer_and_calm_more)
{
	const uint64_t total = 16000 * MIB, plenty = 8000 * MIB;
	struct memory_budget memory;

	memory_budget_begin(&memory, 4, 0, plenty);
	assert_int_equal(memory_budget_judge(&memory, 1 * S, 4, 0, total, plenty), MEMORY_AS_IT_IS);
	assert_int_equal(memory.allowed, 4);
	assert_int_equal(memory_budget_judge(&memory, 2 * S, 4, 15, total, plenty), MEMORY_FEWER);
	assert_int_equal(memory.allowed, 3);
	/* It takes effect after a moment. */
	assert_int_equal(memory_budget_judge(&memory, 3 * S, 3, 15, total, plenty), MEMORY_AS_IT_IS);
	assert_int_equal(memory_budget_judge(&memory, 5 * S, 3, 0, total, 400 * MIB), MEMORY_FEWER);
	assert_int_equal(memory.allowed, 2);
	assert_int_equal(memory_budget_judge(&memory, 8 * S, 2, 0, total, 100 * MIB), MEMORY_AT_ONCE);
	assert_int_equal(memory.allowed, 1);
	/* The last worker continues. */
	assert_int_equal(memory_budget_judge(&memory, 11 * S, 1, 0, total, 1 * MIB), MEMORY_AS_IT_IS);
	assert_int_equal(memory.allowed, 1);
	/* Each worker that comes back takes ten quiet seconds. */
	assert_int_equal(memory_budget_judge(&memory, 19 * S, 1, 0.5, total, plenty), MEMORY_AS_IT_IS);
	assert_int_equal(memory.allowed, 1);
	(void)memory_budget_judge(&memory, 22 * S, 1, 0, total, plenty);
	assert_int_equal(memory.allowed, 2);
	(void)memory_budget_judge(&memory, 25 * S, 2, 0, total, plenty);
	assert_int_equal(memory.allowed, 2);
	(void)memory_budget_judge(&memory, 33 * S, 2, 0, total, plenty);
	(void)memory_budget_judge(&memory, 44 * S, 3, 0, total, plenty);
	(void)memory_budget_judge(&memory, 55 * S, 4, 0, total, plenty);
	assert_int_equal(memory.allowed, 4);
	/* Memory is short before the second worker has begun: that is reported, too. */
	memory_budget_begin(&memory, 4, 0, plenty);
	assert_int_equal(memory_budget_judge(&memory, 1 * S, 1, 99, total, plenty), MEMORY_FEWER);
	assert_int_equal(memory.allowed, 1);
}

RUN_TESTS(NULL, NULL)
