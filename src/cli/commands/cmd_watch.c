/* jitwarm watch: whether a process hangs or compiles. */
#include <stdio.h>
#include <string.h>

#include <uv.h>

#include <jitwarm/check.h>
#include <jitwarm/doctor.h>
#include <jitwarm/find.h>
#include <jitwarm/system.h>

#include "base/text.h"
#include "cli/command.h"
#include "cli/documents/documents.h"
#include "os/clock.h"
#include "os/interrupt.h"
#include "os/processes.h"

/* A process waits that uses less than this part of a core, and wants none. */
#define BUSY_PART 0.2

enum { LOOK_EVERY_MS = 500, SAY_EVERY_S = 10 };

/* What is known at one moment. */
struct watch_look {
	struct os_process_use use;
	size_t entries;
	uint64_t bytes;
	uint64_t at_ns;
};

struct watching {
	struct cli *cli;
	int pid;
	struct watch_look first, last;
	size_t files; /* that were mapped at the last check */
	size_t checked_entries;
	double said_s; /* when a line was printed */
	bool said;
	struct watch_document document;
};

/* ---- looking */

/* The system is opened each time: the cache may not exist yet. */
static int look_at_its_cache(struct jw_error *err, struct watching *watching,
							 struct watch_look *look)
{
	const struct jw_system_options asleep = {.size = sizeof asleep, .asleep = true};
	struct cli *cli = watching->cli;

	jw_system_free(cli->system);
	cli->system = NULL;
	if (jw_system_open(err, &asleep, &cli->system))
		return -1;
	look->entries = cli->system->cache.outlook.entries;
	look->bytes = cli->system->cache.outlook.bytes;
	return 0;
}

/* Modules of the files that it has mapped, and that the cache lacks. */
static int count_left(struct jw_error *err, struct watching *watching)
{
	const struct process_code *code = &watching->document.process;
	const struct jw_find_options find = {.size = sizeof find,
										 .names = (const char *const *)code->paths,
										 .name_count = code->count,
										 .cancel = cli_cancel};
	struct jw_check_options check = {
		.size = sizeof check, .system = watching->cli->system, .cancel = cli_cancel};
	struct jw_check_result *result = NULL;
	struct jw_found *found = NULL;
	int failed = 0;

	watching->document.left = 0;
	if (!code->count || !check.system->gpu_count || jw_find(NULL, &find, &found))
		return 0;
	check.found = found;
	failed = jw_check(err, &check, &result);
	if (!failed)
		watching->document.left = result->all.cold;
	jw_check_result_free(result);
	jw_found_free(found);
	return failed;
}

/* -1 with JW_ERR_NOT_FOUND: it has ended. */
static int take_look(struct jw_error *err, struct watching *watching, struct watch_look *look)
{
	struct process_code code;

	look->at_ns = os_monotonic_ns();
	if (os_process_used(err, watching->pid, &look->use) || look_at_its_cache(err, watching, look) ||
		process_code_read(err, watching->pid, &code))
		return -1;
	process_code_free(&watching->document.process);
	watching->document.process = code;
	if (code.count == watching->files && look->entries == watching->checked_entries)
		return 0;
	watching->files = code.count;
	watching->checked_entries = look->entries;
	return count_left(err, watching);
}

/* ---- judging */

static enum watch_state judge_look(const struct watching *watching, const struct watch_look *look)
{
	const double passed_ms = (double)(look->at_ns - watching->last.at_ns) / 1e6;
	const bool busy = look->use.cpu_ms - watching->last.use.cpu_ms > BUSY_PART * passed_ms ||
					  (look->use.runnable && watching->last.use.runnable);
	const struct process_code *code = &watching->document.process;

	if (!busy)
		return WATCH_WAITING;
	/* Another process may fill the same cache; and a long module adds no entry for minutes. */
	if (code->driver && code->compiler &&
		(look->entries > watching->last.entries || watching->document.left))
		return WATCH_COMPILING;
	return code->compiler ? WATCH_LINKING : WATCH_BUSY;
}

static const char *watch_text(const struct watching *watching)
{
	switch (watching->document.state) {
	case WATCH_COMPILING: return "the driver compiles";
	case WATCH_LINKING: return "busy, with the driver's compiler loaded: it links, or is done";
	case WATCH_BUSY: return "busy with something else than the driver's compiler";
	case WATCH_WAITING:
	case WATCH_STATES: break;
	}
	return "waits (for a disk, the network, the GPU, another process)";
}

static void say_look(const struct watching *watching)
{
	const struct watch_document *document = &watching->document;
	char time[TEXT_SHORT], size[TEXT_SHORT];

	output_line(&watching->cli->out, STYLE_PLAIN, "%s: %s; %s (%s) appeared, %s left%s%s",
				text_duration(time, document->seconds), watch_text(watching),
				TEXT_COUNT(document->entries, "entry", "entries"),
				text_bytes(size, document->bytes), TEXT_COUNT(document->left, "module", "modules"),
				document->process.others[0] ? "; loaded: " : "", document->process.others);
}

static void add_look(struct watching *watching, const struct watch_look *look)
{
	struct watch_document *document = &watching->document;
	double *const times[WATCH_STATES] = {
		[WATCH_COMPILING] = &document->compiling_s,
		[WATCH_LINKING] = &document->linking_s,
		[WATCH_BUSY] = &document->busy_s,
		[WATCH_WAITING] = &document->waiting_s,
	};
	const enum watch_state before = document->state;

	document->state = judge_look(watching, look);
	*times[document->state] += (double)(look->at_ns - watching->last.at_ns) / 1e9;
	document->seconds = (double)(look->at_ns - watching->first.at_ns) / 1e9;
	document->cpu_seconds = (look->use.cpu_ms - watching->first.use.cpu_ms) / 1e3;
	if (look->entries > watching->last.entries)
		document->entries += look->entries - watching->last.entries;
	if (look->bytes > watching->last.bytes)
		document->bytes += look->bytes - watching->last.bytes;
	watching->last = *look;
	if (!watching->said || before != document->state ||
		document->seconds - watching->said_s >= SAY_EVERY_S) {
		watching->said = true;
		watching->said_s = document->seconds;
		say_look(watching);
	}
}

/* ---- the whole */

static int watch_to_end(struct jw_error *err, struct watching *watching, double most_s)
{
	struct watch_document *document = &watching->document;
	struct jw_error why = {0};

	if (take_look(err, watching, &watching->first))
		return -1;
	watching->last = watching->first;
	while (!os_interrupted() && (most_s <= 0 || document->seconds < most_s)) {
		struct watch_look look = {0};

		uv_sleep(LOOK_EVERY_MS);
		if (take_look(&why, watching, &look)) {
			if (why.code != JW_ERR_NOT_FOUND)
				return error_copy(err, &why);
			document->ended = true;
			break;
		}
		if (look.use.born != watching->first.use.born) {
			document->ended = true;
			break;
		}
		add_look(watching, &look);
	}
	return 0;
}

static void say_summary(const struct watching *watching)
{
	const struct watch_document *document = &watching->document;
	const struct output *out = &watching->cli->out;
	char whole[TEXT_SHORT], compiling[TEXT_SHORT], linking[TEXT_SHORT], busy[TEXT_SHORT],
		waiting[TEXT_SHORT], command[64];

	output_line(
		out, STYLE_STRONG,
		document->ended
			? "%s (%d) has ended after %s: the driver compiled %s of that, linked %s, it was "
			  "busy with something else %s, and waited %s; %s appeared"
			: "%s (%d) was watched for %s: the driver compiled %s of that, linked %s, it was "
			  "busy with something else %s, and waited %s; %s appeared",
		document->process.name[0] ? document->process.name : "the process", watching->pid,
		text_duration(whole, document->seconds), text_duration(compiling, document->compiling_s),
		text_duration(linking, document->linking_s), text_duration(busy, document->busy_s),
		text_duration(waiting, document->waiting_s),
		TEXT_COUNT(document->entries, "entry", "entries"));
	(void)snprintf(command, sizeof command, "jitwarm doctor --pid %d", watching->pid);
	if (document->left || document->entries)
		output_line_command(out, STYLE_FAINT, "Next    ", command,
							": why they are compiled, and what avoids it next time");
}

static int watch_run(struct jw_error *err, struct cli *cli)
{
	struct watching watching = {.cli = cli};
	uint64_t pid = 0;
	const double most_s = (double)options_number(&cli->options, "for", 0) / 1e3;
	int failed;

	if (cli->options.operand_count != 1 ||
		!text_number(cli->options.operands[0], INT32_MAX, &pid) || !pid)
		return error_set(err, JW_ERR_USAGE, "the number of one process is wanted");
	watching.pid = (int)pid;
	os_catch_interrupts();
	failed = jw_look_as_process(err, watching.pid) || watch_to_end(err, &watching, most_s);
	if (!failed) {
		watching.document.cache = cli->system ? cli->system->cache.path : NULL;
		say_summary(&watching);
		failed = document_print(err, &cli->out, &document_watch, &watching.document);
	}
	process_code_free(&watching.document.process);
	return failed ? cli_hopeless(err, cli, JW_ERR_UNSUPPORTED) : 0;
}

static const struct cli_option watch_options[] = {
	CLI_DURATION("for", "TIME", "End after this time (90s, 5m) instead of with the process"), {0}};

const struct cli_command command_watch = {
	.name = "watch",
	.summary = "Say whether a process hangs or compiles",
	.usage = "[OPTION]… PID",
	.description =
		"Looks at a running process twice a second: its processor time, the libraries that it has "
		"loaded (NVIDIA's driver, the driver's compiler, other compilers), the entries that appear "
		"in its cache, and the modules of its libraries that the cache lacks. Prints a line when "
		"what it does changes, and every ten seconds: the driver compiles, or links; it is busy "
		"with something else; it waits. Ends with the process, with Ctrl-C or after --for, with a "
		"summary.\n\nThe process is not stopped, traced or changed. It may belong to another "
		"account if root asks: jitwarm takes that account's rights before it looks. Entries of "
		"other programs that use the same cache count too. Linux; a process in a container is "
		"watched from inside it.\n\nExit status: 0, 2 where the system does not show other "
		"processes, 3 where there is no such process.",
	.options = watch_options,
	.run = watch_run,
};
