#include "cli/parts/prime_history.h"

#include <string.h>

#include <jitwarm/startup.h>
#include <jitwarm/system.h>

#include "base/json.h"
#include "base/mem.h"
#include "cli/documents/documents.h"
#include "os/clock.h"
#include "os/file.h"

/* jw_state_remove knows both names. */
static const char history_name[] = "runs-primed.jsonl", timeline_name[] = "runs-timeline.json";
enum { MOST_TIMELINE = 8 << 20 };

/* Not of a cache that is not this account's own: nothing starts warm by that. */
static bool is_remembered(const struct cli *cli)
{
	const struct jw_system *system = cli->system;

	return system && system->state_dir && !system->elsewhere && !system->cache.named;
}

static uint64_t first_of(const struct jw_prime_result *result)
{
	uint64_t first = UINT64_MAX;

	for (size_t i = 0; i < result->slice_count; i++)
		if (result->slices[i].from_ns < first)
			first = result->slices[i].from_ns;
	return first;
}

static void keep_timeline(const struct cli *cli, const struct jw_prime_result *result)
{
	struct timeline_document document = {.time_s = os_now_s(), .seconds = result->seconds};
	const uint64_t first_ns = first_of(result);
	char *path = os_join(NULL, cli->system->state_dir, timeline_name), *line = NULL;

	document.slices = mem_array(NULL, result->slice_count, sizeof *document.slices);
	for (size_t i = 0; document.slices && i < result->slice_count; i++)
		document.slices[document.count++] = (struct timeline_slice){
			.slice = result->slices[i],
			.from_s = (double)(result->slices[i].from_ns - first_ns) / 1e9,
			.took_s = (double)result->slices[i].took_ns / 1e9,
		};
	if (path && document.slices)
		line = json_object_line(NULL, &document_timeline, &document);
	if (line && !os_make_parent(NULL, path, 0700))
		(void)os_write_atomic(NULL, path, line, strlen(line));
	cJSON_free(line);
	mem_free(document.slices);
	mem_free(path);
}

size_t prime_history_restored(const struct jw_prime_result *result)
{
	const struct jw_carry_result *carried = result->reuse.carried;

	return result->reuse.refilled.entries + result->shared.fetched +
		   (carried ? carried->carried : 0);
}

bool prime_history_keep(const struct cli *cli, const struct jw_prime_result *result)
{
	if (!is_remembered(cli) || !(result->compiled || prime_history_restored(result)))
		return false;
	if (result->compiled)
		keep_timeline(cli, result);
	return true;
}

void prime_history_add(const struct cli *cli, const char *line)
{
	char *path = os_join(NULL, cli->system->state_dir, history_name);

	if (path)
		(void)jw_log_append(NULL, path, line);
	mem_free(path);
}

void prime_history_read(const char *state_dir, size_t most, char ***ret_lines, size_t *ret_count)
{
	char *path = state_dir ? os_join(NULL, state_dir, history_name) : NULL;

	*ret_lines = NULL;
	*ret_count = 0;
	if (path && jw_log_tail(NULL, path, most, ret_lines, ret_count))
		*ret_count = 0;
	mem_free(path);
}

cJSON *prime_history_timeline(const char *state_dir)
{
	char *path = state_dir ? os_join(NULL, state_dir, timeline_name) : NULL;
	struct buf text = {0};
	cJSON *timeline = NULL;

	if (path && !os_read_file(NULL, path, MOST_TIMELINE, &text))
		timeline = json_parse(NULL, buf_text(&text), text.size);
	buf_free(&text);
	mem_free(path);
	if (!strcmp(json_text(timeline, "schema", ""), document_timeline.schema))
		return timeline;
	cJSON_Delete(timeline);
	return NULL;
}
