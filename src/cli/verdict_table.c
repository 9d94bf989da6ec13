#include "cli/verdict_table.h"

#include <stdio.h>

#include "base/text.h"
#include "cli/gpu_targets.h"
#include "cli/module_text.h"

void verdict_keep_newer(struct jw_driver *newest, const struct jw_driver *driver)
{
	if (driver->cuda > newest->cuda)
		*newest = *driver;
}

bool verdict_is_trifle(const struct jw_seconds *start)
{
	return start->high < 0.1 && jw_may_need_none(start);
}

bool verdict_is_lazy(enum jw_loading loading, const struct jw_seconds *start)
{
	return loading == JW_LOADING_LAZY || (loading == JW_LOADING_MIXED && jw_may_need_none(start));
}

struct verdict_row verdict_checked(const struct jw_check_result *result,
								   const struct jw_check_gpu *gpu)
{
	return (struct verdict_row){.target = gpu->target,
								.modules = gpu->modules,
								.cold = gpu->cold,
								.failing = gpu->fate.failing,
								.refused = gpu->fate.refused,
								.unsure = gpu->unplanned.tile || gpu->unplanned.unknown,
								.useless = result->verdict == JW_VERDICT_USELESS,
								.harmful = result->cache.harmful,
								.nameless = !result->names_known,
								.ptx_bytes = gpu->cold_bytes,
								.forecast = gpu->forecast};
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
			buf_add(text, "; otherwise each is compiled when first used");
		else if (forecast->loading == JW_LOADING_MIXED)
			buf_add(text, "; otherwise some are compiled when first used");
		return;
	}
	buf_add(text,
			row->nameless && lazy                   ? "up to %s, if not in the cache"
			: row->nameless                         ? "%s to compile, if not in the cache"
			: lazy                                  ? "up to %s"
			: forecast->loading == JW_LOADING_MIXED ? "%s to compile, some when first used"
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
		buf_add(text, ", when first used");
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

struct verdict_row verdict_of_total(const struct jw_scan_total *total)
{
	return (struct verdict_row){.target = total->target,
								.modules = total->modules,
								.cold = total->modules,
								.failing = total->fate.failing,
								.unsure = total->tile || total->unknown,
								.ptx_bytes = total->ptx_bytes,
								.forecast = total->forecast,
								.driver_from = total->driver_from,
								.older_differ = total->older_differ && !total->fails_to,
								.driver_to = total->driver_to};
}

const char *verdict_separator(const struct buf *line)
{
	return line->size ? "; " : "";
}

static bool is_work_lazy(const struct jw_scan_work *work)
{
	return verdict_is_lazy(work->loading, &work->start);
}

static void add_start_work(struct buf *line, const struct jw_scan_work *work, const char *what)
{
	char ptx[TEXT_SHORT], start[TEXT_SHORT];

	buf_add(line,
			is_work_lazy(work) ? "%sup to %s to %s (%s of PTX), %s on one core"
							   : "%s%s to %s (%s of PTX): %s on one core",
			verdict_separator(line), TEXT_COUNT(work->modules, "module", "modules"), what,
			text_bytes(ptx, work->ptx_bytes), text_span(start, work->start.low, work->start.high));
}

/* Pieces for another GPU alone are among those without code for this one (add_lacking), or the
 * library does without them. */
static void add_cannot(struct buf *line, const struct jw_scan_verdicts *verdicts)
{
	char driver[JW_DRIVER_TEXT], too_new[JW_DRIVER_TEXT + 64] = "PTX that no known driver reads";
	char unknown[JW_DRIVER_TEXT + 96] = "a kind that the driver does not know";
	char zstd[JW_DRIVER_TEXT + 64];
	const struct {
		size_t count;
		const char *why;
	} reasons[] = {
		{verdicts->runs ? 0 : verdicts->cannot_exclusive, "only for another GPU"},
		{verdicts->cannot_too_new - verdicts->cannot_kind, too_new},
		{verdicts->cannot_kind, unknown},
		{verdicts->cannot_zstd, zstd},
		{verdicts->cannot_early, "PTX that is older than its target needs"},
		{verdicts->cannot_damaged, "damaged"},
	};

	if (verdicts->needs.cuda)
		(void)text_format(too_new, sizeof too_new, "too new: it needs driver %s or newer",
						  jw_driver_text(driver, &verdicts->needs));
	if (verdicts->unknown_kind)
		(void)text_format(unknown, sizeof unknown, "of kind 0x%x, which the driver does not know",
						  verdicts->unknown_kind);
	else if (verdicts->kind_needs.cuda)
		(void)text_format(unknown, sizeof unknown, "Tile IR: it needs driver %s or newer",
						  jw_driver_text(driver, &verdicts->kind_needs));
	(void)text_format(zstd, sizeof zstd, "compressed with zstd: it needs driver %s or newer",
					  jw_driver_text(driver, &verdicts->zstd_needs));
	for (size_t i = 0; i < sizeof reasons / sizeof *reasons; i++)
		if (reasons[i].count)
			buf_add(line, "%s%s unusable (%s)", verdict_separator(line),
					TEXT_COUNT(reasons[i].count, "piece of code is", "pieces of code are"),
					reasons[i].why);
}

enum style verdict_print_file(struct buf *line, const struct jw_scan_verdicts *verdicts)
{
	const struct jw_scan_work *work = &verdicts->start_work;
	const bool compiles = work->modules && !verdict_is_trifle(&work->start);
	/* The running code is then a part of the link's inputs. */
	const bool fails = verdicts->fails,
			   native = (verdicts->native || verdicts->compatible) && !fails;
	bool link = verdicts->link_needed == JW_SCAN_NEED_YES && verdicts->link_work.modules;
	char bytes[TEXT_SHORT], unknown[JW_SCAN_UNKNOWN_TEXT], driver[JW_DRIVER_TEXT];

	if (compiles)
		add_start_work(line, work, "compile");
	if (link)
		add_start_work(line, &verdicts->link_work, "compile for linking");
	if (verdicts->left_out)
		buf_add(line, "%s%s (%s of PTX) compiled when used; “prime --all” includes them",
				verdict_separator(line),
				TEXT_COUNT(verdicts->loose_work.modules, "module", "modules"),
				text_bytes(bytes, verdicts->loose_work.ptx_bytes));
	if (verdicts->tile)
		buf_add(line,
				"%s%s of Tile IR, compiled by the driver at first load; jitwarm cannot tell if "
				"it is in the cache",
				verdict_separator(line), TEXT_COUNT(verdicts->tile, "piece", "pieces"));
	if (verdicts->unknown)
		buf_add(line, "%s%s", verdict_separator(line),
				jw_scan_unknown_text(unknown, verdicts->unknown, verdicts->unknown_kind));
	if (verdicts->runtime) {
		buf_add(line, "%sfails: its CUDA runtime needs driver %s or newer", verdict_separator(line),
				jw_driver_text(driver, &verdicts->needs));
		return STYLE_BAD;
	}
	if (fails || !verdicts->runs)
		add_cannot(line, verdicts);
	if (line->size && !verdicts->runs)
		return compiles || link || verdicts->left_out || native || verdicts->tile ||
					   verdicts->unknown
				   ? STYLE_WARN
				   : STYLE_BAD;
	if (verdicts->runs) {
		const bool runs = !line->size;
		const size_t broken = verdicts->cannot_early + verdicts->cannot_damaged;
		struct jw_driver needs = verdicts->needs;

		if (runs)
			buf_add(line, "runs");
		verdict_keep_newer(&needs, &verdicts->kind_needs);
		verdict_keep_newer(&needs, &verdicts->zstd_needs);
		if (verdicts->cannot_early)
			buf_add(line, "; %s", jw_scan_early_text(unknown, verdicts->cannot_early));
		if (verdicts->cannot_damaged)
			buf_add(line, "; %s",
					TEXT_COUNT(verdicts->cannot_damaged, "piece is damaged", "pieces are damaged"));
		if (verdicts->lacking > broken)
			buf_add(line, "; %s",
					jw_scan_lacking_text(unknown, verdicts->lacking - broken, verdicts->pieces,
										 verdicts->target));
		if (verdicts->too_new)
			buf_add(line,
					verdicts->too_new == 1 ? "; %zu piece needs driver %s or newer"
										   : "; %zu pieces need driver %s or newer",
					verdicts->too_new, jw_driver_text(driver, &needs));
		return runs && !verdicts->too_new ? STYLE_GOOD : STYLE_WARN;
	}
	if (native) {
		buf_add(line, "runs");
		return STYLE_GOOD;
	}
	if (work->modules) {
		buf_add(line, "nothing that a start has to compile");
		return STYLE_GOOD;
	}
	if (verdicts->link) {
		buf_add(line, verdicts->link_needed == JW_SCAN_NEED_UNKNOWN
						  ? "relocatable code; jitwarm cannot tell whether a start links it"
						  : "relocatable code, not linked at start");
		return STYLE_FAINT;
	}
	buf_add(line, verdicts->nothing || fails ? "no kernel image for this GPU"
											 : "no code that a driver loads");
	return verdicts->nothing || fails ? STYLE_BAD : STYLE_FAINT;
}

/* Adds the changes with newer drivers, one after the other. */
static void add_changes(struct buf *line, const struct jw_scan_total *total)
{
	size_t modules = total->modules, failing = total->fate.failing;

	for (size_t i = 0; i < total->newer_count; i++) {
		const struct jw_scan_change *change = &total->newer[i];

		if (change->modules == modules && change->failing == failing)
			buf_add(line, "; driver %u runs more of the code", change->driver);
		else if (change->failing && change->modules)
			buf_add(line, "; with driver %u: %s will fail, %s to compile", change->driver,
					TEXT_COUNT(change->failing, "file", "files"),
					TEXT_COUNT(change->modules, "module", "modules"));
		else if (change->failing)
			buf_add(line, "; with driver %u: %s will fail", change->driver,
					TEXT_COUNT(change->failing, "file", "files"));
		else if (change->modules)
			buf_add(line,
					change->may_need_none ? "; with driver %u: up to %s to compile when used"
										  : "; with driver %u: %s to compile",
					change->driver, TEXT_COUNT(change->modules, "module", "modules"));
		else
			buf_add(line,
					change->unsure
						? "; with driver %u: jitwarm cannot tell whether a start compiles anything"
						: "; with driver %u: nothing to compile",
					change->driver);
		modules = change->modules;
		failing = change->failing;
	}
}

void verdict_print_drivers(struct buf *line, const struct jw_scan_total *total)
{
	char first[16], last[16], fails[TEXT_SHORT];
	const bool failing = total->fate.failing != 0;

	(void)snprintf(first, sizeof first, "%u", total->fails_from);
	(void)snprintf(last, sizeof last, "%u", total->fails_to);
	if (total->fails_from != total->fails_to)
		(void)text_format(fails, sizeof fails, "%s to %s", first, last);
	else
		TEXT_COPY(fails, last);
	if (!total->driver_from && total->fails_to)
		buf_add(line, "programs fail with driver %s", fails);
	else if (total->driver_from && !total->driver_to)
		buf_add(line,
				failing ? "the same files fail with driver %u and newer ones"
						: "this holds for driver %u and newer ones",
				total->driver_from);
	else if (total->driver_from && total->driver_from != total->driver_to)
		buf_add(line,
				failing ? "the same files fail with driver %u to %u"
						: "this holds for driver %u to %u",
				total->driver_from, total->driver_to);
	else if (total->driver_from)
		buf_add(line, "this holds for driver %u only", total->driver_from);
	else if (total->newer_count)
		buf_add(line, "this holds for this driver only");
	if (total->driver_from && total->fails_to && failing)
		buf_add(line, "; driver %s is also too old", fails);
	else if (total->driver_from && total->fails_to)
		buf_add(line,
				total->older_differ
					? "; older drivers load less of the code, and programs fail with driver %s"
					: "; programs fail with driver %s",
				fails);
	else if (total->driver_from && total->older_differ)
		buf_add(line, "; older drivers load less of the code");
	add_changes(line, total);
}

/* ---- the table */

static void add_drivers(struct table *table, const struct verdict_row *row)
{
	if (row->failing || !row->driver_from)
		table_cell(table, STYLE_PLAIN, "–");
	else if (!row->driver_to)
		table_cell(table, STYLE_PLAIN,
				   row->older_differ ? "%u+ (older drivers load less code)" : "%u+",
				   row->driver_from);
	else if (row->driver_from == row->driver_to)
		table_cell(table, STYLE_PLAIN, "%u", row->driver_from);
	else
		table_cell(table, STYLE_PLAIN, "%u to %u", row->driver_from, row->driver_to);
}

static void add_module_counts(struct table *table, const struct verdict_row *row)
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
				   text_set_time(most, (uint64_t)(row->most_start_s * 1000 + 0.5)));
}

static void add_packages(struct table *table, const struct verdict_row *row)
{
	enum { MOST = 6 };
	struct buf text = BUF_MAX(VERDICT_SENTENCE);

	for (size_t i = 0; i < row->package_count && i < MOST; i++)
		buf_add(&text, "%s%s", i ? ", " : "", row->packages[i]);
	if (row->package_count > MOST)
		buf_add(&text, ", …");
	if (!row->package_count)
		buf_add(&text, "%s", TEXT_COUNT(row->images, "file", "files"));
	table_cell(table, STYLE_PLAIN, "%s", buf_text(&text));
	buf_free(&text);
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
	case VERDICT_COLUMN_MODULES: add_module_counts(table, row); break;
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
	case VERDICT_COLUMN_CODE: add_packages(table, row); break;
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
		[VERDICT_COLUMN_CODE] = "device code in",
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
