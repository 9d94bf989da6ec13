/* Any file in which jitwarm remembers a machine, its speed and its GPUs, is read or counts as
 * empty. */
#include "fuzz.h"

#include "driver/known_gpus.h"
#include "driver/speed_model.h"
#include "driver/state_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct jw_driver driver = {.cuda = 12040, .release = {550, 163, 1}};
	cJSON *document = state_parse((const char *)data, size);
	static struct protocol_hello hello;
	struct speed_table table;
	struct jw_speed speed;

	speed_take_rows(cJSON_GetObjectItemCaseSensitive(document, STATE_SPEED), &table);
	MUST(table.count <= LEARN_MAX_ROWS);
	speed = speed_of(&table, &driver);
	MUST(speed.factor >= 0 && speed.factor < 100);
	if (known_gpus_take(cJSON_GetObjectItemCaseSensitive(document, STATE_DEVICES), NULL, &hello))
		MUST(hello.device_count <= PROTOCOL_MAX_DEVICES);
	cJSON_Delete(document);
	return 0;
}
