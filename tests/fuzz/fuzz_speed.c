/* The remembered speed of a machine, and the totals of its runs, from the state directory. */
#include "fuzz.h"

#include "history/speed_model.h"
#include "history/totals.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct jw_driver driver = {.cuda = 12040, .release = {550, 163, 1}};
	struct speed_table table;
	struct plan_factors factors;
	struct jw_totals totals;

	speed_parse((const char *)data, size, &table);
	MUST(table.count <= LEARN_MOST_ROWS);
	factors = speed_factors(&table, &driver);
	MUST(factors.load >= 0 && factors.load < 100 && factors.link >= 0 && factors.link < 100);
	MUST(!totals_parse(NULL, (const char *)data, size, &totals));
	MUST(totals.compiled <= UINT64_C(1) << 53 && totals.from_registries <= UINT64_C(1) << 53);
	MUST(totals.saved_seconds >= 0 && totals.saved_seconds <= 1e10 && totals.since_s >= 0);
	return 0;
}
