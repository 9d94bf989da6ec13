#include "history/totals.h"

#include <string.h>

#include "base/json.h"
#include "base/json_table.h"
#include "base/mem.h"
#include "history/ledger.h"
#include "os/clock.h"
#include "os/file.h"

enum { MOST_TOTALS_BYTES = 4096 };
static const char totals_schema[] = "jitwarm.totals/1";
/* cJSON writes fifteen digits. */
static const uint64_t MOST_TOTAL = UINT64_C(1000000000000000);
/* Three hundred years */
static const double MOST_SAVED_S = 1e10;

static const struct json_field totals_rows[] = {
	JSON(struct jw_totals, compiled, NULL),
	JSON(struct jw_totals, from_store, NULL),
	JSON(struct jw_totals, from_shared, NULL),
	JSON(struct jw_totals, from_registries, NULL),
	JSON(struct jw_totals, saved_seconds, NULL),
	JSON_AS("since", struct jw_totals, since_s, NULL),
	{0},
};
static const struct json_table totals_table = {
	.schema = totals_schema, .fields = totals_rows, .size = sizeof(struct jw_totals)};

static uint64_t total_of(uint64_t before, uint64_t more)
{
	return before < MOST_TOTAL && more < MOST_TOTAL - before ? before + more : MOST_TOTAL;
}

static double believable_saved_s(double seconds)
{
	return seconds > 0 ? seconds < MOST_SAVED_S ? seconds : MOST_SAVED_S : 0;
}

int totals_parse(struct jw_error *err, const char *text, size_t size, struct jw_totals *ret_totals)
{
	struct jw_error why = {0};
	cJSON *document = json_parse(&why, text, size);

	if (why.code == JW_ERR_MEMORY)
		return error_copy(err, &why);
	*ret_totals = (struct jw_totals){0};
	if (document && !strcmp(json_text(document, "schema", ""), totals_schema))
		*ret_totals = (struct jw_totals){
			.compiled = json_count(document, "compiled"),
			.from_store = json_count(document, "from_store"),
			.from_shared = json_count(document, "from_shared"),
			.from_registries = json_count(document, "from_registries"),
			.saved_seconds = believable_saved_s(json_number(document, "saved_seconds", 0)),
			.since_s = (int64_t)json_count(document, "since"),
		};
	cJSON_Delete(document);
	return 0;
}

static char *totals_path(const char *state_dir)
{
	return state_dir ? os_join(NULL, state_dir, "totals.json") : NULL;
}

/* 0 also where there is no such file yet. */
static int read_totals(struct jw_error *err, const char *path, struct jw_totals *ret_totals)
{
	struct jw_error why = {0};
	struct buf text = {0};
	int result;

	if (os_read_file(&why, path, MOST_TOTALS_BYTES, &text))
		result = why.code == JW_ERR_LIMIT ? 0 : error_unless_missing(err, &why);
	else
		result = totals_parse(err, buf_text(&text), text.size, ret_totals);
	buf_free(&text);
	return result;
}

void totals_recall(const char *state_dir, struct jw_totals *ret_totals)
{
	char *path = totals_path(state_dir);

	*ret_totals = (struct jw_totals){0};
	if (path)
		(void)read_totals(NULL, path, ret_totals);
	mem_free(path);
}

static bool is_anything(const struct jw_totals *run)
{
	return run->compiled || run->from_store || run->from_shared || run->from_registries ||
		   run->saved_seconds > 0;
}

void totals_add(const char *state_dir, const struct jw_totals *run)
{
	char *path = is_anything(run) ? totals_path(state_dir) : NULL, *line = NULL;
	struct os_file *lock = NULL;
	struct jw_totals totals = {0};

	if (path && !os_make_dirs(NULL, state_dir, 0700) && !ledger_lock(NULL, state_dir, &lock) &&
		lock && !read_totals(NULL, path, &totals)) {
		totals.compiled = total_of(totals.compiled, run->compiled);
		totals.from_store = total_of(totals.from_store, run->from_store);
		totals.from_shared = total_of(totals.from_shared, run->from_shared);
		totals.from_registries = total_of(totals.from_registries, run->from_registries);
		totals.saved_seconds = believable_saved_s(totals.saved_seconds + run->saved_seconds);
		if (!totals.since_s)
			totals.since_s = os_now_s();
		line = json_object_line(NULL, &totals_table, &totals);
		if (line)
			(void)os_write_atomic(NULL, path, line, strlen(line));
	}
	os_file_close(lock);
	cJSON_free(line);
	mem_free(path);
}
