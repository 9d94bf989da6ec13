/* Why modules are cold: the reason for each, from the disk. */
#include "explaining.h"

#include <jitwarm/cache.h>

#include "base/text.h"
#include "prime/explain.h"

static const char old_stamp[] = "Jun 25 202401:14:48";

static enum jw_cold_reason reason_of(const struct plan *plan,
									 const struct explanation *explanations, unsigned number,
									 const struct explanation **ret_one)
{
	const uint64_t key = key_of(number, profile.stamp);

	for (size_t i = 0; i < plan->module_count; i++)
		if (plan->modules[i].key == key) {
			*ret_one = &explanations[i];
			return explanations[i].reason;
		}
	fail();
	return JW_COLD_NOT;
}

/* The ledger's records: 4 was in the cache, 5 for another driver, 6 from another file */
static void fill_ledger(struct ledger *ledger, const struct plan_request *request,
						const char *state)
{
	struct plan *plan = plan_for(request, profile.stamp), *old = plan_for(request, old_stamp);

	for (size_t i = 0; i < plan->module_count; i++) {
		plan->modules[i].state = PLAN_LEFT_OUT;
		old->modules[i].state = PLAN_LEFT_OUT;
	}
	for (size_t i = 0; i < plan->module_count; i++) {
		if (plan->modules[i].key == key_of(4, profile.stamp))
			plan->modules[i].state = PLAN_WARM;
		if (plan->modules[i].key == key_of(6, profile.stamp)) {
			plan->modules[i].state = PLAN_WARM;
			plan->modules[i].key++;
		}
		if (old->modules[i].key == key_of(5, old_stamp))
			old->modules[i].state = PLAN_WARM;
	}
	assert_int_equal(ledger_begin(NULL, ledger, old), 0);
	ledger_note(ledger, state, false);
	assert_int_equal(ledger_begin(NULL, ledger, plan), 0);
	ledger_note(ledger, state, false);
	plan_free(plan);
	plan_free(old);
}

TEST(each_reason_is_reported)
{
	char *cache = os_join(NULL, folder, "cache"), *kept = os_join(NULL, folder, "state");
	char *path = write_library(), line[EXPLAIN_LINE], text[EXPLAIN_TEXT];
	struct library_request request;
	struct ledger ledger = {0};
	struct plan *plan;
	struct explain_request why = {.ledger = &ledger};
	struct explanation *explanations;
	const struct explanation *one;
	struct jw_check_cause *causes;
	size_t count = 0;

	library_request(&request, path, cache);
	assert_int_equal(os_make_dirs(NULL, cache, 0700), 0);
	fill_ledger(&ledger, &request.plan, kept);
	ledger_close(&ledger);
	ledger_open(&ledger, kept, cache);
	assert_int_equal(ledger.records.count, 3);
	put_entry(cache, 0, profile.stamp, 86, "", 3); /* damaged */
	put_entry(cache, 7, profile.stamp, 86, "", 0); /* warm */
	plan = plan_for(&request.plan, profile.stamp);
	why.plan = plan;
	assert_int_equal(ledger_begin(NULL, &ledger, plan), 0);
	assert_int_equal(explain_plan(NULL, &why, &explanations), 0);
	assert_int_equal(reason_of(plan, explanations, 0, &one), JW_COLD_DAMAGED);
	assert_int_equal(reason_of(plan, explanations, 1, &one), JW_COLD_NEVER);
	assert_int_equal(reason_of(plan, explanations, 5, &one), JW_COLD_DRIVER);
	assert_string_equal(one->stamp, old_stamp);
	(void)explain_text(text, &why, one);
	assert_non_null(strstr(text, jw_cache_driver_of_stamp(old_stamp)));
	assert_non_null(strstr(text, "550.163.01"));
	assert_int_equal(reason_of(plan, explanations, 4, &one), JW_COLD_DELETED);
	assert_int_equal(reason_of(plan, explanations, 6, &one), JW_COLD_FILE);
	assert_int_equal(reason_of(plan, explanations, 7, &one), JW_COLD_NOT);
	assert_int_equal(explain_causes(NULL, &why, explanations, &causes, &count), 0);
	assert_int_equal(count, 5); /* 1, 2 and 3 belong together */
	explain_causes_free(causes, count);
	assert_int_equal(explain_line(NULL, line, &why, explanations), 0);
	assert_true(text_starts(line, "3 modules: never primed; "));
	mem_free(explanations);

	/* A cache too small for all has evicted. */
	why.limit_bytes = 100;
	assert_int_equal(explain_plan(NULL, &why, &explanations), 0);
	assert_int_equal(reason_of(plan, explanations, 4, &one), JW_COLD_EVICTED);
	mem_free(explanations);
	ledger_close(&ledger);
	plan_free(plan);
	mem_free(path);
	mem_free(kept);
	mem_free(cache);
}

TEST(a_damaged_ledger_is_ignored)
{
	struct ledger ledger = {.stamp_count = 1}, again = {0};
	struct ledger_item record = {1, 2, 0};
	struct buf bytes = make_buf();

	memcpy(ledger.stamps[0], old_stamp, sizeof old_stamp);
	ledger.records = (struct ledger_list){.items = &record, .count = 1};
	assert_int_equal(ledger_format(NULL, &ledger, &bytes), 0);
	ledger_parse(&again, bytes.data, bytes.size);
	assert_int_equal(again.records.count, 1);
	assert_int_equal(again.records.items[0].value, 2);
	ledger_close(&again);
	for (size_t i = 0; i < bytes.size; i++) {
		bytes.data[i] ^= 1;
		ledger_parse(&again, bytes.data, bytes.size);
		assert_int_equal(again.records.count, 0);
		ledger_close(&again);
		bytes.data[i] ^= 1;
		ledger_parse(&again, bytes.data, i);
		assert_int_equal(again.records.count, 0);
		ledger_close(&again);
	}
	buf_free(&bytes);
}

RUN_TESTS(make_folder, remove_folder)
