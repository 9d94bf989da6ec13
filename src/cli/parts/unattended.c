#include "cli/parts/unattended.h"

#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/text.h"
#include "os/clock.h"
#include "os/environment.h"
#include "os/file.h"
#include "os/interrupt.h"

static int use_environment(struct jw_error *err, const char *given)
{
	char *path = NULL, *mark = NULL;
	bool is_virtual;
	int result = -1;

	if (os_real_path(err, given, &path) || !(mark = os_join(err, path, "pyvenv.cfg")))
		goto done;
	is_virtual = os_exists(mark);
	result = os_env_set(err, "VIRTUAL_ENV", is_virtual ? path : NULL) ||
			 os_env_set(err, "CONDA_PREFIX", is_virtual ? NULL : path);
done:
	mem_free(path);
	mem_free(mark);
	return result ? -1 : 0;
}

int unattended_begin(struct jw_error *err, struct cli *cli, struct unattended *run)
{
	const struct options *options = &cli->options;
	const char *environment = options_value(options, "environment");
	const struct jw_run_key key = {.names = (const char *const *)options->operands,
								   .name_count = options->operand_count,
								   .cache_dir = options_value(options, "cache")};

	run->time_s = os_now_s();
	run->began_ns = os_monotonic_ns();
	if (environment && use_environment(err, environment))
		return -1;
	if (!options_given(options, "if-changed"))
		return 0;
	if (options_given(options, "target"))
		return error_set(err, JW_ERR_USAGE, "--if-changed is about this machine, --target is not");
	if (options_given(options, "sudo-user"))
		return error_set(err, JW_ERR_USAGE,
						 "--if-changed does not go with --sudo-user: run it as that account");
	if (jw_run_look(err, &key, &run->state, &run->changes))
		return -1;
	run->skip = !*run->changes;
	output_line(&cli->out, STYLE_PLAIN,
				run->skip ? "Nothing has changed since the last run%s." : "Changed: %s.",
				run->changes);
	return 0;
}

static char *log_line(const struct unattended *run, enum exit_status status)
{
	cJSON *document = cJSON_CreateObject();
	char *line = NULL;

	if (cJSON_AddStringToObject(document, "schema", "jitwarm.run/1") &&
		cJSON_AddNumberToObject(document, "time_s", (double)run->time_s) &&
		cJSON_AddNumberToObject(document, "seconds",
								(double)(os_monotonic_ns() - run->began_ns) / 1e9) &&
		cJSON_AddNumberToObject(document, "status", status) &&
		cJSON_AddBoolToObject(document, "skipped", run->skip) &&
		(!run->changes || cJSON_AddStringToObject(document, "changed", run->changes)) &&
		cJSON_AddNumberToObject(document, "modules", (double)run->modules) &&
		cJSON_AddNumberToObject(document, "compiled", (double)run->compiled) &&
		cJSON_AddNumberToObject(document, "failed", (double)run->failed) &&
		cJSON_AddNumberToObject(document, "undone", (double)run->undone) &&
		!json_add_text(NULL, document, "problem", run->problem))
		line = json_line(NULL, document);
	cJSON_Delete(document);
	return line;
}

static int write_logs(struct jw_error *err, const struct cli *cli, const struct unattended *run,
					  enum exit_status status)
{
	const char *file = options_value(&cli->options, "json-log");
	char *line = log_line(run, status), *own = NULL;
	int result = 0;

	if (!line)
		return error_set(err, JW_ERR_MEMORY, "out of memory");
	/* Without a home there is no log of our own. */
	if (run->state && !jw_log_path(NULL, &own))
		result = jw_log_append(err, own, line);
	if (file && jw_log_append(err, file, line))
		result = -1;
	jw_run_text_free(own);
	cJSON_free(line);
	return result;
}

static cJSON *skipped_document(void)
{
	cJSON *document = output_document("prime");

	if (document && cJSON_AddBoolToObject(document, "skipped", true) &&
		cJSON_AddNumberToObject(document, "compiled", 0))
		return document;
	cJSON_Delete(document);
	return NULL;
}

enum exit_status unattended_end(struct cli *cli, struct unattended *run, enum exit_status status)
{
	struct jw_error err;
	/* After an upgrade the driver may start only when the machine has: that run counts for nothing.
	 */
	bool ended = run->planned && status != EXIT_FAILED && !run->undone && !os_interrupted() &&
				 !options_given(&cli->options, "dry-run");

	if (run->skip && output_json(&err, &cli->out, skipped_document()))
		status = cli_fail(cli, &err);
	/* Modules that cannot be compiled would fail again: only what changes is tried anew. */
	if (run->state && ended && jw_run_remember(&err, run->state))
		output_warning(&cli->out, "the next run will not know of this one: %s", err.message);
	if ((run->state || options_given(&cli->options, "json-log")) &&
		write_logs(&err, cli, run, status))
		status = exit_combine(status, cli_fail(cli, &err));
	jw_run_state_free(run->state);
	jw_run_text_free(run->changes);
	return status;
}
