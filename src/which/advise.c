#include "which/advise.h"

#include <string.h>

#include "base/arena.h"
#include "base/packages.h"
#include "base/pep440.h"
#include "os/shell.h"

enum {
	MAX_COMMAND = 1 << 16,
	MAX_NAMED = 5, /* the most names of packages that a note has */
	MAX_NOTES = 32
};

static const char versions_begin[] = "<>=!~ ";

struct advising {
	const struct jw_which_question *question;
	const struct jw_which_name *name;
	struct jw_which_options options; /* of the question, about the package in question */
	struct jw_which_advice *advice;
	const struct jw_which *which;  /* the answer */
	const struct jw_which *of_all; /* for one release, the answer for all; else NULL */
	size_t note_capacity;
};

/* ---- commands */

/* Returns the command that answers for a package. */
static char *which_command(const struct advising *advising, const char *package, bool asks)
{
	struct buf command = BUF_MAX(MAX_COMMAND);
	char *text;

	buf_add(&command, "%s", advising->question->command);
	shell_add_word(&command, package);
	if (asks)
		buf_add(&command, " --ask");
	text = arena_string(advising->advice, buf_text(&command));
	buf_free(&command);
	return text;
}

/* Returns the command that installs a release, with the extra that it needs. */
static char *install_command(const struct advising *advising, const struct jw_which *which,
							 const struct jw_which_release *release)
{
	char *name = jw_which_install_name(advising->name, release->version);
	char *install = arena_keep(advising->advice, jw_which_install(which, release, name));

	mem_free(name);
	return install;
}

/* Returns whether a required package, “torch>=2.10”, is in question itself. */
static bool is_named(const struct jw_which_question *question, const char *required)
{
	static const char ends[] = "[<>=!~ ;@";
	char wanted[PACKAGE_MAX_NAME], name[PACKAGE_MAX_NAME];

	if (!package_normalise(required, strcspn(required, ends), wanted))
		return false;
	for (size_t i = 0; i < question->package_count; i++)
		if (package_normalise(question->packages[i], strcspn(question->packages[i], ends), name) &&
			!strcmp(name, wanted))
			return true;
	return false;
}

/* Returns the command that installs a required package before a release, since pip takes one
 * without device code otherwise; NULL if no build is known that runs. */
static char *first_command(const struct advising *advising, const struct jw_which_release *release)
{
	const size_t length = strcspn(release->needs_first, versions_begin);
	char *name = mem_string_n(release->needs_first, length), *install = NULL;
	struct jw_which_options options = advising->options;
	struct jw_which *which;

	options.package = name;
	options.version = options.extras = options.index = options.list = NULL;
	options.range = release->needs_first[length] ? release->needs_first + length : NULL;
	options.runtimes = release->needs_runtimes;
	if (!jw_which(NULL, &options, &which)) {
		if (which->advised)
			install = arena_keep(advising->advice, jw_which_install(which, which->advised, name));
		jw_result_free(which);
	}
	mem_free(name);
	return install;
}

/* Adds a note; a NULL command is none. */
static void add_note(struct advising *advising, enum jw_which_note_kind kind, char *text,
					 char *command)
{
	struct jw_which_advice *advice = advising->advice;

	(void)ARENA_ROOM(NULL, advice, advice->notes, advising->note_capacity, advice->note_count,
					 MAX_NOTES);
	advice->notes[advice->note_count++] = (struct jw_which_note){kind, text, command};
}

/* ---- no release runs */

/* Returns who declares builds of a package; NULL if nobody does. */
static const char *declared_by(const struct jw_which *which)
{
	for (size_t i = 0; i < which->count; i++)
		if (which->releases[i].declared_by)
			return which->releases[i].declared_by;
	return NULL;
}

/* Returns that older releases than the examined ones may run. */
static char *unexamined_text(const struct advising *advising, const struct jw_which *which)
{
	if (which->examined_from)
		return arena_printf(
			advising->advice,
			"None runs: no release from %s on does, and jitwarm has not examined %s.",
			which->examined_from, TEXT_COUNT(which->unexamined, "older release", "older releases"));
	return arena_printf(advising->advice, "jitwarm has not examined %s of %s for this platform.",
						TEXT_COUNT(which->unexamined, "release", "releases"), which->package);
}

/* Returns why no release runs: the GPU, or the driver, the Python or the platform. */
static char *none_text(const struct advising *advising, const struct jw_which *which)
{
	void *const owner = advising->advice;
	const struct jw_which_question *question = advising->question;
	const char *index = which->index, *package = which->package, *python = NULL;
	char driver[JW_DRIVER_TEXT] = "", both[128], platform[64], with[JW_DRIVER_TEXT + 64] = "";
	size_t counts[JW_WHICH_UNKNOWN + 1] = {0};

	for (size_t i = 0; i < which->count; i++) {
		counts[which->releases[i].answer]++;
		if (which->releases[i].answer == JW_WHICH_FAILS && which->releases[i].needs.cuda)
			(void)jw_driver_text(driver, &advising->options.driver);
	}
	if (counts[JW_WHICH_NO_PYTHON])
		python = advising->options.python;
	if (which_has_labels(which)) {
		(void)text_format(both, sizeof both, "%s or %s's index", index, declared_by(which));
		index = both;
	}
	TEXT_COPY(platform, question->platform_title);
	if (python)
		(void)text_format(platform, sizeof platform, "%s and Python %s", question->platform_title,
						  python);
	if (*driver && python)
		(void)text_format(with, sizeof with, " with driver %s and Python %s", driver, python);
	else if (*driver)
		(void)text_format(with, sizeof with, " with driver %s", driver);
	else if (python)
		(void)text_format(with, sizeof with, " with Python %s", python);
	if (which->unexamined)
		return unexamined_text(advising, which);
	if (counts[JW_WHICH_SOURCE] &&
		counts[JW_WHICH_SOURCE] + counts[JW_WHICH_NO_WHEEL] == which->count)
		return arena_printf(
			owner,
			"%s has source code of %s, and no wheel: pip builds one when it installs the package.",
			index, package);
	if (counts[JW_WHICH_SOURCE] && (counts[JW_WHICH_FAILS] || !counts[JW_WHICH_CPU]))
		return arena_printf(
			owner, "No wheel of %s on %s runs on this GPU; of %s, %s has only the source code.",
			package, index, TEXT_COUNT(counts[JW_WHICH_SOURCE], "release", "releases"), index);
	if (counts[JW_WHICH_NO_WHEEL] == which->count)
		return arena_printf(owner, "None runs: %s has no wheel of %s for %s.", index, package,
							question->platform_title);
	if (!counts[JW_WHICH_FAILS] && counts[JW_WHICH_CPU])
		return arena_printf(owner, "None runs: %s has no wheel of %s with device code for %s.",
							index, package, platform);
	return arena_printf(owner, "None runs: no release on %s runs on this GPU%s.", index, with);
}

/* Returns the package that differs from another one only in its version of CUDA, the newest one of
 * which a release runs; NULL if there is none. The caller frees it. */
char *jw_which_running_sibling(const struct jw_which_options *asked, const char *package)
{
	struct jw_which_options options = *asked;
	char *sibling, *runs = NULL;

	options.version = options.range = options.index = options.list = NULL;
	for (size_t at = 0; (sibling = jw_which_sibling(package, &at)); mem_free(sibling)) {
		struct jw_which *which;

		options.package = sibling;
		if (jw_which(NULL, &options, &which))
			continue;
		if (which->advised) {
			mem_free(runs);
			runs = mem_string(sibling);
		}
		jw_result_free(which);
	}
	return runs;
}

const char *jw_which_name_on(const char *platform, const char *package)
{
	const struct package_fact *fact =
		text_same(platform, "windows") ? package_fact_of("windows", package) : NULL;

	return fact ? fact->values[0] : NULL;
}

/* Notes the release for Linux that runs, since Windows runs wheels for Linux in WSL 2. */
static void note_wsl(struct advising *advising)
{
	struct jw_which_options options = advising->options;
	struct jw_which *on_linux;

	options.platform = "linux";
	options.index = options.list = NULL;
	if (strcmp(advising->options.platform, "windows") != 0 || jw_which(NULL, &options, &on_linux))
		return;
	if (on_linux->advised)
		advising->advice->instead = (struct jw_which_note){
			JW_WHICH_NOTE_WSL, arena_string(advising->advice, "In WSL 2, as on Linux, it runs: "),
			install_command(advising, on_linux, on_linux->advised)};
	jw_result_free(on_linux);
}

/* Finds what to install instead of a package of which no release runs. */
static void find_instead(struct advising *advising)
{
	struct jw_which_advice *advice = advising->advice;
	const char *package = advising->which->package;
	const char *renamed = jw_which_name_on(advising->options.platform, package);
	char *sibling = jw_which_running_sibling(&advising->options, package);

	if (sibling)
		advice->instead = (struct jw_which_note){
			JW_WHICH_NOTE_OTHER_CUDA, arena_string(advice, "Built for another CUDA, it runs: "),
			which_command(advising, sibling, false)};
	else if (renamed)
		advice->instead = (struct jw_which_note){
			JW_WHICH_NOTE_OTHER_NAME, arena_string(advice, "Its package for this platform: "),
			which_command(advising, renamed, !jw_which_lists(renamed))};
	else
		note_wsl(advising);
	mem_free(sibling);
}

/* ---- notes */

/* Appends the first names of a list: “a, b and c”, or “a, b, c, d, e and 7 more”. */
static void add_names(struct buf *text, char *const *names, size_t count)
{
	const size_t shown = count > MAX_NAMED ? MAX_NAMED : count;

	for (size_t i = 0; i < shown; i++)
		buf_add(text, "%s%.*s",
				!i              ? ""
				: i + 1 < count ? ", "
								: " and ",
				(int)strcspn(names[i], versions_begin), names[i]);
	if (count > shown)
		buf_add(text, " and %zu more", count - shown);
}

/* Returns the release whose requirements are shown: the one that is advised, or else the newest one
 * that requires something. */
static const struct jw_which_release *bare_release(const struct jw_which *which)
{
	if (which->advised)
		return which->advised->use_count ? which->advised : NULL;
	for (size_t i = 0; i < which->count; i++)
		if (which->releases[i].answer != JW_WHICH_CPU &&
			(which->releases[i].use_count || which->releases[i].unfollowed_count))
			return &which->releases[i];
	return NULL;
}

/* Notes the packages that a release without device code requires. */
static void note_uses(struct advising *advising, const struct jw_which_release *release)
{
	struct jw_which_advice *advice = advising->advice;
	struct buf names = BUF_MAX(MAX_COMMAND), others = BUF_MAX(MAX_COMMAND),
			   command = BUF_MAX(MAX_COMMAND);

	add_names(&names, release->uses, release->use_count);
	add_names(&others, release->unfollowed, release->unfollowed_count);
	buf_add(&command, "%s", advising->question->command);
	for (size_t i = 0; i < release->use_count; i++)
		shell_add_word(&command, release->uses[i]);
	if (release->use_count)
		add_note(advising, JW_WHICH_NOTE_USES,
				 arena_printf(advice,
							  "It has no device code of its own, and uses %s: ", buf_text(&names)),
				 arena_string(advice, buf_text(&command)));
	if (release->answer == JW_WHICH_UNFOLLOWED)
		add_note(advising, JW_WHICH_NOTE_UNFOLLOWED,
				 arena_printf(advice,
							  "It requires packages that the list lacks and that may have device "
							  "code (%s). To examine: ",
							  buf_text(&others)),
				 which_command(advising, release->unfollowed[0], true));
	else if (release->unfollowed_count)
		add_note(advising, JW_WHICH_NOTE_UNFOLLOWED,
				 arena_printf(advice, "jitwarm has not looked at what else it requires: %s.",
							  buf_text(&others)),
				 NULL);
	buf_free(&names);
	buf_free(&others);
	buf_free(&command);
}

/* Notes how all of a release runs that needs a newer driver for some of it: by a newer driver, or
 * another release. */
static void note_newer(struct advising *advising, const struct jw_which *which,
					   const struct jw_which_release *release)
{
	const struct jw_which_release *whole = NULL;
	void *const owner = advising->advice;

	for (size_t i = 0; i < which->count && !whole; i++)
		if (which->releases[i].answer == JW_WHICH_RUNS && !which->releases[i].newer &&
			!which->releases[i].without && !which->releases[i].declared_by)
			whole = &which->releases[i];
	add_note(advising, JW_WHICH_NOTE_NEWER_DRIVER,
			 arena_printf(owner,
						  whole ? "For all of it: upgrade the driver to %u or newer, or "
								: "For all of it: upgrade the driver to %u or newer.",
						  release->needs.release[0]),
			 whole ? install_command(advising, which, whole) : NULL);
}

/* Notes what to know about the shown release that runs. */
static void note_release(struct advising *advising, const struct jw_which *from,
						 const struct jw_which_release *shown)
{
	void *const owner = advising->advice;

	if (shown->required)
		add_note(advising, JW_WHICH_NOTE_REQUIRED,
				 arena_printf(owner, "pip also installs %s, which fails: %s.", shown->required,
							  shown->required_why),
				 NULL);
	if (shown->newer)
		note_newer(advising, from, shown);
	if (shown->needs_first && shown->options && strstr(shown->options, "--no-build-isolation"))
		add_note(advising, JW_WHICH_NOTE_BUILT,
				 arena_printf(
					 owner, "%s has wheels for %s; for other versions, pip compiles it with nvcc.",
					 advising->name->name, shown->needs_first),
				 NULL);
}

/* Notes other indexes, other names and other releases. */
static void note_elsewhere(struct advising *advising)
{
	const struct jw_which *which = advising->which;
	const struct jw_which_question *question = advising->question;
	const struct package_fact *fact = package_fact_of("index", which->package),
							  *project = package_fact_of("called", which->package);
	void *const owner = advising->advice;

	if (advising->of_all)
		add_note(advising, JW_WHICH_NOTE_OTHERS, arena_string(owner, "Other releases: "),
				 which_command(advising, which->package, question->asks));
	else if (project)
		add_note(advising, JW_WHICH_NOTE_RENAMED,
				 arena_string(owner, "Newer releases have another name: "),
				 which_command(advising, project->values[0], question->asks));
	if (strcmp(which->index, "PyPI") != 0)
		return;
	if (question->other_index)
		add_note(advising, JW_WHICH_NOTE_INDEX,
				 arena_string(owner, "This is for PyPI; --ask asks the index in PIP_INDEX_URL, "
									 "whose builds may differ."),
				 NULL);
	else if (fact && fact->values[ELSEWHERE_PAGE] && !declared_by(which) &&
			 which->advised != which->releases)
		add_note(advising, JW_WHICH_NOTE_INDEX,
				 arena_printf(owner,
							  "%s's index has other builds: set PIP_INDEX_URL to %s, and use "
							  "--ask.",
							  fact->values[ELSEWHERE_WHOSE],
							  strchr(fact->values[ELSEWHERE_OPTIONS], ' ') + 1),
				 NULL);
}

/* ---- the advice */

/* Sets the command that installs a release, and the one to run before it. */
static void set_install(struct advising *advising, const struct jw_which *from,
						const struct jw_which_release *release)
{
	struct jw_which_advice *advice = advising->advice;
	const bool asked = from == advising->which && advising->of_all;

	if (release->needs_first && !is_named(advising->question, release->needs_first)) {
		advice->before = first_command(advising, release);
		/* Without a build that runs, the release would not. */
		if (!advice->before)
			return;
	}
	advice->release = release;
	advice->install = install_command(advising, from, release);
	advice->verdict = arena_string(
		advice, asked                                  ? "To install this release: "
				: release->answer == JW_WHICH_COMPILES ? "Newest that runs, after compiling: "
				: release->without                     ? "Newest that runs, except for some of it: "
													   : "Newest that runs: ");
}

/* Fills in the rest of the advice around the answer. */
static int complete(struct jw_error *err, struct advising *advising)
{
	struct jw_which_advice *advice = advising->advice;
	const struct jw_which *which = advising->which, *from = which;
	const struct jw_which_release *bare = bare_release(which), *shown = which->advised;
	struct jw_which_options for_all = advising->options;
	struct jw_which *of_all = NULL;

	for_all.version = NULL;
	if (advising->options.version) {
		if (jw_which(err, &for_all, &of_all))
			return -1;
		arena_join(advice, of_all);
		advising->of_all = of_all;
		from = which->advised ? which : of_all;
		shown = which->releases;
	}
	advice_add_rows(advice, advising->question->all || of_all, advising->question->all);
	if (from->advised)
		set_install(advising, from, from->advised);
	else if (!bare || bare->answer != JW_WHICH_UNFOLLOWED)
		advice->verdict =
			from->unexamined ? unexamined_text(advising, from) : none_text(advising, from);
	else
		advice->verdict = arena_string(advice, "None is known to run: its requirements decide.");
	if (!of_all && !which->advised && (!bare || bare->answer != JW_WHICH_UNFOLLOWED))
		find_instead(advising);
	else if (!of_all && which->advised && !release_label(which->advised) &&
			 which->releases->answer == JW_WHICH_CPU)
		note_wsl(advising);
	if (bare)
		note_uses(advising, bare);
	if (of_all && !of_all->advised && of_all->unexamined && !advising->question->asks)
		add_note(advising, JW_WHICH_NOTE_UNEXAMINED, arena_string(advice, "To examine them: "),
				 which_command(advising, of_all->package, true));
	if (shown && shown->answer <= JW_WHICH_COMPILES)
		note_release(advising, of_all ? of_all : which, shown);
	note_elsewhere(advising);
	return 0;
}

/* Adds the rows of the examined releases before and after one that was not examined, and that one
 * between them, if it has both. */
static int add_neighbours(struct jw_error *err, struct advising *advising)
{
	enum { NEWER, MISSING, OLDER, ROWS };
	struct jw_which_options for_all = advising->options;
	struct jw_which_release *missing = arena_alloc(advising->advice, sizeof *missing);
	const struct jw_which_release *rows[ROWS] = {[MISSING] = missing};
	const char *asked = advising->name->version;
	struct jw_which *which;
	struct pep440 version;

	*missing = (struct jw_which_release){.version = arena_string(advising->advice, asked),
										 .answer = JW_WHICH_UNKNOWN};
	if (!pep440_read(asked, &version))
		return 0;
	for_all.version = NULL;
	if (jw_which(err, &for_all, &which))
		return -1;
	arena_join(advising->advice, which);
	for (size_t i = 0; i < which->count && !rows[OLDER]; i++) {
		const struct jw_which_release *release = &which->releases[i];

		if (!release->inferred && !release->declared_by && release->answer < JW_WHICH_NO_PYTHON)
			rows[version_is_newer(release->version, asked) ? NEWER : OLDER] = release;
	}
	for (size_t i = 0; rows[NEWER] && rows[OLDER] && i < ROWS; i++)
		advice_add_row(advising->advice, rows[i]);
	return 0;
}

int jw_which_advise(struct jw_error *err, const struct jw_which_question *question,
					struct jw_which_advice **ret_advice)
{
	const struct jw_which_name *name = question->name;
	struct advising advising = {.question = question, .name = name, .options = question->options};
	struct jw_which_advice *advice;
	struct jw_which *which;
	bool unknown;

	advising.options.package = name->name;
	advising.options.version = name->version;
	advising.options.range = name->range;
	advising.options.extras = name->extras;
	if (jw_which(err, &advising.options, &which))
		return -1;
	advice = arena_open(sizeof *advice);
	arena_join(advice, which);
	advice->owner = advice;
	advice->answer = which;
	advising.advice = advice;
	advising.which = which;
	unknown = name->version && !question->asks && which->count == 1 &&
			  which->releases->answer == JW_WHICH_UNKNOWN;
	advice->unknown = unknown || !which->count;
	if (advice->unknown ? name->version && !question->asks && add_neighbours(err, &advising)
						: complete(err, &advising)) {
		jw_result_free(advice);
		return -1;
	}
	*ret_advice = advice;
	return 0;
}

/* ---- several answers */

/* Returns the newest release that runs on all GPUs, from the index in question if it has one. */
static const struct jw_which_release *common_release(const struct jw_which *answers, size_t count)
{
	for (size_t i = 0; i < answers->count; i++) {
		bool runs = !release_label(&answers->releases[i]);

		for (size_t k = 0; k < count; k++)
			runs = runs && answers[k].releases[i].answer <= JW_WHICH_COMPILES;
		if (runs)
			return &answers->releases[i];
	}
	return jw_which_common(answers, count);
}

/* Returns the newest release of the index, or, if all are builds of another one, of that. */
const struct jw_which_release *jw_which_newest(const struct jw_which *which)
{
	for (size_t i = 0; i < which->count; i++)
		if (!release_label(&which->releases[i]))
			return &which->releases[i];
	return which->releases;
}

void jw_which_sum_up(void *owner, const struct jw_which_advice *advices, size_t count,
					 struct jw_which_sum *ret_sum)
{
	struct jw_which *answers = mem_array(count, sizeof *answers);
	struct jw_which_sum sum = {.package = advices->answer->package};
	struct buf says = BUF_MAX(MAX_COMMAND);

	for (size_t i = 0; i < count; i++)
		answers[i] = *advices[i].answer;
	sum.common = jw_which_common(answers, count);
	sum.release = common_release(answers, count);
	for (size_t i = 0; i < count && !says.size; i++) {
		const struct jw_which_release *newest = jw_which_newest(&answers[i]);

		if (newest->answer <= JW_WHICH_COMPILES)
			continue;
		buf_add(&says, "%s ", newest->version);
		release_says(&says, newest, false);
		sum.fails_on = answers[i].target;
	}
	if (!sum.release && count == 1)
		sum.why = arena_string(owner, advices->verdict);
	else
		sum.why = arena_string(owner, buf_text(&says));
	buf_free(&says);
	mem_free(answers);
	*ret_sum = sum;
}
