#include "pack/prepared.h"

#include "driver/state_file.h"
#include "os/clock.h"

cJSON *prepared_read(const char *state_dir, int64_t most_age_s)
{
	cJSON *prepared = state_read(state_dir, STATE_AHEAD);

	if (!prepared || !most_age_s ||
		(int64_t)json_count(prepared, "written_s") > os_now_s() - most_age_s)
		return prepared;
	cJSON_Delete(prepared);
	return NULL;
}
