#include "which/brought.h"

#include <string.h>

#include "base/arena.h"
#include "base/packages.h"
#include "base/pep440.h"
#include "code/rules.h"
#include "plan/plan.h"

enum {
	MAX_MEMBERS = 64,  /* the most packages that pip brings along */
	MAX_FOLLOWED = 256 /* the most requirements of a wheel that are followed */
};

/* ---- the packages that pip installs along with a release, each in the newest version that fits */

struct member {
	struct shelf *shelf;
	char versions[PACKAGE_MAX_NAME]; /* those that its requirement allows; "" for all */
	char extras[PACKAGE_MAX_NAME];
	const char *pinned; /* points into `versions`; NULL if there are several */
	bool direct;        /* the release requires it itself */
	bool base;          /* the release fails without it */
	const struct wheel *chosen,
		*newest;       /* the newest one that fits and runs; pip takes the newest */
	const char *above; /* the release after `chosen`, which pip must not take */
	const struct jw_which_release *fails; /* the answer of the one that fails the least, if each one
											 that fits fails */
	const struct jw_which_release *codeless; /* the answer of `newest`, if it has no device code */
	const struct jw_which_release *answer;   /* that of `chosen` */
};

/* The members; the first one is the release itself. */
struct brought {
	struct question *question;
	struct member members[MAX_MEMBERS];
	size_t count;
	const char *label; /* all are builds with this label, from one index; NULL: none is */
	bool bare;         /* the release has no device code of its own, so its requirements' own ones
						  are followed, too */
};

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
static bool loads_with_chosen(const struct brought *brought, size_t at, const struct wheel *wheel)
{
	const struct member *member = &brought->members[at];

	for (size_t i = 0; i < at; i++) {
		const struct member *other = &brought->members[i];

		if (other->chosen && (!loads_with(brought->question, other->chosen, other->extras,
										  member->shelf->name, wheel) ||
							  !loads_with(brought->question, wheel, member->extras,
										  other->shelf->name, other->chosen)))
			return false;
	}
	return true;
}

/* Returns whether a wheel goes with the releases that were chosen before it. */
static bool goes_with_chosen(const struct brought *brought, size_t at, const struct wheel *wheel)
{
	const struct member *member = &brought->members[at];
	const struct question *question = brought->question;

	for (size_t i = 0; i < at; i++) {
		const struct member *other = &brought->members[i];

		if (other->chosen &&
			(!share_python(question, other->chosen, wheel) ||
			 !allows(question, other->chosen, other->extras, member->shelf->name, wheel->version) ||
			 !allows(question, wheel, member->extras, other->shelf->name, other->chosen->version)))
			return false;
	}
	return true;
}

/* Returns whether pip may take a release on the platform, by its index and its Pythons. */
static bool is_candidate(const struct brought *brought, const struct wheel *wheel)
{
	const struct jw_which_options *options = &brought->question->options;

	return !strcmp(wheel->platform, options->platform) &&
		   text_same(wheel_label(wheel), brought->label) &&
		   (!options->python || wheel_fits_python(wheel, options->python));
}

/* Returns whether a release fails less than another one (NULL: none): for want of a driver that is
 * older. */
static bool is_nearer(const struct jw_which_release *answer, const struct jw_which_release *than)
{
	return !than || (answer->needs.cuda &&
					 (!than->needs.cuda || gpu_code_is_newer(&than->needs, &answer->needs)));
}

/* Chooses the newest release of a member that goes with those before it and runs. */
static int choose(struct jw_error *err, struct brought *brought, size_t at)
{
	struct member *member = &brought->members[at];
	const struct wheel_list *list = &member->shelf->list;
	const char *above = NULL;
	bool unknown = false, valid;

	for (size_t i = 0; i < list->count && !member->chosen; i++) {
		const struct wheel *wheel = &list->wheels[i];
		const struct jw_which_release *answer;

		if (!is_candidate(brought, wheel))
			continue;
		member->above = above;
		above = wheel->version;
		if ((member->pinned && !version_is_same(wheel->version, member->pinned)) ||
			!pep440_fits(wheel->version, member->versions, &valid) ||
			!goes_with_chosen(brought, at, wheel))
			continue;
		if (question_answer(err, brought->question, member->shelf, wheel, &answer))
			return -1;
		if (!member->newest && answer->answer == JW_WHICH_CPU)
			member->codeless = answer;
		member->newest = member->newest ? member->newest : wheel;
		if (!loads_with_chosen(brought, at, wheel))
			continue;
		if (answer->answer == JW_WHICH_FAILS && is_nearer(answer, member->fails))
			member->fails = answer;
		else if (answer->answer > JW_WHICH_COMPILES && answer->answer != JW_WHICH_FAILS)
			unknown = true;
		else if (answer->answer <= JW_WHICH_COMPILES) {
			member->chosen = wheel;
			member->answer = answer;
		}
	}
	if (member->chosen || unknown)
		member->fails = NULL;
	return 0;
}

/* Returns the member of a name; NULL if there is none. */
static const struct member *find_member(const struct brought *brought, const char *name)
{
	for (size_t i = 0; i < brought->count; i++)
		if (!strcmp(brought->members[i].shelf->name, name))
			return &brought->members[i];
	return NULL;
}

/* Adds the listed packages that a member requires. */
static int add_required(struct jw_error *err, struct brought *brought, size_t by)
{
	const struct member *parent = &brought->members[by];
	const struct question *question = brought->question;
	size_t followed = 0;

	for (size_t i = 0; i < parent->chosen->require_count && brought->count < MAX_MEMBERS; i++) {
		struct member *member;
		struct required required;
		struct shelf *shelf;

		if (!question_requires(question, parent->chosen, parent->extras, i, &required) ||
			find_member(brought, required.is.name))
			continue;
		if (followed++ == MAX_FOLLOWED)
			break;
		if (question_shelf(err, brought->question, required.is.name, &shelf))
			return -1;
		if (!shelf->listed)
			continue;
		member = &brought->members[brought->count++];
		*member = (struct member){.shelf = shelf, .direct = !by};
		member->base = question_is_base(shelf->name) ||
					   (brought->bare && member->direct &&
						shelf_has_code(shelf, required.versions, question->options.platform));
		TEXT_COPY(member->versions, required.versions);
		TEXT_COPY(member->extras, required.is.extras);
		if (*required.version)
			member->pinned = member->versions + strspn(member->versions, "=");
	}
	return 0;
}

/* Chooses all members. Returns the first one, in *ret_lacks, without which the release fails, and
 * of which no release runs; NULL if there is none. */
static int choose_all(struct jw_error *err, struct brought *brought,
					  const struct member **ret_lacks)
{
	*ret_lacks = NULL;
	if (add_required(err, brought, 0))
		return -1;
	for (size_t i = 1; i < brought->count && !*ret_lacks; i++) {
		struct member *member = &brought->members[i];

		if (choose(err, brought, i))
			return -1;
		if (member->fails && member->base)
			*ret_lacks = member;
		else if (member->chosen && member->direct && brought->bare && add_required(err, brought, i))
			return -1;
	}
	return 0;
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

/* Names the versions that pip has to be told, as ranges. */
static char *join_beside(const struct brought *brought)
{
	struct buf text = BUF_MAX(4096);
	char *joined = NULL;

	for (size_t i = 1; i < brought->count; i++) {
		const struct member *member = &brought->members[i];

		if (!member->chosen || member->chosen == member->newest)
			continue;
		buf_add(&text, "%s%s%s%s", text.size ? " " : "", member->shelf->name,
				brought->label ? "==" : "<",
				brought->label ? member->chosen->version : member->above);
	}
	if (text.size)
		joined = arena_string(brought->question->owner, buf_text(&text));
	buf_free(&text);
	return joined;
}

/* Notes a required package that has to be installed first. */
static void set_needs_first(const struct brought *brought, const struct member *member,
							struct jw_which_release *release)
{
	release->needs_first =
		arena_printf(brought->question->owner, "%s%s", member->shelf->name, member->versions);
	if (package_fact_of("base", member->shelf->name))
		release->needs_runtimes = wheel_runtimes(brought->members[0].chosen);
}

/* Notes the first required package that fails, though the release runs; or the torch without device
 * code that pip takes on Windows. */
static void note_failing(const struct brought *brought, struct jw_which_release *release)
{
	void *const owner = brought->question->owner;

	for (size_t i = 1; i < brought->count; i++) {
		const struct member *member = &brought->members[i];
		const struct jw_which_release *answer = member->fails  ? member->fails
												: member->base ? member->codeless
															   : NULL;

		if (!member->direct || member->chosen || !answer || release->required)
			continue;
		release->required = arena_printf(owner, "%s %s", member->shelf->name, answer->version);
		release->required_why =
			arena_string(owner, member->fails && answer->why
									? answer->why
									: "its wheel on PyPI has no device code for this platform");
		if (!member->fails)
			set_needs_first(brought, member, release);
	}
}

/* Notes the required package with which pip builds a release, if it builds it with the installed
 * ones. */
static void note_first(const struct brought *brought, struct jw_which_release *release)
{
	if (!release->options || !strstr(release->options, "--no-build-isolation"))
		return;
	for (size_t i = 1; i < brought->count && !release->needs_first; i++)
		if (brought->members[i].direct && brought->members[i].chosen)
			release->needs_first =
				arena_printf(brought->question->owner, "%s%s", brought->members[i].shelf->name,
							 brought->members[i].versions);
}

/* Returns whether nothing but libraries of NVIDIA's was chosen, for a wheel in which nothing calls
 * them: TensorFlow's for Windows, whose extra and-cuda is for Linux. */
static bool uses_nvidia_alone(const struct brought *brought)
{
	bool uses = false;

	if (brought->members[0].chosen->library_count)
		return false;
	for (size_t i = 1; i < brought->count; i++) {
		const struct member *member = &brought->members[i];
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
	struct brought all = {
		.question = question, .count = 1, .label = wheel_label(wheel), .bare = !own};
	struct brought *const brought = &all;
	const struct member *lacks;

	if (!wheel->require_count)
		return 0;
	brought->members[0] = (struct member){.shelf = shelf, .chosen = wheel, .newest = wheel};
	TEXT_COPY(brought->members[0].extras, question->options.extras ? question->options.extras : "");
	if ((!own && list_required(err, question, shelf->name, wheel, release)) ||
		choose_all(err, brought, &lacks))
		return -1;
	if (lacks) {
		question_fail_by(question, lacks->shelf->name, lacks->versions, lacks->fails, release);
		return 0;
	}
	release->beside = join_beside(brought);
	note_failing(brought, release);
	note_first(brought, release);
	if (own)
		return 0;
	if (uses_nvidia_alone(brought)) {
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
	for (size_t i = 1; i < brought->count; i++)
		if (brought->members[i].answer && brought->members[i].base &&
			release->answer != JW_WHICH_COMPILES)
			release->answer = brought->members[i].answer->answer;
	return 0;
}
