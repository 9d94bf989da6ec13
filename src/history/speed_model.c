#include "history/speed_model.h"

#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "os/file.h"
#include "plan/estimate.h"

enum { MOST_BYTES = 64 << 10 };
static const char schema[] = "jitwarm.speed/2";

/* No machine is so far from the model. Such a value comes from a driver that compiled nothing, a
 * clock that jumps, or a forged file. */
static const double MOST_FACTOR = 20;
static const double MOST_MS = 1e12;
/* Earlier runs weigh at most MOST_OLD_MS. The expectation weighs EXPECTED_MS, so that three tiny
 * modules do not decide; an expectation from the gauge weighs a multiple of the gauge, which counts
 * less on a busy processor, as a run does. */
static const double MOST_OLD_MS = 120e3, EXPECTED_MS = 1e3, GAUGE_WEIGHT = 0.5;
/* Real libraries relative to the gauge's small modules, each by the model; and the factor by which
 * a sum is off one time in ten (docs/estimates.md). */
static const double LOAD_BY_GAUGE = 1.25, LINK_BY_GAUGE = 0.8;
/* The weight of the usual ratio beside the gauge's: a third of a second is off by a factor of 1.2,
 * and machines differ by one of 1.6 (the standard deviations of the logarithms, docs/estimates.md).
 */
static const double GAUGE_DOUBT = 0.125;
static const double GAUGE_SPREAD = 1.6, LEARNT_SPREAD = 1.25;

static const char *const kind_names[SPEED_KINDS] = {
	[SPEED_LOAD] = "load", [SPEED_LINK] = "link", [SPEED_GAUGE] = "gauge", [SPEED_TRIED] = "tried"};

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

static bool is_row_of(const struct speed_row *row, const struct jw_driver *driver,
					  enum speed_kind kind)
{
	return row->release == driver->release[0] && row->cuda == driver->cuda && row->kind == kind;
}

static const struct speed_row *find_row(const struct speed_table *table,
										const struct jw_driver *driver, enum speed_kind kind)
{
	for (size_t i = table->count; i-- > 0;)
		if (is_row_of(&table->rows[i], driver, kind))
			return &table->rows[i];
	return NULL;
}

static double usual_factor(enum speed_kind kind)
{
	const struct plan_factors none = {0};

	return plan_factor(&none, kind == SPEED_LINK ? CACHE_KEY_LINK : CACHE_KEY_LOAD);
}

/* The factor measured with other drivers; of several rows the last wins, and one of the same kind
 * beats any other. 0: not measured. */
static double factor_elsewhere(const struct speed_table *table, enum speed_kind kind)
{
	double factor = 0;
	bool same = false;

	for (size_t i = 0; i < table->count; i++) {
		const struct speed_row *row = &table->rows[i];
		const double weight = row->sum.model_ms + EXPECTED_MS;

		if (row->kind == SPEED_GAUGE || row->kind == SPEED_TRIED || (same && row->kind != kind))
			continue;
		same = row->kind == kind;
		factor = (row->sum.real_ms + EXPECTED_MS * usual_factor(row->kind)) / weight *
				 usual_factor(kind) / usual_factor(row->kind);
	}
	return factor;
}

/* The expectation before this driver was measured, and its weight. The factor is 0 if nothing is
 * known. */
static double expected_factor(const struct speed_table *table, const struct jw_driver *driver,
							  enum speed_kind kind, double *ret_weight)
{
	const struct speed_row *gauge = find_row(table, driver, SPEED_GAUGE);
	double measured;

	*ret_weight = gauge ? GAUGE_WEIGHT * gauge->sum.model_ms : EXPECTED_MS;
	if (!gauge)
		return factor_elsewhere(table, kind);
	measured = gauge->sum.real_ms / gauge->sum.model_ms *
			   (kind == SPEED_LINK ? LINK_BY_GAUGE : LOAD_BY_GAUGE);
	return measured + (usual_factor(kind) - measured) * GAUGE_DOUBT;
}

static double find_factor(const struct speed_table *table, const struct jw_driver *driver,
						  enum speed_kind kind)
{
	const struct speed_row *learnt = find_row(table, driver, kind);
	double weight, expected = expected_factor(table, driver, kind, &weight);

	if (!learnt)
		return expected;
	if (!(expected > 0))
		expected = usual_factor(kind);
	return (learnt->sum.real_ms + weight * expected) / (learnt->sum.model_ms + weight);
}

/* 0: not measured. */
static double find_spread(const struct speed_table *table, const struct jw_driver *driver)
{
	if (find_row(table, driver, SPEED_LOAD) || find_row(table, driver, SPEED_LINK))
		return LEARNT_SPREAD;
	return find_row(table, driver, SPEED_GAUGE) ? GAUGE_SPREAD : 0;
}

struct plan_factors speed_factors(const struct speed_table *table, const struct jw_driver *driver)
{
	return (struct plan_factors){.load = find_factor(table, driver, SPEED_LOAD),
								 .link = find_factor(table, driver, SPEED_LINK),
								 .spread = find_spread(table, driver)};
}

/* Removes the row from the table; returns an empty sum if there is none. */
static struct speed_sum take_row(struct speed_table *table, const struct jw_driver *driver,
								 enum speed_kind kind)
{
	struct speed_sum sum = {0};

	for (size_t i = table->count; i-- > 0;) {
		if (!is_row_of(&table->rows[i], driver, kind))
			continue;
		sum = table->rows[i].sum;
		memmove(&table->rows[i], &table->rows[i + 1], (--table->count - i) * sizeof *table->rows);
	}
	return sum;
}

static void put_row(struct speed_table *table, const struct jw_driver *driver, enum speed_kind kind,
					struct speed_sum sum)
{
	if (table->count == LEARN_MOST_ROWS)
		memmove(table->rows, table->rows + 1, --table->count * sizeof *table->rows);
	table->rows[table->count++] = (struct speed_row){driver->release[0], driver->cuda, kind, sum};
}

static void add_sum(struct speed_table *table, const struct jw_driver *driver, enum speed_kind kind,
					const struct speed_time *time)
{
	const struct speed_sum more = weighted(time);
	struct speed_sum sum;

	if (!is_believable(&more))
		return;
	sum = take_row(table, driver, kind);
	if (sum.model_ms > MOST_OLD_MS) {
		sum.real_ms *= MOST_OLD_MS / sum.model_ms;
		sum.model_ms = MOST_OLD_MS;
	}
	sum.model_ms += more.model_ms;
	sum.real_ms += more.real_ms;
	put_row(table, driver, kind, sum);
}

void speed_add(struct speed_table *table, const struct jw_driver *driver,
			   const struct speed_run *run)
{
	add_sum(table, driver, SPEED_LINK, &run->link);
	add_sum(table, driver, SPEED_LOAD, &run->load);
}

void speed_add_gauge(struct speed_table *table, const struct jw_driver *driver,
					 const struct speed_time *time)
{
	const struct speed_sum sum = weighted(time);

	(void)take_row(table, driver, SPEED_TRIED);
	/* No machine is four times as fast as the model's: the driver hardly compiled. */
	if (!is_believable(&sum) || sum.real_ms * 4 < sum.model_ms) {
		put_row(table, driver, SPEED_TRIED, (struct speed_sum){1, 1});
		return;
	}
	(void)take_row(table, driver, SPEED_GAUGE);
	put_row(table, driver, SPEED_GAUGE, sum);
}

struct plan_factors speed_factors_by_gauge(const struct jw_driver *driver,
										   const struct speed_time *time)
{
	struct speed_table table = {0};

	speed_add_gauge(&table, driver, time);
	return speed_factors(&table, driver);
}

bool speed_is_known(const struct speed_table *table, const struct jw_driver *driver)
{
	return find_spread(table, driver) > 0 || find_row(table, driver, SPEED_TRIED);
}

static bool parse_kind(const char *name, enum speed_kind *ret_kind)
{
	for (unsigned i = 0; i < SPEED_KINDS; i++) {
		if (strcmp(name, kind_names[i]) != 0)
			continue;
		*ret_kind = (enum speed_kind)i;
		return true;
	}
	return false;
}

static bool parse_row(const cJSON *object, struct speed_row *ret_row)
{
	const uint64_t release = json_count(object, "release"), cuda = json_count(object, "cuda");
	const struct speed_sum sum = {json_number(object, "model_ms", 0),
								  json_number(object, "real_ms", 0)};
	enum speed_kind kind;

	if (!parse_kind(json_text(object, "form", ""), &kind) || release > 1000000 || cuda > 1000000 ||
		!is_believable(&sum))
		return false;
	*ret_row = (struct speed_row){(uint32_t)release, (uint32_t)cuda, kind, sum};
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
		cJSON_AddStringToObject(object, "form", kind_names[row->kind]) &&
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

static char *table_path(const char *state_dir)
{
	return state_dir ? os_join(NULL, state_dir, "speed.json") : NULL;
}

static void recall_table(const char *state_dir, struct speed_table *ret_table)
{
	char *path = table_path(state_dir);

	*ret_table = (struct speed_table){0};
	if (path)
		read_table(path, ret_table);
	mem_free(path);
}

static void keep_table(const char *state_dir, const struct speed_table *table)
{
	char *path = table_path(state_dir), *line = table_line(table);

	if (path && line && !os_make_dirs(NULL, state_dir, 0700))
		(void)os_write_atomic(NULL, path, line, strlen(line));
	cJSON_free(line);
	mem_free(path);
}

struct plan_factors speed_recall(const char *state_dir, const struct jw_driver *driver)
{
	struct speed_table table;

	recall_table(state_dir, &table);
	return speed_factors(&table, driver);
}

bool speed_is_remembered(const char *state_dir, const struct jw_driver *driver)
{
	struct speed_table table;

	recall_table(state_dir, &table);
	return speed_is_known(&table, driver);
}

void speed_remember(const char *state_dir, const struct jw_driver *driver,
					const struct speed_run *run)
{
	struct speed_table table;

	if (!state_dir || !(run->load.cpu_ms + run->link.cpu_ms > 0))
		return;
	recall_table(state_dir, &table);
	speed_add(&table, driver, run);
	keep_table(state_dir, &table);
}

void speed_remember_gauge(const char *state_dir, const struct jw_driver *driver,
						  const struct speed_time *time)
{
	struct speed_table table;

	if (!state_dir)
		return;
	recall_table(state_dir, &table);
	speed_add_gauge(&table, driver, time);
	keep_table(state_dir, &table);
}
