#include "cli/parts/unattended.h"

#include "base/json.h"
#include "base/mem.h"
#include "cli/documents/documents.h"
#include "cli/parts/prime_history.h"
#include "os/clock.h"
#include "os/file.h"

static int look_at_changes(struct jw_error *err, const struct options *options,
						   struct jw_run_state **ret_state, char **ret_changes)
{
	const struct jw_run_key key = {.size = sizeof key,
								   .names = options->operands,
								   .name_count = options->operand_count,
								   .cache_dir = options_value(options, "cache")};

	return jw_run_look(err, &key, ret_state, ret_changes);
}

int unattended_begin(struct jw_error *err, struct cli *cli, struct unattended *run)
{
	const struct options *options = &cli->options;

	run->time_s = os_now_s();
	run->began_ns = os_monotonic_ns();
	if (!options_given(options, "if-changed"))
		return 0;
	if (options_given(options, "target"))
		return error_set(err, JW_ERR_USAGE, "--if-changed is for this machine: leave out --target");
	if (options_given(options, "sudo-user"))
		return error_set(
			err, JW_ERR_USAGE,
			"--if-changed cannot be combined with --sudo-user: run it as that account");
	if (look_at_changes(err, options, &run->state, &run->changes))
		return -1;
	run->skip = !*run->changes;
	output_line(&cli->out, STYLE_PLAIN,
				run->skip ? "Nothing has changed since the last run%s." : "Changed: %s.",
				run->changes);
	return 0;
}

static int write_logs(struct jw_error *err, const struct cli *cli, const struct unattended *run)
{
	const char *file = options_value(&cli->options, "json-log");
	const bool asked = run->state || file;
	char *line = json_object_line(asked ? err : NULL, &document_run, run), *own = NULL;
	int result = 0;

	/* Without memory the history alone lacks the run. */
	if (!line)
		return asked ? -1 : 0;
	if (run->remembered)
		prime_history_add(cli, line);
	/* An account without a home has no log. */
	if (run->state && !jw_log_path(NULL, &own))
		result = jw_log_append(err, own, line);
	if (file && jw_log_append(err, file, line))
		result = -1;
	jw_text_free(own);
	cJSON_free(line);
	return result;
}

int unattended_end(struct jw_error *err, struct cli *cli, struct unattended *run)
{
	int failed = run->skip && document_print(err, &cli->out, &document_prime_skipped, run);

	run->seconds = (double)(os_monotonic_ns() - run->began_ns) / 1e9;
	run->status = (unsigned)cli->status;
	if (run->state || run->remembered || options_given(&cli->options, "json-log"))
		failed = failed || write_logs(err, cli, run);
	jw_run_state_free(run->state);
	jw_text_free(run->changes);
	return failed;
}
