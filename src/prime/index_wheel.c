#include <string.h>

#include <jitwarm/scan.h>
#include <jitwarm/version.h>

#include "base/mem.h"
#include "base/text.h"
#include "compile/package_index.h"
#include "compile/wheel_name.h"
#include "gpu/rules.h"
#include "os/file.h"
#include "state/run_folder.h"

/* What is asked for: the texts are in the operand. */
struct asked {
	char package[PACKAGE_MOST_NAME];
	struct wheel_wanted wanted;
};

/* NAME, NAME==2.10, NAME==2.10.*, NAME==2.15.0.post1. Other wishes are a resolver's. */
static int read_asked(struct jw_error *err, const char *text, struct asked *asked)
{
	const size_t length = strcspn(text, "=");
	const char *version = text + length, *rest;
	struct wheel_wanted *wanted = &asked->wanted;
	bool good = package_normalise(text, length, asked->package);

	if (good && *version) {
		good = text_starts(version, "==") && version_read(version + 2, &wanted->version, &rest) &&
			   (!strcmp(rest, ".*") ? wanted->version.count < 3
									: wheel_tail_read(rest, &wanted->tail));
		wanted->text = text_ends(version, "*") ? NULL : version + 2;
	}
	if (!good)
		return error_set(err, JW_ERR_USAGE,
						 "--index: “%.100s” is neither NAME nor NAME==VERSION; extras, ranges and "
						 "dependencies are not resolved",
						 text);
	wanted->package = asked->package;
	return 0;
}

/* Jetson's CPUs are arm64, and a wheel for another one says nothing of it. Other GPUs are in
 * machines of all kinds: this one's counts. */
static int choose_platform(struct jw_error *err, const char *given, const struct jw_target *gpus,
						   size_t count, const char **ret_platform)
{
	static const char *const known[][2] = {
		{"linux", "x86_64-linux"}, {"linux-arm64", "aarch64-linux"}, {"windows", "x86_64-windows"}};
	const char *platform = NULL;
	char sm[JW_TARGET_TEXT];
	size_t tegra = 0, last = 0;

	for (size_t i = 0; i < count; i++)
		if (gpu_is_tegra(gpus[i].sm))
			tegra++, last = i;
	for (size_t i = 0; given && i < sizeof known / sizeof *known; i++)
		if (!strcmp(given, known[i][0]))
			platform = known[i][1];
	if (given && !platform)
		return error_set(err, JW_ERR_USAGE, "--platform is linux, linux-arm64 or windows, not “%s”",
						 given);
	if (tegra && ((given && strcmp(given, "linux-arm64") != 0) || (!given && tegra < count)))
		return error_set(err, JW_ERR_USAGE,
						 "%s (%s) is in arm64 machines with Linux alone: ask for it without other "
						 "GPUs, or with --platform linux-arm64",
						 jw_target_sm(sm, gpus[last]), jw_target_products(gpus[last]));
	*ret_platform = platform ? platform : tegra ? "aarch64-linux" : jw_platform();
	return 0;
}

struct held_wheel {
	struct jw_index_wheel wheel;
	struct run_folder folder;
};

static int hold_wheel(struct jw_error *err, struct package_index *index,
					  const struct wheel_found *found,
					  const struct jw_compiler_fetch_options *options, struct held_wheel *held)
{
	char shown[TEXT_SHORT * 8];

	if (!(held->wheel.name = mem_string(err, found->name)))
		return -1;
	if (found->local)
		return (held->wheel.path = mem_string(err, found->place)) ? 0 : -1;
	if (run_folder_make(err, NULL, &held->folder) ||
		!(held->wheel.path = os_join(err, held->folder.path, found->name)))
		return -1;
	held->wheel.folder = held->folder.path;
	return package_index_download(err, index, found, held->wheel.path, options->progress,
								  options->context)
			   ? error_prefix(err, "%s", text_address(shown, sizeof shown, found->place))
			   : 0;
}

int jw_index_wheel_get(struct jw_error *err, const char *package, const char *platform,
					   const struct jw_target *gpus, size_t gpu_count,
					   const struct jw_compiler_fetch_options *options,
					   struct jw_index_wheel **ret_wheel)
{
	struct asked asked = {.wanted = {.package = NULL}};
	struct package_index *index;
	struct wheel_found found;
	struct held_wheel *held;
	int result;

	if (read_asked(err, package, &asked) ||
		choose_platform(err, platform, gpus, gpu_count, &asked.wanted.platform) ||
		!(held = mem_alloc(err, sizeof *held)))
		return -1;
	*held = (struct held_wheel){.wheel.platform = asked.wanted.platform};
	index = package_index_open(err, &options->cancel);
	result = index ? package_index_find(err, index, &asked.wanted, &found) : -1;
	if (!result) {
		held->wheel.size_bytes = found.size_bytes;
		result = hold_wheel(err, index, &found, options, held);
		mem_free(found.place);
	}
	package_index_close(index);
	*ret_wheel = result ? NULL : &held->wheel;
	if (result)
		jw_index_wheel_free(&held->wheel);
	return result;
}

void jw_index_wheel_free(struct jw_index_wheel *wheel)
{
	struct held_wheel *held = (struct held_wheel *)(void *)wheel;

	if (!held)
		return;
	mem_free(wheel->path);
	mem_free(wheel->name);
	run_folder_remove(&held->folder);
	mem_free(held);
}
