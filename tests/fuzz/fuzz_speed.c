/* The remembered speed of a machine, from the state directory. */
#include "fuzz.h"

#include "history/speed_model.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct jw_driver driver = {.cuda = 12040, .release = {550, 163, 1}};
	struct speed_table table;
	struct plan_factors factors;

	speed_parse((const char *)data, size, &table);
	MUST(table.count <= LEARN_MOST_ROWS);
	factors = speed_factors(&table, &driver);
	MUST(factors.load >= 0 && factors.load < 100 && factors.link >= 0 && factors.link < 100);
	return 0;
}
