#include <jitwarm/which.h>

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include <jitwarm/version.h>

#include "base/mem.h"
#include "base/packages.h"
#include "base/pep440.h"
#include "base/text.h"
#include "base/wheel_name.h"
#include "code/release.h"
#include "code/rules.h"
#include "code/target_names.h"
#include "find/marker.h"
#include "find/pip.h"
#include "os/file.h"
#include "plan/estimate.h"
#include "plan/loading.h"
#include "plan/plan.h"
#include "plan/wheel_list.h"
#include "prime/brought.h"

/* Returns the library's name without its folder, and without the hash that auditwheel or delvewheel
 * has added: libx.so.0 for libx-1a2b3c4d.so.0. */
static char *library_of(const char *file)
{
	enum { FEWEST_DIGITS = 8 };
	const char *member = strstr(file, ": "), *base = os_base_name(member ? member + 2 : file),
			   *dash = strrchr(base, '-');
	const size_t digits = dash ? strspn(dash + 1, "0123456789abcdef") : 0;

	if (digits >= FEWEST_DIGITS && dash[1 + digits] == '.')
		return mem_printf("%.*s%s", (int)(dash - base), base, dash + 1 + digits);
	return mem_string(base);
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

static bool find_compiler(const char *package, const char *version, struct jw_target target,
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

/* Replaces the failing library of a release, with all that is known of it. `why` is taken over. */
static void replace_fate(struct jw_which_release *release, enum jw_which_answer answer,
						 const char *library, char *why, struct jw_driver needs)
{
	mem_free(release->library);
	mem_free(release->why);
	release->answer = answer;
	release->library = library ? mem_string(library) : NULL;
	release->why = why;
	release->needs = needs;
}

/* Fails a release that makes no code for the GPU. */
static void fail_compiler(struct jw_which_release *release, const struct compiler *compiler,
						  struct jw_target target)
{
	char sm[JW_TARGET_TEXT];

	replace_fate(release, JW_WHICH_FAILS, NULL,
				 mem_printf("%s makes no code for %s", compiler->name, jw_target_sm(sm, target)),
				 (struct jw_driver){0});
}

/* Names the CUDA whose PTX the driver reads, if a release makes PTX by the one that it finds. */
static void add_condition(struct jw_which_release *release, const struct compiler *compiler,
						  struct jw_driver driver)
{
	if (release->answer == JW_WHICH_RUNS && compiler->of_environment && driver.cuda)
		release->why = mem_printf("if its environment has CUDA %u.%u or older", driver.cuda / 1000,
								  driver.cuda % 1000 / 10);
}

/* Judges a release without device code of its own, which compiles all of its kernels. */
static void judge_compiler(const struct compiler *compiler, const struct jw_which_options *options,
						   struct jw_which_release *release)
{
	enum { FIRST_12_THAT_11_REFUSES = 12020 };
	const uint32_t cuda = compiler->cuda, code_cuda = cuda >= 13000                      ? 13000
													  : cuda >= FIRST_12_THAT_11_REFUSES ? 12000
																						 : 0;
	const struct jw_driver needs = gpu_code_range(code_cuda, options->target).from;
	char driver[JW_DRIVER_TEXT];

	release->answer = JW_WHICH_RUNS;
	if (cuda && gpu_compiler_fits(cuda, options->target) < 0)
		fail_compiler(release, compiler, options->target);
	else if (gpu_code_is_newer(&needs, &options->driver))
		replace_fate(release, JW_WHICH_FAILS, NULL,
					 mem_printf("needs driver %s or newer", jw_driver_text(driver, &needs)), needs);
}

/* Adds up what a program of the package may compile: the libraries that count for their variants,
 * if they are the package's own. */
static struct judge_work work_of(const struct fates *fates, const struct wheel *wheel,
								 const struct judged *judged, const size_t *members,
								 const struct jw_driver *driver, double *ret_eager_ms)
{
	struct judge_work sum = {0};

	for (size_t i = 0; i < wheel->library_count; i++) {
		const struct wheel_library *library = &wheel->libraries[i];
		const struct judge_member *member = members[i] ? &fates->members[members[i] - 1] : NULL;
		const struct judge_work *work = &judged[i].work;

		/* Some have nothing but registered containers that declare nothing. */
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

/* Names what of a release that runs needs a newer driver, by the first title if one has any, or is
 * left out on the GPU. */
static void note_parts(struct jw_which_release *release, const struct fates *fates,
					   struct jw_target device)
{
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
			release->library = library_of(part->file);
			release->without =
				mem_string(title_of(part->file) ? title_of(part->file) : release->library);
			release->why = mem_string(fate_reason(text, &part->is, device));
		}
	}
	if (file) {
		char *name = title ? mem_string(title) : library_of(file);

		release->newer = mem_printf(others ? "%s, …" : "%s", name);
		mem_free(name);
	}
}

/* Judges all libraries of a package's wheel like an installed package. */
static int judge_wheel(struct jw_error *err, const struct question *question, const char *package,
					   const struct wheel *wheel, struct jw_which_release *release)
{
	const struct jw_which_options *options = question->options;
	const char *file = *wheel->file ? wheel->file : wheel->version;
	struct judged *judged = mem_array(wheel->library_count, sizeof *judged);
	size_t *members = mem_array(wheel->library_count, sizeof *members);
	const struct file_fate *worst = NULL;
	struct fates fates = {.items = NULL};
	const struct judged *main = NULL;
	struct compiler compiler = {.name = NULL};
	char text[FATE_TEXT];
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
	for (size_t i = 0; i < fates.member_count; i++)
		if (fates.members[i].main)
			main = &fates.members[i].is;
	for (size_t i = 0; i < fates.count; i++)
		if (!worst || fates.items[i].is.pieces > worst->is.pieces)
			worst = &fates.items[i];
	if (!result && worst) {
		release->answer = JW_WHICH_FAILS;
		release->library =
			worst->is.lacks ? mem_string(worst->is.lacks->name) : library_of(worst->file);
		release->lacks = worst->is.lacks ? mem_string(worst->is.lacks->values[0]) : NULL;
		release->why = mem_string(fate_reason(text, &worst->is, options->target));
		release->needs = worst->is.needs;
	} else if (!result) {
		double eager_ms = 0;
		const struct judge_work work =
			work_of(&fates, wheel, judged, members, &options->driver, &eager_ms);
		const double factor = options->speed.factor,
					 seconds = work.cost_ms / 1000 * (factor > 0 ? factor : PLAN_USUAL_FACTOR);

		release->modules = work.modules;
		release->start = plan_seconds(seconds, false);
		if (work.modules && work.cost_ms > 0) {
			release->start.low *= eager_ms / work.cost_ms;
			release->loading = (eager_ms > 0 ? JW_LOADING_EAGER : 0) |
							   (eager_ms < work.cost_ms ? JW_LOADING_LAZY : 0);
		}
		/* Most of what runs of the main library is PTX. */
		release->answer = main && main->compiled > main->native && seconds > JW_WHICH_NEGLIGIBLE_S
							  ? JW_WHICH_COMPILES
							  : JW_WHICH_RUNS;
		note_parts(release, &fates, options->target);
	}
	if (!result && release->answer == JW_WHICH_COMPILES &&
		find_compiler(package, wheel->version, options->target, &compiler) && compiler.by_libraries)
		fail_compiler(release, &compiler, options->target);
	fates_free(&fates);
	mem_free(members);
	mem_free(judged);
	return result;
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

/* Names what a release that runs does without on newer GPUs, although no container shows it. */
static void note_without(const char *package, struct jw_which_release *release,
						 struct jw_target target)
{
	enum { SINCE, BEFORE, TITLE, FROM };
	const struct package_fact *fact = package_fact_release("without", package, release->version);
	char sm[JW_TARGET_TEXT];

	if (!fact || !version_is_newer(fact->values[BEFORE], release->version) || release->without ||
		target.sm < package_fact_number(fact->values[FROM]))
		return;
	release->without = mem_string(fact->values[TITLE]);
	release->why = mem_printf("%s does not know %s", fact->values[TITLE], jw_target_sm(sm, target));
}

char *pip_options_of(const char *package, const struct wheel *wheel)
{
	const struct package_fact *fact = wheel->declared ? package_fact_of("index", package) : NULL;
	const char *label = wheel_label(wheel);

	return fact && fact->values[ELSEWHERE_OPTIONS]
			   ? mem_printf("%s%s", fact->values[ELSEWHERE_OPTIONS], label ? label : "")
			   : NULL;
}

/* Begins the answer for a wheel, and names who declares a build. */
static void begin_release(const char *package, const struct wheel *wheel,
						  struct jw_which_release *release)
{
	const struct package_fact *fact = package_fact_of("index", package);

	*release = (struct jw_which_release){.version = mem_string(wheel->version),
										 .file = wheel->declared ? NULL : mem_string(wheel->file),
										 .inferred = wheel->of != NULL,
										 .options = pip_options_of(package, wheel)};
	if (wheel->declared)
		release->declared_by = fact ? fact->values[ELSEWHERE_WHOSE] : "the package";
}

int judge_own(struct jw_error *err, struct question *question, const struct shelf *shelf,
			  const struct wheel *wheel, const char *extras, struct jw_which_release *release)
{
	const struct jw_which_options *options = question->options;
	struct compiler compiler = {.name = NULL};
	const bool compiles = find_compiler(shelf->name, wheel->version, options->target, &compiler);

	begin_release(shelf->name, wheel, release);
	if (compiles && options->target.sm < compiler.least) {
		fail_compiler(release, &compiler, options->target);
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
			judge_compiler(&compiler, options, release);
	}
	if (compiles)
		add_condition(release, &compiler, options->driver);
	if (release->answer == JW_WHICH_CPU)
		return 0;
	/* A requirement that fails says more than a library that is opened by name. */
	if (release->lacks)
		release->answer = JW_WHICH_RUNS;
	if (release->answer != JW_WHICH_FAILS && judge_pins(err, question, wheel, extras, release))
		return -1;
	if (release->lacks && release->answer == JW_WHICH_FAILS) {
		mem_free(release->lacks);
		release->lacks = NULL;
	} else if (release->lacks) {
		release->answer = JW_WHICH_FAILS;
	}
	if (wheel->declared) {
		/* The entries of a declared build are those of no library. */
		if (!release->pin)
			mem_free(release->library);
		release->library = release->pin ? release->library : NULL;
		return 0;
	}
	if (release->answer != JW_WHICH_FAILS)
		note_without(shelf->name, release, options->target);
	return 0;
}

/* Judges one release of the named package, with what it brings along. */
static int judge_release(struct jw_error *err, struct question *question, struct shelf *shelf,
						 const char *version, struct jw_which_release *release)
{
	const struct jw_which_options *options = question->options;
	const struct wheel *wheel = shelf_wheel(shelf, version, options->platform);

	if (!wheel) {
		*release = (struct jw_which_release){.version = mem_string(version),
											 .answer = shelf_wheel(shelf, version, WHEEL_SOURCE)
														   ? JW_WHICH_SOURCE
														   : JW_WHICH_NO_WHEEL};
		return 0;
	}
	if (options->python && !wheel_fits_python(wheel, options->python)) {
		begin_release(shelf->name, wheel, release);
		release->answer = JW_WHICH_NO_PYTHON;
		release->why = wheel_pythons(wheel);
		return 0;
	}
	if (judge_own(err, question, shelf, wheel, options->extras, release))
		return -1;
	return release->answer > JW_WHICH_CPU ? 0
										  : judge_brought(err, question, shelf, wheel,
														  release->answer != JW_WHICH_CPU, release);
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

static char *copy_of(const char *text)
{
	return text ? mem_string(text) : NULL;
}

static char **copy_texts(char *const *texts, size_t count)
{
	char **copy = count ? mem_array(count, sizeof *copy) : NULL;

	for (size_t i = 0; i < count; i++)
		copy[i] = mem_string(texts[i]);
	return copy;
}

/* Gives a release that was not examined the answer of one that was. */
static void infer_answer(struct jw_which_release *release, const struct jw_which_release *from)
{
	char *version = release->version;

	release->version = NULL;
	jw_which_release_free(release);
	*release = *from;
	release->version = version;
	release->file = copy_of(from->file);
	release->why = copy_of(from->why);
	release->library = copy_of(from->library);
	release->lacks = copy_of(from->lacks);
	release->newer = copy_of(from->newer);
	release->without = copy_of(from->without);
	release->pin = copy_of(from->pin);
	release->beside = copy_of(from->beside);
	release->required = copy_of(from->required);
	release->required_why = copy_of(from->required_why);
	release->uses = copy_texts(from->uses, from->use_count);
	release->unfollowed = copy_texts(from->unfollowed, from->unfollowed_count);
	release->inferred = true;
}

/* Infers the answers of releases that were not examined, if the examined ones before and after them
 * have the same one. */
static void infer_answers(struct jw_which *which)
{
	size_t newer = SIZE_MAX;

	for (size_t i = 0; i < which->count; i++) {
		struct jw_which_release *releases = which->releases;

		if (releases[i].answer > JW_WHICH_FAILS || releases[i].inferred || releases[i].declared_by)
			continue;
		for (size_t k = i; newer != SIZE_MAX && --k > newer;)
			if (releases[k].answer == JW_WHICH_UNKNOWN &&
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
	struct jw_which all;

	for_all.version = for_all.range = NULL;
	if (jw_which(err, &for_all, &all))
		return -1;
	for (size_t i = 0; i < which->count; i++)
		for (size_t k = 0; which->releases[i].answer == JW_WHICH_UNKNOWN && k < all.count; k++)
			if (all.releases[k].inferred &&
				version_is_same(all.releases[k].version, which->releases[i].version))
				infer_answer(&which->releases[i], &all.releases[k]);
	jw_which_free(&all);
	return 0;
}

/* Returns how a release is advised: the lower, the rather. UINT_MAX if it is not. */
static unsigned rank_of(const struct jw_which_release *release)
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
	const unsigned rank = rank_of(release);

	while (examined->declared_by && examined > which->releases)
		examined--;
	return rank != UINT_MAX && !examined->declared_by && examined->without &&
				   version_is_build_of(release->version, examined->version)
			   ? rank_of(examined)
			   : rank;
}

/* Finds the release to install, with `declared` also among builds. */
static void advise(struct jw_which *which, bool declared)
{
	unsigned best = UINT_MAX;

	which->advised = NULL;
	for (size_t i = 0; i < which->count; i++) {
		if ((declared || !which->releases[i].declared_by) && rank_in(which, i) < best) {
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

static bool is_platform(const char *platform)
{
	return !strcmp(platform, "linux") || !strcmp(platform, "linux-aarch64") ||
		   !strcmp(platform, "windows");
}

int jw_which(struct jw_error *err, const struct jw_which_options *options,
			 struct jw_which *ret_which)
{
	struct question question = {.options = options};
	struct jw_which which = {.target = options->target};
	struct shelf *shelf;
	const char **versions;
	bool valid, unknown = false;
	int result = 0;

	if (!is_platform(options->platform))
		return error_set(err, JW_ERR_USAGE,
						 "--platform is linux, linux-aarch64 or windows, not “%s”",
						 options->platform);
	if (options->range && (pep440_fits("0", options->range, &valid), !valid))
		return error_set(err, JW_ERR_USAGE, "“%.200s” is no range of versions, such as “>=2,<2.3”",
						 options->range);
	if (jw_driver_supports(err, &options->driver, options->target) ||
		wheel_list_text(err, &question.text, &question.size))
		return -1;
	if (question_named(err, &question, options, &shelf)) {
		question_free(&question);
		return -1;
	}
	versions = mem_array(shelf->list.count + 1, sizeof *versions);
	which.package = mem_string(shelf->name);
	which.index = mem_string(options->asked ? jw_asked_index(options->asked) : "PyPI");
	which.date = mem_string(shelf->list.date);
	which.count = list_versions(&shelf->list, options, versions);
	which.releases = mem_array(which.count, sizeof *which.releases);
	for (size_t i = 0; !result && i < which.count; i++) {
		result = judge_release(err, &question, shelf, versions[i], &which.releases[i]);
		unknown = unknown || which.releases[i].answer == JW_WHICH_UNKNOWN;
	}
	if (!result && unknown && (options->version || options->range))
		result = infer_from_all(err, options, &which);
	else if (!result && unknown)
		infer_answers(&which);
	advise(&which, true);
	if (!options->version)
		find_unexamined(&which);
	mem_free(versions);
	question_free(&question);
	if (result)
		jw_which_free(&which);
	else
		*ret_which = which;
	return result ? -1 : 0;
}

void jw_which_release_free(struct jw_which_release *release)
{
	mem_free(release->version);
	mem_free(release->file);
	mem_free(release->options);
	mem_free(release->library);
	mem_free(release->why);
	mem_free(release->lacks);
	mem_free(release->newer);
	mem_free(release->without);
	mem_free(release->pin);
	mem_free(release->beside);
	mem_free(release->required);
	mem_free(release->required_why);
	for (size_t i = 0; i < release->use_count; i++)
		mem_free(release->uses[i]);
	for (size_t i = 0; i < release->unfollowed_count; i++)
		mem_free(release->unfollowed[i]);
	mem_free(release->uses);
	mem_free(release->unfollowed);
	*release = (struct jw_which_release){.version = NULL};
}

void jw_which_free(struct jw_which *which)
{
	for (size_t i = 0; i < which->count; i++)
		jw_which_release_free(&which->releases[i]);
	mem_free(which->releases);
	mem_free(which->package);
	mem_free(which->index);
	mem_free(which->date);
	*which = (struct jw_which){.package = NULL};
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

char *jw_which_nearest(const char *package)
{
	static const char start[] = "package ";
	char name[PACKAGE_MAX_NAME], *text, *result;
	struct suggest nearest;
	size_t size;

	if (!package_normalise(package, strlen(package), name) || wheel_list_text(NULL, &text, &size))
		return NULL;
	nearest = suggest_for(name, strlen(name));
	/* Many names of two packages are nearly alike: cudf-cu12 is not cuml-cu12. */
	nearest.distance = 1;
	for (char *line = text, *end; *line; line = end) {
		end = line + strcspn(line, "\n");
		if (*end)
			*end++ = '\0';
		if (text_starts(line, start))
			suggest_offer(&nearest, line + strlen(start));
	}
	result = nearest.best ? mem_string(nearest.best) : NULL;
	mem_free(text);
	return result;
}

const char *jw_which_own_platform(void)
{
	return text_starts(jw_platform(), "aarch64") ? "linux-aarch64"
		   : text_ends(jw_platform(), "windows") ? "windows"
												 : "linux";
}

enum { MAX_VERSION = 64 };

/* Reads the package, the version and the platform of a wheel's name, with or without ": MEMBER"
 * after it. False if the file is not a wheel. */
static bool read_wheel_name(const char *file, char package[PACKAGE_MAX_NAME],
							char version[MAX_VERSION], const char **ret_platform)
{
	static const char end[] = ".whl";
	const char *at = strstr(file, end);
	struct wheel_name name;
	char *path, platform[256];
	bool result;

	while (at && at[sizeof end - 1] && !text_starts(at + sizeof end - 1, ": "))
		at = strstr(at + 1, end);
	if (!at)
		return false;
	path = mem_string_n(file, (size_t)(at - file) + strlen(end));
	result = wheel_name_read(os_base_name(path), &name) &&
			 package_normalise(name.name.text, name.name.size, package);
	if (result) {
		(void)wheel_part_text(version, MAX_VERSION, name.version);
		(void)wheel_part_text(platform, sizeof platform, name.platform);
		*ret_platform = text_ends(platform, "_aarch64")    ? "linux-aarch64"
						: text_ends(platform, "win_amd64") ? "windows"
						: text_ends(platform, "_x86_64")   ? "linux"
														   : NULL;
	}
	mem_free(path);
	return result && *ret_platform;
}

bool jw_which_before(const char *file, struct jw_target target, const struct jw_driver *driver,
					 const struct jw_speed *speed, struct jw_which_release *ret_release)
{
	char name[PACKAGE_MAX_NAME], version[MAX_VERSION];
	struct jw_which_options options = {.target = target, .driver = *driver, .speed = *speed};
	struct jw_which which;
	bool found = false;

	if (!read_wheel_name(file, name, version, &options.platform))
		return false;
	options.package = name;
	if (jw_which(NULL, &options, &which))
		return false;
	for (size_t i = 0; !found && i < which.count; i++) {
		struct jw_which_release *release = &which.releases[i];

		if (!version_is_newer(version, release->version) || release->answer > JW_WHICH_FAILS ||
			release->inferred || release->declared_by)
			continue;
		*ret_release = *release;
		*release = (struct jw_which_release){.version = NULL};
		found = true;
	}
	jw_which_free(&which);
	return found;
}

bool jw_which_cure(const char *package, const char *file, struct jw_target target,
				   const struct jw_driver *driver, const char *python, struct jw_cure *ret_cure)
{
	char name[PACKAGE_MAX_NAME], own[MAX_VERSION];
	struct jw_which_options options = {.package = package,
									   .target = target,
									   .driver = *driver,
									   .platform = jw_which_own_platform(),
									   .python = python};
	struct jw_which which;
	const char *version;
	struct jw_error why;

	if (!package && !read_wheel_name(file, name, own, &options.platform))
		return false;
	options.package = package ? package : name;
	if (jw_which(&why, &options, &which)) {
		*ret_cure = (struct jw_cure){.package = mem_string(options.package)};
		if (why.code != JW_ERR_NOT_FOUND)
			jw_cure_free(ret_cure);
		return why.code == JW_ERR_NOT_FOUND;
	}
	advise(&which, false);
	version = which.advised ? which.advised->version : NULL;
	*ret_cure = (struct jw_cure){mem_string(which.package), true,
								 version ? mem_string(version) : NULL, which.unexamined > 0};
	jw_which_free(&which);
	return true;
}

void jw_cure_free(struct jw_cure *cure)
{
	mem_free(cure->package);
	mem_free(cure->version);
	*cure = (struct jw_cure){.package = NULL};
}

/* Adds a line NAME[EXTRA] >= VERSION ; MARKER --hash=… without what is behind the versions, once.
 */
static void add_requirement(struct jw_which_names *names, size_t *capacity, const char *line,
							const struct marker_place *place)
{
	char *text = mem_string_n(line, strcspn(line, "\n")), *end = strstr(text, " --"), *marker;

	if (end)
		*end = '\0';
	if ((marker = strchr(text, ';')))
		*marker++ = '\0';
	for (end = text + strlen(text); end > text && text_is_blank((unsigned char)end[-1]);)
		*--end = '\0';
	for (size_t i = 0; *text && i < names->count; i++)
		if (!strcmp(names->items[i], text))
			*text = '\0';
	if (!*text || (marker && !marker_holds(marker, place))) {
		mem_free(text);
		return;
	}
	VEC_GROW(names->items, *capacity, names->count);
	names->items[names->count++] = text;
}

int jw_which_read_names(struct jw_error *err, const char *path, const char *platform,
						const char *python, struct jw_which_names *ret_names)
{
	const struct marker_place place = {.platform = platform, .python = python ? python : "3.12"};
	struct pip_lines lines;
	struct jw_which_names names = {.items = NULL};
	size_t capacity = 0;

	if (pip_lines_read_file(err, path, &lines))
		return -1;
	for (const char *at = buf_text(&lines.requirements); *at; at += *at == '\n') {
		add_requirement(&names, &capacity, at, &place);
		at += strcspn(at, "\n");
	}
	for (size_t i = 0; i < lines.packages.count; i++)
		add_requirement(&names, &capacity, lines.packages.items[i].asked, &place);
	names.left_out = lines.left_out.count;
	pip_lines_free(&lines);
	if (!names.count)
		return error_set(err, JW_ERR_FORMAT,
						 "%s: no line of it names a package; options, files, addresses and other "
						 "lists are not followed",
						 path);
	*ret_names = names;
	return 0;
}

void jw_which_names_free(struct jw_which_names *names)
{
	for (size_t i = 0; i < names->count; i++)
		mem_free(names->items[i]);
	mem_free(names->items);
	*names = (struct jw_which_names){.items = NULL};
}
