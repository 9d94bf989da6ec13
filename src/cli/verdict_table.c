#include "cli/verdict_table.h"

#include "base/text.h"
#include "cli/gpu_targets.h"
#include "cli/module_text.h"

bool verdict_is_trifle(const struct jw_seconds *start)
{
	return start->high < 0.1 && jw_may_need_none(start);
}

bool verdict_is_lazy(enum jw_loading loading, const struct jw_seconds *start)
{
	return loading == JW_LOADING_LAZY || (loading == JW_LOADING_MIXED && jw_may_need_none(start));
}

static void add_compiled(struct buf *text, const struct verdict_row *row, unsigned details)
{
	const struct jw_forecast *forecast = &row->forecast;
	const bool lazy = verdict_is_lazy(forecast->loading, &forecast->start);
	char modules[TEXT_SHORT], size[TEXT_SHORT], start[TEXT_SHORT], prime[TEXT_SHORT];

	(void)text_span(start, forecast->start.low, forecast->start.high);
	if (row->cold < row->modules || (details & VERDICT_OF && !row->nameless))
		(void)text_format(modules, sizeof modules, "%zu of %s", row->cold,
						  TEXT_COUNT(row->modules, "module", "modules"));
	else
		(void)text_format(modules, sizeof modules, "%s",
						  TEXT_COUNT(row->modules, "module", "modules"));
	if (details & VERDICT_ALL) {
		buf_add(text, "%s to compile", modules);
		buf_add(text, " (%s of PTX)", text_bytes(size, row->ptx_bytes));
		if (lazy)
			buf_add(text,
					"; without prime, a program compiles what it uses, when it first uses it");
		else if (forecast->loading == JW_LOADING_MIXED)
			buf_add(text,
					"; without prime, a program compiles some of them when it first uses them");
		return;
	}
	buf_add(text,
			row->nameless && lazy                   ? "up to %s, if not in the cache"
			: row->nameless                         ? "%s to compile, if not in the cache"
			: lazy                                  ? "up to %s"
			: forecast->loading == JW_LOADING_MIXED ? "%s to compile, some of them when a program "
													  "first uses them"
			: jw_may_need_none(&forecast->start)    ? "%s to compile that programs may not need"
													: "%s to compile",
			modules);
	if (details & VERDICT_PTX || row->nameless)
		buf_add(text, " (%s of PTX)", text_bytes(size, row->ptx_bytes));
	if (row->nameless && !lazy)
		return; /* this much time need not be saved */
	if (lazy) {
		if (details & (VERDICT_PRIME | VERDICT_START) && !row->nameless)
			buf_add(text, ", %s", start);
		buf_add(text, ": a program compiles what it uses, when it first uses it");
		if (details & VERDICT_PRIME && !row->nameless)
			buf_add(text, "; prime %s",
					text_span(prime, forecast->prime.low, forecast->prime.high));
		return;
	}
	if (details & VERDICT_PRIME)
		buf_add(text, ": first start %s, prime %s", start,
				text_span(prime, forecast->prime.low, forecast->prime.high));
	else if (details & VERDICT_START)
		buf_add(text, ": %s on one core", start);
}

enum style verdict_print(struct buf *text, const struct verdict_row *row, unsigned details)
{
	const size_t before = text->size;
	char all[TEXT_SHORT];

	if (row->held_files) {
		buf_add(text, "%s that may hold device code", TEXT_COUNT(row->held_files, "file", "files"));
		return STYLE_PLAIN;
	}
	if (row->failing)
		buf_add(text,
				row->refused == row->failing ? "the driver refuses code in %s" : "%s will fail",
				TEXT_COUNT(row->failing, "file", "files"));
	if (row->modules && text->size > before)
		buf_add(text, "; ");
	if (row->modules && row->useless)
		buf_add(text, "%s to compile at every start",
				TEXT_COUNT(row->modules, "module", "modules"));
	else if (row->cold)
		add_compiled(text, row, details);
	else if (row->modules)
		buf_add(text,
				row->failing || row->unsure || row->harmful ? "%s in the cache"
															: "warm, %s in the cache",
				module_text_all(all, row->modules));
	if (row->unsure)
		buf_add(text, text->size > before
						  ? "; jitwarm cannot tell about other code"
						  : "jitwarm cannot tell whether a start compiles anything");
	if (text->size == before)
		buf_add(text, "nothing to compile");
	return row->failing ? STYLE_BAD
		   : row->cold || row->unsure || (row->modules && (row->useless || row->harmful))
			   ? STYLE_WARN
			   : STYLE_GOOD;
}

void verdict_line(const struct output *out, const char *head, const struct verdict_row *row,
				  unsigned details)
{
	struct buf text = BUF_MAX(VERDICT_SENTENCE);
	const enum style style = verdict_print(&text, row, details);
	char gpu[GPUS_NAME];

	output_line(out, style, "%s%s: %s", head,
				row->name ? row->name : gpu_targets_name(gpu, out, row->target), buf_text(&text));
	buf_free(&text);
}

void verdict_print_lacking(struct buf *text, size_t lacking, size_t pieces, const char *kernels)
{
	buf_add(text,
			lacking == 1 ? "%zu of %s has no code for this GPU: a program that uses it fails"
						 : "%zu of %s have no code for this GPU: a program that uses one fails",
			lacking, TEXT_COUNT(pieces, "piece", "pieces"));
	if (*kernels)
		buf_add(text, " (kernels: %s)", kernels);
}

static void add_drivers(struct table *table, const struct verdict_row *row)
{
	if (row->failing || !row->driver_from)
		table_cell(table, STYLE_PLAIN, "–");
	else if (!row->driver_to)
		table_cell(table, STYLE_PLAIN, "%u+", row->driver_from);
	else if (row->driver_from == row->driver_to)
		table_cell(table, STYLE_PLAIN, "%u", row->driver_from);
	else
		table_cell(table, STYLE_PLAIN, "%u to %u", row->driver_from, row->driver_to);
}

static void add_modules(struct table *table, const struct verdict_row *row)
{
	if (row->not_run)
		table_cell(table, STYLE_BAD, "not run by this driver");
	else if (row->failing)
		table_cell(table, STYLE_BAD, "fails");
	else if (!row->modules && row->unsure)
		table_cell(table, STYLE_WARN, "cannot tell");
	else
		table_cell(table,
				   !row->modules                             ? STYLE_GOOD
				   : verdict_is_trifle(&row->forecast.start) ? STYLE_PLAIN
															 : STYLE_WARN,
				   verdict_is_lazy(row->forecast.loading, &row->forecast.start) ? "up to %s" : "%s",
				   TEXT_COUNT(row->modules, "module", "modules"));
}

static void add_bound(struct table *table, const struct verdict_row *row)
{
	const bool over = row->forecast.start.likely > row->most_start_s;
	char most[TEXT_SHORT];

	if (row->failing || row->unsure || !row->modules)
		table_cell(table, STYLE_PLAIN, "–");
	else
		table_cell(table, over ? STYLE_BAD : STYLE_GOOD, over ? "over %s" : "within %s",
				   text_duration(most, row->most_start_s));
}

static void add_cell(struct table *table, const struct output *out, const struct verdict_row *row,
					 enum verdict_column column)
{
	const bool compiles = row->modules && !row->failing;
	struct buf text = BUF_MAX(VERDICT_SENTENCE);
	char gpu[GPUS_NAME], short_text[TEXT_SHORT];
	enum style style;

	switch (column) {
	case VERDICT_COLUMN_KIND: table_cell(table, STYLE_PLAIN, "%s", row->kind); break;
	case VERDICT_COLUMN_NAME: table_name(table, STYLE_STRONG, row->name); break;
	case VERDICT_COLUMN_GPU:
		table_cell(table, STYLE_STRONG, "%s", gpu_targets_name(gpu, out, row->target));
		break;
	case VERDICT_COLUMN_ANSWER:
		style = verdict_print(&text, row, VERDICT_START);
		table_cell(table, style, "%s", buf_text(&text));
		buf_free(&text);
		break;
	case VERDICT_COLUMN_MODULES: add_modules(table, row); break;
	case VERDICT_COLUMN_START:
		table_cell(table, STYLE_PLAIN, "%s",
				   compiles
					   ? text_span(short_text, row->forecast.start.low, row->forecast.start.high)
					   : "–");
		break;
	case VERDICT_COLUMN_CACHE:
		table_cell(table, STYLE_PLAIN, "%s",
				   compiles ? text_bytes(short_text, row->forecast.cache_bytes) : "–");
		break;
	case VERDICT_COLUMN_DRIVERS: add_drivers(table, row); break;
	case VERDICT_COLUMN_BOUND: add_bound(table, row); break;
	case VERDICT_COLUMNS: break;
	}
}

int verdict_table_print(struct jw_error *err, const struct output *out,
						const enum verdict_column *columns, size_t column_count,
						const struct verdict_row *rows, size_t count)
{
	static const char *const titles[VERDICT_COLUMNS] = {
		[VERDICT_COLUMN_KIND] = "kind",
		[VERDICT_COLUMN_NAME] = "where",
		[VERDICT_COLUMN_GPU] = "GPU",
		[VERDICT_COLUMN_ANSWER] = "its first start",
		[VERDICT_COLUMN_MODULES] = "to compile",
		[VERDICT_COLUMN_START] = "first start",
		[VERDICT_COLUMN_CACHE] = "cache",
		[VERDICT_COLUMN_DRIVERS] = "driver",
		[VERDICT_COLUMN_BOUND] = "",
	};
	struct table table = {.columns = column_count};
	int failed;

	for (size_t k = 0; k < column_count; k++) {
		table.titles[k] = titles[columns[k]];
		table.align[k] = columns[k] == VERDICT_COLUMN_CACHE ? TABLE_RIGHT : TABLE_LEFT;
	}
	for (size_t i = 0; i < count; i++)
		for (size_t k = 0; k < column_count; k++)
			add_cell(&table, out, &rows[i], columns[k]);
	failed = count ? table_print(err, &table, out) : 0;
	table_free(&table);
	return failed;
}
