/* Names of packages: as people type them, as lists have them, and as the program's list has them.
 */
#include <string.h>

#include <jitwarm/which.h>

#include "base/arena.h"
#include "base/packages.h"
#include "base/pep440.h"
#include "base/text.h"
#include "base/wheel_name.h"
#include "find/marker.h"
#include "find/pip.h"
#include "find/requirement.h"
#include "os/file.h"
#include "which/wheel_list.h"

/* The values of a row “with” of packages.tsv. */
enum { WITH_SINCE, WITH_EXTRA };
/* The values of a row “device”. */
enum { DEVICE_SOURCES, DEVICE_EXTRA };

/* ---- names of the program's list */

/* Returns the name of a package, or NULL, on the next line of the list's text; ends this line. */
static const char *next_listed(char **at)
{
	static const char start[] = "package ";
	char *line = *at, *end = line + strcspn(line, "\n");

	if (*end)
		*end++ = '\0';
	*at = end;
	return text_starts(line, start) ? line + strlen(start) : NULL;
}

bool jw_which_lists(const char *package)
{
	char name[PACKAGE_MAX_NAME], *text;
	bool found = false;
	size_t size;

	if (!package_normalise(package, strlen(package), name) || wheel_list_text(NULL, &text, &size))
		return false;
	for (char *at = text; *at && !found;)
		found = text_same(next_listed(&at), name);
	mem_free(text);
	return found;
}

/* Returns whether two names are alike apart from the number behind “cu” or “cuda”. */
static bool differs_in_cuda(const char *a, const char *b)
{
	static const char digits[] = "0123456789";
	const char *start = a;
	bool differs = false;

	for (; *a && *b; a++, b++) {
		const size_t length = strspn(a, digits), other = strspn(b, digits);
		const size_t before = (size_t)(a - start);

		if (length && other &&
			((before >= 2 && !strncmp(a - 2, "cu", 2)) ||
			 (before >= 4 && !strncmp(a - 4, "cuda", 4)))) {
			differs = differs || length != other || strncmp(a, b, length) != 0;
			a += length - 1;
			b += other - 1;
		} else if (*a != *b) {
			return false;
		}
	}
	return differs && *a == *b;
}

char *jw_which_sibling(const char *package, size_t *at)
{
	char *text, *sibling = NULL;
	size_t size, index = 0;

	if (wheel_list_text(NULL, &text, &size))
		return NULL;
	for (char *line = text; *line && !sibling; index++) {
		const char *name = next_listed(&line);

		if (index >= *at && name && differs_in_cuda(package, name))
			sibling = mem_string(name);
	}
	*at = index;
	mem_free(text);
	return sibling;
}

char *jw_which_nearest(const char *package)
{
	const struct package_fact *project;
	char name[PACKAGE_MAX_NAME], *text, *result;
	struct suggest nearest;
	size_t size;

	if (!package_normalise(package, strlen(package), name) || wheel_list_text(NULL, &text, &size))
		return NULL;
	nearest = suggest_for(name, strlen(name));
	/* One edit is the most, because names of different packages are nearly alike: cudf-cu12,
	 * cuml-cu12. */
	nearest.distance = 1;
	for (char *at = text; *at;) {
		const char *listed = next_listed(&at);

		if (listed)
			suggest_offer(&nearest, listed);
	}
	for (size_t i = 0; (project = package_fact_next("called", &i));)
		suggest_offer(&nearest, project->name);
	for (size_t i = 0; (project = package_fact_next("device", &i));)
		suggest_offer(&nearest, project->name);
	project = nearest.best ? package_fact_of("called", nearest.best) : NULL;
	result = project        ? mem_string(project->values[0])
			 : nearest.best ? mem_string(nearest.best)
							: NULL;
	mem_free(text);
	return result;
}

/* ---- packages as they are typed */

/* Returns the row of a kind about a package as typed, or NULL. */
static const struct package_fact *row_of(const char *kind, const char *package)
{
	char name[PACKAGE_MAX_NAME];

	return package_normalise(package, strlen(package), name) ? package_fact_of(kind, name) : NULL;
}

/* Returns the packages that have the device code of `package`, or NULL. */
const char *jw_which_sources(const char *package)
{
	const struct package_fact *fact = row_of("device", package);

	return fact ? fact->values[DEVICE_SOURCES] : NULL;
}

/* Replaces a package by the one that an extra about CUDA brings, which has the device code: jax and
 * “[cuda13,k8s]” become jax-cuda13-plugin. Other extras bring other packages (torch[opt]). */
static void apply_extras(struct jw_which_name *wanted, const char *extras)
{
	static const char cuda[] = "cuda", digits[] = "0123456789";
	const size_t length = strlen(cuda);
	const struct package_fact *fact = row_of("device", wanted->name);
	const char *listed = fact ? fact->values[0] : NULL, *at = listed ? strstr(listed, cuda) : NULL;

	for (size_t used = 0; at && *extras && *extras != ']'; extras += used) {
		extras += strspn(extras, "[, ");
		used = strcspn(extras, ",] ");
		if (used < length || !text_starts_fold(extras, cuda))
			continue;
		extras += length;
		used = strspn(extras, digits);
		at += length;
		/* jax[cuda] names no version of CUDA. */
		(void)text_format(wanted->name, sizeof wanted->name, "%.*s%.*s%s", (int)(at - listed),
						  listed, (int)(used ? used : strspn(at, digits)), used ? extras : at,
						  at + strspn(at, digits));
		/* “cuda12-local” takes NVIDIA's libraries from the machine. */
		if (package_fact_value(fact, DEVICE_EXTRA))
			(void)text_format(wanted->extras, sizeof wanted->extras, "[%s]",
							  strstr(wanted->extras, "local") ? "" : fact->values[DEVICE_EXTRA]);
		return;
	}
}

/* Reads the extras after a name, “[cuda12, k8s]”, and keeps them without blanks. */
static void take_extras(struct jw_which_name *wanted, const char *extras)
{
	const char *listed = jw_which_sources(wanted->name), *end = strchr(extras, ']') + 1;
	const bool plugin = listed && text_ends(listed, "-plugin");
	size_t size = 0;

	for (const char *at = extras; at < end && size + 1 < sizeof wanted->extras; at++)
		if (*at != ' ')
			wanted->extras[size++] = *at;
	/* jax requires the plugin in its own version; other packages are installed by their names. */
	if (!listed || plugin)
		text_append(wanted->install, sizeof wanted->install, "%s", wanted->extras);
	apply_extras(wanted, extras);
	if (listed && !plugin)
		TEXT_COPY(wanted->install, wanted->name);
}

/* Adds the extra that a package needs, unless one about GPUs was named: jax becomes jax[cuda12]. */
static void add_extra(struct jw_which_name *wanted)
{
	const char *named = strchr(wanted->install, '[');
	char extras[PACKAGE_MAX_NAME];

	if (named && package_fact_inside("extra", named))
		wanted->with = NULL;
	if (!wanted->with)
		return;
	TEXT_COPY(extras, wanted->extras);
	(void)text_format(wanted->extras, sizeof wanted->extras, "%.*s%s%s]", (int)strcspn(extras, "]"),
					  extras, *extras ? "," : "[", wanted->with[WITH_EXTRA]);
	apply_extras(wanted, wanted->with[WITH_EXTRA]);
}

int jw_which_name_read(struct jw_error *err, const char *text, struct jw_which_name *ret_name)
{
	const size_t length = strcspn(text, " [(<>=!~;@,+");
	const char *rest = text + length + strspn(text + length, " ");
	const struct package_fact *with;
	struct required required;
	struct wheel_name wheel;

	*ret_name = (struct jw_which_name){.typed = text};
	if (wheel_name_read(os_base_name(text), &wheel)) {
		(void)wheel_part_text(ret_name->name, sizeof ret_name->name, wheel.name);
		(void)package_normalise(ret_name->name, strlen(ret_name->name), ret_name->install);
		ret_name->version =
			wheel_part_text(ret_name->versions, sizeof ret_name->versions, wheel.version);
		return 0;
	}
	if (!package_normalise(text, length, ret_name->install))
		return error_set(err, JW_ERR_USAGE, "“%.200s” is no package's name", text);
	(void)text_format(ret_name->name, sizeof ret_name->name, "%.*s", (int)length, text);
	if (!required_read(text, &required) || strchr(text, ';'))
		return error_set(
			err, JW_ERR_USAGE,
			"“%.200s”: which takes NAME, NAME==VERSION or a range such as “%.200s>=2,<2.3”", text,
			ret_name->name);
	with = package_fact_of("with", ret_name->install);
	ret_name->with = with ? with->values : NULL;
	if (*rest == '[')
		take_extras(ret_name, rest);
	add_extra(ret_name);
	if (required_is_pin(&required)) {
		TEXT_COPY(ret_name->versions, required.version);
		ret_name->version = ret_name->versions;
	} else if (*required.versions) {
		TEXT_COPY(ret_name->versions, required.versions);
		ret_name->range = ret_name->versions;
	}
	return 0;
}

char *jw_which_install_name(const struct jw_which_name *name, const char *version)
{
	const char *install = name->install;

	if (!name->with || version_is_newer(name->with[WITH_SINCE], version))
		return mem_string(install);
	return mem_printf("%.*s%s%s]", (int)strcspn(install, "]"), install,
					  text_ends(install, "]") ? "," : "[", name->with[WITH_EXTRA]);
}

bool jw_which_knows(const char *word)
{
	struct jw_which_name name;

	return !jw_which_name_read(NULL, word, &name) &&
		   (jw_which_lists(name.name) || jw_which_sources(name.name) ||
			row_of("called", name.name) || row_of("index", name.name));
}

/* ---- lists of packages */

/* Adds a line NAME[EXTRA] >= VERSION ; MARKER --hash=… without what is behind the versions, once.
 */
static void add_requirement(struct jw_which_names *names, const char *line,
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
	if (*text && (!marker || marker_holds(marker, place)))
		arena_add_string(names, &names->items, &names->count, SIZE_MAX, text);
	mem_free(text);
}

int jw_which_read_names(struct jw_error *err, const char *path, const char *platform,
						const char *python, struct jw_which_names **ret_names)
{
	const struct marker_place place = {.platform = platform, .python = python ? python : "3.12"};
	struct jw_which_names *names;
	struct pip_lines lines;

	if (pip_lines_read_file(err, path, &lines))
		return -1;
	names = arena_open(sizeof *names);
	for (const char *at = buf_text(&lines.requirements); *at; at += *at == '\n') {
		add_requirement(names, at, &place);
		at += strcspn(at, "\n");
	}
	for (size_t i = 0; i < lines.packages.count; i++)
		add_requirement(names, lines.packages.items[i].asked, &place);
	for (size_t i = 0; i < lines.left_out.count; i++) {
		const struct jw_listed_package *line = &lines.left_out.items[i];

		if (strcmp(line->asked, "other") != 0)
			names->left_out++;
		else
			arena_add_string(names, &names->unread, &names->unread_count, SIZE_MAX,
							 arena_printf(names, "%s:%zu", path, line->line));
	}
	pip_lines_free(&lines);
	if (!names->count && !names->unread_count) {
		jw_result_free(names);
		return error_set(err, JW_ERR_FORMAT,
						 "%s: no line of it names a package; options, files, addresses and other "
						 "lists are not followed",
						 path);
	}
	*ret_names = names;
	return 0;
}
