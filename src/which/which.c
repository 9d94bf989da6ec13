#include <jitwarm/which.h>

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include <jitwarm/version.h>

#include "base/arena.h"
#include "base/packages.h"
#include "base/pep440.h"
#include "base/wheel_name.h"
#include "find/marker.h"
#include "find/pip.h"
#include "os/file.h"
#include "os/shell.h"
#include "which/brought.h"

/* Judges one release of the named package, with what it brings along. */
static int answer_release(struct jw_error *err, struct question *question, struct shelf *shelf,
						  const char *version, struct jw_which_release *release)
{
	const struct jw_which_options *options = &question->options;
	const struct wheel *wheel = shelf_wheel(shelf, version, options->platform);

	if (!wheel) {
		*release = (struct jw_which_release){.version = arena_string(question->owner, version),
											 .answer = shelf_wheel(shelf, version, WHEEL_SOURCE)
														   ? JW_WHICH_SOURCE
														   : JW_WHICH_NO_WHEEL};
		return 0;
	}
	if (options->python && !wheel_fits_python(wheel, options->python)) {
		question_begin_release(question, shelf->name, wheel, release);
		release->answer = JW_WHICH_NO_PYTHON;
		release->why = arena_keep(question->owner, wheel_pythons(wheel));
		return 0;
	}
	if (question_judge_own(err, question, shelf, wheel, options->extras, release))
		return -1;
	return release->answer > JW_WHICH_CPU ? 0
										  : judge_brought(err, question, shelf, wheel,
														  release->answer != JW_WHICH_CPU, release);
}

/* Returns the version of the list that pip takes for “==REQUESTED” on the platform, the newest one
 * (“2.5.1+cu121” for “2.5.1”), or else one for another platform. NULL if there is none. */
static const char *requested_version(const struct wheel_list *list, const char *requested,
									 const char *platform)
{
	const struct wheel *found = NULL;
	bool found_fits = false;

	for (size_t i = 0; i < list->count; i++) {
		const struct wheel *wheel = &list->wheels[i];
		const bool fits = !strcmp(wheel->platform, platform);

		if (wheel->declared ||
			(!version_is_same(wheel->version, requested) &&
			 !version_is_build_of(wheel->version, requested)) ||
			(found_fits && !fits))
			continue;
		if (found && found_fits == fits && !version_is_newer(wheel->version, found->version))
			continue;
		found = wheel;
		found_fits = fits;
	}
	return found ? found->version : NULL;
}

/* A version of the list, in the order of the answer. */
struct version_place {
	const struct wheel *wheel;
	struct pep440 version; /* without its label, if a build was declared */
	bool known;            /* it is a version by PEP 440 */
};

static int order_places(const void *a, const void *b)
{
	const struct version_place *left = a, *right = b;
	const struct wheel *one = left->wheel, *other = right->wheel;
	struct pep440 first = left->version, second = right->version;
	int order;

	*first.local = *second.local = '\0';
	order = left->known && right->known   ? pep440_order(&second, &first)
			: left->known != right->known ? right->known - left->known
										  : strcmp(other->version, one->version);
	if (order || one->declared != other->declared)
		return order ? order : one->declared - other->declared;
	if (!one->declared)
		return pep440_order(&right->version, &left->version);
	order = (one->libraries->runtime_cuda < other->libraries->runtime_cuda) -
			(one->libraries->runtime_cuda > other->libraries->runtime_cuda);
	return order ? order : strcmp(other->version, one->version);
}

/* Lists the versions of the list that are requested, or in the range (NULL: all), each once, in the
 * order of struct jw_which. Builds that are declared count for their platform alone. */
static size_t list_versions(const struct wheel_list *list, const struct jw_which_options *options,
							const char **versions)
{
	struct version_place *places = mem_array(list->count + 1, sizeof *places);
	const char *wanted = options->version,
			   *examined = wanted ? requested_version(list, wanted, options->platform) : NULL;
	size_t found = 0, count = 0;
	bool valid;

	for (size_t i = 0; i < list->count; i++) {
		const struct wheel *wheel = &list->wheels[i];

		if (wheel->declared ? strcmp(wheel->platform, options->platform) != 0 ||
								  (wanted && !version_is_same(wheel->version, wanted) &&
								   !version_is_build_of(wheel->version, wanted))
							: wanted && !text_same(wheel->version, examined))
			continue;
		if (options->range && !pep440_fits(wheel->version, options->range, &valid))
			continue;
		if (options->runtimes && wheel_runtimes(wheel) &&
			!(options->runtimes & wheel_runtimes(wheel)))
			continue;
		places[found] = (struct version_place){.wheel = wheel};
		places[found].known = pep440_read(wheel->version, &places[found].version);
		found++;
	}
	if (found)
		qsort(places, found, sizeof *places, order_places);
	for (size_t i = 0; i < found; i++)
		if (!count || places[i].wheel->declared != places[i - 1].wheel->declared ||
			!version_is_same(versions[count - 1], places[i].wheel->version))
			versions[count++] = places[i].wheel->version;
	mem_free(places);
	return count;
}

bool jw_which_has_time(const struct jw_which_release *release)
{
	return release->answer == JW_WHICH_COMPILES ||
		   (release->answer == JW_WHICH_RUNS && release->start.high >= JW_WHICH_NOTABLE_S);
}

bool jw_which_same(const struct jw_which_release *a, const struct jw_which_release *b)
{
	const bool timed = jw_which_has_time(a);

	return a->answer == b->answer && a->declared_by == b->declared_by &&
		   text_same(a->why, b->why) && text_same(a->lacks, b->lacks) &&
		   text_same(a->newer, b->newer) && a->needs.cuda == b->needs.cuda &&
		   text_same(a->without, b->without) && !a->pin == !b->pin &&
		   timed == jw_which_has_time(b) && (!timed || a->loading == b->loading);
}

/* Gives a release that was not examined the answer of one that was. */
static void infer_answer(struct jw_which_release *release, const struct jw_which_release *from)
{
	char *const version = release->version;

	*release = *from;
	release->version = version;
	release->inferred = true;
}

/* Infers the answers of releases that were not examined, if the examined ones before and after them
 * have the same one. That a release has no code is never inferred: PyPI's tensorflow 1.15.0 has
 * some, and 1.15.5 and 1.14.0 have none. */
static void infer_answers(struct jw_which *which)
{
	size_t newer = SIZE_MAX;

	for (size_t i = 0; i < which->count; i++) {
		struct jw_which_release *releases = which->releases;

		if (releases[i].answer > JW_WHICH_FAILS || releases[i].inferred || releases[i].declared_by)
			continue;
		for (size_t k = i; newer != SIZE_MAX && --k > newer;)
			if (releases[k].answer == JW_WHICH_UNKNOWN && releases[i].answer != JW_WHICH_CPU &&
				jw_which_same(&releases[newer], &releases[i]))
				infer_answer(&releases[k], &releases[newer]);
		newer = i;
	}
}

/* Infers the answers of a few requested releases from those of all. */
static int infer_from_all(struct jw_error *err, const struct jw_which_options *options,
						  struct jw_which *which)
{
	struct jw_which_options for_all = *options;
	struct jw_which *all;

	for_all.version = for_all.range = NULL;
	if (jw_which(err, &for_all, &all))
		return -1;
	for (size_t i = 0; i < which->count; i++)
		for (size_t k = 0; which->releases[i].answer == JW_WHICH_UNKNOWN && k < all->count; k++)
			if (all->releases[k].inferred &&
				version_is_same(all->releases[k].version, which->releases[i].version))
				infer_answer(&which->releases[i], &all->releases[k]);
	arena_join(which, all);
	return 0;
}

/* Returns how a release is advised: the lower, the rather. UINT_MAX if it is not. */
static unsigned own_rank(const struct jw_which_release *release)
{
	return release->answer > JW_WHICH_COMPILES    ? UINT_MAX
		   : release->answer == JW_WHICH_COMPILES ? 1
		   : release->without                     ? 2
												  : 0;
}

/* Returns how a release of an answer is advised. Nothing is known of the parts of a declared build,
 * so it may lack what the examined wheel of its version lacks, and is not advised rather than that.
 */
static unsigned rank_in(const struct jw_which *which, size_t at)
{
	const struct jw_which_release *release = &which->releases[at], *examined = release;
	const unsigned rank = own_rank(release);

	while (examined->declared_by && examined > which->releases)
		examined--;
	return rank != UINT_MAX && !examined->declared_by && examined->without &&
				   version_is_build_of(release->version, examined->version)
			   ? own_rank(examined)
			   : rank;
}

/* Finds the release to install. */
static void advise(struct jw_which *which)
{
	unsigned best = UINT_MAX;

	which->advised = NULL;
	for (size_t i = 0; i < which->count; i++) {
		if (rank_in(which, i) < best) {
			best = rank_in(which, i);
			which->advised = &which->releases[i];
		}
	}
}

/* Finds the oldest examined release, and the older ones that jitwarm has not examined. */
static void find_unexamined(struct jw_which *which)
{
	size_t newer = 0; /* unexamined releases before the first examined one */

	for (size_t i = 0; i < which->count; i++) {
		const struct jw_which_release *release = &which->releases[i];

		/* Builds of another index say nothing of the wheels of this one. */
		if (release->declared_by && strchr(release->version, '+'))
			continue;
		/* A release for other versions of Python was examined if its wheel is known. */
		if (release->answer <= JW_WHICH_FAILS ||
			(release->answer == JW_WHICH_NO_PYTHON &&
			 (release->declared_by || *release->file || release->inferred))) {
			newer = which->examined_from ? newer : which->unexamined;
			which->examined_from = release->version;
			which->unexamined = 0;
		}
		which->unexamined += release->answer == JW_WHICH_UNKNOWN;
	}
	which->unexamined += newer;
	if (!which->unexamined || newer)
		which->examined_from = NULL;
}

int jw_which(struct jw_error *err, const struct jw_which_options *options,
			 struct jw_which **ret_which)
{
	const struct wheel_platform *platform;
	struct jw_which *which;
	struct question *question;
	struct shelf *shelf;
	const char **versions;
	bool valid, unknown = false;
	int result;

	if (wheel_platform_read(err, options->platform, &platform))
		return -1;
	if (options->range && (pep440_fits("0", options->range, &valid), !valid))
		return error_set(err, JW_ERR_USAGE, "“%.200s” is no range of versions, such as “>=2,<2.3”",
						 options->range);
	if (jw_driver_supports(err, &options->driver, options->target))
		return -1;
	which = arena_open(sizeof *which);
	if (question_open(err, options, which, &question)) {
		jw_result_free(which);
		return -1;
	}
	result = question_named(err, question, options, &shelf);
	if (!result) {
		versions = arena_alloc(question, (shelf->list.count + 1) * sizeof *versions);
		which->target = options->target;
		which->package = arena_string(which, shelf->name);
		which->index = arena_string(which, options->index ? options->index : "PyPI");
		which->date = arena_string(which, shelf->list.date);
		which->count = list_versions(&shelf->list, options, versions);
		which->releases = arena_alloc(which, which->count * sizeof *which->releases);
	}
	for (size_t i = 0; !result && i < which->count; i++) {
		result = answer_release(err, question, shelf, versions[i], &which->releases[i]);
		unknown = unknown || which->releases[i].answer == JW_WHICH_UNKNOWN;
	}
	if (!result && unknown && (options->version || options->range))
		result = infer_from_all(err, options, which);
	else if (!result && unknown)
		infer_answers(which);
	advise(which);
	if (!options->version)
		find_unexamined(which);
	question_free(question);
	if (result)
		jw_result_free(which);
	else
		*ret_which = which;
	return result ? -1 : 0;
}

const struct jw_which_release *jw_which_common(const struct jw_which *answers, size_t count)
{
	const struct jw_which_release *common = NULL;
	unsigned best = UINT_MAX;

	for (size_t i = 0; i < answers->count; i++) {
		size_t worst = 0;

		for (size_t k = 1; k < count; k++)
			if (rank_in(&answers[k], i) > rank_in(&answers[worst], i))
				worst = k;
		if (rank_in(&answers[worst], i) < best) {
			best = rank_in(&answers[worst], i);
			common = &answers[worst].releases[i];
		}
	}
	return common;
}

char *jw_which_install(const struct jw_which *which, const struct jw_which_release *release,
					   const char *install)
{
	/* The label of another index stays: pip takes an installed 2.7.1 from PyPI for “==2.7.1”. */
	const bool plain = release->declared_by && !release->options;
	const size_t length = strcspn(release->version, plain ? "+" : "");
	struct buf command = BUF_MAX(UINT16_MAX);
	bool labelled = false;
	char *text;

	/* pip takes “2.7.1+cu118” for “==2.7.1”, if the index has both. */
	for (size_t i = 0; !release->declared_by && i < which->count; i++)
		labelled = labelled || (!which->releases[i].declared_by &&
								version_is_build_of(which->releases[i].version, release->version));
	text = mem_printf(labelled ? "%s===%.*s" : "%s==%.*s", install, (int)length, release->version);
	buf_add(&command, "pip install");
	shell_add_word(&command, text);
	shell_add_each(&command, release->beside);
	shell_add_each(&command, release->options);
	mem_free(text);
	text = mem_string(buf_text(&command));
	buf_free(&command);
	return text;
}

const char *jw_which_own_platform(void)
{
	size_t at = WHEEL_PLATFORMS - 1;

	while (at && strcmp(wheel_platforms[at].machine, jw_platform()) != 0)
		at--;
	return wheel_platforms[at].name;
}
