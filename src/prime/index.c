#include <string.h>

#include <jitwarm/find.h>
#include <jitwarm/scan.h>
#include <jitwarm/version.h>

#include "base/mem.h"
#include "base/text.h"
#include "base/wheel_name.h"
#include "code/target_names.h"
#include "driver/run_folder.h"
#include "find/pip.h"
#include "find/requirement.h"
#include "os/file.h"

struct jw_index {
	struct jw_index_options options;
	const char *platform; /* NULL for pip's own */
	struct run_folder folder;
	struct pip_options how;
	struct pip *pip;
	struct buf list_options; /* options in the last list */
	struct jw_index_wheel wheel;
};

/* Chooses the platform. Jetson's CPUs are arm64, and a wheel for another CPU says nothing about it.
 * Other GPUs are in machines of all kinds, so this machine's platform is taken. */
static int choose_platform(struct jw_error *err, const struct jw_index_options *options,
						   const char **ret_platform)
{
	const struct wheel_platform *given = NULL;
	const char *platform = NULL;
	char sm[JW_TARGET_TEXT];
	size_t tegra = 0, last = 0;

	for (size_t i = 0; i < options->target_count; i++)
		if (gpu_is_tegra(options->targets[i].sm)) {
			tegra++;
			last = i;
		}
	if (options->platform && wheel_platform_read(err, options->platform, &given))
		return -1;
	if (given)
		platform = given->machine;
	if (tegra && (given ? strcmp(platform, "aarch64-linux") != 0 : tegra < options->target_count))
		return error_set(
			err, JW_ERR_USAGE,
			"%s (%s) exists only in arm64 machines with Linux: ask for it without other GPUs, or "
			"with --platform linux-aarch64",
			jw_target_sm(sm, options->targets[last]), jw_target_products(options->targets[last]));
	if (!platform && (tegra || options->arm) && strcmp(jw_platform(), "aarch64-linux") != 0)
		platform = "aarch64-linux";
	*ret_platform = platform;
	return 0;
}

int jw_index_open(struct jw_error *err, const struct jw_index_options *options,
				  struct jw_index **ret_index)
{
	const char *platform;
	struct jw_index *index;

	if (choose_platform(err, options, &platform))
		return -1;
	index = mem_alloc(sizeof *index);
	*index = (struct jw_index){.options = *options, .platform = platform};
	if (run_folder_make(err, NULL, &index->folder))
		goto fail;
	index->how = (struct pip_options){.folder = index->folder.path,
									  .platform = platform,
									  .python = options->python,
									  .by_hand = "download the wheel on another machine (pip "
												 "download --no-deps NAME), and name its file",
									  .fetch = &index->options.fetch};
	if (pip_open(err, &index->how, &index->pip))
		goto fail;
	*ret_index = index;
	return 0;
fail:
	jw_index_close(index);
	return -1;
}

/* Removes the wheel's file, to make room for the next one. */
static void forget_wheel(struct jw_index_wheel *wheel)
{
	if (wheel->path)
		(void)os_remove(NULL, wheel->path);
	mem_free(wheel->path);
	mem_free(wheel->name);
	mem_free(wheel->folder);
	*wheel = (struct jw_index_wheel){.path = NULL};
}

void jw_index_close(struct jw_index *index)
{
	if (!index)
		return;
	pip_close(index->pip);
	forget_wheel(&index->wheel);
	run_folder_remove(&index->folder);
	buf_free(&index->list_options);
	mem_free(index);
}

/* Moves all packages of `from` to the end of `to`. */
static void move_packages(struct jw_package_list *to, struct jw_package_list *from)
{
	struct jw_listed_package *items = mem_array(from->count + to->count + 1, sizeof *items);

	if (to->count)
		memcpy(items, to->items, to->count * sizeof *items);
	if (from->count)
		memcpy(items + to->count, from->items, from->count * sizeof *items);
	mem_free(to->items);
	mem_free(from->items);
	*to = (struct jw_package_list){items, to->count + from->count};
	*from = (struct jw_package_list){.items = NULL};
}

/* Adds what to do, or which package has what pip does not find. */
static int report_not_found(struct jw_error *err, const struct jw_index *index,
							const struct jw_error *why, const char *package)
{
	const enum pip_lack lack = pip_lack(index->pip);
	char *name = mem_string_n(package, strcspn(package, "[<>=!~ "));
	const char *called = package_of_project(name), *dash = strrchr(name, '-');
	/* PyPI has no versions with a label such as “+cu118”, and for some packages no wheel at all. */
	const char *with =
		strchr(package, '+') || lack == PIP_LACKS_PACKAGE || lack == PIP_LACKS_ANY_WHEEL
			? jw_with_gpu_code(name, "")
			: NULL;
	const bool is_lacking = why->code == JW_ERR_NOT_FOUND && lack != PIP_LACKS_NOTHING;

	if (is_lacking && called && !package[strlen(name)])
		(void)error_set(err, why->code, "%s; its package is called %s", why->message, called);
	else if (is_lacking && with)
		(void)error_set(err, why->code, "%s; use %s instead", why->message, with);
	else if (is_lacking && dash && text_is_digit(dash[1]) && strchr(dash, '.'))
		(void)error_set(err, why->code, "%s; a version is written as in “%.*s==%s”", why->message,
						(int)(dash - name), name, dash + 1);
	else if (is_lacking && lack == PIP_LACKS_PACKAGE)
		(void)error_set(err, why->code,
						"%s; check the spelling, or name the index that has it: "
						"PIP_EXTRA_INDEX_URL=URL",
						why->message);
	else if (is_lacking && lack == PIP_LACKS_ACCESS)
		(void)error_set(err, why->code,
						"%s; check the package's spelling, and the name and password in pip's "
						"configuration, PIP_INDEX_URL or ~/.netrc",
						why->message);
	else if (is_lacking && lack == PIP_LACKS_ANY_WHEEL)
		(void)error_set(err, why->code, "%s; build one with “pip wheel”, and name its file",
						why->message);
	else if (is_lacking && lack == PIP_LACKS_WHEEL)
		(void)error_set(err, why->code, "%s; choose with --python and --platform", why->message);
	else
		(void)error_copy(err, why);
	mem_free(name);
	return -1;
}

/* Fetches all wheels in one call, which gets each wheel once. */
static int fetch_listed(struct jw_error *err, struct jw_index *index, const struct pip_lines *lines,
						struct jw_package_list *ret_list)
{
	struct jw_error why = {0};
	struct pip_listing got;

	if (pip_get(&why, index->pip, buf_text(&lines->options), buf_text(&lines->requirements), &got))
		return report_not_found(err, index, &why, "");
	*ret_list = (struct jw_package_list){mem_array(got.count, sizeof *ret_list->items), got.count};
	for (size_t i = 0; i < got.count; i++) {
		const struct pip_file *file = &got.items[i];
		char name[PACKAGE_MAX_NAME] = "";

		(void)package_normalise(file->name, strcspn(file->name, "-"), name);
		ret_list->items[i] =
			(struct jw_listed_package){.asked = mem_printf("%s==%s", name, file->version),
									   .file = mem_string(file->name),
									   .fetched = true};
	}
	pip_listing_free(&got);
	return 0;
}

int jw_index_list(struct jw_error *err, struct jw_index *index, const char *path,
				  struct jw_package_list *ret_list)
{
	struct pip_lines lines;
	int result = 0;

	if (pip_lines_read_file(err, path, &lines))
		return -1;
	if (lines.requirements.size && fetch_listed(err, index, &lines, &lines.packages))
		result = error_prefix(err, "%s", path);
	if (!result) {
		move_packages(&lines.left_out, &lines.packages);
		*ret_list = lines.left_out;
		lines.left_out = (struct jw_package_list){.items = NULL};
		buf_free(&index->list_options);
		index->list_options = lines.options;
		lines.options = (struct buf){0};
	}
	pip_lines_free(&lines);
	return result;
}

/* Records the known facts about the wheel at its path. */
static int note_wheel(struct jw_error *err, struct jw_index *index,
					  const struct jw_index_wheel **ret_wheel)
{
	struct jw_index_wheel *wheel = &index->wheel;
	struct os_stat stat;

	if (os_stat(err, wheel->path, &stat))
		return -1;
	wheel->folder = os_dir_name(wheel->path);
	wheel->name = mem_string(os_base_name(wheel->path));
	wheel->size_bytes = stat.size_bytes;
	wheel->platform = index->platform ? index->platform : jw_platform();
	*ret_wheel = wheel;
	return 0;
}

static int get_wheel(struct jw_error *err, struct jw_index *index, const char *package,
					 const char *line, const struct jw_index_wheel **ret_wheel)
{
	struct jw_index_wheel *wheel = &index->wheel;
	struct jw_error why;

	forget_wheel(wheel);
	if (pip_get_one(&why, index->pip, buf_text(&index->list_options), line, &wheel->path))
		return report_not_found(err, index, &why, package);
	return note_wheel(err, index, ret_wheel);
}

/* Returns a requirement in the form for pip; the caller frees it. NULL with an error if it is not a
 * requirement. */
static char *must_be_requirement(struct jw_error *err, const char *package)
{
	const size_t name = strcspn(package, "=@ ");
	const char *version = package + name + strspn(package + name, "=@ ");
	char *requirement = pip_requirement(package);

	if (requirement)
		return requirement;
	if (os_exists(package))
		(void)error_set(err, JW_ERR_USAGE,
						"--index: “%.200s” is a file: name packages, or use “scan --index -r FILE” "
						"for a list of packages",
						package);
	else if (name && text_is_digit(*version) && version > package + name)
		(void)error_set(err, JW_ERR_USAGE,
						"--index: “%.200s”: a version is written as in “%.*s==%s”", package,
						(int)name, package, version);
	else
		(void)error_set(err, JW_ERR_USAGE,
						"--index: “%.200s” is no package's name, with or without a version (NAME, "
						"NAME==VERSION)",
						package);
	return NULL;
}

int jw_index_wheel_get(struct jw_error *err, struct jw_index *index, const char *package,
					   const struct jw_index_wheel **ret_wheel)
{
	char *requirement = must_be_requirement(err, package);
	const int result = requirement ? get_wheel(err, index, package, requirement, ret_wheel) : -1;

	mem_free(requirement);
	return result;
}

int jw_index_names(struct jw_error *err, const char *const *packages, size_t count,
				   struct jw_package_list *ret_list)
{
	for (size_t i = 0; i < count; i++) {
		char *requirement = must_be_requirement(err, packages[i]);

		mem_free(requirement);
		if (!requirement)
			return -1;
		if (i && !packages[i][strspn(packages[i], "0123456789.")])
			return error_set(err, JW_ERR_USAGE,
							 "--index: “%.200s”: a version is written as in “%s==%s”", packages[i],
							 packages[i - 1], packages[i]);
	}
	*ret_list = (struct jw_package_list){mem_array(count, sizeof *ret_list->items), count};
	for (size_t i = 0; i < count; i++)
		ret_list->items[i] =
			(struct jw_listed_package){.asked = mem_string(packages[i]), .file = mem_string("")};
	return 0;
}

/* Refuses a line of a list that names no package, by its kind. */
static int leave_out(struct jw_error *err, const char *kind)
{
	static const struct {
		const char *kind, *why;
	} lines[] = {
		{"list", "another list is left out; scan it, too: “scan --index -r FILE”"},
		{"option", "an option of pip is left out; only those of indexes are followed"},
		{"address", "a package from an address is left out; download its wheel and scan that file"},
		{"file", "a file or folder is left out; scan it by its name"},
	};

	for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
		if (!strcmp(kind, lines[i].kind))
			return error_set(err, JW_ERR_USAGE, "%s", lines[i].why);
	return error_set(err, JW_ERR_USAGE,
					 "a line that is neither NAME nor NAME==VERSION is left out");
}

int jw_index_listed_get(struct jw_error *err, struct jw_index *index,
						const struct jw_listed_package *package,
						const struct jw_index_wheel **ret_wheel)
{
	char *requirement, *line;
	int result;

	if (package->direct)
		return error_set(err, JW_ERR_USAGE, "left out: it is from no index");
	if (package->line)
		return leave_out(err, package->asked);
	if (package->fetched) {
		forget_wheel(&index->wheel);
		index->wheel.path = pip_got(index->pip, package->file);
		return note_wheel(err, index, ret_wheel);
	}
	requirement = pip_requirement(package->asked);
	line = mem_printf("%s%s%s", requirement, *package->sha256 ? " --hash=sha256:" : "",
					  package->sha256);
	result = get_wheel(err, index, package->asked, line, ret_wheel);
	mem_free(requirement);
	mem_free(line);
	return result;
}
