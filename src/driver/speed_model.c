#include "driver/speed_model.h"

#include <string.h>

#include "base/json.h"
#include "base/json_table.h"
#include "driver/state_file.h"
#include "plan/estimate.h"

static const char schema[] = "jitwarm.speed/4";

/* The largest factor that a machine can have. A larger value comes from a driver that compiled
 * nothing, a clock that jumps, or a forged file. */
static const double MAX_FACTOR = 20, MAX_MODULE_MS = 1000;
static const double MAX_MS = 1e12;
/* The most that earlier runs weigh. */
static const double MAX_REMEMBERED_MS = 120e3;
/* The usual factor weighs as much as a run of this length, so that three tiny modules do not
 * decide. */
static const double EXPECTED_MS = 500;

/* A system may count processor time in steps of 16 ms, so a single compile may show 0. */
void speed_take(struct speed_time *time, const struct plan_module *module, double cpu_ms,
				double wall_ms)
{
	struct plan_estimate estimate;

	plan_estimate(&estimate, &module->features, module->payload_bytes, NULL);
	if (!(wall_ms * MAX_FACTOR > estimate.cost_ms && wall_ms < MAX_MS && cpu_ms >= 0 &&
		  cpu_ms < estimate.cost_ms * MAX_FACTOR + MAX_MODULE_MS))
		return;
	time->model_ms += estimate.cost_ms;
	time->cpu_ms += cpu_ms;
	time->wall_ms += wall_ms;
}

static const struct speed_row *find_row(const struct speed_table *table,
										const struct jw_driver *driver)
{
	for (size_t i = table->count; i-- > 0;)
		if (table->rows[i].release == driver->release[0] && table->rows[i].cuda == driver->cuda)
			return &table->rows[i];
	return NULL;
}

struct jw_speed speed_of(const struct speed_table *table, const struct jw_driver *driver)
{
	const struct speed_row *own = find_row(table, driver),
						   *row = own            ? own
								  : table->count ? &table->rows[table->count - 1]
												 : NULL;

	if (!row)
		return (struct jw_speed){0};
	return (struct jw_speed){.factor = (row->real_ms + EXPECTED_MS * PLAN_USUAL_FACTOR) /
									   (row->model_ms + EXPECTED_MS),
							 .measured = own != NULL};
}

/* Moves the driver's row to the end, or adds an empty one there. */
static struct speed_row *last_row(struct speed_table *table, const struct jw_driver *driver)
{
	const struct speed_row *known = find_row(table, driver);
	const struct speed_row row =
		known ? *known : (struct speed_row){.release = driver->release[0], .cuda = driver->cuda};
	const size_t old = known ? (size_t)(known - table->rows) : 0;

	if (known || table->count == LEARN_MAX_ROWS)
		memmove(&table->rows[old], &table->rows[old + 1],
				(--table->count - old) * sizeof *table->rows);
	table->rows[table->count] = row;
	return &table->rows[table->count++];
}

static bool is_believable(double model_ms, double real_ms)
{
	return model_ms > 0 && model_ms < MAX_MS && real_ms > 0 && real_ms < model_ms * MAX_FACTOR &&
		   real_ms * MAX_FACTOR > model_ms;
}

void speed_add(struct speed_table *table, const struct jw_driver *driver,
			   const struct speed_time *run)
{
	const double share = run->wall_ms > run->cpu_ms ? run->cpu_ms / run->wall_ms : 1;
	const double model_ms = run->model_ms * share * share, real_ms = run->cpu_ms * share * share;
	struct speed_row *row;

	if (!is_believable(model_ms, real_ms))
		return;
	row = last_row(table, driver);
	if (row->model_ms > MAX_REMEMBERED_MS) {
		row->real_ms *= MAX_REMEMBERED_MS / row->model_ms;
		row->model_ms = MAX_REMEMBERED_MS;
	}
	row->model_ms += model_ms;
	row->real_ms += real_ms;
}

static bool parse_row(const cJSON *object, struct speed_row *ret_row)
{
	const uint64_t release = json_count(object, "release"), cuda = json_count(object, "cuda");
	const struct speed_row row = {(uint32_t)release, (uint32_t)cuda,
								  json_number(object, "model_ms", -1),
								  json_number(object, "real_ms", -1)};

	*ret_row = row;
	return release <= 1000000 && cuda <= 1000000 && is_believable(row.model_ms, row.real_ms);
}

void speed_take_rows(const cJSON *kept, struct speed_table *ret_table)
{
	const cJSON *rows = NULL, *object;

	*ret_table = (struct speed_table){0};
	if (kept && !strcmp(json_text(kept, "schema", ""), schema))
		rows = cJSON_GetObjectItemCaseSensitive(kept, "rows");
	if (!cJSON_IsArray(rows))
		rows = NULL;
	cJSON_ArrayForEach(object, rows)
	{
		if (ret_table->count < LEARN_MAX_ROWS)
			ret_table->count += parse_row(object, &ret_table->rows[ret_table->count]);
	}
}

#define ROW(member) JSON(struct speed_row, member, NULL)
static const struct json_field row_fields[] = {
	ROW(release), ROW(cuda), ROW(model_ms), ROW(real_ms), {0},
};
struct kept_rows {
	const struct speed_row *rows;
	size_t count;
};
static const struct json_field table_fields[] = {
	JSON_LIST_OF("rows", struct kept_rows, rows, count, JSON_TABLE(struct speed_row, row_fields),
				 NULL),
	{0},
};
static const struct json_table kept_table = {.schema = schema, .fields = table_fields};

static void recall_table(const char *state_dir, struct speed_table *ret_table)
{
	cJSON *kept = state_read(state_dir, STATE_SPEED);

	speed_take_rows(kept, ret_table);
	cJSON_Delete(kept);
}

struct jw_speed speed_recall(const char *state_dir, const struct jw_driver *driver)
{
	struct speed_table table;

	recall_table(state_dir, &table);
	return speed_of(&table, driver);
}

void speed_remember(const char *state_dir, const struct jw_driver *driver,
					const struct speed_time *run)
{
	struct speed_table table;

	if (!state_dir || !(run->cpu_ms > 0))
		return;
	recall_table(state_dir, &table);
	speed_add(&table, driver, run);
	(void)state_write(NULL, state_dir, STATE_SPEED,
					  json_object(&kept_table, &(struct kept_rows){table.rows, table.count}));
}
