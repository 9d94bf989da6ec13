/* The text of which. */
#include <string.h>

#include "base/arena.h"
#include "cli/next_step.h"
#include "cli/which_run.h"

enum { FEW_PACKAGES = 2 };

void which_add_command(struct buf *command, const struct cli *cli)
{
	static const char *const kept[] = {"target", "driver", "platform", "python", NULL};

	buf_add(command, "jitwarm which");
	next_step_keep(command, &cli->options, kept);
}

/* Prints a command that the library has made. */
static void print_command(const struct output *out, enum style style, const char *text,
						  const char *command)
{
	struct buf copy = BUF_MAX(NEXT_STEP_MAX);

	buf_add(&copy, "%s", command);
	next_step(out, style, text, &copy);
}

static void print_note(const struct output *out, const struct jw_which_note *note, enum style style)
{
	if (note->command)
		print_command(out, style, note->text, note->command);
	else if (note->text)
		output_line(out, style, "%s", note->text);
}

/* Prints the packages, the GPUs, the driver, the platform and the Python. */
static void print_head(const struct which_run *run, const char *packages,
					   const struct jw_target *targets, size_t count)
{
	const struct output *out = &run->cli->out;
	char gpu[GPUS_MARKETED], number[JW_DRIVER_TEXT], python[24] = "",
													 driver[JW_DRIVER_TEXT + 16] = "newest driver";
	struct buf gpus = BUF_MAX(1 << 13);

	for (size_t i = 0; i < count; i++)
		buf_add(&gpus, "%s%s",
				!i              ? ""
				: i + 1 < count ? ", "
								: " and ",
				gpu_targets_marketed(gpu, out, targets[i], run->cli->system));
	if (run->gpus.driver.cuda)
		(void)text_format(driver, sizeof driver, "driver %s",
						  jw_driver_text(number, &run->gpus.driver));
	if (run->python)
		(void)text_format(python, sizeof python, ", Python %s", run->python);
	output_line(out, STYLE_STRONG, "%s on %s, %s, %s%s", packages, buf_text(&gpus), driver,
				run->for_platform->title, python);
	buf_free(&gpus);
}

static enum style style_of(const struct jw_which_row *row)
{
	switch (row->answer) {
	case JW_WHICH_RUNS: return row->partly ? STYLE_WARN : STYLE_GOOD;
	case JW_WHICH_COMPILES: return STYLE_WARN;
	case JW_WHICH_FAILS: return STYLE_BAD;
	case JW_WHICH_CPU:
	case JW_WHICH_UNFOLLOWED:
	case JW_WHICH_NO_PYTHON:
	case JW_WHICH_NO_WHEEL:
	case JW_WHICH_SOURCE:
	case JW_WHICH_UNKNOWN: break;
	}
	return STYLE_FAINT;
}

/* Prints the rows; the first column is the index, if there is another one than PyPI. */
static int print_rows(struct jw_error *err, const struct output *out,
					  const struct jw_which_advice *advice)
{
	bool indexes = false;
	struct table table = {.columns = 2};
	int result;

	for (size_t i = 0; i < advice->row_count; i++)
		indexes = indexes || (*advice->rows[i].index && strcmp(advice->rows[i].index, "PyPI") != 0);
	table.columns += indexes;
	for (size_t i = 0; i < advice->row_count; i++) {
		const struct jw_which_row *row = &advice->rows[i];

		if (indexes)
			table_cell(&table, STYLE_PLAIN, "  %s", row->index);
		table_cell(&table, STYLE_PLAIN, "%s%s", indexes ? "" : "  ", row->versions);
		table_cell(&table, style_of(row), "%s", row->says);
	}
	result = table_print(err, &table, out);
	table_free(&table);
	return result;
}

int which_print_neighbours(struct jw_error *err, const struct which_run *run,
						   const struct jw_which_advice *advice)
{
	if (!advice->row_count)
		return 0;
	print_head(run, advice->answer->package, &advice->answer->target, 1);
	return print_rows(err, &run->cli->out, advice);
}

/* Prints one answer: the command or why there is none, the rows, and what to know. */
static int print_advice(struct jw_error *err, const struct which_run *run,
						const struct jw_which_advice *advice)
{
	const struct output *out = &run->cli->out;

	if (advice->unknown)
		return which_print_neighbours(err, run, advice);
	print_head(run, advice->answer->package, &advice->answer->target, 1);
	if (advice->before)
		print_command(out, STYLE_GOOD, "First: ", advice->before);
	if (advice->install)
		print_command(out, STYLE_GOOD, advice->verdict, advice->install);
	else if (advice->verdict)
		output_line(out, STYLE_BAD, "%s", advice->verdict);
	if (print_rows(err, out, advice))
		return -1;
	if (advice->left_out)
		output_line(out, STYLE_FAINT, "  older releases: --all");
	print_note(out, &advice->instead, STYLE_GOOD);
	for (size_t i = 0; i < advice->note_count; i++)
		print_note(out, &advice->notes[i], STYLE_PLAIN);
	if (strcmp(run->index, "PyPI") != 0 || (!run->from_list && !run->asks))
		output_line(out, STYLE_FAINT, "jitwarm asked %s on %s.", advice->answer->index,
					advice->answer->date);
	return 0;
}

/* Returns whether there are two GPUs: of more, several may have one architecture. */
static bool are_two(const struct which_run *run)
{
	char gpu[GPUS_MARKETED];
	bool one_each = run->gpus.count == 2;

	for (size_t i = 0; i < run->gpus.count; i++)
		one_each = one_each && !strchr(gpu_targets_marketed(gpu, &run->cli->out,
															run->gpus.targets[i], run->cli->system),
									   ',');
	return one_each;
}

/* Prints a row for each package: the newest release that runs on all GPUs, and why the newest does
 * not. */
static int print_sums(struct jw_error *err, struct which_run *run)
{
	const struct output *out = &run->cli->out;
	struct table table = {.columns = 3};
	char text[TEXT_COUNTED], gpu[GPUS_MARKETED];
	int result;

	for (size_t i = 0; i < run->name_count; i++) {
		struct jw_which_sum sum;

		jw_which_sum_up(run, &run->advices[i * run->gpus.count], run->gpus.count, &sum);
		table_cell(&table, STYLE_PLAIN, "  %s", sum.package);
		table_cell(&table, sum.release ? STYLE_GOOD : STYLE_BAD, "%s",
				   sum.release ? sum.release->version : "none");
		if (run->gpus.count > 1 && sum.fails_on.sm)
			table_cell(&table, STYLE_PLAIN, "%s: %s",
					   gpu_targets_marketed(gpu, out, sum.fails_on, run->cli->system), sum.why);
		else
			table_cell(&table, STYLE_PLAIN, "%s", sum.why);
	}
	(void)text_count(text, run->name_count, "package", "packages");
	print_head(run, run->name_count == 1 ? run->advices->answer->package : text, run->gpus.targets,
			   run->gpus.count);
	output_line(out, STYLE_PLAIN,
				run->gpus.count == 1 ? "Newest that runs:"
				: are_two(run)       ? "Newest that runs on both GPUs:"
									 : "Newest that runs on all of them:");
	result = table_print(err, &table, out);
	table_free(&table);
	return result;
}

/* Returns the address of PyTorch's builds, without which PyPI's are for the CPU; NULL if PyPI has
 * others. */
static const char *needed_index(const struct which_run *run)
{
	static const char option[] = "--index-url ";

	for (size_t i = 0; i < run->advice_count; i++) {
		const struct jw_which_release *release = run->advices[i].release;

		if (!strcmp(run->platform, "windows") && release && release->options &&
			text_starts(release->options, option))
			return release->options + strlen(option);
	}
	return NULL;
}

void which_find_commands(struct which_run *run)
{
	static const char file[] = "gpu.txt";
	const char *index = needed_index(run);
	struct buf command = BUF_MAX(NEXT_STEP_MAX);

	if (run->name_count * run->gpus.count < 2 || run->asks)
		return;
	which_add_command(&command, run->cli);
	buf_add(&command, " --constraints -o %s", file);
	run->constraints = arena_string(run, buf_text(&command));
	buf_clear(&command);
	buf_add(&command, "pip install");
	buf_add(&command, " -c %s", file);
	if (index)
		buf_add(&command, " --extra-index-url %s", index);
	if (run->file)
		buf_add(&command, " -r");
	if (run->file)
		shell_add_word(&command, run->file);
	for (size_t i = 0; !run->file && i < run->name_count; i++) {
		const struct jw_which_name *name = &run->names[i];
		const struct jw_which_release *release = run->advices[i * run->gpus.count].release;
		char *install = jw_which_install_name(name, release ? release->version : "");
		char *word = mem_printf("%s%s%s", install, name->version ? "==" : "",
								name->version ? name->version
								: name->range ? name->range
											  : "");

		shell_add_word(&command, word);
		mem_free(install);
		mem_free(word);
	}
	run->install = arena_string(run, buf_text(&command));
	buf_free(&command);
}

/* Returns whether no release runs, but an older one than the examined ones may run. */
static bool has_unexamined(const struct which_run *run)
{
	for (size_t i = 0; i < run->advice_count; i++)
		if (!run->advices[i].answer->advised && run->advices[i].answer->unexamined)
			return true;
	return false;
}

/* Prints the date of the list, and the command that looks at releases that it lacks. */
static void print_ask(const struct which_run *run)
{
	const struct options *given = &run->cli->options;
	const bool older = has_unexamined(run);
	struct buf command = BUF_MAX(NEXT_STEP_MAX);
	char text[80];
	bool one = false;

	for (size_t i = 0; i < run->name_count; i++)
		one = one || run->names[i].version;
	(void)text_format(text, sizeof text,
					  !run->from_list ? "To ask the index again: "
					  : one           ? "List as of %s. To ask the index: "
					  : older         ? "List as of %s. For older and newer releases: "
									  : "List as of %s. For newer releases: ",
					  run->date);
	which_add_command(&command, run->cli);
	for (size_t i = 0; run->file && i < run->name_count; i++)
		shell_add_word(&command, run->names[i].name);
	if (!run->file)
		next_step_names(&command, given);
	buf_add(&command, " --ask");
	next_step(&run->cli->out, older ? STYLE_PLAIN : STYLE_FAINT, text, &command);
}

int which_print(struct jw_error *err, struct which_run *run)
{
	const struct output *out = &run->cli->out;
	const bool sums = run->gpus.count > 1 || run->name_count > FEW_PACKAGES;
	int result = 0;

	if (!output_wants_text(out) || !run->name_count)
		return 0;
	if (sums)
		result = print_sums(err, run);
	for (size_t i = 0; !sums && !result && i < run->advice_count; i++)
		result = print_advice(err, run, &run->advices[i]);
	if (result)
		return -1;
	if (run->constraints) {
		print_command(out, STYLE_GOOD, "Keep pip from what fails: ", run->constraints);
		print_command(out, STYLE_GOOD, "Then: ", run->install);
	}
	if (!run->asks)
		print_ask(run);
	return 0;
}
