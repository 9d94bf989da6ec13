#include "cli/cure.h"

#include <string.h>

#include "base/arena.h"
#include "base/text.h"
#include "cli/gpu_targets.h"
#include "cli/next_step.h"

static bool is_known(const struct cures *cures, const char *package, struct jw_target target)
{
	for (size_t i = 0; i < cures->count; i++)
		if (jw_target_equal(cures->items[i].target, target) &&
			!strcmp(cures->items[i].is.package, package))
			return true;
	return cures->count == CURES_MAX;
}

static void take(struct cures *cures, const struct jw_cure *cure, struct jw_target target)
{
	if (!is_known(cures, cure->package, target))
		cures->items[cures->count++] = (struct cure){*cure, target};
}

void cures_add(struct cli *cli, struct cures *cures, const char *file, struct jw_target target,
			   const struct jw_driver *driver)
{
	const struct options *given = &cli->options;
	char name[PACKAGE_MAX_NAME];
	struct jw_which_options question = {.target = target, .driver = *driver};
	struct jw_cure cure = {.package = NULL};
	const char *state;
	bool wheel;

	if (cures->count == CURES_MAX)
		return;
	if (!cures->owner)
		cures->owner = arena_open(1);
	state = cli_state(NULL, cli);
	/* The file's name may show its package; otherwise the only operand may be the package, or a
	 * folder. */
	wheel = jw_which_cure(&question, file, state, cures->owner, &cure);
	if (!wheel && given->operand_count == 1 && !strpbrk(given->operands[0], "/\\") &&
		package_normalise(given->operands[0], strcspn(given->operands[0], "[<>=!~ "), name) &&
		!is_known(cures, name, target)) {
		question.package = name;
		(void)jw_which_cure(&question, file, state, cures->owner, &cure);
	}
	if (cure.listed || (wheel && !cures->only_listed))
		take(cures, &cure, target);
}

static bool has_several(const struct cures *cures)
{
	for (size_t i = 1; i < cures->count; i++)
		if (!jw_target_equal(cures->items[i].target, cures->items[0].target))
			return true;
	return false;
}

void cures_print(const struct cli *cli, const struct cures *cures, bool named)
{
	static const char *const kept[] = {"driver", "platform", NULL};
	const bool several = has_several(cures);

	for (size_t i = 0; i < cures->count; i++) {
		const struct cure *cure = &cures->items[i];
		const char *package = cure->is.package, *version = cure->is.version;
		struct buf command = BUF_MAX(NEXT_STEP_MAX);
		char text[512], name[GPUS_NAME], sm[JW_TARGET_TEXT], driver[JW_DRIVER_OPTION];

		if (version && several)
			(void)text_format(text, sizeof text, "Newest %s that runs on %s: ", package,
							  gpu_targets_name(name, &cli->out, cure->target));
		else if (version)
			(void)text_format(text, sizeof text, "Newest %s that runs: ", package);
		else
			(void)text_format(
				text, sizeof text,
				!cure->is.listed ? "%s is not in jitwarm's list; find a release that runs on %s: "
				: cure->is.unexamined ? "No examined release of %s runs on %s; examine older ones: "
									  : "No release of %s runs on %s; see why: ",
				package, gpu_targets_name(name, &cli->out, cure->target));
		if (version) {
			buf_add(&command, "%s", cure->is.install);
		} else {
			buf_add(&command, "jitwarm which");
			if (named)
				buf_add(&command, " --target %s", jw_target_sm(sm, cure->target));
			if (named && !options_given(&cli->options, "driver"))
				buf_add(&command, "%s", jw_driver_option(driver, &cures->driver));
			next_step_keep(&command, &cli->options, kept);
			buf_add(&command, " %s%s", package,
					cure->is.listed && !cure->is.unexamined ? "" : " --ask");
		}
		next_step(&cli->out, STYLE_PLAIN, text, &command);
	}
}

void cures_print_checked(const struct cli *cli, const struct jw_check_result *result, bool named)
{
	struct cures cures = {.driver = result->driver};

	for (size_t i = 0; i < result->failing_count; i++) {
		const struct jw_check_failing *failing = &result->failing[i];
		const struct jw_cure cure = {.package = failing->package,
									 .listed = failing->listed,
									 .version = failing->runs,
									 .install = failing->install,
									 .unexamined = failing->unexamined};

		if (failing->package)
			take(&cures, &cure, failing->target);
	}
	cures_print(cli, &cures, named);
}
