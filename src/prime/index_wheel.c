#include <stdio.h>
#include <string.h>

#include <jitwarm/scan.h>
#include <jitwarm/version.h>

#include "base/mem.h"
#include "base/sized.h"
#include "base/text.h"
#include "compile/package_index.h"
#include "compile/wheel_name.h"
#include "gpu/rules.h"
#include "os/file.h"
#include "state/run_folder.h"

/* What is asked for */
struct asked {
	char package[PACKAGE_MOST_NAME], versions[PACKAGE_MOST_NAME];
	struct wheel_wanted wanted;
};

/* NAME, NAME==2.10, NAME==2.15.0.post1, NAME>=2.1,<2.3. Alone, 2.10 is any 2.10.x. Other wishes
 * are a resolver's. */
static int read_asked(struct jw_error *err, const char *text, bool listed, struct asked *asked)
{
	const size_t length = strcspn(text, "=<>!~");
	const char *versions = text + length, *rest;
	struct version version;
	const bool open = !listed && text_starts(versions, "==") &&
					  version_read(versions + 2, &version, &rest) && !*rest && version.count < 3;

	if (!package_normalise(text, length, asked->package) || !version_is_wanted(versions) ||
		strlen(versions) >= sizeof asked->versions - 2)
		return error_set(
			err, JW_ERR_USAGE,
			*text == '-' ? "“%.100s” is left out: of pip's options and other lists none "
						   "is followed; “pip install --dry-run --report FILE” writes "
						   "one list of all"
			: listed     ? "“%.100s” is left out: neither NAME nor NAME==VERSION of an index"
						 : "--index: “%.100s” is neither NAME nor NAME==VERSION; extras and "
						   "dependencies are not resolved",
			text);
	(void)snprintf(asked->versions, sizeof asked->versions, "%s%s", versions, open ? ".*" : "");
	asked->wanted.package = asked->package;
	asked->wanted.versions = asked->versions;
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

struct jw_index {
	struct jw_index_options options;
	const char *platform;
	struct package_index *packages;
};

struct held_wheel {
	struct jw_index_wheel wheel;
	struct run_folder folder;
};

static int hold_wheel(struct jw_error *err, const struct jw_index *index,
					  const struct wheel_found *found, struct held_wheel *held)
{
	char shown[TEXT_SHORT * 8];

	held->wheel.size_bytes = found->size_bytes;
	if (!(held->wheel.name = mem_string(err, found->name)))
		return -1;
	if (index->options.listed && text_ends(found->name, "-any.whl"))
		return 0;
	if (found->local)
		return (held->wheel.path = mem_string(err, found->place)) ? 0 : -1;
	if (run_folder_make(err, NULL, &held->folder) ||
		!(held->wheel.path = os_join(err, held->folder.path, found->name)))
		return -1;
	held->wheel.folder = held->folder.path;
	return package_index_download(err, index->packages, found, held->wheel.path,
								  index->options.fetch.progress, index->options.fetch.context)
			   ? error_prefix(err, "%s", text_address(shown, sizeof shown, found->place))
			   : 0;
}

int jw_index_open(struct jw_error *err, const struct jw_index_options *options,
				  struct jw_index **ret_index)
{
	const char *platform;
	struct jw_index *index;

	options = SIZED(err, options, struct jw_index_options);
	if (!options ||
		choose_platform(err, options->platform, options->targets, options->target_count, &platform))
		return -1;
	if (!(index = mem_alloc(err, sizeof *index)))
		return -1;
	*index = (struct jw_index){*options, platform, NULL};
	if (!(index->packages = package_index_open(err, &index->options.fetch.cancel))) {
		mem_free(index);
		return -1;
	}
	*ret_index = index;
	return 0;
}

void jw_index_close(struct jw_index *index)
{
	if (!index)
		return;
	package_index_close(index->packages);
	mem_free(index);
}

int jw_index_wheel_get(struct jw_error *err, struct jw_index *index, const char *package,
					   const char *hashes, struct jw_index_wheel **ret_wheel)
{
	struct asked asked = {.wanted = {.platform = index->platform, .hashes = hashes}};
	struct wheel_found found;
	struct held_wheel *held;
	int result;

	if (read_asked(err, package, index->options.listed, &asked) ||
		package_index_find(err, index->packages, &asked.wanted, &found))
		return -1;
	held = mem_alloc(err, sizeof *held);
	if (held)
		held->wheel.platform = index->platform;
	result = held ? hold_wheel(err, index, &found, held) : -1;
	mem_free(found.place);
	if (result)
		jw_index_wheel_free(held ? &held->wheel : NULL);
	else
		*ret_wheel = &held->wheel;
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
