#include "which/constraints.h"

#include <string.h>

#include "base/arena.h"
#include "base/packages.h"
#include "base/pep440.h"
#include "base/wheel_name.h"
#include "find/requirement.h"
#include "which/wheel_list.h"

enum { MAX_TEXT = 4096 };

/* ---- the releases of a package */

static bool runs(const struct jw_which_release *release)
{
	return release->answer <= JW_WHICH_COMPILES;
}

bool is_allowed(const struct jw_which_release *release)
{
	return release->answer < JW_WHICH_FAILS;
}

/* Returns the label of a build of another index, “cu126”; NULL for a release of PyPI. */
static const char *label_of(const struct jw_which_release *release)
{
	const char *label = release->declared_by ? strchr(release->version, '+') : NULL;

	return label ? label + 1 : NULL;
}

bool is_candidate(const struct jw_which_release *release)
{
	return !release->declared_by && release->answer != JW_WHICH_NO_PYTHON &&
		   release->answer != JW_WHICH_NO_WHEEL;
}

/* Finds what a release does on all GPUs: it fails if it fails on one of them. */
static struct candidate weigh(const struct constraining *work, const struct package *package,
							  size_t at)
{
	struct candidate candidate = {.version = package->answers[0]->releases[at].version};

	for (size_t i = 0; i < work->options->target_count && candidate.state != FAILS; i++) {
		const struct jw_which_release *release = &package->answers[i]->releases[at];

		if (release->answer == JW_WHICH_FAILS) {
			candidate.state = FAILS;
			candidate.fails = release;
		} else if (!is_allowed(release)) {
			candidate.state = UNKNOWN;
		}
	}
	return candidate;
}

/* Infers that releases which were not examined fail, if the examined ones before and after them
 * fail. */
static void infer_failing(struct package *package)
{
	size_t newer = SIZE_MAX;

	for (size_t i = 0; i < package->count; i++) {
		struct candidate *items = package->items;

		if (items[i].state == UNKNOWN)
			continue;
		for (size_t k = i; items[i].state == FAILS && newer != SIZE_MAX && --k > newer;)
			if (items[newer].state == FAILS)
				items[k] = (struct candidate){items[k].version, FAILS, items[newer].fails};
		newer = i;
	}
}

static int read_package(struct jw_error *err, struct constraining *work, struct package *package)
{
	const struct jw_constraints_options *options = work->options;
	struct jw_which_options question = {.package = package->name,
										.driver = options->driver,
										.platform = options->platform,
										.python = options->python};

	/* NOLINTNEXTLINE(bugprone-sizeof-expression): the array has pointers */
	package->answers = arena_alloc(work->memory, options->target_count * sizeof *package->answers);
	for (size_t i = 0; i < options->target_count; i++) {
		question.target = options->targets[i];
		if (jw_which(err, &question, &package->answers[i]))
			return -1;
		arena_join(work->memory, package->answers[i]);
	}
	package->items =
		arena_alloc(work->memory, (package->answers[0]->count + 1) * sizeof *package->items);
	for (size_t i = 0; i < package->answers[0]->count; i++)
		if (is_candidate(&package->answers[0]->releases[i]))
			package->items[package->count++] = weigh(work, package, i);
	infer_failing(package);
	return 0;
}

static struct package *find_package(const struct constraining *work, const char *name)
{
	for (size_t i = 0; i < work->count; i++)
		if (!strcmp(work->packages[i].name, name))
			return &work->packages[i];
	return NULL;
}

/* Reads the names of the list's packages. */
static void list_packages(struct constraining *work)
{
	static const char start[] = "package ";
	size_t capacity = 0;

	for (char *line = work->text, *end; *line; line = end) {
		end = line + strcspn(line, "\n");
		if (text_starts(line, start)) {
			(void)ARENA_ROOM(NULL, work->memory, work->packages, capacity, work->count, SIZE_MAX);
			line += strlen(start);
			work->packages[work->count++] = (struct package){
				.name = arena_keep(work->memory, mem_string_n(line, (size_t)(end - line)))};
		}
		end += *end == '\n';
	}
}

/* Notes the package that a release which runs requires although it fails. */
static void note_required(struct constraining *work, const struct package *by,
						  const struct jw_which_release *release, bool newest)
{
	const size_t length = release->required ? strcspn(release->required, " ") : 0;
	char name[PACKAGE_MAX_NAME];
	struct package *needed;

	if (!length || length >= sizeof name)
		return;
	(void)text_copy(name, length + 1, release->required);
	needed = find_package(work, name);
	if (needed && (!needed->needed_by || (newest && !needed->needed))) {
		needed->needed_by = by->name;
		needed->needed = newest ? arena_string(work->memory, release->required + length + 1) : NULL;
	}
}

/* Notes the failing packages that releases which run require, and run without. */
static void note_needed(struct constraining *work)
{
	for (size_t i = 0; i < work->count; i++) {
		const struct package *by = &work->packages[i];

		for (size_t gpu = 0; gpu < work->options->target_count; gpu++) {
			const struct jw_which *answer = by->answers[gpu];
			bool newest = true;

			for (size_t k = 0; k < answer->count; k++) {
				if (!is_candidate(&answer->releases[k]) || !runs(&answer->releases[k]))
					continue;
				note_required(work, by, &answer->releases[k], newest);
				newest = false;
			}
		}
	}
}

/* Calls `take` for each package of the list that a release of a package requires. */
static int each_required(struct jw_error *err, struct constraining *work,
						 const struct package *package,
						 int (*take)(struct jw_error *err, struct constraining *work,
									 const struct package *by, struct package *required))
{
	struct wheel_list list;
	int result = 0;

	if (wheel_list_read(err, WHEEL_LIST_OWN, work->text, work->size, package->name, &list))
		return -1;
	for (size_t i = 0; i < list.count; i++) {
		const struct wheel *wheel = &list.wheels[i];

		for (size_t k = 0; k < wheel->require_count && !result; k++) {
			struct required required;
			struct package *found = required_read(wheel->requires[k], &required)
										? find_package(work, required.is.name)
										: NULL;

			result = found ? take(err, work, package, found) : 0;
		}
	}
	wheel_list_free(&list);
	return result;
}

/* Returns whether each release of a package in this range (NULL: all) fails. */
static bool each_fails(const struct package *package, const char *versions)
{
	bool fails = true, valid;

	for (size_t i = 0; i < package->count; i++)
		fails = fails && (package->items[i].state == FAILS ||
						  (versions && !pep440_fits(package->items[i].version, versions, &valid)));
	return fails;
}

static int note_part(struct jw_error *err, struct constraining *work, const struct package *by,
					 struct package *required)
{
	(void)err;
	(void)work;
	required->plugin = required->plugin ? required->plugin : by->plugin;
	return 0;
}

/* Notes the plugins of which no release runs that an extra allows, and what they require: if pip
 * may take none of it, it takes an older release of the package that does not have the extra. */
static int note_plugins(struct jw_error *err, struct constraining *work)
{
	for (size_t i = 0; i < work->count; i++) {
		enum { EXTRA, VERSIONS };
		const struct package_fact *fact = package_fact_of("plugin", work->packages[i].name);

		if (!fact || !each_fails(&work->packages[i], fact->values[VERSIONS]))
			continue;
		work->packages[i].plugin = fact->values[EXTRA];
		if (!fact->values[VERSIONS] && each_required(err, work, &work->packages[i], note_part))
			return -1;
	}
	return 0;
}

/* ---- builds of another index */

/* Returns whether a release runs on all GPUs. */
static bool runs_on_all(const struct constraining *work, const struct package *package, size_t at)
{
	for (size_t i = 0; i < work->options->target_count; i++)
		if (!runs(&package->answers[i]->releases[at]))
			return false;
	return true;
}

static bool has_label(const struct package *package, const char *label)
{
	const struct jw_which *answer = package->answers[0];

	for (size_t i = 0; i < answer->count; i++)
		if (text_same(label_of(&answer->releases[i]), label))
			return true;
	return false;
}

/* Finds the label of the builds that which advises for torch: the newest that run, if they are
 * newer than the releases of PyPI, or these are for the CPU. */
static void find_label(struct constraining *work)
{
	const struct package *torch = find_package(work, "torch");
	struct jw_constraints *result = work->result;
	const struct jw_which *answer = torch ? torch->answers[0] : NULL;
	const struct jw_which_release *build = NULL;
	bool plain = false;

	for (size_t i = 0; answer && i < answer->count && !plain; i++) {
		const struct jw_which_release *release = &answer->releases[i];

		if (!runs_on_all(work, torch, i))
			continue;
		if (!build && label_of(release))
			build = release;
		plain = is_candidate(release);
	}
	if (work->options->label) {
		result->label = arena_string(result, work->options->label);
	} else if (build && plain) {
		result->newer_label = arena_string(result, label_of(build));
		result->newer = arena_printf(result, "torch %s", build->version);
	} else if (build) {
		result->label = arena_string(result, label_of(build));
	}
}

/* Returns whether a build allows the chosen torch, by its requirements. */
static int fits_torch(struct jw_error *err, const struct constraining *work, const char *package,
					  const char *version, const char *torch, bool *ret_fits)
{
	struct wheel_list list;
	bool valid;

	*ret_fits = true;
	if (wheel_list_read(err, WHEEL_LIST_OWN, work->text, work->size, package, &list))
		return -1;
	for (size_t i = 0; i < list.count; i++) {
		const struct wheel *wheel = &list.wheels[i];
		struct required required;

		if (strcmp(wheel->version, version) != 0 ||
			strcmp(wheel->platform, work->options->platform) != 0)
			continue;
		for (size_t k = 0; k < wheel->require_count; k++)
			if (required_read(wheel->requires[k], &required) &&
				!strcmp(required.is.name, "torch") &&
				!pep440_fits(torch, required.versions, &valid))
				*ret_fits = false;
	}
	wheel_list_free(&list);
	return 0;
}

/* Adds the newest build with the label that runs on all GPUs and fits the chosen torch (NULL: it is
 * torch). *ret_version is its version; NULL if there is none. */
static int add_build(struct jw_error *err, struct constraining *work, const struct package *package,
					 const char *torch, const char **ret_version)
{
	static const char option[] = "--index-url ";
	const struct jw_which *answer = package->answers[0];
	struct jw_constraints *result = work->result;
	const struct jw_which_release *found = NULL;

	for (size_t i = 0; i < answer->count && !found; i++) {
		const struct jw_which_release *release = &answer->releases[i];
		bool fits = true;

		if (!text_same(label_of(release), result->label) || !runs_on_all(work, package, i))
			continue;
		if (torch && fits_torch(err, work, package->name, release->version, torch, &fits))
			return -1;
		found = fits ? release : NULL;
	}
	*ret_version = found ? found->version : NULL;
	if (found && !result->address && found->options && text_starts(found->options, option))
		result->address = arena_string(result, found->options + strlen(option));
	constrain_to_build(work, package, found, torch != NULL);
	return 0;
}

/* Returns the labels of all builds: “cu118, cu126”. */
static char *all_labels(const struct constraining *work)
{
	const struct package *torch = find_package(work, "torch");
	const struct jw_which *answer = torch ? torch->answers[0] : NULL;
	struct buf text = BUF_MAX(MAX_TEXT);
	char *result;

	for (size_t i = 0; answer && i < answer->count; i++) {
		const char *label = label_of(&answer->releases[i]);
		bool known = !label;

		for (size_t k = 0; k < i && !known; k++)
			known = text_same(label_of(&answer->releases[k]), label);
		if (!known)
			buf_add(&text, "%s%s", text.size ? ", " : "", label);
	}
	result = arena_string(work->memory, buf_text(&text));
	buf_free(&text);
	return result;
}

/* ---- the packages in question */

/* Marks a package of the list that releases of another one require, since pip installs it, too. */
static int ask_required(struct jw_error *err, struct constraining *work, const struct package *by,
						struct package *required)
{
	(void)by;
	if (required->asked)
		return 0;
	required->asked = true;
	return each_required(err, work, required, ask_required);
}

/* Marks a package of the list, and, for one whose device code is in others (transformers), these.
 * False if the list has none of them. */
static bool ask_for(struct constraining *work, const char *name, unsigned depth)
{
	enum { MOST_DEEP = 4, SOURCES = 0 };
	const struct package_fact *device = package_fact_of("device", name),
							  *called = package_fact_of("called", name);
	struct package *package = find_package(work, name);
	char part[PACKAGE_MAX_NAME];
	bool found = package != NULL;

	if (package)
		package->asked = true;
	if (found || depth == MOST_DEEP)
		return found;
	if (!device)
		return called && ask_for(work, called->values[0], depth + 1);
	for (const char *at = device->values[SOURCES]; *at; at += strspn(at, " |")) {
		const size_t length = strcspn(at, " |");

		(void)text_copy(part, length + 1 < sizeof part ? length + 1 : sizeof part, at);
		found = ask_for(work, part, depth + 1) || found;
		at += length;
	}
	return found;
}

/* Adds a comment for a name that the list lacks, once. */
static void add_unlisted(struct constraining *work, const char *typed)
{
	for (size_t i = 0; i < work->result->count; i++)
		if (!strcmp(work->result->rows[i].package, typed))
			return;
	constrain_not(work, JW_CONSTRAINT_UNLISTED, typed);
}

static int add_rows(struct jw_error *err, struct constraining *work)
{
	const struct jw_constraints *result = work->result;
	const struct package *torch = find_package(work, "torch");
	const char *version = NULL, *other;

	for (size_t i = 0; i < work->count; i++) {
		const struct package *package = &work->packages[i];

		if (!package->asked)
			continue;
		if (package == torch && work->options->keeps_torch)
			constrain_not(work, JW_CONSTRAINT_KEPT, package->name);
		else if (!result->label || !has_label(package, result->label))
			constrain(work, package);
	}
	if (!result->label || !torch || work->options->keeps_torch)
		return 0;
	if (add_build(err, work, torch, NULL, &version))
		return -1;
	if (!torch->asked)
		work->result->count--;
	for (size_t i = 0; i < work->count; i++)
		if (work->packages[i].asked && &work->packages[i] != torch &&
			has_label(&work->packages[i], result->label) &&
			add_build(err, work, &work->packages[i], version, &other))
			return -1;
	return 0;
}

/* Cuts a typed package to its name; false if it has none. */
static bool name_of(const char *typed, char name[PACKAGE_MAX_NAME])
{
	return package_normalise(typed, strcspn(typed, " [(<>=!~;@,"), name);
}

/* Marks the packages in question. */
static int ask(struct jw_error *err, struct constraining *work)
{
	const struct jw_constraints_options *options = work->options;
	bool *named = arena_alloc(work->memory, (work->count + 1) * sizeof *named);
	char name[PACKAGE_MAX_NAME];

	for (size_t i = 0; i < options->package_count; i++)
		if (name_of(options->packages[i], name))
			(void)ask_for(work, name, 0);
	for (size_t i = 0; i < work->count; i++)
		named[i] = work->packages[i].asked;
	for (size_t i = 0; i < work->count; i++) {
		if (named[i] && each_required(err, work, &work->packages[i], ask_required))
			return -1;
		work->packages[i].asked = work->packages[i].asked || !options->packages;
	}
	return 0;
}

/* Answers for all packages, since a release of one may require another one. */
static int find_rows(struct jw_error *err, struct constraining *work)
{
	const struct jw_constraints_options *options = work->options;
	const struct package *torch = find_package(work, "torch");
	char name[PACKAGE_MAX_NAME];

	for (size_t i = 0; i < work->count; i++)
		if (read_package(err, work, &work->packages[i]))
			return -1;
	work->result->date = arena_string(work->result, work->packages[0].answers[0]->date);
	note_needed(work);
	if (note_plugins(err, work))
		return -1;
	find_label(work);
	if (options->label && (!torch || !has_label(torch, options->label)))
		return error_set(err, JW_ERR_USAGE, "--index %.64s: no build has this label; use %s",
						 options->label, all_labels(work));
	if (ask(err, work) || add_rows(err, work))
		return -1;
	for (size_t i = 0; i < options->package_count; i++)
		if (name_of(options->packages[i], name) && !ask_for(work, name, 0))
			add_unlisted(work, name);
	return 0;
}

int jw_constraints(struct jw_error *err, const struct jw_constraints_options *options,
				   struct jw_constraints **ret_constraints)
{
	struct constraining work = {.options = options};
	int result;

	if (wheel_list_text(err, &work.text, &work.size))
		return -1;
	work.memory = arena_open(1);
	(void)arena_keep(work.memory, work.text);
	work.result = arena_open(sizeof *work.result);
	list_packages(&work);
	work.result->rows = arena_alloc(work.result, (work.count + options->package_count + 1) *
													 sizeof *work.result->rows);
	result = find_rows(err, &work);
	jw_result_free(work.memory);
	if (result)
		jw_result_free(work.result);
	else
		*ret_constraints = work.result;
	return result;
}
