/* jitwarm status: GPUs, driver, cache, settings that prevent caching, and the packages of the
 * active environment. */
#include <stdio.h>
#include <string.h>

#include <jitwarm/check.h>
#include <jitwarm/find.h>
#include <jitwarm/scan.h>
#include <jitwarm/system.h>
#include <jitwarm/tune.h>
#include <jitwarm/which.h>

#include "base/mem.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/cure.h"
#include "cli/document.h"
#include "cli/gpu_targets.h"
#include "cli/language.h"
#include "cli/module_text.h"
#include "cli/next_step.h"
#include "cli/output.h"
#include "cli/tune_changes.h"
#include "cli/verdict_table.h"
#include "os/env.h"
#include "os/file.h"
#include "os/platform.h"

/* ---- the document */

struct status_document {
	struct jw_system system;
	bool wsl;
	const char *environment; /* NULL if none was found, or there is no GPU */
	struct jw_check_result packages;
	size_t troubles; /* files and folders of the environment that could not be read */
};

#define ROW(member, ...)          JSON(struct status_document, member, __VA_ARGS__)
#define ROW_AS(name, member, ...) JSON_AS(name, struct status_document, member, __VA_ARGS__)

static const struct json_field gpu_fields[] = {
	JSON(struct jw_gpu, name, "the name of the GPU, as the driver reports it"),
	DOCUMENT_TARGET(struct jw_gpu, target),
	JSON(struct jw_gpu, bus, "the address on the PCI bus: `0000:01:00.0`; `\"\"` if unknown"),
	JSON(struct jw_gpu, uuid, "the UUID of the GPU, as nvidia-smi writes it; `\"\"` if unknown"),
	JSON(struct jw_gpu, memory_bytes, "the memory of the GPU"),
	{0},
};

/* Writes a release in NVIDIA's form: two digits in the third number, which some releases lack. */
static const char *format_release(char room[JSON_ROOM], const void *driver)
{
	const uint32_t *release = ((const struct jw_driver *)driver)->release;

	if (!release[0])
		return NULL;
	(void)snprintf(room, JSON_ROOM, release[2] ? "%u.%u.%02u" : "%u.%02u", release[0], release[1],
				   release[2]);
	return room;
}

static const char *format_cuda(char room[JSON_ROOM], const void *driver)
{
	const uint32_t cuda = ((const struct jw_driver *)driver)->cuda;

	if (!cuda)
		return NULL;
	(void)snprintf(room, JSON_ROOM, "%u.%u", cuda / 1000, cuda % 1000 / 10);
	return room;
}

static const char *const trust_names[] = {
	[JW_TRUST_NONE] = "unknown",  [JW_TRUST_READ] = "read",     [JW_TRUST_CONFIRMED] = "confirmed",
	[JW_TRUST_OPAQUE] = "opaque", [JW_TRUST_OPAQUE + 1] = NULL,
};

static const struct json_field driver_fields[] = {
	JSON_FORMATTED("version", struct jw_driver_info, version, format_release,
				   "the version of the driver: `550.163.01`", .presence = JSON_UNLESS_NULL),
	JSON_FORMATTED("cuda", struct jw_driver_info, version, format_cuda,
				   "the newest CUDA version that the driver supports: `12.4`",
				   .presence = JSON_UNLESS_NULL),
	JSON(struct jw_driver_info, library,
		 "the path of the driver's library; `\"\"` if no driver is installed"),
	JSON(struct jw_driver_info, stamp,
		 "the date and time of the build, on which the names of cache entries depend; `\"\"` "
		 "where unknown"),
	JSON_AS("stamp_trust", struct jw_driver_info, trust,
			"`unknown` (no stamp), `read` (from the library's file), `confirmed` (seen in an entry "
			"of this driver) or `opaque` (jitwarm does not know the form of this driver's cache)",
			.names = trust_names),
	{0},
};

static const struct json_field cache_fields[] = {
	ROW(system.cache.path, "the cache directory; absent if the driver would not cache",
		.presence = JSON_UNLESS_NULL),
	ROW(system.cache.exists, "true: the cache directory exists"),
	ROW(system.cache.outlook.entries, "the number of entries in the cache"),
	ROW_AS("size_bytes", system.cache.outlook.bytes,
		   "the size of the entries, as the limit counts it"),
	JSON_MEMBERS_OF(struct status_document, system.cache.outlook, &document_outlook),
	ROW(system.cache.limit_bytes, "the limit of the driver's cache"),
	ROW(system.cache.limit_set,
		"`CUDA_CACHE_MAXSIZE` sets the limit; false: the limit is the driver's default"),
	ROW(system.cache.disabled, "`CUDA_CACHE_DISABLE` switches the cache off"),
	ROW(system.cache.force_ptx_jit,
		"`CUDA_FORCE_PTX_JIT` is set: the cache is written and never read"),
	JSON_LINES_OF("warnings", struct status_document, system.cache.warnings,
				  system.cache.warning_count,
				  "warnings about the settings and the directory, one a line"),
	{0},
};

static const struct json_field package_gpu_fields[] = {
	DOCUMENT_TARGET(struct jw_check_package_gpu, target),
	JSON(struct jw_check_package_gpu, warm, "modules with a sound entry in the cache"),
	JSON(struct jw_check_package_gpu, cold, "modules without a sound entry in the cache"),
	JSON(struct jw_check_package_gpu, failing,
		 "files whose code cannot run on this GPU, so that programs fail"),
	JSON_OBJECT_OF("forecast", struct jw_check_package_gpu, forecast, &document_forecast,
				   "the predicted cost of compiling the cold modules"),
	{0},
};

static const struct json_field package_fields[] = {
	JSON(struct jw_check_package, name,
		 "the name of the package; absent for files that no package has installed",
		 .presence = JSON_UNLESS_NULL),
	JSON(struct jw_check_package, version, "the version of the package; absent if unknown",
		 .presence = JSON_UNLESS_NULL),
	JSON_LIST_OF("gpus", struct jw_check_package, gpus, gpu_count,
				 JSON_TABLE(struct jw_check_package_gpu, package_gpu_fields),
				 "an object for each GPU architecture; if `warm`, `cold` and `failing` are 0, the "
				 "package runs as it is"),
	{0},
};

static const struct json_field status_fields[] = {
	JSON_LIST_OF("gpus", struct status_document, system.gpus, system.gpu_count,
				 JSON_TABLE(struct jw_gpu, gpu_fields), "the GPUs of this machine"),
	JSON_AS("why_no_gpu", struct status_document, system.why_none,
			"why there is no GPU, in one line; absent if `gpus` is not empty",
			.presence = JSON_IF_SET),
	ROW(system.remembered,
		"the GPUs were found by an earlier run with this driver and these devices"),
	JSON_OBJECT_OF("driver", struct status_document, system.driver,
				   JSON_TABLE(struct jw_driver_info, driver_fields),
				   "the driver that programs use"),
	JSON_PART("cache", JSON_TABLE(struct status_document, cache_fields), "the driver's cache"),
	ROW(environment, "the Python environment; absent without one, or without a GPU",
		.presence = JSON_UNLESS_NULL),
	JSON_LIST_OF("packages", struct status_document, packages.packages, packages.package_count,
				 JSON_TABLE(struct jw_check_package, package_fields),
				 "the packages of the environment that have device code, the slowest to compile "
				 "first; a module that several packages hold counts for the first of them"),
	JSON_FORMATTED(
		"verdict", struct status_document, packages.verdict, document_verdict,
		"the answer of `check` for the environment; absent without an environment or a GPU",
		JSON_IF(struct status_document, environment)),
	ROW(troubles, "files and folders of the environment that could not be read, so that their "
				  "contents are unknown"),
	ROW(wsl, "this Linux runs inside Windows (WSL), whose programs have another cache"),
	JSON_AS("state", struct status_document, system.state_dir, "jitwarm's own folder",
			.presence = JSON_UNLESS_NULL),
	{0},
};
const struct json_table document_status = {.schema = "jitwarm.status/1", .fields = status_fields};

/* ---- the text */

enum { MAX_PACKAGES = 12 };

static const char head[] = "        ";

static const char *package_name(const struct jw_check_package *package)
{
	return package->name ? package->name : "other files";
}

static struct verdict_row status_row_of(const struct jw_check_package_gpu *gpu, bool useless)
{
	return (struct verdict_row){.target = gpu->target,
								.modules = gpu->warm + gpu->cold,
								.cold = gpu->cold,
								.failing = gpu->failing,
								.refused = gpu->refused,
								.unsure = gpu->unsure,
								.useless = useless,
								.forecast = gpu->forecast};
}

static bool runs_as_it_is(const struct jw_check_package *package)
{
	bool plain = true;

	for (size_t t = 0; t < package->gpu_count; t++) {
		const struct verdict_row row = status_row_of(&package->gpus[t], false);

		plain = plain && !row.modules && !row.failing && !row.unsure;
	}
	return plain;
}

static void print_package(const struct output *out, const struct jw_check_package *package,
						  bool useless)
{
	char *name =
		mem_printf(package->version ? "%s %s" : "%s", package_name(package), package->version);

	if (package->gpu_count > 1)
		output_line(out, STYLE_PLAIN, "%s%s", head, name);
	for (size_t t = 0; t < package->gpu_count; t++) {
		const struct verdict_row row = status_row_of(&package->gpus[t], useless);
		struct buf text = BUF_MAX(VERDICT_SENTENCE);
		const enum style style = verdict_print(&text, &row, VERDICT_START);
		char gpu[GPUS_NAME];

		if (package->gpu_count == 1)
			output_line(out, style, "%s%s: %s", head, name, buf_text(&text));
		else
			output_line(out, style, "          %s: %s", gpu_targets_name(gpu, out, row.target),
						buf_text(&text));
		buf_free(&text);
	}
	mem_free(name);
}

/* Prints packages for which nothing has to be done. */
static void print_native(const struct output *out, const struct jw_check_result *result)
{
	char names[1024] = "";
	size_t used = 0, count = 0;

	for (size_t i = 0; i < result->package_count; i++) {
		const struct jw_check_package *package = &result->packages[i];

		if (!runs_as_it_is(package) || used + strlen(package_name(package)) + 3 > sizeof names)
			continue;
		used += (size_t)snprintf(names + used, sizeof names - used, "%s%s", count++ ? ", " : "",
								 package_name(package));
	}
	if (count)
		output_line(out, STYLE_GOOD, "%snothing to compile: %s", head, names);
}

/* Prints a block of lines that begins with the environment's folder. */
static void packages_text(const struct output *out, const char *environment,
						  const struct jw_check_result *result)
{
	size_t shown = 0, more = 0, named = 0;
	char text[MODULE_TEXT];

	if (!result->images) {
		output_line(out, STYLE_PLAIN, "Python  %s: no package with device code", environment);
		return;
	}
	for (size_t i = 0; i < result->package_count; i++) {
		named += result->packages[i].name != NULL;
		language_keep(result->packages[i].name);
	}
	output_line(out, STYLE_PLAIN, "Python  %s: %s with device code", environment,
				TEXT_COUNT(named, "package", "packages"));
	for (size_t i = 0; i < result->package_count; i++) {
		const struct jw_check_package *package = &result->packages[i];

		if (runs_as_it_is(package))
			continue;
		if (shown++ < MAX_PACKAGES)
			print_package(out, package, result->verdict == JW_VERDICT_USELESS);
		else
			more++;
	}
	if (more)
		output_line(out, STYLE_PLAIN, "%sand %zu more: “jitwarm check” lists all", head, more);
	print_native(out, result);
	if (result->all.cold)
		output_line(out, STYLE_PLAIN, "%s", forecast_text(text, head, &result->all.forecast, ""));
}

/* Writes the memory as on the box. A driver reports less than that, on data-centre cards by a
 * tenth. Parts of a GPU (MIG, virtual GPUs) have any size. */
static const char *memory_text(char text[TEXT_SHORT], uint64_t bytes)
{
	static const uint64_t sold[] = {2,  3,  4,  5,  6,  8,  10, 11,  12,  16,  20,  24,  32,
									40, 48, 64, 72, 80, 94, 96, 128, 141, 144, 180, 192, 288};
	const uint64_t gib = UINT64_C(1) << 30;

	for (size_t i = 0; i < sizeof sold / sizeof *sold; i++)
		if (bytes <= sold[i] * gib && bytes >= sold[i] * gib / 8 * 7) {
			(void)text_format(text, TEXT_SHORT, "%u GB", (unsigned)sold[i]);
			return text;
		}
	return text_bytes(text, bytes);
}

static void print_gpus(const struct output *out, const struct jw_system *system)
{
	for (size_t i = 0; i < system->gpu_count; i++) {
		const struct jw_gpu *gpu = &system->gpus[i];
		char target[JW_TARGET_TEXT], memory[TEXT_SHORT];

		if (system->unasked)
			output_line(out, STYLE_STRONG, "GPU     %s (%s)%s%s: asleep, so not asked", gpu->name,
						jw_target_sm(target, gpu->target), gpu->bus[0] ? " at " : "", gpu->bus);
		else
			output_line(out, STYLE_STRONG, "GPU     %s (%s, %s)%s%s", gpu->name,
						jw_target_sm(target, gpu->target), memory_text(memory, gpu->memory_bytes),
						gpu->bus[0] ? " at " : "", gpu->bus);
	}
	if (!system->gpu_count)
		output_line(out, STYLE_WARN, "GPU     %s", system->why_none);
}

static void print_driver(const struct output *out, const struct jw_driver_info *driver,
						 bool explain)
{
	char room[JSON_ROOM];
	const char *version = format_release(room, &driver->version);

	if (!driver->library[0])
		return;
	output_line(out, STYLE_PLAIN, "Driver  %s, CUDA %u.%u", version ? version : "version unknown",
				driver->version.cuda / 1000, driver->version.cuda % 1000 / 10);
	if (explain)
		output_line(out, STYLE_FAINT, "        %s", driver->library);
	if (driver->trust == JW_TRUST_OPAQUE)
		output_line(out, STYLE_WARN,
					"        jitwarm does not know the form of this driver's cache");
	else if (driver->trust == JW_TRUST_READ || driver->trust == JW_TRUST_NONE)
		output_line(
			out, STYLE_FAINT,
			"        not yet compiled with this driver: the first prime verifies predictions");
}

/* Returns whether the limit is too small for the packages of the environment. */
static bool is_too_small(const struct jw_cache_info *cache, const struct jw_check_result *packages)
{
	return packages && packages->verdict == JW_VERDICT_NO_ROOM &&
		   packages->needed_bytes > cache->limit_bytes;
}

static void print_cache(const struct output *out, const struct jw_cache_info *cache,
						const struct jw_check_result *packages)
{
	char needed[TEXT_SHORT];
	char size[TEXT_SHORT], limit[TEXT_SHORT], *what, *cure;
	const char *from = cache->limit_set ? "" : ", the driver's default";

	(void)text_bytes(limit, cache->limit_bytes);
	if (!cache->path)
		output_line(out, STYLE_WARN, "Cache   none: the driver does not cache");
	else if (is_too_small(cache, packages))
		output_line(out, STYLE_WARN,
					"Cache   %s (%s, %s; the limit of %s is too small, %s are needed)", cache->path,
					TEXT_COUNT(cache->outlook.entries, "entry", "entries"),
					text_bytes(size, cache->outlook.bytes), limit,
					text_bytes(needed, packages->needed_bytes));
	else if (cache->exists)
		output_line(out, STYLE_PLAIN, "Cache   %s (%s, %s of %s%s)", cache->path,
					TEXT_COUNT(cache->outlook.entries, "entry", "entries"),
					text_bytes(size, cache->outlook.bytes), limit, from);
	else
		output_line(out, STYLE_PLAIN, "Cache   %s (empty, limit %s%s)", cache->path, limit, from);
	if (tune_change_is_ahead(cache))
		output_line(out, STYLE_WARN, "        from the next login on; until then: %s, limit %s%s",
					cache->now.path ? cache->now.path : "no cache",
					text_bytes(size, cache->now.limit_bytes),
					cache->now.limit_set ? "" : ", the driver's default");
	if (cache->outlook.text[0])
		output_line(out, cache->outlook.harmful ? STYLE_BAD : STYLE_WARN, "        %s; %s",
					cache->outlook.text, cache->outlook.next_step);
	for (size_t i = 0; i < cache->warning_count; i++)
		output_line(out, STYLE_WARN, "        %s", cache->warnings[i]);
	if (cache->path && jw_tune_loss(cache->path, &what, &cure)) {
		output_line(out, STYLE_WARN, "        %s; %s", what, cure);
		jw_text_free(what);
		jw_text_free(cure);
	}
}

/* Returns whether the path is relative, and so names another cache in each working directory. */
static bool is_relative(void)
{
	char *path = os_env("CUDA_CACHE_PATH");
	const bool relative = path && *path && !os_is_absolute(path);

	mem_free(path);
	return relative;
}

/* Names the packages of the active environment that have device code, as far as a short time
 * allows: without a GPU nobody waits for more. Returns whether a scan of the environment has an
 * answer. */
static bool print_unjudged(const struct cli *cli)
{
	enum { MOST_MS = 200 };
	const struct output *out = &cli->out;
	struct jw_code_packages code;
	struct jw_found *found;
	char names[512] = "";
	const char *environment;

	if (jw_find(NULL, &(struct jw_find_options){.cancel = cli_cancel}, &found))
		return false;
	jw_code_packages(found, MOST_MS, cli_cancel, &code);
	environment = found->environment ? found->environment : "";
	for (size_t i = 0; i < code.count; i++)
		text_append(names, sizeof names, "%s%.60s", i ? ", " : "", code.names[i]);
	if (code.count == JW_CODE_PACKAGES || (code.count && code.cut))
		text_append(names, sizeof names, ", …");
	if (code.count)
		output_line(out, STYLE_PLAIN, "Python  %s: device code in %s", environment, names);
	if (code.cut)
		output_line(out, STYLE_FAINT,
					code.count ? "        the other files of %s were not read, to save time"
							   : "Python  %s: not all files were read, to save time",
					environment);
	jw_result_free(found);
	return code.any || code.cut;
}

/* Prints the next step; a warm cache is useless as long as the driver does not read it. */
static void print_status_next(const struct cli *cli, const struct status_document *found,
							  bool has_code)
{
	static const char *const kept[] = {"environment", NULL};
	const struct jw_system *system = &found->system;
	const struct jw_cache_info *cache = &system->cache;
	const struct jw_check_result *packages = &found->packages;
	const bool no_gpu = !system->gpu_count, relative = is_relative(),
			   small = !jw_cache_holds(cache, 0) || is_too_small(cache, packages),
			   useless = cache->why_useless[0] || relative,
			   foreign = (useless || small) && !jw_tune_can_apply(JW_SCOPE_USER);
	struct buf line = BUF_MAX(NEXT_STEP_MAX), scan = BUF_MAX(256), which = BUF_MAX(256);
	size_t at = 0;

	buf_add(&scan, "jitwarm scan --target %s", system->example);
	buf_add(&which, "jitwarm which --target %s torch", system->example);
	/* The first that is true; the command is NULL if there is nothing to type. */
	const struct {
		bool when;
		const char *what, *command;
	} steps[] = {
		{no_gpu && system->driver.library[0],
		 "Next    find out why programs find no GPU: ", "jitwarm doctor"},
		{no_gpu && has_code && system->pci_count,
		 "Next    install NVIDIA's driver, or see what it would compile: ", buf_text(&scan)},
		{no_gpu && has_code,
		 "Next    see what the driver would compile on another GPU: ", buf_text(&scan)},
		{no_gpu && system->pci_count,
		 "Next    install NVIDIA's driver, or see which versions of a package run: ",
		 buf_text(&which)},
		{no_gpu, "Next    see which versions of a package run on another GPU: ", buf_text(&which)},
		{cache->no_compiler, "Next    get the driver's compiler: ", "jitwarm doctor"},
		{cache->disabled || cache->force_ptx_jit,
		 "Next    unset the variable above; to see where it is set: ", "jitwarm tune"},
		{foreign && useless,
		 "Next    start your programs with a CUDA_CACHE_PATH that this account can write to: ",
		 "jitwarm tune --print sh --path DIR"},
		{foreign, "Next    raise CUDA_CACHE_MAXSIZE where your programs are started: ",
		 "jitwarm tune --print sh"},
		{cache->why_useless[0], "Next    name a directory that this account can write to: ",
		 "jitwarm tune --path DIR --apply"},
		{relative, "Next    name an absolute path: ", "jitwarm tune --path DIR --apply"},
		{small && cache->kept_bytes >= jw_cache_limit(cache, 0),
		 "Next    find out when programs have the limit that jitwarm has set: ", "jitwarm tune"},
		{cache->outlook.evicted,
		 "Next    raise the limit before the driver evicts entries: ", "jitwarm tune"},
		{small, "Next    raise CUDA_CACHE_MAXSIZE, and compile the cold modules now: ",
		 "jitwarm prime --tune"},
		{packages->all.cold && verdict_is_trifle(&packages->all.forecast.start),
		 "Next    if a start takes long, compile the cold modules: ", "jitwarm prime"},
		{packages->all.forecast.cache_bytes > cache->free_bytes,
		 "Next    free some space where the cache is, or name a directory that has space: ",
		 "jitwarm tune --path DIR --apply"},
		{packages->all.cold,
		 "Next    compile the cold modules now, so that the first start compiles nothing: ",
		 "jitwarm prime"},
		{found->troubles,
		 "Next    see which files could not be read, and may hold code to compile: ",
		 "jitwarm check"},
		{packages->verdict == JW_VERDICT_COLD,
		 "Next    repair the cache, so that the first start compiles nothing: ", "jitwarm prime"},
		{!jw_cache_serves_now(cache, cache->outlook.bytes),
		 "Next    log out and in again; until then programs use another cache or limit", NULL},
		{packages->verdict == JW_VERDICT_UNSURE,
		 "Next    see for which files jitwarm has no answer: ", "jitwarm check"},
		{packages->failing_count, "Next    see how to repair these packages: ", "jitwarm doctor"},
		{packages->images,
		 "Next    these packages compile nothing; look at others: ", "jitwarm find"},
		{true, "Next    find environments and programs that compile: ", "jitwarm find"},
	};

	while (!steps[at].when)
		at++;
	if (steps[at].command)
		buf_add(&line, "%s", steps[at].command);
	/* “find” looks at all environments, “which” at none. */
	if (steps[at].command && strcmp(steps[at].command, "jitwarm find") != 0 &&
		!text_starts(steps[at].command, "jitwarm which"))
		next_step_keep(&line, &cli->options, kept);
	next_step(&cli->out, STYLE_FAINT, steps[at].what, steps[at].command ? &line : NULL);
	buf_free(&scan);
	buf_free(&which);
}

/* Checks the packages of the active environment; without one, or without a GPU, *ret_found stays
 * NULL. An environment that cannot be read must not hide the rest of the page. */
static int check_environment(struct jw_error *err, struct cli *cli, struct jw_found **ret_found,
							 struct jw_check_result **ret_result)
{
	const struct jw_system *system = cli->system;
	const struct jw_find_options find = {.cancel = cli_cancel};
	struct jw_check_options check = {.system = system, .cancel = cli_cancel};
	struct jw_error why;

	if (!system->gpu_count)
		return 0;
	if (!jw_find(&why, &find, ret_found)) {
		check.found = *ret_found;
		if (jw_check(err, &check, ret_result))
			return -1;
		jw_which_cures(system->state_dir, *ret_result);
		return 0;
	}
	if (why.code == JW_ERR_INTERRUPTED)
		return error_copy(err, &why);
	if (why.code != JW_ERR_NOT_FOUND) {
		output_warning(&cli->out, "%s", error_text(&why));
		cli_end_with(cli, exit_of(why.code));
	}
	return 0;
}

static void print_status(const struct cli *cli, const struct status_document *found,
						 const struct jw_check_result *packages, bool explain)
{
	const struct output *out = &cli->out;
	const struct jw_system *system = &found->system;
	bool has_code = false;

	print_gpus(out, system);
	print_driver(out, &system->driver, explain);
	print_cache(out, &system->cache, packages);
	if (packages)
		packages_text(out, found->environment, packages);
	else if (!system->gpu_count && !system->driver.library[0])
		has_code = print_unjudged(cli);
	if (found->troubles)
		output_line(out, STYLE_WARN, "        %s could not be read: “jitwarm check” says why",
					TEXT_COUNT(found->troubles, "file", "files"));
	if (explain && system->state_dir)
		output_line(out, STYLE_FAINT, "State   %s", system->state_dir);
	if (found->wsl)
		output_line(out, STYLE_PLAIN,
					"WSL     Windows programs use %%APPDATA%%\\NVIDIA\\ComputeCache, which "
					"jitwarm.exe warms");
	print_status_next(cli, found, has_code);
}

static int show_status(struct jw_error *err, struct cli *cli)
{
	const struct jw_system *system = cli->system;
	struct status_document found = {.system = *system, .wsl = os_is_wsl()};
	struct jw_check_result *packages = NULL;
	struct jw_found *search = NULL;
	int result = check_environment(err, cli, &search, &packages);

	if (packages) {
		found.environment = search->environment;
		found.packages = *packages;
		found.troubles = packages->troubles;
	}
	if (!result) {
		print_status(cli, &found, packages, options_given(&cli->options, "explain"));
		if (packages)
			cures_print_checked(cli, packages, false);
		/* An environment that the user has not named may well hold no device code. */
		if (!options_value(&cli->options, "driver-profile") &&
			(!packages || packages->verdict != JW_VERDICT_NOTHING ||
			 options_given(&cli->options, "environment")))
			cli_end_with(cli, packages ? exit_of_verdict(packages->verdict) : EXIT_CANNOT);
		result = document_print(&cli->out, &document_status, &found);
	}
	jw_result_free(packages);
	jw_result_free(search);
	return result;
}

static int status_run(struct jw_error *err, struct cli *cli)
{
	const char *profile = options_value(&cli->options, "driver-profile");
	struct jw_system_options how = {.probe = profile, .let_sleep = !profile};

	if (cli_open(err, cli, &how))
		return -1;
	if (profile && jw_system_write_profile(err, cli->system, profile)) {
		cli->failure = err->code == JW_ERR_IO ? EXIT_FAILED : EXIT_CANNOT;
		return -1;
	}
	return show_status(err, cli);
}

static const struct cli_option status_options[] = {
	CLI_VALUE("driver-profile", "FILE",
			  "Write a profile of this driver, for priming on another machine",
			  .names = NAMES_OUTPUT),
	CLI_FLAG("explain", "Show the driver's library and jitwarm's own folder, too"),
	CLI_ENVIRONMENT,
	{0}};

const struct cli_command command_status = {
	.name = "status",
	.summary = "Show GPUs, driver, cache, and what packages would compile",
	.usage = "[OPTION]…",
	.description =
		"Shows the GPUs, the driver, its cache, and what the packages of the active environment "
		"would compile.\n\nFor the cache it shows the limit and any settings that prevent caching. "
		"The contents of files are remembered, so only the first look at large packages takes "
		"seconds.\n\nExit status: as “jitwarm check”, except for three cases: 0 if the active "
		"environment has no device code, or if --driver-profile wrote its file; 2 if there is no "
		"GPU or no environment.",
	.examples = "jitwarm\njitwarm status --json\n",
	.options = status_options,
	.no_operands = "status shows this machine",
	.for_operands = "check",
	.reads = true,
	.run = status_run,
};
