#include "which/question.h"

#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "base/packages.h"
#include "base/pep440.h"
#include "code/rules.h"
#include "code/target_names.h"
#include "find/marker.h"
#include "os/file.h"
#include "plan/estimate.h"
#include "plan/loading.h"
#include "plan/plan.h"

enum { MAX_PINS = 16 /* the longest chain of packages that pin each other */ };

/* ---- packages and their wheels */

static struct shelf *find_shelf(const struct question *question, const char *name)
{
	for (size_t i = 0; i < question->count; i++)
		if (!strcmp(question->shelves[i]->name, name))
			return question->shelves[i];
	return NULL;
}

/* Adds a package, which may be none of the list. */
static struct shelf *add_shelf(struct question *question, const char *name,
							   const struct wheel_list *list)
{
	struct shelf *shelf = arena_alloc(question->memory, sizeof *shelf);

	*shelf = (struct shelf){.listed = list != NULL};
	TEXT_COPY(shelf->name, name);
	if (list)
		shelf->list = *list;
	/* NOLINTNEXTLINE(bugprone-sizeof-expression): the array has pointers */
	(void)ARENA_ROOM(NULL, question->memory, question->shelves, question->capacity, question->count,
					 SIZE_MAX);
	question->shelves[question->count++] = shelf;
	return shelf;
}

int question_open(struct jw_error *err, const struct jw_which_options *options, void *owner,
				  struct question **ret_question)
{
	struct question *question;
	size_t size;
	char *text;

	if (wheel_list_text(err, &text, &size))
		return -1;
	question = arena_open(sizeof *question);
	*question = (struct question){.options = *options,
								  .owner = owner,
								  .memory = question,
								  .text = arena_keep(question, text),
								  .size = size};
	*ret_question = question;
	return 0;
}

int question_named(struct jw_error *err, struct question *question,
				   const struct jw_which_options *options, struct shelf **ret_shelf)
{
	enum { MAX_ASKED = 512 << 20 };
	char name[PACKAGE_MAX_NAME];
	struct buf asked = BUF_MAX(MAX_ASKED);
	struct wheel_list list;
	int result;

	if (!package_normalise(options->package, strlen(options->package), name))
		return error_set(err, JW_ERR_USAGE, "“%.200s” is no package's name", options->package);
	if (options->list)
		buf_add(&asked, "%s", options->list);
	/* PyPI does not list the builds of other indexes. */
	if (options->list && !strcmp(options->index, "PyPI"))
		wheel_list_builds(question->text, question->size, name, &asked);
	result = options->list ? wheel_list_read(err, "the index's list of wheels", buf_text(&asked),
											 asked.size, name, &list)
						   : wheel_list_read(err, WHEEL_LIST_OWN, question->text, question->size,
											 name, &list);
	buf_free(&asked);
	if (result)
		return -1;
	*ret_shelf = add_shelf(question, name, &list);
	return 0;
}

int question_shelf(struct jw_error *err, struct question *question, const char *name,
				   struct shelf **ret_shelf)
{
	struct shelf *shelf = find_shelf(question, name);
	struct wheel_list list;
	struct jw_error why;

	if (shelf) {
		*ret_shelf = shelf;
		return 0;
	}
	if (!wheel_list_read(&why, WHEEL_LIST_OWN, question->text, question->size, name, &list))
		*ret_shelf = add_shelf(question, name, &list);
	else if (why.code == JW_ERR_NOT_FOUND)
		*ret_shelf = add_shelf(question, name, NULL);
	else
		return error_copy(err, &why);
	return 0;
}

void question_free(struct question *question)
{
	for (size_t i = 0; i < question->count; i++)
		if (question->shelves[i]->listed)
			wheel_list_free(&question->shelves[i]->list);
	jw_result_free(question);
}

const struct wheel *shelf_wheel(const struct shelf *shelf, const char *version,
								const char *platform)
{
	const struct wheel_list *list = &shelf->list;

	/* A list spells a version nearly always in one way, which is found without reading the others.
	 */
	for (size_t i = 0; i < list->count; i++)
		if (!strcmp(list->wheels[i].version, version) &&
			!strcmp(list->wheels[i].platform, platform))
			return &list->wheels[i];
	for (size_t i = 0; i < list->count; i++)
		if (!strcmp(list->wheels[i].platform, platform) &&
			version_is_same(list->wheels[i].version, version))
			return &list->wheels[i];
	return NULL;
}

/* Returns whether a wheel has code for GPUs, or needs a CUDA runtime, beside a profiler's. */
static bool wheel_has_code(const struct wheel *wheel)
{
	for (size_t i = 0; i < wheel->library_count; i++)
		if (!fate_is_profilers(wheel->libraries[i].name))
			return true;
	return false;
}

bool shelf_has_code(const struct shelf *shelf, const char *versions, const char *platform)
{
	bool valid;

	for (size_t i = 0; i < shelf->list.count; i++)
		if (!strcmp(shelf->list.wheels[i].platform, platform) &&
			!wheel_label(&shelf->list.wheels[i]) && wheel_has_code(&shelf->list.wheels[i]) &&
			pep440_fits(shelf->list.wheels[i].version, versions, &valid))
			return true;
	return false;
}

/* Returns the examined wheel for the platform next to another one: the next newer one (-1), or the
 * next older one (1); NULL if there is none. */
static const struct wheel *find_examined(const struct wheel_list *list, const struct wheel *from,
										 int step)
{
	for (size_t at = (size_t)(from - list->wheels) + (size_t)step; at < list->count;
		 at += (size_t)step)
		if (!list->wheels[at].unseen && !list->wheels[at].declared &&
			!strcmp(list->wheels[at].platform, from->platform))
			return &list->wheels[at];
	return NULL;
}

/* ---- one wheel by itself */

/* Returns the library's name without its folder, and without the hash that auditwheel or delvewheel
 * has added: libx.so.0 for libx-1a2b3c4d.so.0. */
static char *library_of(void *owner, const char *file)
{
	enum { FEWEST_DIGITS = 8 };
	const char *member = strstr(file, ": "), *base = os_base_name(member ? member + 2 : file),
			   *dash = strrchr(base, '-');
	const size_t digits = dash ? strspn(dash + 1, "0123456789abcdef") : 0;

	if (digits >= FEWEST_DIGITS && dash[1 + digits] == '.')
		return arena_printf(owner, "%.*s%s", (int)(dash - base), base, dash + 1 + digits);
	return arena_string(owner, base);
}

/* Returns what people call a library, “FlashAttention 2”; NULL if packages.tsv has no title. */
static const char *title_of(const char *file)
{
	const struct package_fact *fact = package_fact_inside("title", file);

	return fact ? fact->values[0] : NULL;
}

/* A package that compiles most of its kernels while it runs: a row “compiler” of packages.tsv. */
struct compiler {
	const char *name;
	unsigned least;      /* the oldest GPU */
	unsigned cuda;       /* the ptxas that it brings for the GPU in question; 0: unknown */
	bool of_environment; /* it makes PTX of the CUDA that its environment has */
	bool by_libraries;   /* machine code only for the GPUs for which its libraries have some */
};

static bool is_compiler(const char *package, const char *version, struct jw_target target,
						struct compiler *ret_compiler)
{
	enum { SINCE, NAME, LEAST, CUDA, CUDA_FROM_100, HOW };
	const struct package_fact *fact = package_fact_release("compiler", package, version);

	if (!fact)
		return false;
	*ret_compiler = (struct compiler){
		.name = fact->values[NAME],
		.least = package_fact_number(fact->values[LEAST]),
		.cuda = package_fact_number(fact->values[target.sm < 100 ? CUDA : CUDA_FROM_100]),
		.of_environment = text_same(fact->values[HOW], "environment"),
		.by_libraries = text_same(fact->values[HOW], "libraries"),
	};
	return true;
}

/* Replaces the answer for a release that failed or ran by another reason of failure. */
static void replace_fate(struct jw_which_release *release, char *why, struct jw_driver needs)
{
	release->answer = JW_WHICH_FAILS;
	release->library = NULL;
	release->why = why;
	release->needs = needs;
}

/* Fails a release that makes no code for the GPU. */
static void fail_compiler(const struct question *question, const struct compiler *compiler,
						  struct jw_which_release *release)
{
	char sm[JW_TARGET_TEXT];

	replace_fate(release,
				 arena_printf(question->owner, "%s makes no code for %s", compiler->name,
							  jw_target_sm(sm, question->options.target)),
				 (struct jw_driver){0});
}

/* Names the CUDA whose PTX the driver reads, if a release makes PTX by the one that it finds. */
static void add_condition(const struct question *question, const struct compiler *compiler,
						  struct jw_which_release *release)
{
	const uint32_t cuda = question->options.driver.cuda;

	if (release->answer == JW_WHICH_RUNS && compiler->of_environment && cuda)
		release->why = arena_printf(question->owner, "if its environment has CUDA %u.%u or older",
									cuda / 1000, cuda % 1000 / 10);
}

/* Judges a release without device code of its own, which compiles all of its kernels. */
static void judge_compiler(const struct question *question, const struct compiler *compiler,
						   struct jw_which_release *release)
{
	const struct jw_which_options *options = &question->options;
	enum { FIRST_12_THAT_11_REFUSES = 12020 };
	const uint32_t cuda = compiler->cuda, code_cuda = cuda >= 13000                      ? 13000
													  : cuda >= FIRST_12_THAT_11_REFUSES ? 12000
																						 : 0;
	const struct jw_driver needs = gpu_code_range(code_cuda, options->target).from;
	char driver[JW_DRIVER_TEXT];

	release->answer = JW_WHICH_RUNS;
	if (cuda && gpu_compiler_fits(cuda, options->target) < 0)
		fail_compiler(question, compiler, release);
	else if (gpu_code_is_newer(&needs, &options->driver))
		replace_fate(release,
					 arena_printf(question->owner, "needs driver %s or newer",
								  jw_driver_text(driver, &needs)),
					 needs);
}

/* Adds up what a program may compile of the package's own libraries, of each only the variant that
 * it loads. */
static struct judge_work sum_work(const struct fates *fates, const struct wheel *wheel,
								  const struct judged *judged, const size_t *members,
								  const struct jw_driver *driver, double *ret_eager_ms)
{
	struct judge_work sum = {0};

	for (size_t i = 0; i < wheel->library_count; i++) {
		const struct wheel_library *library = &wheel->libraries[i];
		const struct judge_member *member = members[i] ? &fates->members[members[i] - 1] : NULL;
		const struct judge_work *work = &judged[i].work;

		/* A library without a member has only registered containers that declare no kernel. */
		if (member && (!member->chosen || member->aside || member->is.fate == JUDGE_LACKS ||
					   member->is.fate == JUDGE_REFUSED))
			continue;
		sum.modules += work->modules;
		sum.ptx_bytes += work->ptx_bytes;
		sum.cost_ms += work->cost_ms;
		if (loading_of(&(struct loading_facts){.runtime_cuda = library->facts.runtime_cuda,
											   .driver_cuda = driver->cuda,
											   .windows = library->facts.windows,
											   .path = library->name}) != LOADING_LAZY)
			*ret_eager_ms += work->cost_ms;
	}
	return sum;
}

/* Returns the time that what compiles in all libraries takes, whether programs load it or not. */
static struct jw_seconds sum_whole(const struct judged *judged, size_t count, double factor)
{
	double cost_ms = 0;

	for (size_t i = 0; i < count; i++)
		cost_ms += judged[i].work.cost_ms;
	return plan_seconds(cost_ms / 1000 * factor, false);
}

/* Names what of a release that runs needs a newer driver, by the first title if one has any, or is
 * left out on the GPU. */
static void note_parts(const struct question *question, const struct fates *fates,
					   struct jw_which_release *release)
{
	void *const owner = question->owner;
	const char *title = NULL, *file = NULL;
	size_t others = 0;
	char text[FATE_TEXT];

	for (size_t i = 0; i < fates->part_count; i++) {
		const struct file_fate *part = &fates->parts[i];

		if (part->part == JUDGE_NEWER) {
			others += file != NULL;
			if (!file || (!title && title_of(part->file))) {
				file = part->file;
				title = title_of(file);
			}
			release->needs = gpu_newer_driver(release->needs, part->is.needs);
		} else if (!release->without) {
			release->library = library_of(owner, part->file);
			release->without =
				arena_string(owner, title_of(part->file) ? title_of(part->file) : release->library);
			release->why =
				arena_string(owner, fate_reason(text, &part->is, question->options.target));
		}
	}
	if (file)
		release->newer =
			arena_printf(owner, others ? "%s, …" : "%s", title ? title : library_of(owner, file));
}

/* Fails a release by the largest of its libraries that fail. */
static void fail_by_library(const struct question *question, const struct file_fate *worst,
							struct jw_which_release *release)
{
	void *const owner = question->owner;
	const struct package_fact *lacks = worst->is.lacks;
	char text[FATE_TEXT];

	release->answer = JW_WHICH_FAILS;
	release->library = lacks ? arena_string(owner, lacks->name) : library_of(owner, worst->file);
	release->lacks = lacks ? arena_string(owner, lacks->values[0]) : NULL;
	release->why = arena_string(owner, fate_reason(text, &worst->is, question->options.target));
	release->needs = worst->is.needs;
}

/* Sets what the driver may compile of a release that runs, and whether that is most of it. */
static void set_work(const struct question *question, const struct fates *fates,
					 const struct wheel *wheel, const struct judged *judged, const size_t *members,
					 struct jw_which_release *release)
{
	const struct jw_which_options *options = &question->options;
	double eager_ms = 0;
	const struct judge_work work =
		sum_work(fates, wheel, judged, members, &options->driver, &eager_ms);
	const double factor = options->speed.factor > 0 ? options->speed.factor : PLAN_USUAL_FACTOR,
				 seconds = work.cost_ms / 1000 * factor;
	const struct judged *main = NULL;

	for (size_t i = 0; i < fates->member_count; i++)
		if (fates->members[i].main)
			main = &fates->members[i].is;
	release->modules = work.modules;
	release->start = plan_seconds(seconds, false);
	release->whole = sum_whole(judged, wheel->library_count, factor);
	if (work.modules && work.cost_ms > 0) {
		release->start.low *= eager_ms / work.cost_ms;
		release->loading =
			(eager_ms > 0 ? JW_LOADING_EAGER : 0) | (eager_ms < work.cost_ms ? JW_LOADING_LAZY : 0);
	}
	/* Most of what runs of the main library is PTX. */
	release->answer = main && main->compiled > main->native && seconds > JW_WHICH_NEGLIGIBLE_S
						  ? JW_WHICH_COMPILES
						  : JW_WHICH_RUNS;
}

/* Judges all libraries of a package's wheel like an installed package. */
static int judge_wheel(struct jw_error *err, const struct question *question, const char *package,
					   const struct wheel *wheel, struct jw_which_release *release)
{
	const struct jw_which_options *options = &question->options;
	const char *file = *wheel->file ? wheel->file : wheel->version;
	struct judged *judged = mem_array(wheel->library_count, sizeof *judged);
	size_t *members = mem_array(wheel->library_count, sizeof *members);
	const struct file_fate *worst = NULL;
	struct fates fates = {.items = NULL};
	struct compiler compiler = {.name = NULL};
	int result = 0;

	for (size_t i = 0; !result && i < wheel->library_count; i++) {
		const struct wheel_library *library = &wheel->libraries[i];
		struct judge_facts facts = library->facts;
		const size_t before = fates.member_count;

		facts.nvidia = fate_is_nvidia(file, library->name, package);
		judge_library(&facts, options->target, &options->driver, &judged[i]);
		result = fates_add(err, &fates,
						   &(struct fate_file){.path = file,
											   .member = library->name,
											   .library = facts.library,
											   .package = package,
											   .version = wheel->version,
											   .needs = library->needs},
						   0, options->target, &judged[i]);
		members[i] = fates.member_count > before ? fates.member_count : 0;
	}
	fates_settle(&fates);
	for (size_t i = 0; i < fates.count; i++)
		if (!worst || fates.items[i].is.pieces > worst->is.pieces)
			worst = &fates.items[i];
	if (!result && worst) {
		fail_by_library(question, worst, release);
	} else if (!result) {
		set_work(question, &fates, wheel, judged, members, release);
		note_parts(question, &fates, release);
	}
	if (!result && release->answer == JW_WHICH_COMPILES &&
		is_compiler(package, wheel->version, options->target, &compiler) && compiler.by_libraries)
		fail_compiler(question, &compiler, release);
	fates_free(&fates);
	mem_free(members);
	mem_free(judged);
	return result;
}

/* Names what a release that runs does without on newer GPUs, although no container shows it. */
static void note_without(const struct question *question, const char *package,
						 struct jw_which_release *release)
{
	const struct jw_target target = question->options.target;
	enum { SINCE, BEFORE, TITLE, FROM };
	const struct package_fact *fact = package_fact_release("without", package, release->version);
	char sm[JW_TARGET_TEXT];

	if (!fact || !version_is_newer(fact->values[BEFORE], release->version) || release->without ||
		target.sm < package_fact_number(fact->values[FROM]))
		return;
	release->without = arena_string(question->owner, fact->values[TITLE]);
	release->why = arena_printf(question->owner, "%s does not know %s", fact->values[TITLE],
								jw_target_sm(sm, target));
}

char *question_pip_options(void *owner, const char *package, const struct wheel *wheel)
{
	const struct package_fact *fact = wheel->declared ? package_fact_of("index", package) : NULL;
	const char *label = wheel_label(wheel);

	return fact && fact->values[ELSEWHERE_OPTIONS]
			   ? arena_printf(owner, "%s%s", fact->values[ELSEWHERE_OPTIONS], label ? label : "")
			   : NULL;
}

void question_begin_release(const struct question *question, const char *package,
							const struct wheel *wheel, struct jw_which_release *release)
{
	const struct package_fact *fact = package_fact_of("index", package);
	void *const owner = question->owner;

	*release =
		(struct jw_which_release){.version = arena_string(owner, wheel->version),
								  .file = wheel->declared ? NULL : arena_string(owner, wheel->file),
								  .inferred = wheel->of != NULL,
								  .options = question_pip_options(owner, package, wheel),
								  .declared_by = !wheel->declared ? NULL
												 : fact           ? fact->values[ELSEWHERE_WHOSE]
																  : "the package"};
}

int question_judge_own(struct jw_error *err, struct question *question, const struct shelf *shelf,
					   const struct wheel *wheel, const char *extras,
					   struct jw_which_release *release)
{
	const struct jw_which_options *options = &question->options;
	struct compiler compiler = {.name = NULL};
	const bool compiles = is_compiler(shelf->name, wheel->version, options->target, &compiler);

	question_begin_release(question, shelf->name, wheel, release);
	if (compiles && options->target.sm < compiler.least) {
		fail_compiler(question, &compiler, release);
		return 0;
	}
	if (wheel->unseen) {
		release->answer = JW_WHICH_UNKNOWN;
		return 0;
	}
	if (judge_wheel(err, question, shelf->name, wheel, release))
		return -1;
	if (release->answer == JW_WHICH_RUNS && !wheel_has_code(wheel)) {
		release->answer = JW_WHICH_CPU;
		if (compiles)
			judge_compiler(question, &compiler, release);
	}
	if (compiles)
		add_condition(question, &compiler, release);
	if (release->answer == JW_WHICH_CPU)
		return 0;
	/* A requirement that fails says more than a library that is opened by name. */
	if (release->lacks)
		release->answer = JW_WHICH_RUNS;
	if (release->answer != JW_WHICH_FAILS &&
		question_judge_pins(err, question, wheel, extras, release))
		return -1;
	if (release->lacks && release->answer == JW_WHICH_FAILS)
		release->lacks = NULL;
	else if (release->lacks)
		release->answer = JW_WHICH_FAILS;
	/* The entries of a declared build are those of no library. */
	if (wheel->declared && !release->pin)
		release->library = NULL;
	if (!wheel->declared && release->answer != JW_WHICH_FAILS)
		note_without(question, shelf->name, release);
	return 0;
}

/* Returns the answer for a wheel by itself. */
static int answer_wheel(struct jw_error *err, struct question *question, struct shelf *shelf,
						const struct wheel *wheel, const struct jw_which_release **ret_answer)
{
	void *const owner = question->owner;
	struct jw_which_release *answer;
	int result = 0;

	if (!shelf->answers)
		shelf->answers = arena_alloc(question->memory, shelf->list.count * sizeof *shelf->answers);
	answer = &shelf->answers[wheel - shelf->list.wheels];
	/* It lasts no longer than the question. */
	question->owner = question->memory;
	if (!answer->version)
		result = question_judge_own(err, question, shelf, wheel, NULL, answer);
	question->owner = owner;
	*ret_answer = answer;
	return result;
}

int question_answer(struct jw_error *err, struct question *question, struct shelf *shelf,
					const struct wheel *wheel, const struct jw_which_release **ret_answer)
{
	const struct wheel *newer, *older;
	const struct jw_which_release *after, *before;

	if (answer_wheel(err, question, shelf, wheel, ret_answer))
		return -1;
	if ((*ret_answer)->answer != JW_WHICH_UNKNOWN)
		return 0;
	newer = find_examined(&shelf->list, wheel, -1);
	older = find_examined(&shelf->list, wheel, 1);
	if (!newer || !older)
		return 0;
	if (answer_wheel(err, question, shelf, newer, &after) ||
		answer_wheel(err, question, shelf, older, &before))
		return -1;
	if ((after->answer == JW_WHICH_FAILS && before->answer == JW_WHICH_FAILS) ||
		(after->answer != JW_WHICH_CPU && jw_which_same(after, before)))
		*ret_answer = before;
	return 0;
}

/* ---- requirements */

/* Writes the Python that the markers of a wheel are about: the one in question, or else one that
 * most people have, or the newest or oldest one that the wheel is for. */
static void choose_python(char text[8], const struct question *question, const struct wheel *wheel)
{
	enum { USUAL = 12, OLDEST = 4, NEWEST = 30 };
	unsigned minor = USUAL;

	if (question->options.python) {
		text_copy(text, 8, question->options.python);
		return;
	}
	(void)text_format(text, 8, "3.%u", minor);
	while (!wheel_fits_python(wheel, text) && minor > OLDEST)
		(void)text_format(text, 8, "3.%u", --minor);
	for (minor = minor > OLDEST ? minor : USUAL; !wheel_fits_python(wheel, text) && minor < NEWEST;)
		(void)text_format(text, 8, "3.%u", ++minor);
}

bool question_requires(const struct question *question, const struct wheel *wheel,
					   const char *extras, size_t at, struct required *ret_required)
{
	struct marker_place place = {.platform = question->options.platform, .extras = extras};
	char python[8];

	if (!required_read(wheel->requires[at], ret_required))
		return false;
	if (!*ret_required->marker)
		return true;
	choose_python(python, question, wheel);
	place.python = python;
	return marker_holds(ret_required->marker, &place);
}

bool question_is_base(const char *required)
{
	return package_fact_of("base", required) || fate_is_nvidia(required, NULL, required);
}

void question_fail_by(const struct question *question, const char *name, const char *versions,
					  const struct jw_which_release *answer, struct jw_which_release *release)
{
	replace_fate(release, arena_string(question->owner, answer->why), answer->needs);
	release->pin = arena_printf(question->owner, "%s%s", name, versions);
	release->library = arena_string(question->owner, name);
}

/* Answers for a version of which the platform's wheel has no device code, or was not examined, by
 * other builds: those of other indexes for the platform, which the list may lack in part, and the
 * wheel for Linux. Fails if each of them fails. */
static int answer_builds(struct jw_error *err, struct question *question, struct shelf *shelf,
						 const char *version, const struct jw_which_release **answer)
{
	const char *platform = question->options.platform;
	const struct wheel *linux_wheel = shelf_wheel(shelf, version, "linux");

	for (size_t i = 0; i < shelf->list.count; i++) {
		const struct wheel *wheel = &shelf->list.wheels[i];

		if (!wheel_label(wheel) || strcmp(wheel->platform, platform) != 0 ||
			!version_is_build_of(wheel->version, version))
			continue;
		if (question_answer(err, question, shelf, wheel, answer))
			return -1;
		if ((*answer)->answer <= JW_WHICH_COMPILES)
			return 0;
	}
	return linux_wheel ? question_answer(err, question, shelf, linux_wheel, answer) : 0;
}

int question_judge_pins(struct jw_error *err, struct question *question, const struct wheel *wheel,
						const char *extras, struct jw_which_release *release)
{
	if (question->depth == MAX_PINS)
		return 0;
	question->depth++;
	for (size_t i = 0; i < wheel->require_count && release->answer != JW_WHICH_FAILS; i++) {
		const struct jw_which_release *answer;
		const struct wheel *found;
		struct required required;
		char versions[PACKAGE_MAX_NAME + 1];
		struct shelf *shelf;

		if (!question_requires(question, wheel, extras, i, &required) || !*required.version ||
			!question_is_base(required.is.name))
			continue;
		if (question_shelf(err, question, required.is.name, &shelf))
			return -1;
		found =
			shelf->listed ? shelf_wheel(shelf, required.version, question->options.platform) : NULL;
		if (!found)
			continue;
		if (question_answer(err, question, shelf, found, &answer))
			return -1;
		if ((answer->answer == JW_WHICH_CPU || answer->answer == JW_WHICH_UNKNOWN) &&
			answer_builds(err, question, shelf, required.version, &answer))
			return -1;
		(void)snprintf(versions, sizeof versions, " %s", required.version);
		if (answer->answer == JW_WHICH_FAILS)
			question_fail_by(question, required.is.name, versions, answer, release);
	}
	question->depth--;
	return 0;
}
