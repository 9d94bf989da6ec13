#include "prime/brought.h"

#include <string.h>

#include "base/mem.h"
#include "base/packages.h"
#include "base/pep440.h"
#include "code/rules.h"
#include "find/marker.h"
#include "plan/plan.h"

enum {
	MAX_MEMBERS = 64,  /* the most packages that are chosen together */
	MAX_TRIES = 20000, /* the most releases that are tried until a choice is given up */
	MAX_PINS = 16,     /* the longest chain of packages that pin each other */
	MAX_FOLLOWED = 256 /* the most requirements of a wheel that are followed */
};

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
	struct shelf *shelf = mem_alloc(sizeof *shelf);

	*shelf = (struct shelf){.listed = list != NULL};
	TEXT_COPY(shelf->name, name);
	if (list)
		shelf->list = *list;
	/* NOLINTNEXTLINE(bugprone-sizeof-expression): the array has pointers */
	VEC_GROW(question->shelves, question->capacity, question->count);
	question->shelves[question->count++] = shelf;
	return shelf;
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
	if (options->asked)
		buf_add(&asked, "%s", jw_asked_text(options->asked));
	/* PyPI does not list the builds of other indexes. */
	if (options->asked && !strcmp(jw_asked_index(options->asked), "PyPI"))
		wheel_list_builds(question->text, question->size, name, &asked);
	result = options->asked ? wheel_list_read(err, "the index's list of wheels", buf_text(&asked),
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

static void free_shelves(struct question *question)
{
	for (size_t i = 0; i < question->count; i++) {
		struct shelf *shelf = question->shelves[i];

		for (size_t k = 0; shelf->answers && k < shelf->list.count; k++)
			jw_which_release_free(&shelf->answers[k]);
		mem_free(shelf->answers);
		if (shelf->listed)
			wheel_list_free(&shelf->list);
		mem_free(shelf);
	}
	mem_free(question->shelves);
}

void question_free(struct question *question)
{
	for (size_t i = 0; question->others && i < question->options->other_count; i++)
		free_shelves(&question->others[i]);
	mem_free(question->others);
	mem_free(question->other_options);
	free_shelves(question);
	mem_free(question->text);
}

/* Makes a question for each other GPU, with what it may ask. */
static void open_others(struct question *question)
{
	const struct jw_which_options *options = question->options;

	if (question->others || !options->other_count)
		return;
	question->others = mem_array(options->other_count, sizeof *question->others);
	question->other_options = mem_array(options->other_count, sizeof *question->other_options);
	for (size_t i = 0; i < options->other_count; i++) {
		struct jw_which_options *own = &question->other_options[i];

		*own = *options;
		own->target = options->others[i];
		own->others = NULL;
		own->other_count = 0;
		question->others[i] =
			(struct question){.options = own, .text = question->text, .size = question->size};
	}
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

bool wheel_has_code(const struct wheel *wheel)
{
	for (size_t i = 0; i < wheel->library_count; i++)
		if (!fate_is_profilers(wheel->libraries[i].name))
			return true;
	return false;
}

/* Returns whether some release of a package that a requirement allows has code on the platform. */
static bool shelf_has_code(const struct shelf *shelf, const char *versions, const char *platform)
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

/* Returns the answer for a wheel by itself. */
static int answer_wheel(struct jw_error *err, struct question *question, struct shelf *shelf,
						const struct wheel *wheel, const struct jw_which_release **ret_answer)
{
	struct jw_which_release *answer;

	if (!shelf->answers) {
		shelf->answers = mem_array(shelf->list.count, sizeof *shelf->answers);
		memset(shelf->answers, 0, shelf->list.count * sizeof *shelf->answers);
	}
	answer = &shelf->answers[wheel - shelf->list.wheels];
	if (!answer->version && judge_own(err, question, shelf, wheel, NULL, answer))
		return -1;
	*ret_answer = answer;
	return 0;
}

/* Returns the answer for a wheel; for one that was not examined, that of the wheels before and
 * after it if both fail. */
static int answer_required(struct jw_error *err, struct question *question, struct shelf *shelf,
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
		jw_which_same(after, before))
		*ret_answer = before;
	return 0;
}

/* Replaces the answer for a wheel by one with which it does not run on another GPU. */
static int answer_elsewhere(struct jw_error *err, struct question *question,
							const struct shelf *shelf, const struct wheel *wheel,
							const struct jw_which_release **answer)
{
	open_others(question);
	for (size_t i = 0; i < question->options->other_count; i++) {
		const struct jw_which_release *other;
		const struct wheel *same;
		struct shelf *own;

		if ((*answer)->answer > JW_WHICH_COMPILES)
			break;
		if (question_shelf(err, &question->others[i], shelf->name, &own))
			return -1;
		same = own->listed ? shelf_wheel(own, wheel->version, wheel->platform) : NULL;
		if (!same)
			continue;
		if (answer_required(err, &question->others[i], own, same, &other))
			return -1;
		*answer = other->answer > JW_WHICH_COMPILES ? other : *answer;
	}
	return 0;
}

/* ---- requirements */

/* Writes the Python that the markers of a wheel are about: the one in question, or else one that
 * most people have, or the newest or oldest one that the wheel is for. */
static void choose_python(char text[8], const struct question *question, const struct wheel *wheel)
{
	enum { USUAL = 12, OLDEST = 4, NEWEST = 30 };
	unsigned minor = USUAL;

	if (question->options->python) {
		text_copy(text, 8, question->options->python);
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
	struct marker_place place = {.platform = question->options->platform, .extras = extras};
	char python[8];

	if (!required_read(wheel->requires[at], ret_required))
		return false;
	if (!*ret_required->marker)
		return true;
	choose_python(python, question, wheel);
	place.python = python;
	return marker_holds(ret_required->marker, &place);
}

/* Returns whether a package cannot run without one that it requires: torch, and NVIDIA's libraries.
 */
static bool is_base(const char *required)
{
	return package_fact_of("base", required) || fate_is_nvidia(required, NULL, required);
}

/* Fails a release, by the answer for a package that it requires. */
static void fail_by(struct jw_which_release *release, const char *name, const char *versions,
					const struct jw_which_release *answer)
{
	mem_free(release->library);
	mem_free(release->why);
	mem_free(release->pin);
	release->answer = JW_WHICH_FAILS;
	release->pin = mem_printf("%s%s", name, versions);
	release->library = mem_string(name);
	release->why = answer->why ? mem_string(answer->why) : NULL;
	release->needs = answer->needs;
}

int judge_pins(struct jw_error *err, struct question *question, const struct wheel *wheel,
			   const char *extras, struct jw_which_release *release)
{
	if (question->depth == MAX_PINS)
		return 0;
	question->depth++;
	for (size_t i = 0; i < wheel->require_count && release->answer != JW_WHICH_FAILS; i++) {
		const struct jw_which_release *answer;
		const struct wheel *found;
		struct required required;
		struct shelf *shelf;
		char *versions;

		if (!question_requires(question, wheel, extras, i, &required) || !*required.version ||
			!is_base(required.is.name))
			continue;
		if (question_shelf(err, question, required.is.name, &shelf))
			return -1;
		found = shelf->listed ? shelf_wheel(shelf, required.version, question->options->platform)
							  : NULL;
		/* Wheels for the CPU alone say nothing about the builds for GPUs, which other indexes have.
		 */
		if (found && !found->unseen && !wheel_has_code(found))
			found = shelf_wheel(shelf, required.version, "linux");
		if (!found)
			continue;
		if (answer_required(err, question, shelf, found, &answer))
			return -1;
		versions = mem_printf(" %s", required.version);
		if (answer->answer == JW_WHICH_FAILS)
			fail_by(release, required.is.name, versions, answer);
		mem_free(versions);
	}
	question->depth--;
	return 0;
}

/* ---- a choice of one release for each of several packages */

struct member {
	struct shelf *shelf;
	char versions[PACKAGE_MAX_NAME]; /* those that its requirement allows; "" for all */
	char extras[PACKAGE_MAX_NAME];
	const char *pinned; /* points into `versions`; NULL if there are several */
	size_t by;          /* the member that requires it; itself if it was named */
	bool named;
	bool bare; /* it has no device code of its own, so what it requires is followed, too */
	bool base; /* what requires it fails without it */
	const struct wheel *chosen, *newest;  /* the newest one that fits, which pip takes */
	const struct jw_which_release *fails; /* the answer of the one that fails the least, if each one
											 that fits fails */
	const struct jw_which_release *codeless; /* the answer of `newest`, if it has no device code */
};

struct choice {
	struct question *question;
	struct member members[MAX_MEMBERS];
	size_t count, tries;
	const char *label;   /* all are builds with this label, from one index; NULL: none is */
	bool plain;          /* the named packages are to run without a remark */
	struct member lacks; /* the first one of which no release runs */
};

enum found { FOUND, NONE, GIVEN_UP, BROKEN };

static bool share_python(const struct question *question, const struct wheel *a,
						 const struct wheel *b)
{
	enum { OLDEST = 4, NEWEST = 30 };
	char text[8];

	if (question->options->python)
		return true;
	for (unsigned minor = OLDEST; minor <= NEWEST; minor++) {
		(void)text_format(text, sizeof text, "3.%u", minor);
		if (wheel_fits_python(a, text) && wheel_fits_python(b, text))
			return true;
	}
	return false;
}

/* Returns whether what a wheel requires allows another package's version. */
static bool allows(const struct question *question, const struct wheel *wheel, const char *extras,
				   const char *name, const char *version)
{
	struct required required;
	bool valid;

	for (size_t i = 0; i < wheel->require_count; i++)
		if (question_requires(question, wheel, extras, i, &required) &&
			!strcmp(required.is.name, name) && !pep440_fits(version, required.versions, &valid))
			return false;
	return true;
}

/* Returns whether a wheel goes with the releases that were chosen before it. */
static bool fits(const struct choice *choice, size_t at, const struct wheel *wheel)
{
	const struct member *member = &choice->members[at];
	const char *python = choice->question->options->python;

	if (python && !wheel_fits_python(wheel, python))
		return false;
	for (size_t i = 0; i < at; i++) {
		const struct member *other = &choice->members[i];

		if (other->chosen && (!share_python(choice->question, other->chosen, wheel) ||
							  !allows(choice->question, other->chosen, other->extras,
									  member->shelf->name, wheel->version) ||
							  !allows(choice->question, wheel, member->extras, other->shelf->name,
									  other->chosen->version)))
			return false;
	}
	return true;
}

static struct member *member_of(struct choice *choice, const char *name)
{
	for (size_t i = 0; i < choice->count; i++)
		if (!strcmp(choice->members[i].shelf->name, name))
			return &choice->members[i];
	return NULL;
}

/* Adds the listed packages that a chosen wheel requires. */
static int add_required(struct jw_error *err, struct choice *choice, size_t by)
{
	const struct member *parent = &choice->members[by];
	const bool bare = choice->members[parent->by].bare;
	size_t followed = 0;

	if (!parent->named && !(bare && choice->members[parent->by].named))
		return 0;
	for (size_t i = 0; i < parent->chosen->require_count && choice->count < MAX_MEMBERS; i++) {
		struct member *member;
		struct required required;
		struct shelf *shelf;

		if (!question_requires(choice->question, parent->chosen, parent->extras, i, &required))
			continue;
		member = member_of(choice, required.is.name);
		if (member)
			continue;
		if (followed++ == MAX_FOLLOWED)
			break;
		if (question_shelf(err, choice->question, required.is.name, &shelf))
			return -1;
		if (!shelf->listed)
			continue;
		member = &choice->members[choice->count++];
		*member = (struct member){.shelf = shelf, .by = by};
		member->base =
			is_base(shelf->name) ||
			(bare && parent->named &&
			 shelf_has_code(shelf, required.versions, choice->question->options->platform));
		TEXT_COPY(member->versions, required.versions);
		TEXT_COPY(member->extras, required.is.extras);
		if (*required.version)
			member->pinned = member->versions + strspn(member->versions, "=");
	}
	return 0;
}

/* Returns whether a release fails less than another one (NULL: none): for want of a driver that is
 * older. */
static bool is_nearer(const struct jw_which_release *answer, const struct jw_which_release *than)
{
	return !than || (answer->needs.cuda &&
					 (!than->needs.cuda || gpu_code_is_newer(&than->needs, &answer->needs)));
}

static enum found choose(struct jw_error *err, struct choice *choice, size_t at);

/* Chooses the rest after a release of this package that runs. */
static enum found choose_after(struct jw_error *err, struct choice *choice, size_t at,
							   const struct wheel *wheel)
{
	const size_t before = choice->count;
	enum found found;

	choice->members[at].chosen = wheel;
	if (add_required(err, choice, at))
		return BROKEN;
	found = choose(err, choice, at + 1);
	if (found != FOUND)
		choice->count = before;
	return found;
}

/* Chooses a release for this package and for those after it, the newest first. */
static enum found choose(struct jw_error *err, struct choice *choice, size_t at)
{
	struct member *member = &choice->members[at];
	const struct question *question = choice->question;
	const char *platform = question->options->platform;
	bool runs = false, unknown = false, valid;

	if (at == choice->count)
		return FOUND;
	member->newest = member->chosen = NULL;
	member->fails = member->codeless = NULL;
	for (size_t i = 0; i < member->shelf->list.count; i++) {
		const struct wheel *wheel = &member->shelf->list.wheels[i];
		const struct jw_which_release *answer;
		enum found found;
		bool bare;

		if (strcmp(wheel->platform, platform) != 0 ||
			!text_same(wheel_label(wheel), choice->label) ||
			(member->pinned && !version_is_same(wheel->version, member->pinned)) ||
			!pep440_fits(wheel->version, member->versions, &valid) || !fits(choice, at, wheel))
			continue;
		if (choice->tries++ == MAX_TRIES)
			return GIVEN_UP;
		if (answer_required(err, choice->question, member->shelf, wheel, &answer) ||
			(!member->named &&
			 answer_elsewhere(err, choice->question, member->shelf, wheel, &answer)))
			return BROKEN;
		if (!member->newest && answer->answer == JW_WHICH_CPU)
			member->codeless = answer;
		member->newest = member->newest ? member->newest : wheel;
		if (answer->answer == JW_WHICH_FAILS && is_nearer(answer, member->fails))
			member->fails = answer;
		bare = member->named && answer->answer == JW_WHICH_CPU;
		unknown =
			unknown || (answer->answer > JW_WHICH_COMPILES && answer->answer != JW_WHICH_FAILS);
		if ((answer->answer > JW_WHICH_COMPILES && !bare) ||
			(member->named && choice->plain && !bare &&
			 (answer->answer != JW_WHICH_RUNS || answer->without)))
			continue;
		runs = true;
		member->bare = bare;
		found = choose_after(err, choice, at, wheel);
		if (found != NONE)
			return found;
	}
	member->chosen = NULL;
	if (runs)
		return NONE;
	if (unknown)
		member->fails = NULL;
	if (!member->named && (!member->fails || !member->base))
		return choose(err, choice, at + 1);
	if (!choice->lacks.shelf)
		choice->lacks = *member;
	return NONE;
}

/* ---- what a release brings along */

static void add_text(char ***texts, size_t *count, const char *text)
{
	size_t capacity = *count;

	for (size_t i = 0; i < *count; i++)
		if (!strcmp((*texts)[i], text))
			return;
	VEC_GROW(*texts, capacity, *count);
	(*texts)[(*count)++] = mem_string(text);
}

/* Adds a requirement, to one of the same package if there is one. */
static void add_use(struct jw_which_release *release, const char *name, const char *versions)
{
	const size_t length = strlen(name);
	char *text;

	for (size_t i = 0; i < release->use_count; i++) {
		char **use = &release->uses[i];

		if (strncmp(*use, name, length) != 0 || (*use)[strcspn(*use, "<>=!~ ")] != (*use)[length] ||
			strcspn(*use, "<>=!~ ") != length)
			continue;
		if (*versions && strlen(*use) + strlen(versions) + 1 < length + PACKAGE_MAX_NAME) {
			text = mem_printf("%s%s%s", *use, (*use)[length] ? "," : "", versions);
			mem_free(*use);
			*use = text;
		}
		return;
	}
	text = mem_printf("%s%s", name, versions);
	add_text(&release->uses, &release->use_count, text);
	mem_free(text);
}

/* Returns whether a package is a part of another one by its name: autoawq-kernels, openmm-cuda-12.
 */
static bool is_part_of(const char *name, const char *package)
{
	return text_starts(name, package) && name[strlen(package)] == '-';
}

/* Lists what a release without device code of its own requires; a part of the package comes first,
 * since it may have the device code. */
static int list_required(struct jw_error *err, struct question *question, const char *package,
						 const struct wheel *wheel, struct jw_which_release *release)
{
	size_t followed = 0;

	for (size_t i = 0; i < wheel->require_count; i++) {
		struct required required;
		struct shelf *shelf;

		if (!question_requires(question, wheel, question->options->extras, i, &required))
			continue;
		if (followed++ == MAX_FOLLOWED)
			break;
		if (question_shelf(err, question, required.is.name, &shelf))
			return -1;
		if (!shelf->listed) {
			add_text(&release->unfollowed, &release->unfollowed_count, shelf->name);
			if (is_part_of(shelf->name, package)) {
				char *last = release->unfollowed[release->unfollowed_count - 1];

				release->unfollowed[release->unfollowed_count - 1] = release->unfollowed[0];
				release->unfollowed[0] = last;
			}
		} else if (shelf_has_code(shelf, required.versions, question->options->platform)) {
			add_use(release, shelf->name, required.versions);
		}
	}
	return 0;
}

/* Names the packages that pip has to be told. */
static char *join_beside(const struct choice *choice)
{
	struct buf text = BUF_MAX(4096);
	char *joined;

	for (size_t i = 0; i < choice->count; i++) {
		const struct member *member = &choice->members[i];

		if (!member->named && member->chosen && member->chosen != member->newest)
			buf_add(&text, "%s%s==%s", text.size ? " " : "", member->shelf->name,
					member->chosen->version);
	}
	joined = text.size ? mem_string(buf_text(&text)) : NULL;
	buf_free(&text);
	return joined;
}

/* Notes the first required package that fails, though the release runs; or the torch without device
 * code that pip takes on Windows. */
static void note_failing(const struct choice *choice, struct jw_which_release *release)
{
	for (size_t i = 1; i < choice->count; i++) {
		const struct member *member = &choice->members[i];
		const struct jw_which_release *answer = member->fails  ? member->fails
												: member->base ? member->codeless
															   : NULL;

		if (member->by || member->chosen || !answer || release->required)
			continue;
		release->required = mem_printf("%s %s", member->shelf->name, answer->version);
		release->required_why =
			mem_string(member->fails && answer->why
						   ? answer->why
						   : "its wheel on PyPI has no device code for this platform");
	}
}

int judge_brought(struct jw_error *err, struct question *question, struct shelf *shelf,
				  const struct wheel *wheel, bool own, struct jw_which_release *release)
{
	struct choice choice = {.question = question, .count = 1, .label = wheel_label(wheel)};
	enum found found;

	if (!wheel->require_count)
		return 0;
	choice.members[0] = (struct member){
		.shelf = shelf, .named = true, .bare = !own, .chosen = wheel, .newest = wheel};
	TEXT_COPY(choice.members[0].extras, question->options->extras ? question->options->extras : "");
	if (!own && list_required(err, question, shelf->name, wheel, release))
		return -1;
	found = choose_after(err, &choice, 0, wheel);
	if (found == BROKEN)
		return -1;
	if (found == NONE && choice.lacks.shelf && choice.lacks.fails) {
		fail_by(release, choice.lacks.shelf->name, choice.lacks.versions, choice.lacks.fails);
		return 0;
	}
	if (found == FOUND) {
		release->beside = join_beside(&choice);
		note_failing(&choice, release);
	}
	if (own)
		return 0;
	if (release->unfollowed_count &&
		(!release->use_count || is_part_of(release->unfollowed[0], shelf->name))) {
		release->answer = JW_WHICH_UNFOLLOWED;
		return 0;
	}
	/* If nothing that it uses is known to run, as wheels of torch without device code, it has no
	 * code. */
	for (size_t i = 1; i < choice.count; i++) {
		const struct member *member = &choice.members[i];

		if (!member->chosen || !member->base || release->answer == JW_WHICH_COMPILES)
			continue;
		release->answer =
			member->shelf->answers[member->chosen - member->shelf->list.wheels].answer;
		if (release->answer != JW_WHICH_COMPILES)
			release->answer = JW_WHICH_RUNS;
	}
	return 0;
}

/* ---- several named packages */

/* Chooses a release for each of some named packages. */
static enum found choose_together(struct jw_error *err, struct choice *choice,
								  const struct jw_which_options *options,
								  struct shelf *const *shelves, size_t count)
{
	enum found found = NONE;

	for (unsigned i = 0; i < 2 && found == NONE; i++) {
		choice->plain = !i;
		choice->tries = 0;
		choice->count = count;
		for (size_t k = 0; k < count; k++) {
			struct member *member = &choice->members[k];

			*member = (struct member){.shelf = shelves[k], .named = true, .by = k};
			if (options[k].version)
				(void)text_format(member->versions, sizeof member->versions, "==%s",
								  options[k].version);
			else
				TEXT_COPY(member->versions, options[k].range ? options[k].range : "");
			TEXT_COPY(member->extras, options[k].extras ? options[k].extras : "");
		}
		found = choose(err, choice, 0);
	}
	return found;
}

/* Finds two packages of which each one runs, but not with the other one. */
static int find_excluding(struct jw_error *err, struct choice *choice,
						  const struct jw_which_options *options, struct shelf *const *shelves,
						  size_t count, struct jw_together *together)
{
	for (size_t i = 0; i < count; i++) {
		const enum found found = choose_together(err, choice, &options[i], &shelves[i], 1);

		if (found != FOUND)
			return found == BROKEN ? -1 : 0;
	}
	for (size_t i = 0; i < count && !together->exclude; i++)
		for (size_t k = i + 1; k < count && !together->exclude; k++) {
			const struct jw_which_options two[] = {options[i], options[k]};
			struct shelf *const pair[] = {shelves[i], shelves[k]};
			const enum found found = choose_together(err, choice, two, pair, 2);

			if (found == BROKEN)
				return -1;
			together->exclude = found == NONE;
			together->excluding[0] = i;
			together->excluding[1] = k;
		}
	return 0;
}

/* Returns whether the choice runs none of the named packages on the GPU. */
static bool is_for_cpu(const struct choice *choice, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (!choice->members[i].bare)
			return false;
	return true;
}

/* Returns whether a build is the list's first one with its label for the platform. */
static bool is_first_build(const struct wheel_list *list, size_t at, const char *platform)
{
	if (strcmp(list->wheels[at].platform, platform) != 0)
		return false;
	for (size_t i = 0; i < at; i++)
		if (!strcmp(list->wheels[i].platform, platform) &&
			text_same(wheel_label(&list->wheels[i]), wheel_label(&list->wheels[at])))
			return false;
	return true;
}

/* Returns whether a build is of a newer release than another wheel, whose label counts for
 * nothing. */
static bool is_newer_build(const struct wheel *build, const struct wheel *than)
{
	char version[PACKAGE_MAX_NAME];
	const char *label = wheel_label(than);

	(void)text_format(version, sizeof version, "%.*s",
					  (int)(label ? (size_t)(label - 1 - than->version) : strlen(than->version)),
					  than->version);
	return version_is_newer(build->version, version) &&
		   !version_is_build_of(build->version, version);
}

/* Chooses a release for each of some named packages, so that one command installs them: from the
 * list's index, or else the builds of one label from another index, if these are newer. */
static enum found choose_index(struct jw_error *err, struct choice *choice,
							   const struct jw_which_options *options, struct shelf *const *shelves,
							   size_t count)
{
	const struct wheel_list *list = &shelves[0]->list;
	const struct wheel *newest = NULL;
	const char *best = NULL;
	enum found found, first;

	choice->label = NULL;
	first = choose_together(err, choice, options, shelves, count);
	if (first == FOUND && !is_for_cpu(choice, count))
		newest = choice->members[0].chosen;
	for (size_t i = 0; first != BROKEN && i < list->count; i++) {
		const char *label = wheel_label(&list->wheels[i]);

		/* The first build with a label is the newest one. */
		if (!label || !is_first_build(list, i, options->platform) ||
			(newest && !is_newer_build(&list->wheels[i], newest)))
			continue;
		choice->label = label;
		found = choose_together(err, choice, options, shelves, count);
		if (found == BROKEN)
			return BROKEN;
		if (found == FOUND && (!newest || is_newer_build(choice->members[0].chosen, newest))) {
			newest = choice->members[0].chosen;
			best = label;
		}
	}
	choice->label = best;
	return newest || first == FOUND ? choose_together(err, choice, options, shelves, count) : first;
}

int jw_which_together(struct jw_error *err, const struct jw_which_options *options, size_t count,
					  struct jw_together *ret_together)
{
	struct question question = {.options = options};
	struct jw_together together = {.count = count};
	/* NOLINTNEXTLINE(bugprone-sizeof-expression): the array has pointers */
	struct shelf **shelves = mem_array(count, sizeof *shelves);
	struct choice *choice = mem_alloc(sizeof *choice);
	enum found found = BROKEN;
	int result = wheel_list_text(err, &question.text, &question.size);

	*choice = (struct choice){.question = &question};
	together.versions = mem_array(count, sizeof *together.versions);
	for (size_t i = 0; i < count; i++)
		together.versions[i] = NULL;
	for (size_t i = 0; !result && i < count; i++)
		result = question_named(err, &question, &options[i], &shelves[i]);
	if (!result && count && count <= MAX_MEMBERS) {
		found = choose_index(err, choice, options, shelves, count);
		result = found == BROKEN ? -1 : 0;
	}
	if (found == FOUND) {
		for (size_t i = 0; i < count; i++) {
			const char *version = choice->members[i].chosen->version;

			together.versions[i] =
				mem_string_n(version, choice->label ? strcspn(version, "+") : strlen(version));
		}
		together.options = pip_options_of(shelves[0]->name, choice->members[0].chosen);
		together.beside = join_beside(choice);
		together.found = true;
	} else if (found == NONE) {
		result = find_excluding(err, choice, options, shelves, count, &together);
	}
	question_free(&question);
	mem_free(choice);
	mem_free(shelves);
	if (result)
		jw_together_free(&together);
	else
		*ret_together = together;
	return result;
}

void jw_together_free(struct jw_together *together)
{
	for (size_t i = 0; i < together->count; i++)
		mem_free(together->versions[i]);
	mem_free(together->versions);
	mem_free(together->beside);
	mem_free(together->options);
	*together = (struct jw_together){.versions = NULL};
}
