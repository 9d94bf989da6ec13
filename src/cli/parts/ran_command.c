#include "cli/parts/ran_command.h"

#include <jitwarm/system.h>
#include <jitwarm/tune.h>

#include "base/text.h"
#include "cli/parts/found_files.h"
#include "os/interrupt.h"

/* Exit statuses of env(1), nohup(1) and timeout(1) when the command cannot be started. */
enum { NOT_STARTED = 126, NOT_THERE = 127 };

void ran_command_print_elsewhere(const struct output *out, const struct jw_record_result *result)
{
	if (result->elsewhere)
		output_warning(out,
					   "%s appeared in %s meanwhile: of another program, or of the command, if it "
					   "sets CUDA_CACHE_PATH itself",
					   TEXT_COUNT(result->elsewhere, "entry", "entries"),
					   result->elsewhere_dir ? result->elsewhere_dir : "other caches");
}

enum { OTHER = JW_RECORDED_JITLINK + 1 };

/* Of each kind how many are in no file. */
static void print_unowned(const struct output *out, const size_t counts[OTHER + 1])
{
	if (counts[JW_RECORDED_LOAD])
		output_note(out,
					"%s in no file that was looked at: made at run time (NVRTC, Triton), or in "
					"another file; name such files before “--”",
					TEXT_COUNT(counts[JW_RECORDED_LOAD], "module", "modules"));
	if (counts[JW_RECORDED_LINK])
		output_note(out, "%s of run-time linking in no file that was looked at",
					TEXT_COUNT(counts[JW_RECORDED_LINK], "input", "inputs"));
	if (counts[JW_RECORDED_JITLINK])
		output_note(out, "%s made by compiler libraries (libnvJitLink, NVRTC)",
					TEXT_COUNT(counts[JW_RECORDED_JITLINK], "entry", "entries"));
	if (counts[OTHER])
		output_note(out, "%s of OpenCL, or of an unknown form",
					TEXT_COUNT(counts[OTHER], "entry", "entries"));
}

void ran_command_print_others(const struct output *out, const struct jw_recording *recording)
{
	size_t counts[OTHER + 1] = {0}, new = 0;

	for (size_t i = 0; i < recording->module_count; i++) {
		const struct jw_recorded_module *module = &recording->modules[i];
		const size_t kind = (size_t)module->kind;

		if (module->file != JW_RECORDED_NO_FILE)
			continue;
		counts[kind < OTHER ? kind : OTHER]++;
		new += module->kind == JW_RECORDED_LOAD && !module->known_before;
	}
	print_unowned(out, counts);
	if (counts[JW_RECORDED_LOAD])
		output_note(out, "modules made at run time, or in other files: %zu new to your cache%s",
					new, new ? "; a second run shows whether every run makes the same ones" : "");
}

static int run_and_report(struct jw_error *err, struct cli *cli, struct jw_record_options *how,
						  ran_command_report_fn report)
{
	struct jw_record_result *result;

	os_catch_interrupts();
	if (jw_record(err, cli->system, how, &result)) {
		cli->failure = (enum exit_status)(err->code == JW_ERR_NOT_FOUND ? NOT_THERE : NOT_STARTED);
		return -1;
	}
	if (result->unread.code ? error_copy(err, &result->unread) : report(err, cli, how, result))
		cli_fail(cli, err);
	/* The command's own status, unless it is 0. */
	if (result->exit_status)
		cli->status = (enum exit_status)result->exit_status;
	jw_record_result_free(result);
	return 0;
}

int ran_command(struct jw_error *err, struct cli *cli, struct jw_record_options *how,
				ran_command_report_fn report)
{
	const struct options *options = &cli->options;
	struct found_files files = {0};
	int failed;

	if (!options->divided || options->divided_at == options->operand_count)
		return error_set(err, JW_ERR_USAGE, "the command to run is missing: it follows “--”");
	how->command = options->operands + options->divided_at;
	how->output_to_stderr = cli->out.json;
	how->cancel = cli_cancel;
	failed = cli_open_asleep(err, cli) ||
			 (options->divided_at && found_files_find(err, &cli->out, options->operands,
													  options->divided_at, false, &files));
	if (!failed) {
		how->found = files.found;
		if (how->live && !cli->system->cache.limit_set)
			how->limit_bytes = jw_tune_limit(cli->system->cache.outlook.bytes, 0);
		failed = run_and_report(err, cli, how, report);
	}
	found_files_free(&files);
	return failed;
}
