/* The releases of an index for jw_which: a list of wheels (which/wheel_list.h), whose facts are
 * those of the program's list, those that an earlier run has kept, and those of fetched
 * wheels. */
#include <jitwarm/which.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <sodium.h>

#include <jitwarm/scan.h>
#include <jitwarm/version.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/mem.h"
#include "base/packages.h"
#include "base/pep440.h"
#include "base/text.h"
#include "base/wheel_name.h"
#include "driver/run_folder.h"
#include "find/marker.h"
#include "find/pip.h"
#include "find/requirement.h"
#include "os/clock.h"
#include "os/file.h"
#include "which/wheel_facts.h"
#include "which/wheel_list.h"

enum {
	SHA256 = crypto_hash_sha256_BYTES,
	SHA256_TEXT = 2 * SHA256 + 1,
	MAX_KEPT = 16 << 20, /* the most bytes of a kept list, and of a wheel's requirements */
	MAX_TEXT = 256 << 20,
	MAX_SIZED = 128,
	MAX_REQUIRED = 16, /* the most required packages that are asked for */
	MAX_TARGETS = 32
};

/* A wheel of the package; any system's. */
struct listed {
	const struct pip_file *file;
	bool fits; /* it is for the platform */
	bool any;  /* it is for every platform */
};

/* A release with the wheels of the platform. */
struct release {
	const char *version;
	const struct listed *wheels; /* all of this version */
	size_t wheel_count;
	bool here; /* the release has a wheel for the platform */
	bool any;  /* its wheel is for every platform; it may have code for GPUs all the same */
	const struct pip_file *file;  /* the wheel that pip would take; NULL if there is none */
	const struct pip_file *known; /* the wheel that `facts` describe */
	char *facts;                  /* NULL if it was not examined */
	char *requires;               /* its lines of requirements if only these are known; or NULL */
	bool inferred;                /* the known releases before and after it are alike */
	bool absent;                  /* the index lacks the wheel, or the one with its code */
	bool source;                  /* the index has its source code alone */
};

struct jw_asked {
	struct jw_ask_options options;
	char package[PACKAGE_MAX_NAME];
	const char *machine;  /* the platform, as for jw_platform */
	char *index, *folder; /* the folder of kept lists, or NULL */
	char *own;            /* the program's own list */
	char *kept;           /* the list that an earlier run has kept, or NULL */
	struct run_folder run;
	struct pip_options how;
	struct pip *pip;
	struct pip_listing listing;
	struct listed *wheels; /* those of the newest version first */
	size_t wheel_count, wheel_capacity;
	struct release *releases; /* newest first */
	size_t count;
	bool asked_requires; /* the index was asked for the requirements of releases */
	bool asked_plain;    /* it was asked for packages without device code */
	char *text;          /* the list, which each examined release replaces; not in the arena */
	struct jw_target targets[MAX_TARGETS]; /* the GPUs for which PTX is measured: all */
	size_t target_count;
};

/* Writes the name of a wheel in lists: its SHA-256, or that of its address if the index does not
 * have it. */
static void write_id(char id[SHA256_TEXT], const struct pip_file *file)
{
	uint8_t hash[SHA256];

	(void)crypto_hash_sha256(hash, (const uint8_t *)file->address, strlen(file->address));
	for (size_t i = 0; i < SHA256; i++)
		(void)snprintf(id + 2 * i, SHA256_TEXT - 2 * i, "%02x", hash[i]);
	if (*file->sha256)
		text_copy(id, SHA256_TEXT, file->sha256);
}

/* ---- the list that is kept */

/* The lines above those of the wheels, up to the package's name. */
#define FORM_LINE(form) "facts " #form "\npackage "
#define FORM_OF(form)   FORM_LINE(form)
static const char kept_form[] = FORM_OF(WHEEL_FACTS_FORM), index_word[] = "\nindex ";

/* Returns the file with the last list for the package and platform. */
static char *kept_path(const struct jw_asked *asked)
{
	return mem_printf("%s/%s-%s.txt", asked->folder, asked->package, asked->options.platform);
}

/* Reads the list that an earlier run has kept, whose facts count for any index. Returns its text,
 * and the place in it that names the index; NULL if there is none, it is damaged, or another build
 * found its facts by other rules. */
static char *read_kept(const struct jw_asked *asked, struct wheel_list *ret_list,
					   const char **ret_index)
{
	char *path = asked->folder ? kept_path(asked) : NULL, *text = NULL;
	struct buf content = {0};

	if (path && !os_read_file(NULL, path, MAX_KEPT, &content)) {
		const char *index, *form;

		text = mem_string(buf_text(&content));
		index = strstr(text, index_word);
		form = strstr(text, kept_form);
		/* The builds of other indexes are added below its last line. */
		if (index && form && index < form && text_ends(text, "\n") &&
			!wheel_list_read(NULL, path, text, strlen(text), asked->package, ret_list)) {
			*ret_index = index + strlen(index_word);
		} else {
			mem_free(text);
			text = NULL;
		}
	}
	buf_free(&content);
	mem_free(path);
	return text;
}

/* Keeps the list; a failure costs a later run its answer without --ask, and downloads. */
static void keep_list(const struct jw_asked *asked)
{
	char *path = asked->folder ? kept_path(asked) : NULL;

	if (path && strlen(asked->text) <= MAX_KEPT && !os_make_parent(NULL, path, 0700))
		(void)os_write_atomic(NULL, path, asked->text, strlen(asked->text));
	mem_free(path);
}

/* ---- the list */

/* For qsort: the newest release first. */
static int order_releases(const void *a, const void *b)
{
	const char *one = ((const struct release *)a)->version,
			   *other = ((const struct release *)b)->version;

	return version_is_newer(other, one) - version_is_newer(one, other);
}

/* For qsort: the newest version first; the wheels of one version stay in the index's order. */
static int order_wheels(const void *a, const void *b)
{
	const struct listed *one = a, *other = b;

	if (version_is_newer(one->file->version, other->file->version))
		return -1;
	if (version_is_newer(other->file->version, one->file->version))
		return 1;
	return (one->file > other->file) - (one->file < other->file);
}

/* Returns whether a list of words, with a comma between two, has the word. */
static bool list_has(const char *list, const char *word)
{
	const size_t length = strlen(word);

	for (; *list; list += strcspn(list, ","), list += *list == ',')
		if (strcspn(list, ",") == length && !memcmp(list, word, length))
			return true;
	return false;
}

static void list_wheels(struct jw_asked *asked)
{
	for (size_t i = 0; i < asked->listing.count; i++) {
		const struct pip_file *file = &asked->listing.items[i];
		const bool any = !strcmp(file->systems, "any");

		if (file->yanked || file->pre)
			continue;
		(void)ARENA_ROOM(NULL, asked, asked->wheels, asked->wheel_capacity, asked->wheel_count,
						 SIZE_MAX);
		asked->wheels[asked->wheel_count++] = (struct listed){
			file, .any = any, .fits = any || list_has(file->systems, asked->options.platform)};
	}
	if (asked->wheel_count)
		qsort(asked->wheels, asked->wheel_count, sizeof *asked->wheels, order_wheels);
}

/* Finds the wheel that pip would take. */
static void choose_wheel(struct release *release)
{
	for (size_t i = 0; i < release->wheel_count; i++) {
		const struct listed *wheel = &release->wheels[i];
		const struct pip_file *file = wheel->file;

		/* pip prefers a wheel for the platform. */
		if (!wheel->fits || (release->here && wheel->any && !release->any))
			continue;
		if (!wheel->any && release->any)
			release->file = NULL;
		release->here = true;
		release->any = wheel->any;
		if (file->best)
			release->file = file;
	}
}

static bool stands_for(const struct listed *wheel, const struct release *release)
{
	return wheel->fits && wheel->any == release->any;
}

/* Finds known facts. Any wheel of a release for the platform stands for it, whatever Python it is
 * for. */
static void find_facts(struct jw_asked *asked, struct release *release)
{
	for (size_t i = 0; i < release->wheel_count && !release->facts; i++) {
		const struct pip_file *file = release->wheels[i].file;
		char id[SHA256_TEXT];

		if (!stands_for(&release->wheels[i], release))
			continue;
		write_id(id, file);
		release->facts = arena_keep(asked, wheel_facts_find(asked->own, id));
		if (!release->facts && asked->kept)
			release->facts = arena_keep(asked, wheel_facts_find(asked->kept, id));
		if (release->facts)
			release->known = file;
	}
}

static void find_releases(struct jw_asked *asked)
{
	size_t capacity = 0;

	list_wheels(asked);
	for (size_t at = 0; at < asked->wheel_count;) {
		struct release release = {.version = asked->wheels[at].file->version,
								  .wheels = &asked->wheels[at]};

		while (at < asked->wheel_count &&
			   version_is_same(asked->wheels[at].file->version, release.version))
			at++;
		release.wheel_count = (size_t)(asked->wheels + at - release.wheels);
		choose_wheel(&release);
		find_facts(asked, &release);
		(void)ARENA_ROOM(NULL, asked, asked->releases, capacity, asked->count, SIZE_MAX);
		asked->releases[asked->count++] = release;
	}
	for (size_t i = 0; i < asked->listing.source_count; i++) {
		(void)ARENA_ROOM(NULL, asked, asked->releases, capacity, asked->count, SIZE_MAX);
		asked->releases[asked->count++] =
			(struct release){.version = asked->listing.sources[i], .source = true};
	}
	if (asked->count)
		qsort(asked->releases, asked->count, sizeof *asked->releases, order_releases);
}

static int compare_with_release(const void *version, const void *release)
{
	const char *own = ((const struct release *)release)->version;

	return version_is_newer(version, own) ? -1 : version_is_newer(own, version) ? 1 : 0;
}

/* Returns the release of a version that the index lists. */
static struct release *release_of(const struct jw_asked *asked, const char *version)
{
	return bsearch(version, asked->releases, asked->count, sizeof *asked->releases,
				   compare_with_release);
}

/* Prints the Pythons of the wheels that stand for a release. */
static int print_pythons(struct jw_error *err, const struct release *release, struct buf *text)
{
	const char *comma = "";
	int result = 0;

	for (size_t i = 0; !result && i < release->wheel_count; i++)
		if (stands_for(&release->wheels[i], release)) {
			result = buf_printf(err, text, "%s%s", comma, release->wheels[i].file->pythons);
			comma = ",";
		}
	return result;
}

/* Returns the release that an unknown one resembles: the next newer known one, if the next older
 * known one is alike. */
static const struct release *like_of(const struct jw_asked *asked, size_t at)
{
	const struct release *newer = NULL, *older = NULL;

	for (size_t i = at; i-- && !newer;)
		newer = asked->releases[i].facts ? &asked->releases[i] : NULL;
	for (size_t i = at + 1; i < asked->count && !older; i++)
		older = asked->releases[i].facts ? &asked->releases[i] : NULL;
	return newer && older && newer->any == asked->releases[at].any && older->any == newer->any &&
				   wheel_facts_alike(newer->facts, older->facts)
			   ? newer
			   : NULL;
}

static int print_release(struct jw_error *err, struct jw_asked *asked, size_t at, struct buf *text)
{
	struct release *release = &asked->releases[at];
	const struct release *like = release->facts ? NULL : like_of(asked, at);
	const char *platform = asked->options.platform;
	char id[SHA256_TEXT];

	release->inferred = like != NULL;
	if (!release->here)
		return buf_printf(err, text, "unseen %s %s py3\n", release->version,
						  release->source ? WHEEL_SOURCE : "none");
	if (buf_printf(err, text, "%s %s %s ",
				   release->facts ? "wheel"
				   : like         ? "same"
								  : "unseen",
				   release->version, platform) ||
		print_pythons(err, release, text))
		return -1;
	if (!release->facts)
		return buf_printf(err, text, "%s%s\n%s", like ? " " : "", like ? like->version : "",
						  like && release->requires ? release->requires : "");
	write_id(id, release->known);
	return buf_printf(err, text, " %s %s\n%s", release->known->name, id, release->facts);
}

static int print_list(struct jw_error *err, struct jw_asked *asked)
{
	struct buf text = BUF_MAX(MAX_TEXT);
	char day[TEXT_UTC];
	int result = buf_printf(
		err, &text, "jitwarm-wheels 1 %.10s%s%.*s\n%s%s\n", text_utc(day, os_now_s()), index_word,
		(int)strcspn(asked->index, "\r\n"), asked->index, kept_form, asked->package);

	for (size_t i = 0; !result && i < asked->count; i++)
		result = print_release(err, asked, i, &text);
	if (!result) {
		mem_free(asked->text);
		asked->text = mem_string(buf_text(&text));
	}
	buf_free(&text);
	return result;
}

/* Returns whether a kept list says more than the program's: on a package that the latter lacks, or
 * later, about the same index. */
static bool says_more(const struct jw_asked *asked, const struct wheel_list *list)
{
	struct wheel_list own = {.date = NULL};
	size_t size;
	char *text;
	bool more;

	if (wheel_list_text(NULL, &text, &size))
		return false;
	more = wheel_list_read(NULL, WHEEL_LIST_OWN, text, size, asked->package, &own) ||
		   (!strcmp(asked->index, "PyPI") && strcmp(list->date, own.date) > 0);
	wheel_list_free(&own);
	mem_free(text);
	return more;
}

struct jw_asked *jw_asked_kept(const struct jw_ask_options *options)
{
	struct jw_asked *asked = arena_open(sizeof *asked);
	const char *index;
	struct wheel_list list;
	char *text = NULL;
	bool usable = false;

	*asked = (struct jw_asked){.options = *options};
	if (options->state_dir &&
		package_normalise(options->package, strlen(options->package), asked->package)) {
		asked->folder = arena_keep(asked, os_join(options->state_dir, "wheels"));
		text = read_kept(asked, &list, &index);
	}
	if (text) {
		asked->text = text;
		asked->index = arena_keep(asked, mem_string_n(index, strcspn(index, "\n")));
		usable = says_more(asked, &list);
		wheel_list_free(&list);
	}
	if (!usable)
		jw_asked_close(asked);
	return usable ? asked : NULL;
}

/* ---- opening */

static bool can_examine(const struct release *release)
{
	return release && release->file && !release->facts && !release->inferred && !release->absent;
}

/* Asks the index for the sizes of wheels that may be fetched, if its list does not have them, and
 * they are not too many: the sum is a courtesy. */
static void find_sizes(struct jw_asked *asked)
{
	struct buf names = BUF_MAX(MAX_SIZED * 300);
	size_t count = 0;

	for (size_t i = 0; i < asked->count; i++) {
		const struct release *release = &asked->releases[i];

		if (can_examine(release) && !release->file->size_bytes && count++ < MAX_SIZED)
			(void)buf_printf(NULL, &names, "%s ", release->file->name);
	}
	if (count && count <= MAX_SIZED)
		(void)pip_sizes(NULL, asked->pip, buf_text(&names), &asked->listing);
	buf_free(&names);
}

int jw_asked_open(struct jw_error *err, const struct jw_ask_options *options,
				  struct jw_asked **ret_asked)
{
	struct jw_asked *asked;
	const struct wheel_platform *platform;
	struct wheel_list kept;
	const char *index;
	size_t size;
	char *requirement = pip_requirement(options->package);
	char package[PACKAGE_MAX_NAME];
	const bool named =
		requirement && package_normalise(options->package, strlen(options->package), package);

	mem_free(requirement);
	if (!named)
		return error_set(err, JW_ERR_USAGE, "“%.200s” is no package's name", options->package);
	if (wheel_platform_read(err, options->platform, &platform))
		return -1;
	asked = arena_open(sizeof *asked);
	*asked = (struct jw_asked){.options = *options, .machine = platform->machine};
	TEXT_COPY(asked->package, package);
	if (options->state_dir)
		asked->folder = arena_keep(asked, os_join(options->state_dir, "wheels"));
	if (run_folder_make(err, NULL, &asked->run))
		goto fail;
	asked->how = (struct pip_options){
		.folder = asked->run.path,
		.platform =
			strcmp(asked->machine, jw_platform()) != 0 || options->python ? asked->machine : NULL,
		.python = options->python,
		.by_hand = "ask for the releases in jitwarm's list, without --ask",
		.fetch = &asked->options.fetch};
	if (wheel_list_text(err, &asked->own, &size))
		goto fail;
	(void)arena_keep(asked, asked->own);
	if (jw_targets_read(err, "all", NULL, asked->targets, MAX_TARGETS, &asked->target_count) ||
		pip_open(err, &asked->how, &asked->pip) ||
		pip_list(err, asked->pip, asked->package, &asked->listing))
		goto fail;
	asked->index =
		text_starts(asked->listing.index ? asked->listing.index : "", "pypi.org/")
			? arena_string(asked, "PyPI")
			: arena_string(asked, asked->listing.index ? asked->listing.index : "pip's index");
	asked->kept = arena_keep(asked, read_kept(asked, &kept, &index));
	if (asked->kept)
		wheel_list_free(&kept);
	find_releases(asked);
	find_sizes(asked);
	if (print_list(err, asked))
		goto fail;
	*ret_asked = asked;
	return 0;
fail:
	jw_asked_close(asked);
	return -1;
}

void jw_asked_close(struct jw_asked *asked)
{
	if (!asked)
		return;
	pip_close(asked->pip);
	pip_listing_free(&asked->listing);
	run_folder_remove(&asked->run);
	mem_free(asked->text);
	jw_result_free(asked);
}

const char *jw_asked_index(const struct jw_asked *asked)
{
	return asked->index;
}

const char *jw_asked_text(const struct jw_asked *asked)
{
	return asked->text;
}

/* ---- examining wheels */

struct look {
	struct wheel_facts facts;
	struct jw_error why;
};

static int examine_image(struct jw_error *err, void *context, const struct jw_scan_image *image)
{
	struct look *look = context;

	return wheel_facts_add(err, &look->facts, image);
}

static void keep_trouble(void *context, const char *path, const struct jw_error *why)
{
	struct look *look = context;

	(void)path;
	look->why = *why;
}

/* Examines a release's wheel; the second path is that of the wheel with its code, or NULL. */
static int examine_wheel(struct jw_error *err, struct jw_asked *asked, struct release *release,
						 const struct pip_file *got, char *const paths[2])
{
	struct look look = {.facts = {.items = NULL}};
	const char *const scanned[] = {paths[0], paths[1]};
	const struct jw_scan_options options = {.paths = scanned,
											.path_count = paths[1] ? 2 : 1,
											.targets = asked->targets,
											.target_count = asked->target_count,
											.platform = asked->machine,
											.cancel = asked->options.fetch.cancel,
											.context = &look,
											.image = examine_image,
											.trouble = keep_trouble};
	int result = jw_scan(err, &options, NULL);

	if (!result && look.why.code)
		result = error_copy(err, &look.why);
	if (!result)
		result = wheel_facts_text(err, &look.facts, asked->package, got->required,
								  got->required_count, asked->own, &release->facts);
	if (!result) {
		(void)arena_keep(asked, release->facts);
		release->known = release->file;
	}
	wheel_facts_free(&look.facts);
	return result;
}

/* Returns the package that holds another one's device code in the same version; NULL if there is
 * none. */
static const char *code_package(const char *package)
{
	const struct package_fact *fact = package_fact_of("code", package);

	return fact ? fact->values[0] : NULL;
}

/* Downloads the wheel of a release, and the one with its code, as the second path. */
static int download_release(struct jw_error *err, struct jw_asked *asked,
							const struct release *release, struct pip_listing *ret_got,
							char *ret_paths[2])
{
	const char *code = code_package(asked->package);
	/* The package with the code comes first, so that nothing is downloaded if the index lacks this
	 * package. */
	char *lines = code ? mem_printf("%s===%s\n%s===%s\n", code, release->version, asked->package,
									release->version)
					   : mem_printf("%s===%s\n", asked->package, release->version);
	int result = pip_get(err, asked->pip, "", lines, ret_got);

	mem_free(lines);
	for (size_t i = 0; !result && i < ret_got->count; i++) {
		const char *name = ret_got->items[i].name;

		ret_paths[strcmp(name, release->file->name) != 0] = pip_got(asked->pip, name);
	}
	return result || (ret_paths[0] && !code == !ret_paths[1])
			   ? result
			   : error_set(err, JW_ERR_FORMAT, "pip fetched no wheel");
}

/* Returns whether the index lacks a wheel that the last download was for. */
static bool lacks_wheel(const struct pip *pip)
{
	const enum pip_lack lack = pip_lack(pip);

	return lack != PIP_LACKS_NOTHING && lack != PIP_LACKS_INDEX;
}

static const struct pip_file *file_named(const struct pip_listing *listing, const char *name)
{
	for (size_t i = 0; i < listing->count; i++)
		if (!strcmp(listing->items[i].name, name))
			return &listing->items[i];
	return NULL;
}

/* Examines a release, unless the index lacks a wheel, or the wheel is damaged; the wheels are on
 * the disk only meanwhile. */
static int examine_release(struct jw_error *err, struct jw_asked *asked, struct release *release)
{
	struct pip_listing got = {.index = NULL};
	char *paths[2] = {NULL, NULL};
	struct jw_error why = {0};
	int result;

	if (asked->options.fetches)
		asked->options.fetches(asked->options.fetch.context, release->file->name);
	result = download_release(&why, asked, release, &got, paths);
	release->absent = result && why.code == JW_ERR_NOT_FOUND && lacks_wheel(asked->pip);
	/* A damaged wheel says nothing of the others. */
	if (!result) {
		result = examine_wheel(&why, asked, release, file_named(&got, release->file->name), paths);
		release->absent = result && why.code == JW_ERR_FORMAT;
	}
	if (release->absent && asked->options.lacks)
		asked->options.lacks(asked->options.fetch.context, release->file->name, why.message);
	if (result)
		result = release->absent ? 0 : error_copy(err, &why);
	for (size_t i = 0; i < 2; i++) {
		if (paths[i])
			(void)os_remove(NULL, paths[i]);
		mem_free(paths[i]);
	}
	pip_listing_free(&got);
	if (result || print_list(err, asked))
		return -1;
	keep_list(asked);
	return 0;
}

/* Returns whether a known release has no code of its own, but requires other packages. */
static bool requires_alone(const struct release *release)
{
	return release->facts && text_starts(release->facts, "requires ") &&
		   !strstr(release->facts, "\nlibrary ");
}

/* Asks the index what releases require that have no code of their own, as others of the package
 * show: what they require decides. An index that sends no parts of files leaves it unknown; then a
 * release requires what the one requires that it is like. */
static int ask_requires(struct jw_error *err, struct jw_asked *asked)
{
	struct buf names = BUF_MAX(MAX_SIZED * 300);
	bool alone = false;
	size_t count = 0;
	int result = 0;

	for (size_t i = 0; i < asked->count; i++)
		alone = alone || requires_alone(&asked->releases[i]);
	if (!alone || asked->asked_requires)
		return 0;
	asked->asked_requires = true;
	for (size_t i = 0; i < asked->count && count < MAX_SIZED; i++)
		if (asked->releases[i].file &&
			(can_examine(&asked->releases[i]) || asked->releases[i].inferred)) {
			(void)buf_printf(NULL, &names, "%s ", asked->releases[i].file->name);
			count++;
		}
	if (count)
		result = pip_requires(err, asked->pip, buf_text(&names), &asked->listing);
	buf_free(&names);
	for (size_t i = 0; !result && i < asked->count; i++) {
		struct release *release = &asked->releases[i];
		struct buf lines = BUF_MAX(MAX_KEPT);

		if (!release->file || !release->file->requires_known)
			continue;
		result = wheel_facts_requires(err, asked->package, release->file->required,
									  release->file->required_count, NULL, &lines);
		release->requires = arena_string(asked, lines.size ? buf_text(&lines) : "requires -\n");
		buf_free(&lines);
	}
	return result ? -1 : print_list(err, asked);
}

/* ---- required packages without device code */

/* Reads the requirement in the next line of a release's facts at *at; its texts live as long as
 * `owner`. False after the last line of requirements. */
static bool next_required(void *owner, const char **at, struct required *ret_required)
{
	while (text_starts(*at, "requires ")) {
		const char *text = *at + strlen("requires ");
		const size_t length = strcspn(text, "\n");

		*at = text + length + (text[length] == '\n');
		if (required_read(arena_printf(owner, "%.*s", (int)length, text), ret_required))
			return true;
	}
	return false;
}

/* Returns whether the newest wheel of a package that the list lacks is for every platform, and
 * requires no package of the list. */
static bool is_plain(const struct jw_asked *asked, const char *name)
{
	struct pip_listing listing = {.index = NULL};
	const struct pip_file *file = NULL;
	struct required required;
	bool plain;

	if (pip_list(NULL, asked->pip, name, &listing))
		return false;
	for (size_t i = 0; i < listing.count && !file; i++)
		file = listing.items[i].best && !listing.items[i].pre ? &listing.items[i] : NULL;
	plain = file && !strcmp(file->systems, "any") &&
			!pip_requires(NULL, asked->pip, file->name, &listing) && file->requires_known;
	for (size_t i = 0; plain && i < file->required_count; i++)
		plain = !required_read(file->required[i], &required) || !jw_which_lists(required.is.name);
	pip_listing_free(&listing);
	return plain;
}

/* Takes those lines out of a release's facts that require a package; returns the facts themselves
 * if there are none. */
static char *without_required(void *owner, char *facts, const char *name)
{
	void *lines = arena_open(1);
	struct buf kept = BUF_MAX(MAX_KEPT);
	struct required required;
	const char *line = facts, *at = facts;
	bool drops = false;

	for (; next_required(lines, &at, &required); line = at) {
		if (!strcmp(required.is.name, name))
			drops = true;
		else
			(void)buf_append(NULL, &kept, line, (size_t)(at - line));
	}
	if (drops)
		facts = arena_printf(owner, "%s%s", kept.size ? buf_text(&kept) : "", line);
	buf_free(&kept);
	jw_result_free(lines);
	return facts;
}

static void forget_required(struct jw_asked *asked, const char *name)
{
	for (size_t i = 0; i < asked->count; i++) {
		struct release *release = &asked->releases[i];

		if (release->facts)
			release->facts = without_required(asked, release->facts, name);
		if (release->requires && strcmp(release->requires, "requires -\n") != 0) {
			release->requires = without_required(asked, release->requires, name);
			if (!*release->requires)
			release->requires = arena_string(asked, "requires -\n");
		}
	}
}

static bool has_name(char *const *names, size_t count, const char *name)
{
	for (size_t i = 0; i < count; i++)
		if (!strcmp(names[i], name))
			return true;
	return false;
}

/* Adds the packages that a release requires and whose device code is unknown, unless it requires a
 * package of the list. */
static void add_unknown(struct jw_asked *asked, const struct release *release, char ***names,
						size_t *count)
{
	const struct marker_place place = {.platform = asked->options.platform,
									   .python =
										   asked->options.python ? asked->options.python : "3.12"};
	void *lines = arena_open(1);
	struct required required;
	const size_t before = *count;

	for (const char *at = release->facts; next_required(lines, &at, &required);) {
		if (*required.marker && !marker_holds(required.marker, &place))
			continue;
		if (jw_which_lists(required.is.name)) {
			*count = before;
			break;
		}
		if (!package_fact_of("plain", required.is.name) &&
			!has_name(*names, *count, required.is.name))
			arena_add_string(asked, names, count, MAX_REQUIRED, required.is.name);
	}
	jw_result_free(lines);
}

/* Asks the index which packages have no device code that releases require which have none
 * themselves: these packages decide nothing. */
static int ask_plain(struct jw_error *err, struct jw_asked *asked)
{
	char **names = NULL;
	size_t count = 0;

	if (asked->asked_plain)
		return 0;
	asked->asked_plain = true;
	for (size_t i = 0; i < asked->count; i++)
		if (requires_alone(&asked->releases[i]))
			add_unknown(asked, &asked->releases[i], &names, &count);
	for (size_t i = 0; i < count; i++)
		if (is_plain(asked, names[i]))
			forget_required(asked, names[i]);
	return count ? print_list(err, asked) : 0;
}

static bool is_judged(const struct jw_which_release *release)
{
	return !release->declared_by && release->answer != JW_WHICH_UNKNOWN &&
		   release->answer != JW_WHICH_NO_WHEEL && release->answer != JW_WHICH_SOURCE &&
		   release->answer != JW_WHICH_NO_PYTHON;
}

/* Returns the middle one of the releases between two that can be examined; NULL if there is
 * none. */
static struct release *middle_of(struct jw_asked *asked, const struct jw_which *which, size_t from,
								 size_t to)
{
	size_t count = 0, at = 0;

	for (size_t i = from; i < to; i++)
		count += can_examine(release_of(asked, which->releases[i].version));
	for (size_t i = from; i < to; i++) {
		struct release *release = release_of(asked, which->releases[i].version);

		if (can_examine(release) && at++ == count / 2)
			return release;
	}
	return NULL;
}

/* Returns whether bisection between two known releases may show a change of the answer. */
static bool differ(const struct jw_which_release *a, const struct jw_which_release *b)
{
	return a->answer != b->answer || !text_same(a->why, b->why);
}

/* Returns the next release to examine: the newest one, the oldest one, then one between two
 * neighbours with different answers, first those of which the older one runs. NULL if the newest
 * one that runs as it is is known, or that there is none, as far as bisection shows. */
static struct release *next_release(struct jw_asked *asked, const struct jw_which *which)
{
	const struct jw_which_release *newer = NULL;
	struct release *next = NULL, *last = NULL;
	size_t newer_at = 0;

	for (size_t i = 0; i < which->count; i++) {
		const struct jw_which_release *release = &which->releases[i];
		struct release *own = release_of(asked, release->version), *middle = NULL;

		if (can_examine(own) && !newer)
			return own;
		if (can_examine(own))
			last = own;
		if (!is_judged(release))
			continue;
		if (newer && last && differ(newer, release))
			middle = middle_of(asked, which, newer_at + 1, i);
		next = next ? next : middle;
		if (release->answer == JW_WHICH_RUNS && !release->without)
			return middle ? middle : next;
		newer = release;
		newer_at = i;
		last = NULL;
	}
	return last ? last : next;
}

static int choose_next(struct jw_error *err, struct jw_asked *asked,
					   const struct jw_which_options *options, struct jw_target target,
					   struct release **ret_next)
{
	struct jw_which_options question = *options;
	struct jw_which *which;

	question.index = asked->index;
	question.list = asked->text;
	question.target = target;
	if (jw_which(err, &question, &which))
		return -1;
	*ret_next = next_release(asked, which);
	jw_result_free(which);
	return 0;
}

static int order_sizes(const void *a, const void *b)
{
	const uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;

	return (left < right) - (left > right);
}

/* Returns the most examinations of so many releases: the newest one, the oldest one, and two for
 * each halving between them, since both halves may hold a change. */
static size_t max_examinations(size_t releases)
{
	size_t looks = 2;

	for (size_t rest = releases; rest > 1; rest = (rest + 1) / 2)
		looks += 2;
	return looks < releases ? looks : releases;
}

int jw_asked_plan(struct jw_error *err, struct jw_asked *asked,
				  const struct jw_which_options *options, const struct jw_target *targets,
				  size_t count, struct jw_asked_plan *ret_plan)
{
	struct jw_asked_plan plan = {.lacking = 0};
	uint64_t *sizes = mem_array(asked->count + 1, sizeof *sizes);
	int result = 0;

	for (size_t i = 0; !options->version && i < asked->count; i++)
		if (can_examine(&asked->releases[i]))
			sizes[plan.lacking++] = asked->releases[i].file->size_bytes;
	for (size_t i = 0; !result && i < count; i++) {
		struct release *next = NULL;

		result = choose_next(err, asked, options, targets[i], &next);
		/* The requested release alone is lacking. */
		if (next && options->version && !plan.lacking)
			sizes[plan.lacking++] = next->file->size_bytes;
		plan.most += next ? max_examinations(plan.lacking) : 0;
	}
	plan.most = plan.most < plan.lacking ? plan.most : plan.lacking;
	qsort(sizes, plan.lacking, sizeof *sizes, order_sizes);
	/* The total is known if each size is. */
	for (size_t i = 0; i < plan.most && sizes[plan.lacking - 1]; i++)
		plan.most_bytes += sizes[i];
	mem_free(sizes);
	if (!result)
		*ret_plan = plan;
	return result;
}

int jw_asked_examine(struct jw_error *err, struct jw_asked *asked,
					 const struct jw_which_options *options)
{
	size_t left = 0;
	struct release *next;

	for (size_t i = 0; i < asked->count; i++)
		left += can_examine(&asked->releases[i]);
	for (left = max_examinations(left); left; left--) {
		if (ask_requires(err, asked) || choose_next(err, asked, options, options->target, &next))
			return -1;
		if (!next)
			break;
		if (examine_release(err, asked, next))
			return -1;
	}
	if (ask_requires(err, asked) || ask_plain(err, asked))
		return -1;
	keep_list(asked);
	return 0;
}
