#include <jitwarm/which.h>

#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "code/release.h"
#include "os/file.h"
#include "plan/build.h"
#include "plan/estimate.h"
#include "plan/plan.h"
#include "plan/wheel_list.h"

/* A start that compiles for less than this runs as it is: every TensorFlow 2 has some modules of a
 * few milliseconds. */
static const double MOST_NEGLIGIBLE_S = 1;

struct question {
	const struct jw_which_options *options;
	char package[PACKAGE_MOST_NAME];
	struct wheel_list list;
	const char *platform;
};

/* "libx.so: needs driver 580 (CUDA 13.0) or newer", of the first of several. */
static char *reason_of(const struct file_fate *fate, struct jw_target device)
{
	char text[FATE_TEXT];
	const char *member = strstr(fate->file, ": ");

	return mem_printf("%s: %s", os_base_name(member ? member + 2 : fate->file),
					  fate_text(text, fate, device));
}

static const struct file_fate *largest_of(const struct file_fate *fates, size_t count)
{
	const struct file_fate *largest = fates;

	for (size_t i = 1; i < count; i++)
		largest = fates[i].is.pieces > largest->is.pieces ? &fates[i] : largest;
	return largest;
}

/* Whether programs compile what they use, when they use it, instead of all of it at the start. */
static bool is_lazy(const struct question *question, const struct wheel_library *library)
{
	const struct jw_driver *driver = &question->options->driver;
	const enum gpu_loading loading =
		gpu_default_loading(library->runtime_cuda, !strcmp(question->platform, "windows"));

	/* Drivers from 515 on (CUDA 11.7); PyTorch asks for it. */
	return library->runtime_cuda && (!driver->cuda || driver->cuda >= 11070) &&
		   (loading == GPU_LOADS_AT_USE ||
			(loading == GPU_LOADS_AS_ASKED && text_starts(library->name, "torch/")));
}

/* Judges all libraries of a wheel as a package that is installed. */
static int judge_wheel(struct jw_error *err, const struct question *question,
					   const struct wheel *wheel, struct jw_which_release *release)
{
	const struct jw_which_options *options = question->options;
	struct fates fates = {.items = NULL};
	struct decide_work start = {0};
	double lazy_ms = 0;
	int result = 0;

	for (size_t i = 0; !result && i < wheel->library_count; i++) {
		const struct wheel_library *library = &wheel->libraries[i];
		struct analyse_target target = {.link_needed = NEED_NO};
		struct decide_work work, loose;

		decide_library(&library->facts, options->target, &options->driver, &target.is, &work,
					   &loose);
		if (loose.ptx_bytes <= PLAN_LOOSE_LIMIT_BYTES)
			decide_add_work(&work, &loose);
		if (target.is.fate != DECIDE_LACKS && target.is.fate != DECIDE_REFUSED) {
			decide_add_work(&start, &work);
			lazy_ms += is_lazy(question, library) ? work.cost_ms : 0;
		}
		result = fates_add(err, &fates, *wheel->file ? wheel->file : wheel->version, library->name,
						   question->package, &target, 1);
	}
	if (!result) {
		const double factor = options->speed.factor,
					 seconds = start.cost_ms / 1000 * (factor > 0 ? factor : PLAN_USUAL_FACTOR);

		fates_settle(&fates);
		release->modules = start.modules;
		release->start = plan_seconds(seconds, false);
		release->lazy = lazy_ms * 2 > start.cost_ms;
		release->answer = fates.count                   ? JW_WHICH_FAILS
						  : seconds > MOST_NEGLIGIBLE_S ? JW_WHICH_COMPILES
						  : fates.part_count            ? JW_WHICH_PART
														: JW_WHICH_RUNS;
		if (fates.count) {
			const struct file_fate *largest = largest_of(fates.items, fates.count);

			release->needs = largest->is.needs;
			release->why = reason_of(largest, options->target);
		} else if (fates.part_count) {
			release->why = reason_of(largest_of(fates.parts, fates.part_count), options->target);
		}
	}
	fates_free(&fates);
	return result;
}

/* A package that the wheel requires in one version, if that version fails though the wheel runs. */
static int judge_pins(struct jw_error *err, const struct question *question,
					  const struct wheel *wheel, struct jw_which_release *release)
{
	for (size_t i = 0; i < wheel->pin_count && !release->pin; i++) {
		const struct wheel_pin *pin = &wheel->pins[i];
		struct jw_which_release required = {.why = NULL};
		struct question question_of_pin = {.options = question->options,
										   .platform = question->platform};
		struct jw_error why;
		const struct wheel *found = NULL;
		int result = 0;

		TEXT_COPY(question_of_pin.package, pin->name);
		if (wheel_list_own(&why, pin->name, &question_of_pin.list)) {
			if (why.code != JW_ERR_NOT_FOUND)
				return error_copy(err, &why);
			continue;
		}
		for (size_t k = 0; k < question_of_pin.list.count && !found; k++)
			if (!strcmp(question_of_pin.list.wheels[k].version, pin->version) &&
				!strcmp(question_of_pin.list.wheels[k].platform, question->platform))
				found = &question_of_pin.list.wheels[k];
		if (found)
			result = judge_wheel(err, &question_of_pin, found, &required);
		if (found && !result && required.answer == JW_WHICH_FAILS)
			release->pin = mem_printf("%s %s: %s", pin->name, pin->version, required.why);
		mem_free(required.why);
		wheel_list_free(&question_of_pin.list);
		if (result)
			return -1;
	}
	return 0;
}

/* The answer of one release, from its wheels for all platforms. */
static int judge_release(struct jw_error *err, const struct question *question, const char *version,
						 struct jw_which_release *release)
{
	const struct wheel *for_platform = NULL;

	*release =
		(struct jw_which_release){.version = mem_string(version), .answer = JW_WHICH_NO_WHEEL};
	for (size_t i = 0; i < question->list.count && !for_platform; i++)
		if (!strcmp(question->list.wheels[i].version, version) &&
			!strcmp(question->list.wheels[i].platform, question->platform))
			for_platform = &question->list.wheels[i];
	if (!for_platform)
		return 0;
	release->file = mem_string(for_platform->file);
	release->inferred = for_platform->of;
	if (question->options->python && !wheel_fits_python(for_platform, question->options->python)) {
		release->answer = JW_WHICH_NO_PYTHON;
		release->why = wheel_pythons(for_platform);
		return 0;
	}
	if (!for_platform->library_count) {
		release->answer = JW_WHICH_CPU;
		return 0;
	}
	return judge_wheel(err, question, for_platform, release) ||
		   (release->answer != JW_WHICH_FAILS && judge_pins(err, question, for_platform, release));
}

/* Newest first, by their numbers; ".post1" is newer than nothing. */
static bool is_newer(const char *a, const char *b)
{
	struct version left = {.count = 0}, right = {.count = 0};
	const char *left_rest = "", *right_rest = "";
	int order;

	(void)version_read(a, &left, &left_rest);
	(void)version_read(b, &right, &right_rest);
	order = version_order(&left, &right, VERSION_NUMBERS);
	return order ? order > 0 : strcmp(left_rest, right_rest) > 0;
}

/* The versions of the list, each once. */
static size_t list_versions(const struct wheel_list *list, const char **versions)
{
	size_t count = 0;

	for (size_t i = 0; i < list->count; i++) {
		const char *version = list->wheels[i].version;
		size_t at = 0;

		while (at < count && is_newer(versions[at], version))
			at++;
		if (at < count && !strcmp(versions[at], version))
			continue;
		memmove(versions + at + 1, versions + at, (count - at) * sizeof *versions);
		versions[at] = version;
		count++;
	}
	return count;
}

static bool is_platform(const char *platform)
{
	return !strcmp(platform, "linux") || !strcmp(platform, "linux-aarch64") ||
		   !strcmp(platform, "windows");
}

int jw_which(struct jw_error *err, const struct jw_which_options *options,
			 struct jw_which *ret_which)
{
	struct question question = {.options = options, .platform = options->platform};
	struct jw_which which = {.target = options->target};
	const char **versions;
	int result = 0;

	if (!package_normalise(options->package, strlen(options->package), question.package))
		return error_set(err, JW_ERR_USAGE, "“%.200s” is no package's name", options->package);
	if (!is_platform(options->platform))
		return error_set(err, JW_ERR_USAGE,
						 "--platform is linux, linux-aarch64 or windows, not “%s”",
						 options->platform);
	if (jw_driver_supports(err, &options->driver, options->target) ||
		wheel_list_own(err, question.package, &question.list))
		return -1;
	versions = mem_array(question.list.count + 1, sizeof *versions);
	which.package = mem_string(question.package);
	which.date = mem_string(question.list.date);
	which.count = list_versions(&question.list, versions);
	which.releases = mem_array(which.count, sizeof *which.releases);
	for (size_t i = 0; !result && i < which.count; i++) {
		struct jw_which_release *release = &which.releases[i];

		result = judge_release(err, &question, versions[i], release);
		if (release->answer <= JW_WHICH_PART && !which.newest)
			which.newest = release->version;
		if (release->answer == JW_WHICH_COMPILES && !which.newest && !which.newest_compiles)
			which.newest_compiles = release->version;
	}
	mem_free(versions);
	wheel_list_free(&question.list);
	if (result)
		jw_which_free(&which);
	else
		*ret_which = which;
	return result ? -1 : 0;
}

void jw_which_free(struct jw_which *which)
{
	for (size_t i = 0; i < which->count; i++) {
		mem_free(which->releases[i].version);
		mem_free(which->releases[i].file);
		mem_free(which->releases[i].why);
		mem_free(which->releases[i].pin);
	}
	mem_free(which->releases);
	mem_free(which->package);
	mem_free(which->date);
	*which = (struct jw_which){.package = NULL};
}
