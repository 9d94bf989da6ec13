#include "prime/brought.h"

#include <string.h>

#include "base/arena.h"
#include "base/packages.h"
#include "base/pep440.h"
#include "code/rules.h"
#include "plan/plan.h"

enum {
	MAX_MEMBERS = 64,  /* the most packages that are chosen together */
	MAX_TRIES = 20000, /* the most releases that are tried until a choice is given up */
	MAX_FOLLOWED = 256 /* the most requirements of a wheel that are followed */
};

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
	bool mixed;          /* packages without labels may come from the list's index */
	bool plain;          /* the named packages are to run without a remark */
	bool unsure;         /* a release was passed over, since its requirements are unknown */
	struct member lacks; /* the first one of which no release runs */
};

enum found { FOUND, NONE, GIVEN_UP, BROKEN };

/* Returns whether some Python has both wheels. If the question names one, the caller has checked
 * each. */
static bool share_python(const struct question *question, const struct wheel *a,
						 const struct wheel *b)
{
	enum { OLDEST = 4, NEWEST = 30 };
	char text[8];

	if (question->options.python)
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

/* Returns whether a named release that was not examined may require another named package: the next
 * examined one does, and the versions are unknown. */
static bool may_require(struct choice *choice, const struct member *member,
						const struct wheel *wheel, const struct member *other)
{
	const struct wheel *next;
	struct required required;

	if (!wheel->unseen || !member->named || !other->named)
		return false;
	next = shelf_neighbour(member->shelf, wheel);
	for (size_t i = 0; next && i < next->require_count; i++)
		if (question_requires(choice->question, next, member->extras, i, &required) &&
			!strcmp(required.is.name, other->shelf->name)) {
			choice->unsure = true;
			return true;
		}
	return false;
}

/* Returns whether a wheel does not allow all versions of a package. */
static bool limits(const struct question *question, const struct wheel *wheel, const char *extras,
				   const char *name)
{
	struct required required;

	for (size_t i = 0; i < wheel->require_count; i++)
		if (question_requires(question, wheel, extras, i, &required) && *required.versions &&
			!strcmp(required.is.name, name))
			return true;
	return false;
}

/* Returns whether two named releases, one of which was not examined, may require different versions
 * of a package: neither, as the examined ones next to them show, allows all versions. */
static bool may_differ(struct choice *choice, const struct member *member,
					   const struct wheel *wheel, const struct member *other)
{
	const struct wheel *a = wheel, *b = other->chosen;
	struct required required;

	if (!member->named || !other->named || (!a->unseen && !b->unseen))
		return false;
	a = a->unseen ? shelf_neighbour(member->shelf, a) : a;
	b = b->unseen ? shelf_neighbour(other->shelf, b) : b;
	for (size_t i = 0; a && b && i < a->require_count; i++)
		if (question_requires(choice->question, a, member->extras, i, &required) &&
			*required.versions && limits(choice->question, b, other->extras, required.is.name)) {
			choice->unsure = true;
			return true;
		}
	return false;
}

static bool is_same_package(const struct member *a, const struct member *b)
{
	return !strcmp(a->shelf->name, b->shelf->name);
}

/* Returns whether a wheel that requires another one loads with it: torch brings the CUDA runtime to
 * which its extensions are linked (docs/internals/compat.md, sentence 10). */
static bool loads_with(const struct question *question, const struct wheel *wheel,
					   const char *extras, const char *name, const struct wheel *base)
{
	const uint32_t own = wheel_runtimes(wheel), its = wheel_runtimes(base);
	struct required required;

	if (!own || !its || (own & its) || !package_fact_of("base", name))
		return true;
	for (size_t i = 0; i < wheel->require_count; i++)
		if (question_requires(question, wheel, extras, i, &required) &&
			!strcmp(required.is.name, name))
			return false;
	return true;
}

/* Returns whether a wheel loads with the releases that were chosen before it. */
static bool loads_with_chosen(const struct choice *choice, size_t at, const struct wheel *wheel)
{
	const struct member *member = &choice->members[at];

	for (size_t i = 0; i < at; i++) {
		const struct member *other = &choice->members[i];

		if (other->chosen && (!loads_with(choice->question, other->chosen, other->extras,
										  member->shelf->name, wheel) ||
							  !loads_with(choice->question, wheel, member->extras,
										  other->shelf->name, other->chosen)))
			return false;
	}
	return true;
}

/* Returns whether a wheel goes with the releases that were chosen before it. */
static bool goes_with_chosen(struct choice *choice, size_t at, const struct wheel *wheel)
{
	const struct member *member = &choice->members[at];
	const char *python = choice->question->options.python;

	if (python && !wheel_fits_python(wheel, python))
		return false;
	for (size_t i = 0; i < at; i++) {
		const struct member *other = &choice->members[i];

		if (other->chosen && is_same_package(member, other) &&
			!version_is_same(other->chosen->version, wheel->version))
			return false;
		if (other->chosen && (!share_python(choice->question, other->chosen, wheel) ||
							  !allows(choice->question, other->chosen, other->extras,
									  member->shelf->name, wheel->version) ||
							  !allows(choice->question, wheel, member->extras, other->shelf->name,
									  other->chosen->version) ||
							  may_require(choice, member, wheel, other) ||
							  may_require(choice, other, other->chosen, member) ||
							  may_differ(choice, member, wheel, other)))
			return false;
	}
	return true;
}

static bool has_member(const struct choice *choice, const char *name)
{
	for (size_t i = 0; i < choice->count; i++)
		if (!strcmp(choice->members[i].shelf->name, name))
			return true;
	return false;
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
		if (has_member(choice, required.is.name))
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
			question_is_base(shelf->name) ||
			(bare && parent->named &&
			 shelf_has_code(shelf, required.versions, choice->question->options.platform));
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

/* Returns whether a package has device code for the platform in a build of any index; other indexes
 * are listed for builds with CUDA alone. */
static bool has_gpu_builds(const struct wheel_list *list, const char *platform)
{
	for (size_t i = 0; i < list->count; i++)
		if (!strcmp(list->wheels[i].platform, platform) &&
			(list->wheels[i].library_count || wheel_label(&list->wheels[i])))
			return true;
	return false;
}

static bool has_labels(const struct wheel_list *list, const char *platform)
{
	for (size_t i = 0; i < list->count; i++)
		if (!strcmp(list->wheels[i].platform, platform) && wheel_label(&list->wheels[i]))
			return true;
	return false;
}

/* Returns whether a release can be chosen by its platform, label and version. */
static bool is_candidate(const struct choice *choice, const struct member *member,
						 const struct wheel *wheel)
{
	const char *platform = choice->question->options.platform;
	bool valid;

	return !strcmp(wheel->platform, platform) &&
		   (text_same(wheel_label(wheel), choice->label) ||
			(choice->mixed && !wheel_label(wheel) &&
			 !has_labels(&member->shelf->list, platform))) &&
		   (!member->pinned || version_is_same(wheel->version, member->pinned)) &&
		   pep440_fits(wheel->version, member->versions, &valid);
}

/* Returns whether a named package allows none of the releases that another one requires. */
static bool is_excluded(const struct choice *choice, size_t at)
{
	const struct member *member = &choice->members[at];
	bool excluded = false;

	for (size_t i = 0; i < member->shelf->list.count; i++) {
		const struct wheel *wheel = &member->shelf->list.wheels[i];

		if (!is_candidate(choice, member, wheel))
			continue;
		excluded = false;
		for (size_t k = 0; k < at && !excluded; k++) {
			const struct member *other = &choice->members[k];

			excluded = other->named && other->chosen && k != member->by &&
					   !allows(choice->question, other->chosen, other->extras, member->shelf->name,
							   wheel->version);
		}
		if (!excluded)
			return false;
	}
	return excluded;
}

/* Chooses a release for this package and for those after it, the newest first. */
static enum found choose(struct jw_error *err, struct choice *choice, size_t at)
{
	struct member *member = &choice->members[at];
	const struct question *question = choice->question;
	const char *platform = question->options.platform;
	bool runs = false, unknown = false;

	if (at == choice->count)
		return FOUND;
	member->newest = member->chosen = NULL;
	member->fails = member->codeless = NULL;
	for (size_t i = 0; i < member->shelf->list.count; i++) {
		const struct wheel *wheel = &member->shelf->list.wheels[i];
		const struct jw_which_release *answer;
		enum found found;
		bool bare;

		if (!is_candidate(choice, member, wheel) || !goes_with_chosen(choice, at, wheel))
			continue;
		if (choice->tries++ == MAX_TRIES)
			return GIVEN_UP;
		if (question_answer(err, choice->question, member->shelf, wheel, &answer) ||
			(!member->named &&
			 question_answer_elsewhere(err, choice->question, member->shelf, wheel, &answer)))
			return BROKEN;
		if (!member->newest && answer->answer == JW_WHICH_CPU)
			member->codeless = answer;
		member->newest = member->newest ? member->newest : wheel;
		if (!loads_with_chosen(choice, at, wheel))
			continue;
		if (answer->answer == JW_WHICH_FAILS && is_nearer(answer, member->fails))
			member->fails = answer;
		/* A build for the CPU is no answer if the package has builds for GPUs. */
		bare = member->named && answer->answer == JW_WHICH_CPU &&
			   !has_gpu_builds(&member->shelf->list, platform);
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
	if (runs || (!member->named && !member->newest && is_excluded(choice, at)))
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

/* Adds a requirement, to one of the same package if there is one. */
static void add_required_use(void *owner, const char *name, const char *versions,
							 struct jw_which_release *release)
{
	const size_t length = strlen(name);

	for (size_t i = 0; i < release->use_count; i++) {
		char **use = &release->uses[i];

		if (strcspn(*use, "<>=!~ ") != length || strncmp(*use, name, length) != 0)
			continue;
		if (*versions && strlen(*use) + strlen(versions) + 1 < length + PACKAGE_MAX_NAME)
			*use = arena_printf(owner, "%s%s%s", *use, (*use)[length] ? "," : "", versions);
		return;
	}
	arena_add_string(owner, &release->uses, &release->use_count, MAX_FOLLOWED,
					 arena_printf(owner, "%s%s", name, versions));
}

/* Adds the name of a package that the list lacks, once. */
static void add_unfollowed(void *owner, const char *name, struct jw_which_release *release)
{
	for (size_t i = 0; i < release->unfollowed_count; i++)
		if (!strcmp(release->unfollowed[i], name))
			return;
	arena_add_string(owner, &release->unfollowed, &release->unfollowed_count, MAX_FOLLOWED, name);
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

		if (!question_requires(question, wheel, question->options.extras, i, &required))
			continue;
		if (followed++ == MAX_FOLLOWED)
			break;
		if (question_shelf(err, question, required.is.name, &shelf))
			return -1;
		if (!shelf->listed &&
			(package_fact_of("plain", shelf->name) ||
			 (!wheel->library_count && fate_is_nvidia(shelf->name, NULL, shelf->name))))
			continue;
		if (!shelf->listed) {
			add_unfollowed(question->owner, shelf->name, release);
			if (is_part_of(shelf->name, package)) {
				char *last = release->unfollowed[release->unfollowed_count - 1];

				release->unfollowed[release->unfollowed_count - 1] = release->unfollowed[0];
				release->unfollowed[0] = last;
			}
		} else if (shelf_has_code(shelf, required.versions, question->options.platform)) {
			add_required_use(question->owner, shelf->name, required.versions, release);
		}
	}
	return 0;
}

/* Names the packages that pip has to be told. */
static char *join_beside(const struct choice *choice)
{
	struct buf text = BUF_MAX(4096);
	char *joined = NULL;

	for (size_t i = 0; i < choice->count; i++) {
		const struct member *member = &choice->members[i];

		if (!member->named && member->chosen && member->chosen != member->newest)
			buf_add(&text, "%s%s==%s", text.size ? " " : "", member->shelf->name,
					member->chosen->version);
	}
	if (text.size)
		joined = arena_string(choice->question->owner, buf_text(&text));
	buf_free(&text);
	return joined;
}

/* Notes a required package that has to be installed first. */
static void set_needs_first(const struct choice *choice, const struct member *member,
							struct jw_which_release *release)
{
	release->needs_first =
		arena_printf(choice->question->owner, "%s%s", member->shelf->name, member->versions);
	if (package_fact_of("base", member->shelf->name))
		release->needs_runtimes = wheel_runtimes(choice->members[0].chosen);
}

/* Notes the first required package that fails, though the release runs; or the torch without device
 * code that pip takes on Windows. */
static void note_failing(const struct choice *choice, struct jw_which_release *release)
{
	void *const owner = choice->question->owner;

	for (size_t i = 1; i < choice->count; i++) {
		const struct member *member = &choice->members[i];
		const struct jw_which_release *answer = member->fails  ? member->fails
												: member->base ? member->codeless
															   : NULL;

		if (member->by || member->chosen || !answer || release->required)
			continue;
		release->required = arena_printf(owner, "%s %s", member->shelf->name, answer->version);
		release->required_why =
			arena_string(owner, member->fails && answer->why
									? answer->why
									: "its wheel on PyPI has no device code for this platform");
		if (!member->fails)
			set_needs_first(choice, member, release);
	}
}

/* Notes the required package with which pip builds a release, if it builds it with the installed
 * ones. */
static void note_first(const struct choice *choice, struct jw_which_release *release)
{
	if (!release->options || !strstr(release->options, "--no-build-isolation"))
		return;
	for (size_t i = 1; i < choice->count && !release->needs_first; i++)
		if (!choice->members[i].by && choice->members[i].chosen)
			release->needs_first =
				arena_printf(choice->question->owner, "%s%s", choice->members[i].shelf->name,
							 choice->members[i].versions);
}

/* Returns whether nothing but libraries of NVIDIA's was chosen, for a wheel in which nothing calls
 * them: TensorFlow's for Windows, whose extra and-cuda is for Linux. */
static bool uses_nvidia_alone(const struct choice *choice)
{
	bool uses = false;

	if (choice->members[0].chosen->library_count)
		return false;
	for (size_t i = 1; i < choice->count; i++) {
		const struct member *member = &choice->members[i];
		const char *name = member->shelf->name;

		if (!member->base || (!member->chosen && !member->codeless))
			continue;
		if (!fate_is_nvidia(name, NULL, name))
			return false;
		uses = true;
	}
	return uses;
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
	TEXT_COPY(choice.members[0].extras, question->options.extras ? question->options.extras : "");
	if (!own && list_required(err, question, shelf->name, wheel, release))
		return -1;
	found = choose_after(err, &choice, 0, wheel);
	if (found == BROKEN)
		return -1;
	if (found == NONE && choice.lacks.shelf && choice.lacks.fails) {
		question_fail_by(question, choice.lacks.shelf->name, choice.lacks.versions,
						 choice.lacks.fails, release);
		return 0;
	}
	if (found == FOUND) {
		release->beside = join_beside(&choice);
		note_failing(&choice, release);
		note_first(&choice, release);
	}
	if (own)
		return 0;
	if (found == FOUND && uses_nvidia_alone(&choice)) {
		release->use_count = release->unfollowed_count = 0;
		release->beside = NULL;
		return 0;
	}
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

/* Returns the wheel of the named version of a package for the platform; NULL if none is named. */
static const struct wheel *named_wheel(const struct jw_which_options *options,
									   const struct shelf *shelf)
{
	return options->version ? shelf_wheel(shelf, options->version, options->platform) : NULL;
}

/* Returns whether a requirement allows nothing of what is asked of its package. */
static bool is_refused(const struct required *required, const struct jw_which_options *asked)
{
	bool valid;

	if (asked->version)
		return !pep440_fits(asked->version, required->versions, &valid);
	return *required->version && asked->range &&
		   !pep440_fits(required->version, asked->range, &valid);
}

/* Returns the requirement for which the named version of the first package excludes the second one:
 * it does not allow what is asked of that, or is exact, and that requires another version. */
static char *excluding_requirement(const struct choice *choice,
								   const struct jw_which_options options[2],
								   struct shelf *const shelves[2], void *owner)
{
	const struct wheel *a = named_wheel(&options[0], shelves[0]),
					   *b = named_wheel(&options[1], shelves[1]);
	struct required required, other;

	for (size_t i = 0; a && i < a->require_count; i++)
		if (question_requires(choice->question, a, options[0].extras, i, &required) &&
			!strcmp(required.is.name, shelves[1]->name) && is_refused(&required, &options[1]))
			return arena_printf(owner, "%s %s requires %s%s", shelves[0]->name, a->version,
								required.is.name, required.versions);
	for (size_t i = 0; a && b && i < a->require_count; i++)
		for (size_t k = 0; k < b->require_count; k++)
			if (question_requires(choice->question, a, options[0].extras, i, &required) &&
				question_requires(choice->question, b, options[1].extras, k, &other) &&
				*required.version && *other.version && !strcmp(required.is.name, other.is.name) &&
				!version_is_same(required.version, other.version))
				return arena_printf(owner, "%s %s requires %s==%s, and %s %s requires %s",
									shelves[0]->name, a->version, required.is.name,
									required.version, shelves[1]->name, b->version, other.version);
	return NULL;
}

/* Finds why two packages exclude each other, and a release of the requiring one that fits. */
static int explain_excluding(struct jw_error *err, struct choice *choice,
							 const struct jw_which_options *options, struct shelf *const *shelves,
							 struct jw_together *together)
{
	const size_t *at = together->excluding;

	if (!strcmp(shelves[at[0]]->name, shelves[at[1]]->name)) {
		together->because = arena_string(together, "they are two versions of one package");
		return 0;
	}
	for (size_t i = 0; i < 2 && !together->because; i++) {
		struct jw_which_options two[] = {options[at[i]], options[at[!i]]};
		struct shelf *const pair[] = {shelves[at[i]], shelves[at[!i]]};
		enum found found;

		together->because = excluding_requirement(choice, two, pair, together);
		if (!together->because)
			continue;
		two[0].version = NULL;
		found = choose_together(err, choice, two, pair, 2);
		if (found == BROKEN)
			return -1;
		if (found == FOUND)
			together->instead =
				arena_printf(together, "%s==%s", pair[0]->name, choice->members[0].chosen->version);
	}
	return 0;
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
			enum found found;

			choice->unsure = false;
			found = choose_together(err, choice, two, pair, 2);

			if (found == BROKEN)
				return -1;
			together->exclude = found == NONE && !choice->unsure;
			together->excluding[0] = i;
			together->excluding[1] = k;
		}
	return together->exclude ? explain_excluding(err, choice, options, shelves, together) : 0;
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

/* Returns the first package that has builds with labels for the platform; 0 if none has. */
static size_t first_labelled(struct shelf *const *shelves, size_t count, const char *platform)
{
	for (size_t i = 0; i < count; i++)
		if (has_labels(&shelves[i]->list, platform))
			return i;
	return 0;
}

/* Chooses a release for each of some named packages, so that one command installs them: from the
 * list's index, or else the builds of one label from another index, if these are newer. If only
 * another index has builds of a package that run, those without labels come from the list's. */
static enum found choose_index(struct jw_error *err, struct choice *choice,
							   const struct jw_which_options *options, struct shelf *const *shelves,
							   size_t count)
{
	size_t lead = choice->mixed ? first_labelled(shelves, count, options->platform) : 0;
	const struct wheel_list *list = &shelves[lead]->list;
	const struct wheel *newest = NULL;
	const char *best = NULL;
	enum found found, first;

	choice->label = NULL;
	first = choose_together(err, choice, options, shelves, count);
	if (first == FOUND && !is_for_cpu(choice, count))
		newest = choice->members[lead].chosen;
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
		if (found == FOUND && (!newest || is_newer_build(choice->members[lead].chosen, newest))) {
			newest = choice->members[lead].chosen;
			best = label;
		}
	}
	choice->label = best;
	if (newest || first == FOUND)
		return choose_together(err, choice, options, shelves, count);
	lead = first_labelled(shelves, count, options->platform);
	choice->label = NULL;
	if (first != NONE || choice->mixed ||
		choose_together(err, choice, &options[lead], &shelves[lead], 1) != NONE)
		return first;
	choice->mixed = true;
	found = choose_index(err, choice, options, shelves, count);
	choice->mixed = found == FOUND;
	return found;
}

/* Returns whether a release requires a library of NVIDIA's. */
static bool requires_nvidia(const struct choice *choice, const struct member *member)
{
	struct required required;

	for (size_t i = 0; member->chosen && i < member->chosen->require_count; i++)
		if (question_requires(choice->question, member->chosen, member->extras, i, &required) &&
			fate_is_nvidia(required.is.name, NULL, required.is.name))
			return true;
	return false;
}

/* Finds the packages that bring NVIDIA's libraries, if there are several: the list has only some of
 * these requirements, so nothing shows that they fit. */
static int find_separate(struct jw_error *err, struct choice *choice,
						 const struct jw_which_options *options, struct shelf *const *shelves,
						 struct jw_together *together)
{
	for (size_t i = 0; i < together->count; i++) {
		const enum found found = choose_together(err, choice, &options[i], &shelves[i], 1);

		if (found == BROKEN)
			return -1;
		for (size_t k = 0; found == FOUND && k < choice->count; k++) {
			const struct member *member = &choice->members[k];
			bool known = false;

			for (size_t n = 0; n < together->separate_count; n++)
				known = known || !strcmp(together->separate[n], member->shelf->name);
			if (!known && requires_nvidia(choice, member))
				arena_add_string(together, &together->separate, &together->separate_count, SIZE_MAX,
								 member->shelf->name);
		}
	}
	if (together->separate_count < 2)
		together->separate_count = 0;
	return 0;
}

/* Writes the versions of a choice into the result. */
static void take_choice(const struct choice *choice, struct jw_together *together)
{
	for (size_t i = 0; i < together->count; i++) {
		const struct member *member = &choice->members[i];
		char *options = question_pip_options(together, member->shelf->name, member->chosen);

		together->versions[i] = arena_string(together, member->chosen->version);
		/* A build that is not on another index is made by pip, with these options; or it is beside
		 * builds from another index. */
		if (!wheel_label(member->chosen) && (options || choice->label))
			together->built[i] = options ? options : "";
		else if (!together->options)
			together->options = options;
		else if (options && strcmp(options, together->options) != 0)
			together->options = arena_printf(together, "%s %s", together->options, options);
	}
	together->beside = join_beside(choice);
	together->found = true;
}

int jw_which_together(struct jw_error *err, const struct jw_which_options *options, size_t count,
					  struct jw_together **ret_together)
{
	struct jw_together *together = arena_open(sizeof *together);
	struct question *question;
	struct choice *choice;
	struct shelf **shelves;
	enum found found = GIVEN_UP;
	int result = 0;

	together->count = count;
	together->versions = arena_alloc(together, count * sizeof *together->versions);
	together->built = arena_alloc(together, count * sizeof *together->built);
	if (question_open(err, options, together, &question)) {
		jw_result_free(together);
		return -1;
	}
	choice = arena_alloc(question, sizeof *choice);
	choice->question = question;
	/* NOLINTNEXTLINE(bugprone-sizeof-expression): the array has pointers */
	shelves = arena_alloc(question, count * sizeof *shelves);
	for (size_t i = 0; !result && i < count; i++)
		result = question_named(err, question, &options[i], &shelves[i]);
	if (!result && count && count <= MAX_MEMBERS)
		found = choose_index(err, choice, options, shelves, count);
	together->none = found == NONE && !choice->unsure;
	if (found == FOUND) {
		take_choice(choice, together);
		if (!choice->label)
			result = find_separate(err, choice, options, shelves, together);
	} else if (found == NONE) {
		result = find_excluding(err, choice, options, shelves, count, together);
	} else if (found == BROKEN) {
		result = -1;
	}
	question_free(question);
	if (result)
		jw_result_free(together);
	else
		*ret_together = together;
	return result;
}
