/* The release to install in place of a file that fails. */
#include <string.h>

#include <jitwarm/which.h>

#include "base/arena.h"
#include "base/pep440.h"
#include "base/text.h"
#include "base/wheel_name.h"
#include "os/file.h"

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

	while (at && at[sizeof end - 1] && !text_starts(at + sizeof end - 1, ": "))
		at = strstr(at + 1, end);
	if (!at)
		return false;
	*ret_platform = NULL;
	path = mem_string_n(file, (size_t)(at - file) + strlen(end));
	if (wheel_name_read(os_base_name(path), &name) &&
		package_normalise(name.name.text, name.name.size, package)) {
		(void)wheel_part_text(version, MAX_VERSION, name.version);
		(void)wheel_part_text(platform, sizeof platform, name.platform);
		for (size_t i = 0; i < WHEEL_PLATFORMS; i++)
			if (text_ends(platform, wheel_platforms[i].tag))
				*ret_platform = wheel_platforms[i].name;
	}
	mem_free(path);
	return *ret_platform;
}

struct jw_which *jw_which_before(const char *file, struct jw_target target,
								 const struct jw_driver *driver, const struct jw_speed *speed,
								 const struct jw_which_release **ret_release)
{
	char name[PACKAGE_MAX_NAME], version[MAX_VERSION];
	struct jw_which_options options = {
		.package = name, .target = target, .driver = *driver, .speed = *speed};
	struct jw_which *which;

	if (!read_wheel_name(file, name, version, &options.platform) ||
		jw_which(NULL, &options, &which))
		return NULL;
	for (size_t i = 0; i < which->count; i++) {
		const struct jw_which_release *release = &which->releases[i];

		if (version_is_newer(version, release->version) && release->answer <= JW_WHICH_FAILS &&
			!release->inferred && !release->declared_by) {
			*ret_release = release;
			return which;
		}
	}
	jw_result_free(which);
	return NULL;
}

bool jw_which_cure(const struct jw_which_options *question, const char *file, const char *state_dir,
				   void *result, struct jw_cure *ret_cure)
{
	char name[PACKAGE_MAX_NAME], own[MAX_VERSION];
	struct jw_which_options options = *question;
	struct jw_asked *asked;
	struct jw_which *which;
	struct jw_error why;
	int failed;

	options.platform = jw_which_own_platform();
	if (!options.package && !read_wheel_name(file, name, own, &options.platform))
		return false;
	options.package = options.package ? options.package : name;
	asked = jw_asked_kept(&(struct jw_ask_options){
		.package = options.package, .platform = options.platform, .state_dir = state_dir});
	if (asked) {
		options.index = jw_asked_index(asked);
		options.list = jw_asked_text(asked);
	}
	failed = jw_which(&why, &options, &which);
	jw_asked_close(asked);
	if (failed && why.code != JW_ERR_NOT_FOUND)
		return false;
	*ret_cure = (struct jw_cure){
		.package = arena_string(result, failed ? options.package : which->package)};
	if (failed)
		return true;
	ret_cure->listed = true;
	ret_cure->unexamined = which->unexamined > 0;
	if (which->advised) {
		ret_cure->version = arena_string(result, which->advised->version);
		ret_cure->install =
			arena_keep(result, jw_which_install(which, which->advised, which->package));
	}
	jw_result_free(which);
	return true;
}

/* Returns what to do about a file that fails under this driver: another release, a newer driver, or
 * another build. */
static char *cure_of(struct jw_check_result *result, const struct jw_check_failing *failing)
{
	char driver[JW_DRIVER_OPTION], compute[JW_TARGET_TEXT], sm[JW_TARGET_TEXT];

	(void)jw_target_sm(sm, failing->target);
	if (failing->install)
		return arena_printf(result, "install %s %s instead: “%s”", failing->package, failing->runs,
							failing->install);
	if (failing->needs.cuda)
		return arena_printf(result, "install driver %s or a newer one",
							jw_driver_text(driver, &failing->needs));
	if (failing->refused || failing->required)
		return arena_printf(result, "install another release of the package");
	if (failing->package && (!failing->listed || failing->unexamined))
		return arena_printf(result,
							"find a release that runs: “jitwarm which --target %s%s %s --ask”", sm,
							jw_driver_option(driver, &result->driver), failing->package);
	return arena_printf(result, "use a build that has -gencode arch=%s,code=%s",
						jw_target_compute(compute, failing->target), sm);
}

void jw_which_cures(const char *state_dir, struct jw_check_result *result)
{
	char own[JW_PYTHON_VERSION];
	const char *python = result->failing_count && jw_environment_python(own) ? own : NULL;

	for (size_t i = 0; i < result->failing_count; i++) {
		struct jw_check_failing *failing = &result->failing[i];
		const struct jw_which_options question = {.package = failing->package,
												  .target = failing->target,
												  .driver = result->driver,
												  .python = python};
		const struct jw_check_failing *same = NULL;
		struct jw_cure cure = {.package = NULL};

		for (size_t k = 0; failing->package && k < i && !same; k++)
			if (jw_target_equal(result->failing[k].target, failing->target) &&
				text_same(result->failing[k].package, failing->package))
				same = &result->failing[k];
		if (same)
			cure = (struct jw_cure){.listed = same->listed,
									.version = same->runs,
									.install = same->install,
									.unexamined = same->unexamined};
		else if (failing->package)
			(void)jw_which_cure(&question, failing->file, state_dir, result, &cure);
		failing->listed = cure.listed;
		failing->unexamined = cure.unexamined;
		failing->runs = cure.version;
		failing->install = cure.install;
		failing->cure = cure_of(result, failing);
	}
}
