#include "cli/progress.h"

#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/language.h"
#include "cli/terminal.h"
#include "os/clock.h"
#include "os/console.h"

static const uint64_t DRAW_EVERY_NS = 100000000, LINE_EVERY_NS = 10000000000,
					  WAITING_NS = 8000000000;
enum { NARROWEST_BAR = 10, WIDEST_BAR = 40, MAX_MESSAGE = 1 << 16, WORDS = 160 };

/* Returns a share between 0 and 1; 1 only when all modules are done. */
static double progress_share(const struct progress *progress)
{
	double share;

	if (progress->done_modules >= progress->total_modules)
		return 1;
	if (progress->total_weight > 0)
		share = progress->done_weight / progress->total_weight;
	else
		share = (double)progress->done_modules / (double)progress->total_modules;
	return share < 0 ? 0 : share > 0.999 ? 0.999 : share;
}

double progress_seconds_left(double elapsed_s, double changed_s, double share)
{
	double left = changed_s * (1 - share) / share - (elapsed_s - changed_s);

	/* The first modules are the most expensive, so an early estimate would jump. There is no
	 * estimate while one module takes longer than predicted for all the others. */
	return share < 0.01 || changed_s < 1 || left <= 0 ? -1 : left;
}

static double seconds_between(uint64_t from_ns, uint64_t to_ns)
{
	return to_ns > from_ns ? (double)(to_ns - from_ns) / 1e9 : 0;
}

/* The order in which details are dropped on a narrow terminal. */
enum detail { WITHOUT_UNIT, WITHOUT_SIZE, WHOLE };

/* Cuts a text at a whole letter: a terminal's line has fewer columns than bytes. */
static const char *cut_letters(char *text)
{
	size_t size = strlen(text), begin = size;

	while (begin && ((unsigned char)text[begin - 1] & 0xc0) == 0x80)
		begin--;
	if (begin && text_utf8_next(text + begin - 1, size - begin + 1, NULL) != size - begin + 1)
		text[begin - 1] = '\0';
	return text;
}

/* Returns the seconds left; not positive if unknown. */
static double seconds_left(const struct progress *progress, uint64_t now_ns)
{
	return progress->shown_left_s > 0
			   ? progress->shown_left_s
			   : progress_seconds_left(seconds_between(progress->started_ns, now_ns),
									   seconds_between(progress->started_ns, progress->changed_ns),
									   progress_share(progress));
}

/* Writes "37 % 152/412 modules, 210 MiB, 3 min 20 s left". */
static void describe_progress(char text[WORDS], const struct progress *progress, uint64_t now_ns,
							  enum detail detail)
{
	char size[TEXT_SHORT], left[TEXT_SHORT];
	double share = progress_share(progress), seconds = seconds_left(progress, now_ns);
	int length =
		snprintf(text, WORDS, "%3u %%  %zu/%zu%s%s", (unsigned)(share * 100),
				 progress->done_modules, progress->total_modules, detail == WITHOUT_UNIT ? "" : " ",
				 detail == WITHOUT_UNIT ? "" : language_text(progress->unit));
	size_t used = length > 0 ? (size_t)length : 0;

	if (progress->done_bytes && detail == WHOLE && used < WORDS)
		used += (size_t)snprintf(text + used, WORDS - used, ", %s",
								 text_bytes(size, progress->done_bytes));
	if (progress->done_modules < progress->total_modules && used < WORDS && seconds > 0) {
		char *said = language_translated(mem_printf("%s left", text_duration(left, seconds)));

		(void)snprintf(text + used, WORDS - used, ", %s", said);
		mem_free(said);
	}
}

const char *progress_line(char text[PROGRESS_LINE], const struct progress *progress,
						  uint64_t now_ns, unsigned columns)
{
	static const char full[] = "########################################";
	static const char empty[] = "........................................";
	char words[WORDS];
	size_t room = columns < PROGRESS_LINE ? columns : PROGRESS_LINE - 1;
	size_t label = strlen(progress->label), taken, bar, filled;

	describe_progress(words, progress, now_ns, WHOLE);
	for (enum detail less = WHOLE; less > WITHOUT_UNIT && strlen(words) > room;)
		describe_progress(words, progress, now_ns, --less);
	taken = strlen(words) + 4 + (label ? label + 1 : 0);
	bar = room > taken ? room - taken : 0;
	if (bar < NARROWEST_BAR) {
		(void)snprintf(text, room + 1, "%s", words);
		return cut_letters(text);
	}
	bar = bar > WIDEST_BAR ? WIDEST_BAR : bar;
	filled = (size_t)(progress_share(progress) * (double)bar);
	(void)snprintf(text, room + 1, "%s%s[%.*s%.*s] %s", progress->label, label ? " " : "",
				   (int)filled, full, (int)(bar - filled), empty, words);
	return cut_letters(text);
}

/* Returns to the beginning of the line and erases it; this works wherever escape sequences do. */
static void erase(struct progress *progress)
{
	if (progress->is_drawn)
		output_put(2, "\r\x1b[K");
	progress->is_drawn = false;
}

static void draw(struct progress *progress)
{
	char line[PROGRESS_LINE], whole[PROGRESS_LINE + 8];
	/* Leaves the last column free, because some terminals wrap after writing it. */
	unsigned columns = os_terminal_columns(2);

	progress->columns = columns;
	(void)snprintf(whole, sizeof whole, "\r%s\x1b[K",
				   progress_line(line, progress, os_monotonic_ns(), columns ? columns - 1 : 0));
	output_put(2, whole);
	progress->is_drawn = true;
}

static void print_plain(struct progress *progress)
{
	char words[WORDS], line[WORDS + PROGRESS_LINE];

	describe_progress(words, progress, os_monotonic_ns(), WHOLE);
	/* Keeps the order of lines when both streams go to one log. */
	output_flush();
	(void)snprintf(line, sizeof line, "jitwarm: %s%s%s\n", progress->label,
				   *progress->label ? " " : "", words + strspn(words, " "));
	output_put(2, line);
}

static void print_object(struct progress *progress)
{
	const bool over = progress->done_modules >= progress->total_modules;
	const double left = over ? 0 : seconds_left(progress, os_monotonic_ns());
	cJSON *object = cJSON_CreateObject();
	char *line, *text;

	cJSON_AddStringToObject(object, "phase", progress->phase);
	cJSON_AddNumberToObject(object, "done", (double)progress->done_modules);
	cJSON_AddNumberToObject(object, "total", (double)progress->total_modules);
	cJSON_AddStringToObject(object, "unit", progress->unit);
	cJSON_AddNumberToObject(object, "failed", (double)progress->failed);
	cJSON_AddNumberToObject(object, "fraction", progress_share(progress));
	if (over || left > 0)
		cJSON_AddNumberToObject(object, "seconds_left", left);
	if (progress->current && *progress->current)
		(void)json_add_text(object, "current", progress->current);
	line = json_line(object);
	text = mem_printf("%s\n", line);
	output_flush();
	output_put(2, text);
	mem_free(text);
	cJSON_free(line);
	cJSON_Delete(object);
}

/* Prints the messages that came while nobody was reading. */
static void print_kept(struct progress *progress)
{
	for (size_t i = 0; i < progress->kept_count; i++) {
		output_note(progress->output, "%s", progress->kept[i]);
		mem_free(progress->kept[i]);
	}
	mem_free(progress->kept);
	progress->kept = NULL;
	progress->kept_count = 0;
}

void progress_start(struct progress *progress, const struct output *output, size_t total_modules,
					double total_weight, const char *label)
{
	*progress = (struct progress){.output = output,
								  .label = language_text(label),
								  .unit = "modules",
								  .phase = label,
								  .total_modules = total_modules,
								  .total_weight = total_weight,
								  .started_ns = os_monotonic_ns()};
	progress->is_terminal = !output->progress_json && terminal_rewrites(2);
	progress->shown_ns = progress->changed_ns = progress->started_ns;
	if (!output->quiet && progress->is_terminal && total_modules)
		draw(progress);
}

static void show(struct progress *progress)
{
	uint64_t now = os_monotonic_ns(), since = now - progress->shown_ns;
	double share = progress_share(progress);

	if (progress->output->progress_json) {
		/* progress_finish prints the last one. */
		if (progress->is_drawn && (since < DRAW_EVERY_NS || share >= 1))
			return;
		/* Compiling continues while nobody reads, so this event is dropped. */
		if (!os_fd_takes(2, 0))
			return;
		print_kept(progress);
		print_object(progress);
		progress->is_drawn = true;
	} else if (progress->is_terminal) {
		if (since < DRAW_EVERY_NS && os_terminal_columns(2) == progress->columns)
			return;
		draw(progress);
	} else {
		if (since < LINE_EVERY_NS || share - progress->shown_share < 0.1 || share >= 1)
			return;
		print_plain(progress);
	}
	progress->shown_ns = now;
	progress->shown_share = share;
}

void progress_set_current(struct progress *progress, const char *current)
{
	mem_free(progress->current);
	progress->current = mem_string(current);
}

void progress_update(struct progress *progress, size_t done_modules, double done_weight,
					 uint64_t done_bytes)
{
	if (done_modules > progress->done_modules)
		progress->done_modules = done_modules;
	if (done_weight > progress->done_weight) {
		progress->done_weight = done_weight;
		progress->changed_ns = os_monotonic_ns();
	}
	if (done_bytes > progress->done_bytes)
		progress->done_bytes = done_bytes;
	if ((!progress->output->quiet || progress->output->progress_json) && progress->total_modules)
		show(progress);
}

void progress_message(struct progress *progress, const char *line)
{
	/* false for lines and objects */
	const bool was_drawn = progress->is_drawn && progress->is_terminal;

	if (progress->output->quiet)
		return;
	if (was_drawn)
		erase(progress);
	if (progress->output->progress_json && (progress->kept_count || !os_fd_takes(2, 0))) {
		progress->kept =
			mem_resize(progress->kept, (progress->kept_count + 1) * sizeof *progress->kept);
		progress->kept[progress->kept_count++] = mem_string(line);
		return;
	}
	output_note(progress->output, "%s", line);
	if (was_drawn)
		draw(progress);
}

void progress_finish(struct progress *progress)
{
	print_kept(progress);
	if (progress->total_modules && progress->output->progress_json)
		print_object(progress);
	else if (progress->total_modules && !progress->output->quiet && progress->is_terminal)
		erase(progress);
	else if (progress->total_modules && !progress->output->quiet)
		print_plain(progress);
	mem_free(progress->current);
	progress->current = NULL;
}

static const uint64_t mebibyte = 1 << 20;

static size_t mebibytes(uint64_t bytes)
{
	return (size_t)(bytes / mebibyte + (bytes % mebibyte != 0));
}

void fetching_report(void *context, uint64_t done_bytes, uint64_t total_bytes)
{
	struct fetching *fetching = context;
	const uint64_t now = os_monotonic_ns();

	if (total_bytes || !fetching->waiting_ns)
		fetching->waiting_ns = total_bytes ? 0 : now;
	if (!total_bytes && !fetching->has_waited && now - fetching->waiting_ns > WAITING_NS &&
		!fetching->output->progress_json && !terminal_rewrites(2)) {
		fetching->has_waited = true;
		output_note(fetching->output, "%s", "waiting for the package index");
	}
	if (total_bytes < mebibyte) /* too small to display */
		return;
	if (fetching->total_bytes != total_bytes)
		fetching_end(fetching);
	if (!fetching->progress.output) {
		fetching->total_bytes = total_bytes;
		progress_start(&fetching->progress, fetching->output, mebibytes(total_bytes),
					   (double)total_bytes, fetching->label);
		fetching->progress.unit = "MiB";
		fetching->progress.phase = fetching->phase ? fetching->phase : "fetching";
		progress_set_current(&fetching->progress, fetching->label);
	}
	progress_update(&fetching->progress,
					done_bytes < total_bytes ? (size_t)(done_bytes / mebibyte)
											 : mebibytes(total_bytes),
					(double)done_bytes, 0);
}

struct jw_compiler_fetch_options fetching_options(struct fetching *fetching)
{
	return (struct jw_compiler_fetch_options){
		.context = fetching, .progress = fetching_report, .cancel = cli_cancel};
}

void fetching_end(struct fetching *fetching)
{
	if (fetching->progress.output)
		progress_finish(&fetching->progress);
	fetching->progress = (struct progress){0};
}

void prime_bar_end(struct prime_bar *bar)
{
	if (bar->is_shown)
		progress_finish(&bar->progress);
	bar->is_shown = false;
}

void prime_bar_report(void *bar, const struct jw_prime_progress *report)
{
	struct prime_bar *prime_bar = bar;
	struct progress *progress = &prime_bar->progress;

	if (report->phase == JW_PRIME_KEEPING) {
		prime_bar_end(prime_bar);
		return;
	}
	if (!prime_bar->is_shown) {
		progress_start(progress, prime_bar->output, report->total, report->total_weight_ms,
					   report->phase == JW_PRIME_CARRYING ? "carrying over" : "compiling");
		progress->phase = report->phase == JW_PRIME_CARRYING ? "carrying" : "compiling";
	}
	prime_bar->is_shown = true;
	progress->failed = report->failed;
	progress_set_current(progress, report->current);
	progress->shown_left_s = report->seconds_left;
	progress_update(progress, report->done, report->done_weight_ms, report->done_bytes);
}

void prime_bar_message(void *bar, const char *line)
{
	struct prime_bar *prime_bar = bar;

	if (prime_bar->is_shown)
		progress_message(&prime_bar->progress, line);
	else
		output_note(prime_bar->output, "%s", line);
}
