/* jitwarm caches: the caches of other compilers. */
#include "base/text.h"
#include "cli/command.h"
#include "cli/documents/documents.h"
#include "cli/table.h"
#include "os/clock.h"

static const char *age_text(char text[TEXT_SHORT], const struct jw_compiler_cache *cache)
{
	const int64_t age_s = os_now_s() - cache->newest_ns / 1000000000, day_s = 86400;

	if (!cache->newest_ns)
		text_copy(text, TEXT_SHORT, "no file");
	else if (age_s < day_s)
		text_copy(text, TEXT_SHORT, "today");
	else
		(void)text_count(text, (uint64_t)(age_s / day_s), "day", "days");
	return text;
}

static int print_caches(struct jw_error *err, const struct output *out,
						const struct jw_compiler_caches *caches)
{
	struct table table = {
		.columns = 6,
		.titles = {"cache", "of", "size", "files", "age", "directory"},
		.align = {[2] = TABLE_RIGHT, TABLE_RIGHT, TABLE_RIGHT},
	};
	char size[TEXT_SHORT], age[TEXT_SHORT];
	int result;

	for (size_t i = 0; i < caches->count; i++) {
		const struct jw_compiler_cache *cache = &caches->items[i];

		table_name(&table, STYLE_STRONG, cache->name);
		table_cell(&table, STYLE_PLAIN, "%s", cache->belongs_to);
		table_cell(&table, STYLE_PLAIN, "%s%s", text_bytes(size, cache->bytes),
				   cache->cut ? " or more" : "");
		table_cell(&table, STYLE_PLAIN, "%zu", cache->files);
		table_cell(&table, STYLE_PLAIN, "%s", age_text(age, cache));
		table_cell(&table, STYLE_PLAIN, "%s%s%s%s", cache->path, cache->moved ? " (" : "",
				   cache->moved ? cache->variable : "", cache->moved ? ")" : "");
	}
	result = table_print(err, &table, out);
	table_free(&table);
	return result;
}

static void print_notes(const struct output *out, const struct jw_compiler_caches *caches)
{
	char size[TEXT_SHORT];

	for (size_t i = 0; i < caches->count; i++) {
		const struct jw_compiler_cache *cache = &caches->items[i];

		for (size_t at = 0; at < cache->superseded_count; at++)
			output_line(out, STYLE_WARN,
						"%s: %s is of an older version: a newer one reads nothing there",
						cache->name, cache->superseded[at]);
		if (cache->superseded_count)
			output_line(out, STYLE_PLAIN, "%s: older versions hold %s", cache->name,
						text_bytes(size, cache->superseded_bytes));
		if (cache->cut)
			output_note(out, "%s: %s has more than %d names: the rest was not looked at",
						cache->name, cache->path, (int)JW_COMPILER_CACHE_MOST_NAMES);
		if (cache->unread)
			output_note(out, "%s: %s could not be read", cache->path,
						TEXT_COUNT(cache->unread, "folder", "folders"));
	}
}

static int caches_run(struct jw_error *err, struct cli *cli)
{
	struct jw_compiler_caches *caches;
	int failed;

	if (jw_compiler_caches_find(err, true, &caches))
		return -1;
	if (!caches->count)
		output_line(&cli->out, STYLE_PLAIN, "No other compiler has a cache here.");
	failed = caches->count && output_wants_text(&cli->out) && print_caches(err, &cli->out, caches);
	if (!failed) {
		print_notes(&cli->out, caches);
		failed = document_print(err, &cli->out, &document_caches, caches);
	}
	jw_compiler_caches_free(caches);
	return failed ? -1 : 0;
}

const struct cli_command command_caches = {
	.name = "caches",
	.summary = "List the caches of other compilers on this machine",
	.usage = "",
	.description =
		"Lists the caches of compilers other than the driver's (Triton, Inductor, CuPy, vLLM, "
		"FlashInfer, Warp, OptiX and others) that this account has: where they are, and which "
		"variable has moved them, how large they are, how old their newest file is, and which "
		"folders are of a version that is not the newest there (for caches that name versions). "
		"jitwarm neither fills nor removes anything there. It follows no links inside them, and "
		"looks at 500000 names of each at most.",
	.no_operands = "nothing can be named here",
	.run = caches_run,
};
