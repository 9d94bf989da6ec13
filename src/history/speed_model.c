#include "history/speed_model.h"

#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "os/file.h"
#include "plan/estimate.h"

enum { MOST_BYTES = 64 << 10 };
static const char schema[] = "jitwarm.speed/1";

/* No machine is that far from the model. Such a value comes from a driver that had nothing to
 * compile, a clock that jumps, or a forged file. */
static const double MOST_FACTOR = 20;
static const double MOST_MS = 1e12;
/* Earlier runs weigh at most this much. The usual factor (plan/estimate.h) weighs this much, so
 * that three tiny modules do not decide. */
static const double LEARNT_SPREAD = 1.2;
static const double MOST_OLD_MS = 120e3, USUAL_MS = 1e3;

static bool is_believable(const struct speed_sum *sum)
{
	return sum->model_ms > 0 && sum->model_ms < MOST_MS && sum->real_ms > 0 &&
		   sum->real_ms < sum->model_ms * MOST_FACTOR && sum->real_ms * MOST_FACTOR > sum->model_ms;
}

/* A system may count processor time in steps of 16 ms, so a single compile may show 0. */
void speed_take(struct speed_run *run, const struct plan_module *module, double cpu_ms,
				double wall_ms)
{
	struct speed_time *time = module->form == CACHE_KEY_LINK ? &run->link : &run->load;
	struct plan_estimate estimate;

	plan_estimate(&estimate, &module->features, module->payload_bytes, 0);
	if (!(wall_ms * MOST_FACTOR > estimate.cost_ms && wall_ms < MOST_MS && cpu_ms >= 0 &&
		  cpu_ms < estimate.cost_ms * MOST_FACTOR))
		return;
	time->model_ms += estimate.cost_ms;
	time->cpu_ms += cpu_ms;
	time->wall_ms += wall_ms;
}

static struct speed_sum weighted(const struct speed_time *time)
{
	double share = time->wall_ms > time->cpu_ms ? time->cpu_ms / time->wall_ms : 1;

	return (struct speed_sum){time->model_ms * share * share, time->cpu_ms * share * share};
}

static bool is_row_of(const struct speed_row *row, const struct jw_driver *driver, bool link)
{
	return row->release == driver->release[0] && row->cuda == driver->cuda && row->link == link;
}

static double usual_factor(bool link)
{
	const struct plan_factors none = {0};

	return plan_factor(&none, link ? CACHE_KEY_LINK : CACHE_KEY_LOAD);
}

static double factor_of_row(const struct speed_row *row)
{
	return (row->sum.real_ms + USUAL_MS * usual_factor(row->link)) / (row->sum.model_ms + USUAL_MS);
}

/* From the least to the most telling: a row of the other form, one of another driver, that of this
 * one; of several the last. */
static double find_factor(const struct speed_table *table, const struct jw_driver *driver,
						  bool link, int *ret_best)
{
	double factor = 0;
	int best = 0;

	for (size_t i = 0; i < table->count; i++) {
		const struct speed_row *row = &table->rows[i];
		int worth = is_row_of(row, driver, link) ? 3 : row->link == link ? 2 : 1;

		if (worth < best)
			continue;
		best = worth;
		factor = factor_of_row(row) * usual_factor(link) / usual_factor(row->link);
	}
	*ret_best = best;
	return factor;
}

struct plan_factors speed_factors(const struct speed_table *table, const struct jw_driver *driver)
{
	struct plan_factors factors;
	int load, link;

	factors.load = find_factor(table, driver, false, &load);
	factors.link = find_factor(table, driver, true, &link);
	factors.spread = load == 3 || link == 3 ? LEARNT_SPREAD : 0;
	return factors;
}

/* Removes the row from the table; an empty sum if it has no such row. */
static struct speed_sum take_row(struct speed_table *table, const struct jw_driver *driver,
								 bool link)
{
	struct speed_sum sum = {0};

	for (size_t i = table->count; i-- > 0;) {
		if (!is_row_of(&table->rows[i], driver, link))
			continue;
		sum = table->rows[i].sum;
		memmove(&table->rows[i], &table->rows[i + 1], (--table->count - i) * sizeof *table->rows);
	}
	return sum;
}

static void add_sum(struct speed_table *table, const struct jw_driver *driver, bool link,
					const struct speed_time *time)
{
	struct speed_row row = {driver->release[0], driver->cuda, link, {0, 0}};
	const struct speed_sum sum = weighted(time);

	if (!is_believable(&sum))
		return;
	row.sum = take_row(table, driver, link);
	if (row.sum.model_ms > MOST_OLD_MS) {
		row.sum.real_ms *= MOST_OLD_MS / row.sum.model_ms;
		row.sum.model_ms = MOST_OLD_MS;
	}
	row.sum.model_ms += sum.model_ms;
	row.sum.real_ms += sum.real_ms;
	if (table->count == LEARN_MOST_ROWS)
		memmove(table->rows, table->rows + 1, --table->count * sizeof *table->rows);
	table->rows[table->count++] = row;
}

void speed_add(struct speed_table *table, const struct jw_driver *driver,
			   const struct speed_run *run)
{
	add_sum(table, driver, true, &run->link);
	add_sum(table, driver, false, &run->load);
}

static bool parse_row(const cJSON *object, struct speed_row *ret_row)
{
	const uint64_t release = json_count(object, "release"), cuda = json_count(object, "cuda");
	const char *form = json_text(object, "form", "");
	const struct speed_sum sum = {json_number(object, "model_ms", 0),
								  json_number(object, "real_ms", 0)};
	bool link = !strcmp(form, "link");

	if ((!link && strcmp(form, "load") != 0) || release > 1000000 || cuda > 1000000 ||
		!is_believable(&sum))
		return false;
	*ret_row = (struct speed_row){(uint32_t)release, (uint32_t)cuda, link, sum};
	return true;
}

void speed_parse(const char *text, size_t size, struct speed_table *ret_table)
{
	cJSON *document = json_parse(NULL, text, size);
	const cJSON *rows = NULL, *object;

	*ret_table = (struct speed_table){0};
	if (document && !strcmp(json_text(document, "schema", ""), schema))
		rows = cJSON_GetObjectItemCaseSensitive(document, "rows");
	if (!cJSON_IsArray(rows))
		rows = NULL;
	cJSON_ArrayForEach(object, rows)
	{
		if (ret_table->count < LEARN_MOST_ROWS)
			ret_table->count += parse_row(object, &ret_table->rows[ret_table->count]);
	}
	cJSON_Delete(document);
}

static bool add_row(cJSON *array, const struct speed_row *row)
{
	cJSON *object = cJSON_CreateObject();

	if (object && cJSON_AddNumberToObject(object, "release", row->release) &&
		cJSON_AddNumberToObject(object, "cuda", row->cuda) &&
		cJSON_AddStringToObject(object, "form", row->link ? "link" : "load") &&
		cJSON_AddNumberToObject(object, "model_ms", row->sum.model_ms) &&
		cJSON_AddNumberToObject(object, "real_ms", row->sum.real_ms) &&
		cJSON_AddItemToArray(array, object))
		return true;
	cJSON_Delete(object);
	return false;
}

/* One line; cJSON_free. NULL when memory is short. */
static char *table_line(const struct speed_table *table)
{
	cJSON *document = cJSON_CreateObject(), *rows = NULL;
	char *line = NULL;
	bool complete = document && cJSON_AddStringToObject(document, "schema", schema);

	if (complete)
		rows = cJSON_AddArrayToObject(document, "rows");
	complete = rows != NULL;
	for (size_t i = 0; complete && i < table->count; i++)
		complete = add_row(rows, &table->rows[i]);
	if (complete)
		line = json_line(NULL, document);
	cJSON_Delete(document);
	return line;
}

static void read_table(const char *path, struct speed_table *ret_table)
{
	struct buf text = {0};

	*ret_table = (struct speed_table){0};
	if (!os_read_file(NULL, path, MOST_BYTES, &text))
		speed_parse(buf_text(&text), text.size, ret_table);
	buf_free(&text);
}

struct plan_factors speed_recall(const char *state_dir, const struct jw_driver *driver)
{
	char *path = state_dir ? os_join(NULL, state_dir, "speed.json") : NULL;
	struct speed_table table = {0};

	if (path)
		read_table(path, &table);
	mem_free(path);
	return speed_factors(&table, driver);
}

void speed_remember(const char *state_dir, const struct jw_driver *driver,
					const struct speed_run *run)
{
	char *path = state_dir ? os_join(NULL, state_dir, "speed.json") : NULL, *line = NULL;
	struct speed_table table;

	if (!path || !(run->load.cpu_ms + run->link.cpu_ms > 0))
		goto done;
	read_table(path, &table);
	speed_add(&table, driver, run);
	line = table_line(&table);
	if (line && !os_make_dirs(NULL, state_dir, 0700))
		(void)os_write_atomic(NULL, path, line, strlen(line));
done:
	cJSON_free(line);
	mem_free(path);
}
