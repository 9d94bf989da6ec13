/* The remembered speed of a machine, from the state directory. */
#include "fuzz.h"

#include "driver/speed_model.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct jw_driver driver = {.cuda = 12040, .release = {550, 163, 1}};
	struct speed_table table;
	struct jw_speed speed;

	speed_parse((const char *)data, size, &table);
	MUST(table.count <= LEARN_MAX_ROWS);
	speed = speed_of(&table, &driver);
	MUST(speed.factor >= 0 && speed.factor < 100);
	return 0;
}
