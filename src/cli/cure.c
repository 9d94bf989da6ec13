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

/* Returns whether one line says both. */
static bool is_alike(const struct jw_cure *a, const struct jw_cure *b)
{
	return a->listed == b->listed && a->unexamined == b->unexamined &&
		   !strcmp(a->package, b->package) && text_same(a->version, b->version) &&
		   text_same(a->install, b->install);
}

/* Writes the GPUs with this cure, for people and for --target. Returns whether the cure is the
 * first one of them. */
static bool collect_gpus(const struct cures *cures, size_t at, const struct output *out,
						 struct buf *names, struct buf *targets)
{
	enum { MOST_NAMES = 4 };
	bool first = true;
	size_t count = 0;

	for (size_t i = 0; i < cures->count; i++) {
		const struct jw_target target = cures->items[i].target;
		char name[GPUS_NAME], sm[JW_TARGET_TEXT];

		if (!is_alike(&cures->items[i].is, &cures->items[at].is))
			continue;
		first = first && i >= at;
		buf_add(names, "%s%s", count ? ", " : "", gpu_targets_name(name, out, target));
		buf_add(targets, "%s%s", count ? "," : "", jw_target_sm(sm, target));
		count++;
	}
	if (count > MOST_NAMES) {
		names->size = 0;
		buf_add(names, "these %zu GPUs", count);
	}
	return first;
}

void cures_print(const struct cli *cli, const struct cures *cures, bool named)
{
	static const char *const kept[] = {"driver", "platform", NULL};
	const bool several = has_several(cures);

	for (size_t i = 0; i < cures->count; i++) {
		const struct cure *cure = &cures->items[i];
		const char *package = cure->is.package, *version = cure->is.version;
		struct buf command = BUF_MAX(NEXT_STEP_MAX), names = BUF_MAX(NEXT_STEP_MAX),
				   targets = BUF_MAX(NEXT_STEP_MAX);
		char text[512], driver[JW_DRIVER_OPTION];

		if (!collect_gpus(cures, i, &cli->out, &names, &targets)) {
			buf_free(&names);
			buf_free(&targets);
			continue;
		}
		if (version && several)
			(void)text_format(text, sizeof text, "Newest %s that runs on %s: ", package,
							  buf_text(&names));
		else if (version)
			(void)text_format(text, sizeof text, "Newest %s that runs: ", package);
		else
			(void)text_format(
				text, sizeof text,
				!cure->is.listed ? "%s is not in jitwarm's list; find a release that runs on %s: "
				: cure->is.unexamined ? "No examined release of %s runs on %s; examine older ones: "
									  : "No release of %s runs on %s; see why: ",
				package, buf_text(&names));
		if (version) {
			buf_add(&command, "%s", cure->is.install);
		} else {
			buf_add(&command, "jitwarm which");
			if (named)
				buf_add(&command, " --target %s", buf_text(&targets));
			if (named && !options_given(&cli->options, "driver"))
				buf_add(&command, "%s", jw_driver_option(driver, &cures->driver));
			next_step_keep(&command, &cli->options, kept);
			buf_add(&command, " %s%s", package,
					cure->is.listed && !cure->is.unexamined ? "" : " --ask");
		}
		next_step(&cli->out, STYLE_PLAIN, text, &command);
		buf_free(&names);
		buf_free(&targets);
	}
}

/* Prints the command that keeps pip from installing releases that fail. */
static void print_constraints(const struct cli *cli)
{
	static const char *const kept[] = {"target", "driver", NULL};
	struct buf command = BUF_MAX(NEXT_STEP_MAX);

	buf_add(&command, "jitwarm which --constraints");
	next_step_keep(&command, &cli->options, kept);
	buf_add(&command, " -o gpu.txt");
	next_step(&cli->out, STYLE_PLAIN, "To keep pip from installing what fails: ", &command);
}

void cures_print_checked(const struct cli *cli, const struct jw_check_result *result, bool named)
{
	struct cures cures = {.driver = result->driver};
	bool listed = false;

	for (size_t i = 0; i < result->failing_count; i++) {
		const struct jw_check_failing *failing = &result->failing[i];
		const struct jw_cure cure = {.package = failing->package,
									 .listed = failing->listed,
									 .version = failing->runs,
									 .install = failing->install,
									 .unexamined = failing->unexamined};

		if (failing->package)
			take(&cures, &cure, failing->target);
		listed = listed || (failing->package && failing->listed);
	}
	cures_print(cli, &cures, named);
	if (listed)
		print_constraints(cli);
}
