/* jitwarm watch: whether a process hangs or compiles. */
#include <string.h>

#include <uv.h>

#include <jitwarm/check.h>
#include <jitwarm/find.h>
#include <jitwarm/system.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/pace.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/document.h"
#include "cli/language.h"
#include "cli/next_step.h"
#include "cli/places.h"
#include "cli/process_view.h"
#include "cli/terminal.h"
#include "cli/verdict_table.h"
#include "os/clock.h"
#include "os/console.h"
#include "os/interrupt.h"
#include "os/platform.h"
#include "os/processes.h"

/* ---- the document */

enum watch_state { WATCH_COMPILING, WATCH_LINKING, WATCH_BUSY, WATCH_WAITING, WATCH_STATES };

struct watch_document {
	struct process_view process;
	const char *cache; /* NULL if the driver has none for it */
	double seconds, cpu_seconds;
	double compiling_s, linking_s, busy_s, waiting_s;
	double left_s;        /* for the modules left; negative if unknown */
	size_t entries, left; /* entries that appeared, and modules of its files that the cache lacks */
	uint64_t bytes;
	unsigned processes;     /* the process and those that it has started, at the last poll */
	enum watch_state state; /* the last state */
	bool ended;             /* the process has ended */
	bool judged;            /* the mapped files were examined, with these answers */
	enum jw_verdict verdict;
	struct jw_fate fate;
};

static const struct json_field watched_fields[] = {
	JSON(struct watch_document, process.pid, "the number of the process"),
	JSON(struct watch_document, process.name, "the name of the process's program"),
	JSON(struct watch_document, process.driver, "the process has loaded NVIDIA's driver"),
	JSON(struct watch_document, process.compiler, "the process has loaded the driver's compiler"),
	JSON(struct watch_document, process.others, "compilers that cache their own results"),
	{0},
};

static const char *const watch_names[] = {
	[WATCH_COMPILING] = "compiling", [WATCH_LINKING] = "linking", [WATCH_BUSY] = "busy",
	[WATCH_WAITING] = "waiting",     [WATCH_STATES] = NULL,
};

static const struct json_field watch_fields[] = {
	JSON_PART("process", JSON_TABLE(struct watch_document, watched_fields),
			  "the process that was watched"),
	JSON(struct watch_document, cache, "the cache directory that the driver uses for the process",
		 .presence = JSON_UNLESS_NULL),
	JSON(struct watch_document, seconds, "how long the process was watched"),
	JSON(struct watch_document, cpu_seconds,
		 "the processor time that the process used while it was watched"),
	JSON_AS("compiling_seconds", struct watch_document, compiling_s,
			"the time during which the driver compiled for the process"),
	JSON_AS("linking_seconds", struct watch_document, linking_s,
			"the driver's compiler was loaded, the process was busy, no entry appeared, and "
			"no module was left"),
	JSON_AS("busy_seconds", struct watch_document, busy_s,
			"the process was busy with something else"),
	JSON_AS("waiting_seconds", struct watch_document, waiting_s, "the process waited"),
	JSON(struct watch_document, entries,
		 "entries of any program that appeared in the cache while the process was watched"),
	JSON(struct watch_document, bytes, "the size of the entries that appeared"),
	JSON(struct watch_document, left,
		 "modules of the process's libraries that are not in the cache"),
	JSON_FORMATTED("verdict", struct watch_document, verdict, document_verdict,
				   "the answer of `check` for the files that the process has loaded",
				   JSON_IF(struct watch_document, judged)),
	JSON_MEMBERS_OF(struct watch_document, fate, &document_fate),
	JSON_AS("left_seconds", struct watch_document, left_s,
			"the time that compiling the modules in `left` will take, by the prediction and the "
			"pace so far; -1: unknown"),
	JSON(struct watch_document, processes,
		 "the number of processes: the watched one and those that it has started"),
	JSON(struct watch_document, state, "the last state of the process", .names = watch_names),
	JSON(struct watch_document, ended, "the process has ended"),
	{0},
};
const struct json_table document_watch = {.schema = "jitwarm.watch/1", .fields = watch_fields};

/* A process is waiting if it used less than this part of a core since the last sample, and was not
 * runnable at both samples. */
#define BUSY_PART 0.2

enum { POLL_MS = 500, LAST_SAMPLE_S = 2, NEWS_EVERY_S = 10, LINE_EVERY_S = 60, MAX_LINE = 1 << 12 };

/* The facts at one moment. */
struct watch_sample {
	struct os_process_use use;
	size_t entries;
	uint64_t bytes;
	uint64_t at_ns;
};

struct watching {
	struct cli *cli;
	int pid;
	uint64_t until_ns; /* by os_monotonic_ns; 0: until the process ends */
	struct watch_sample first, last;
	size_t files; /* files that were mapped at the last check */
	size_t checked_entries;
	bool counted; /* modules were counted at the last poll */
	/* if counted: the predictions for all modules left, and for the longest of them */
	double model_ms, longest_ms;
	struct watch_left left;
	struct verdict_row answer; /* about the mapped files, at the last count */
	double unsure_s;           /* the part of linking_s since the last entry appeared */
	bool rewrites, said;       /* each line replaces the one before; a line was printed */
	double shown_s;            /* when the last line was printed, and the number in it */
	size_t shown_entries, shown_left;
	struct watch_document document;
};

/* ---- polling */

/* Reads the cache's state. The system is opened each time, because the cache may not exist yet. */
static int sample_cache(struct jw_error *err, struct watching *watching,
						struct watch_sample *sample)
{
	const struct jw_system_options asleep = {.asleep = true};
	struct cli *cli = watching->cli;

	jw_system_free(cli->system);
	cli->system = NULL;
	if (jw_system_open(err, &asleep, &cli->system))
		return -1;
	sample->entries = cli->system->cache.outlook.entries;
	sample->bytes = cli->system->cache.outlook.bytes;
	return 0;
}

/* Counts the modules of the mapped files that the cache lacks. */
static int count_left(struct jw_error *err, struct watching *watching)
{
	const struct process_view *code = &watching->document.process;
	const struct jw_find_options find = {
		.names = (const char *const *)code->paths, .name_count = code->count, .cancel = cli_cancel};
	struct jw_check_options check = {.system = watching->cli->system, .cancel = cli_cancel};
	struct jw_check_result *result = NULL;
	struct jw_found *found = NULL;
	int failed = 0;

	watching->document.left = 0;
	watching->document.judged = false;
	watching->document.fate = (struct jw_fate){0};
	watching->answer = (struct verdict_row){0};
	if (!code->count || !check.system->gpu_count || jw_find(NULL, &find, &found))
		return 0;
	check.found = found;
	failed = jw_check(err, &check, &result);
	if (!failed) {
		watching->document.left = result->all.cold;
		watching->document.judged = true;
		watching->document.verdict = result->verdict;
		watching->document.fate = result->all.fate;
		watching->answer = verdict_checked(result, &result->all);
		watching->counted = true;
		watching->model_ms = result->all.forecast.start.likely * 1000;
		watching->longest_ms = result->all.forecast.longest_seconds * 1000;
	}
	jw_result_free(result);
	jw_result_free(found);
	return failed;
}

/* Reads one sample; -1 with JW_ERR_NOT_FOUND if the process has ended. */
static int read_sample(struct jw_error *err, struct watching *watching, struct watch_sample *sample)
{
	struct process_view code;

	sample->at_ns = os_monotonic_ns();
	if (os_process_used(err, watching->pid, &sample->use) || sample_cache(err, watching, sample))
		return -1;
	if (process_view_read(err, watching->pid, watching->until_ns, &code))
		return -1;
	process_view_free(&watching->document.process);
	watching->document.process = code;
	if (code.count == watching->files && sample->entries == watching->checked_entries)
		return 0;
	watching->files = code.count;
	watching->checked_entries = sample->entries;
	return count_left(err, watching);
}

/* ---- judging */

/* Returns the processor time since the last sample. A program that the process started may end
 * between two polls: its time is then lost if nobody waited for it, or is missing in one poll and
 * complete in the next. */
static double used_since(const struct watch_sample *sample, const struct watch_sample *before)
{
	const double used_ms = sample->use.cpu_ms - before->use.cpu_ms;
	const double most_ms = (double)(sample->at_ns - before->at_ns) / 1e6 * os_cores();

	return used_ms > most_ms ? most_ms : used_ms > 0 ? used_ms : 0;
}

static enum watch_state judge_sample(const struct watching *watching,
									 const struct watch_sample *sample)
{
	const double passed_ms = (double)(sample->at_ns - watching->last.at_ns) / 1e6;
	const bool busy = used_since(sample, &watching->last) > BUSY_PART * passed_ms ||
					  (sample->use.runnable && watching->last.use.runnable);
	const struct process_view *code = &watching->document.process;

	if (!busy)
		return WATCH_WAITING;
	/* Another process may fill the same cache, and a long module adds no entry for minutes. */
	if (code->driver && code->compiler &&
		(sample->entries > watching->last.entries || watching->document.left))
		return WATCH_COMPILING;
	return code->compiler ? WATCH_LINKING : WATCH_BUSY;
}

static const char *watch_text(const struct watching *watching)
{
	switch (watching->document.state) {
	case WATCH_COMPILING: return "the driver is compiling";
	case WATCH_LINKING:
		return "busy, with the driver's compiler loaded: the process is linking, compiling code "
			   "that is in no file, or has finished compiling";
	case WATCH_BUSY: return "busy with something other than the driver's compiler";
	case WATCH_WAITING:
	case WATCH_STATES: break;
	}
	return "waiting (for a disk, the network, the GPU, another process)";
}

/* Writes ", about 3 min" for the modules left; "" if unknown, or if it is not compiling. */
static const char *left_text(char text[TEXT_SHORT], const struct watching *watching)
{
	const double seconds = watch_left_seconds(&watching->left);
	const bool goes_on =
		watching->document.state == WATCH_COMPILING || watching->document.state == WATCH_LINKING;
	char time[TEXT_SHORT];

	if (seconds < 0 || !goes_on)
		return "";
	(void)text_format(text, TEXT_SHORT, ", %s", text_span(time, seconds, seconds));
	return text;
}

/* Rewrites the line without changing anything of the terminal that would have to be restored. */
static void rewrite_line(const char *line)
{
	struct buf shown = BUF_MAX(MAX_LINE);
	const unsigned columns = os_terminal_columns(1);

	terminal_append(&shown, line);
	terminal_to_locale(&shown);
	/* Cuts only whole characters; and some terminals wrap after their last column. */
	while (shown.size && terminal_width(buf_text(&shown)) >= columns) {
		do
			shown.size--;
		while (shown.size && (shown.data[shown.size] & 0xc0) == 0x80);
		shown.data[shown.size] = 0;
	}
	output_put(1, "\r\x1b[K");
	output_put(1, buf_text(&shown));
	buf_free(&shown);
}

static void print_sample(struct watching *watching)
{
	const struct watch_document *document = &watching->document;
	struct buf answer = BUF_MAX(VERDICT_SENTENCE);
	char time[TEXT_SHORT], size[TEXT_SHORT], left[TEXT_SHORT], *line;

	(void)verdict_print(&answer, &watching->answer, 0);
	/* The important facts come first, since a narrow terminal shows only the beginning. */
	line = mem_printf(
		"%s: %s%s; its files: %s; %s (%s) appeared%s%s", text_duration(time, document->seconds),
		watch_text(watching), left_text(left, watching), buf_text(&answer),
		TEXT_COUNT(document->entries, "entry", "entries"), text_bytes(size, document->bytes),
		document->process.others[0] ? "; loaded: " : "", document->process.others);
	buf_free(&answer);
	watching->said = true;
	watching->shown_s = document->seconds;
	watching->shown_entries = document->entries;
	watching->shown_left = document->left;
	if (watching->rewrites) {
		line = language_translated(line);
		rewrite_line(line);
	} else {
		output_line(&watching->cli->out, STYLE_PLAIN, "%s", line);
	}
	mem_free(line);
	/* A log, or the reader of a pipe, has to see the line now. */
	output_flush();
}

/* Returns whether a line is due: each time on a terminal; elsewhere after a change, and at least
 * each minute. */
static bool is_line_due(const struct watching *watching, bool changed)
{
	const struct watch_document *document = &watching->document;
	const bool news =
		document->entries != watching->shown_entries || document->left != watching->shown_left;

	return watching->rewrites || !watching->said || changed ||
		   document->seconds - watching->shown_s >= (news ? NEWS_EVERY_S : LINE_EVERY_S);
}

/* Updates the estimate; the elapsed time counts for the modules that were left before. */
static void estimate_left(struct watching *watching, const struct watch_sample *sample)
{
	const enum watch_state state = watching->document.state;

	if (state == WATCH_COMPILING || state == WATCH_LINKING)
		watch_left_spend(&watching->left, (double)(sample->at_ns - watching->last.at_ns) / 1e6,
						 used_since(sample, &watching->last));
	if (watching->counted)
		watch_left_count(&watching->left, watching->files, watching->document.left,
						 watching->model_ms, watching->longest_ms);
	watching->counted = false;
}

static void add_sample(struct watching *watching, const struct watch_sample *sample)
{
	struct watch_document *document = &watching->document;
	double *const times[WATCH_STATES] = {
		[WATCH_COMPILING] = &document->compiling_s,
		[WATCH_LINKING] = &document->linking_s,
		[WATCH_BUSY] = &document->busy_s,
		[WATCH_WAITING] = &document->waiting_s,
	};
	const enum watch_state before = document->state;

	document->state = judge_sample(watching, sample);
	*times[document->state] += (double)(sample->at_ns - watching->last.at_ns) / 1e9;
	if (document->state == WATCH_LINKING)
		watching->unsure_s += (double)(sample->at_ns - watching->last.at_ns) / 1e9;
	/* A module that is in no file was compiled before its entry appears; a link leaves no entry. */
	if (sample->entries > watching->last.entries) {
		document->compiling_s += watching->unsure_s;
		document->linking_s -= watching->unsure_s;
		watching->unsure_s = 0;
	}
	document->seconds = (double)(sample->at_ns - watching->first.at_ns) / 1e9;
	document->cpu_seconds += used_since(sample, &watching->last) / 1e3;
	document->processes = sample->use.processes;
	if (sample->entries > watching->last.entries)
		document->entries += sample->entries - watching->last.entries;
	if (sample->bytes > watching->last.bytes)
		document->bytes += sample->bytes - watching->last.bytes;
	estimate_left(watching, sample);
	watching->last = *sample;
	document->left_s = watch_left_seconds(&watching->left);
	if (is_line_due(watching, before != document->state))
		print_sample(watching);
}

/* ---- the whole run */

static int watch_to_end(struct jw_error *err, struct watching *watching, double most_s)
{
	struct watch_document *document = &watching->document;
	struct jw_error why = {0};

	if (most_s > 0)
		watching->until_ns = os_monotonic_ns() + (uint64_t)((most_s + LAST_SAMPLE_S) * 1e9);
	if (read_sample(err, watching, &watching->first))
		return -1;
	watching->last = watching->first;
	estimate_left(watching, &watching->first);
	watching->rewrites = output_wants_text(&watching->cli->out) && terminal_rewrites(1);
	while (!os_interrupted() && (most_s <= 0 || document->seconds < most_s)) {
		struct watch_sample sample = {0};

		uv_sleep(POLL_MS);
		if (read_sample(&why, watching, &sample)) {
			document->ended = why.code == JW_ERR_NOT_FOUND;
			if (document->ended || why.code == JW_ERR_INTERRUPTED)
				break;
			return error_copy(err, &why);
		}
		if (sample.use.born != watching->first.use.born) {
			document->ended = true;
			break;
		}
		add_sample(watching, &sample);
	}
	return 0;
}

static void print_watch_summary(const struct watching *watching)
{
	const struct watch_document *document = &watching->document;
	const struct output *out = &watching->cli->out;
	char whole[TEXT_SHORT], compiling[TEXT_SHORT], busy[TEXT_SHORT], waiting[TEXT_SHORT];
	char linking[TEXT_SHORT * 4] = "";
	struct buf line = BUF_MAX(NEXT_STEP_MAX);

	if (document->linking_s > 0)
		(void)text_format(
			linking, sizeof linking,
			" and compiled or linked for another %s (jitwarm cannot tell compiling from linking)",
			text_duration(busy, document->linking_s));
	output_line(out, STYLE_STRONG,
				document->ended
					? "%s (%d) has ended after %s: the driver compiled %s of that%s, it was busy "
					  "with something else %s, and waited %s; %s appeared"
					: "%s (%d) was watched for %s: the driver compiled %s of that%s, it was busy "
					  "with something else %s, and waited %s; %s appeared",
				document->process.name[0] ? document->process.name : "the process", watching->pid,
				text_duration(whole, document->seconds),
				text_duration(compiling, document->compiling_s), linking,
				text_duration(busy, document->busy_s), text_duration(waiting, document->waiting_s),
				TEXT_COUNT(document->entries, "entry", "entries"));
	if (!document->process.driver)
		output_line(out, STYLE_PLAIN,
					"The process had not loaded NVIDIA's driver; until the process loads the "
					"driver, nothing is compiled");
	if (document->left || document->entries) {
		buf_add(&line, "jitwarm doctor --pid %d", watching->pid);
		next_step(out, STYLE_FAINT,
				  "Next    see why the modules are compiled, and what to do: ", &line);
	}
}

static int watch_run(struct jw_error *err, struct cli *cli)
{
	const struct options *options = &cli->options;
	struct watching watching = {.cli = cli, .document = {.left_s = -1}};
	const double most_s = (double)options_number(options, "for") / 1e3;
	uint64_t pid = 0;
	int result;

	os_catch_interrupts();
	if (options->operand_count != 1 || !text_number(options->operands[0], INT32_MAX, &pid) || !pid)
		return error_set(err, JW_ERR_USAGE,
						 "name one process by its number; nvidia-smi and pgrep list processes");
	watching.pid = (int)pid;
	result = places_enter_process(err, cli, watching.pid) || watch_to_end(err, &watching, most_s);
	if (watching.rewrites)
		output_put(1, "\r\x1b[K");
	if (!result) {
		watching.document.cache = cli->system ? cli->system->cache.path : NULL;
		print_watch_summary(&watching);
		result = document_print(&cli->out, &document_watch, &watching.document);
	}
	process_view_free(&watching.document.process);
	return result ? cli_hopeless(err, cli, JW_ERR_UNSUPPORTED) : 0;
}

static const struct cli_option watch_options[] = {
	CLI_DURATION("for", "TIME",
				 "End after this time (90s, 5m), even if the process is still running"),
	{0}};

const struct cli_command command_watch = {
	.name = "watch",
	.summary = "Report whether a process hangs or is compiling",
	.usage = "[OPTION]… PID",
	.description =
		"Says whether a running process is waiting for the driver's compiler, and for how much "
		"longer.\n\nTwice a second, watch examines the process and the processes that it has "
		"started: their processor time, the libraries that they have loaded (NVIDIA's driver, the "
		"driver's compiler, other compilers), the entries that appear in the cache, and the "
		"modules of the libraries that the cache lacks. On a terminal, watch rewrites one line. "
		"Elsewhere, watch prints a line when something changes, every ten seconds while entries "
		"appear, and every minute while nothing changes. watch ends with the process, with Ctrl-C "
		"or after --for, and then prints a summary.\n\nThe process is not stopped, traced or "
		"changed. For another account's process, the line to type is printed (“sudo -u NAME "
		"jitwarm watch PID”). Entries of other programs that use the same cache count, "
		"too.\n\nLinux only. To watch a process in a container, run jitwarm in that "
		"container.\n\nExit status: 0 if the process was watched, 2 if the system does not show "
		"the process, 3 if there is no such process.",
	.examples = "jitwarm watch 4242\njitwarm watch --for 1m 4242\n",
	.options = watch_options,
	.reads = true,
	.run = watch_run,
};
