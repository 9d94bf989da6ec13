#include "cli/documents/documents.h"

#include <stdio.h>

#define ROW(member, ...)          JSON(struct status_document, member, __VA_ARGS__)
#define ROW_AS(name, member, ...) JSON_AS(name, struct status_document, member, __VA_ARGS__)

static const struct json_field gpu_fields[] = {
	JSON(struct jw_gpu, name, "as the driver calls it"),
	JSON_SAID("target", struct jw_gpu, target, document_sm, "`sm_86`"),
	JSON(struct jw_gpu, bus, "`0000:01:00.0`; `\"\"` where unknown"),
	JSON(struct jw_gpu, uuid, "as nvidia-smi writes it; `\"\"` where unknown"),
	JSON(struct jw_gpu, memory_bytes, NULL),
	{0},
};

/* NVIDIA's form: two digits in the third number, which some releases lack. */
static const char *say_release(char room[JSON_ROOM], const void *driver)
{
	const uint32_t *release = ((const struct jw_driver *)driver)->release;

	if (!release[0])
		return NULL;
	(void)snprintf(room, JSON_ROOM, release[2] ? "%u.%u.%02u" : "%u.%02u", release[0], release[1],
				   release[2]);
	return room;
}

static const char *say_cuda(char room[JSON_ROOM], const void *driver)
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
	JSON_SAID("version", struct jw_driver_info, version, say_release, "`550.163.01`",
			  .presence = JSON_UNLESS_NULL),
	JSON_SAID("cuda", struct jw_driver_info, version, say_cuda, "`12.4`",
			  .presence = JSON_UNLESS_NULL),
	JSON(struct jw_driver_info, library, "the file; `\"\"` where no driver is installed"),
	JSON(struct jw_driver_info, stamp,
		 "the date and time of the build, which the names of cache entries depend on; `\"\"` where "
		 "unknown"),
	JSON_AS("stamp_trust", struct jw_driver_info, trust,
			"`unknown` (no stamp), `read` (from the library's file), `confirmed` (seen in an entry "
			"of this driver) or `opaque` (jitwarm does not know the form of this driver's cache)",
			.names = trust_names),
	{0},
};

static const struct json_field cache_fields[] = {
	ROW(system.cache.path, "absent where the driver would not cache", .presence = JSON_UNLESS_NULL),
	ROW(system.cache.exists, "the directory is there"),
	ROW(system.cache.outlook.entries, "files of entries"),
	ROW_AS("size_bytes", system.cache.outlook.bytes,
		   "the size of the entries, as the limit counts it"),
	JSON_MEMBERS_OF(struct status_document, system.cache.outlook, &document_outlook),
	ROW(carried, "of the entries: compiled by older drivers"),
	ROW(system.cache.limit_bytes, "the limit of the driver's cache"),
	ROW(system.cache.limit_set, "by `CUDA_CACHE_MAXSIZE`, not by the driver's default"),
	ROW(system.cache.disabled, "by `CUDA_CACHE_DISABLE`"),
	ROW(system.cache.force_ptx_jit,
		"`CUDA_FORCE_PTX_JIT` is set: the cache is written and never read"),
	JSON_LINES_OF("warnings", struct status_document, system.cache.warnings,
				  system.cache.warning_count, "lines"),
	{0},
};

static const struct json_field other_fields[] = {
	JSON(struct jw_other_cache, account, NULL),
	JSON(struct jw_other_cache, path, NULL),
	JSON(struct jw_other_cache, entries, "0 where this account may not read it"),
	JSON(struct jw_other_cache, size_bytes, "0 where this account may not read it"),
	{0},
};

static const struct json_field package_gpu_fields[] = {
	JSON_SAID("target", struct jw_check_package_gpu, target, document_sm, "`sm_86`"),
	JSON(struct jw_check_package_gpu, warm, "modules with a sound entry in the cache"),
	JSON(struct jw_check_package_gpu, cold, "modules without one"),
	JSON(struct jw_check_package_gpu, failing,
		 "files whose code cannot run there, so that programs fail"),
	JSON_OBJECT_OF("forecast", struct jw_check_package_gpu, forecast, &document_forecast,
				   "of the cold ones"),
	{0},
};

static const struct json_field package_fields[] = {
	JSON(struct jw_check_package, name, "absent for files that no package has installed",
		 .presence = JSON_UNLESS_NULL),
	JSON(struct jw_check_package, version, "absent where unknown", .presence = JSON_UNLESS_NULL),
	JSON_LIST_OF("gpus", struct jw_check_package, gpus, gpu_count,
				 JSON_TABLE(struct jw_check_package_gpu, package_gpu_fields),
				 "an object for each architecture; where all three numbers are 0, everything runs "
				 "as it is"),
	{0},
};

static const struct json_field status_fields[] = {
	JSON_LIST_OF("gpus", struct status_document, system.gpus, system.gpu_count,
				 JSON_TABLE(struct jw_gpu, gpu_fields), "the GPUs of this machine"),
	JSON_AS("why_no_gpu", struct status_document, system.why_none,
			"one line, where `gpus` is empty", .presence = JSON_IF_SET),
	ROW(system.remembered,
		"the GPUs were found by an earlier run with this driver and these devices"),
	JSON_OBJECT_OF("driver", struct status_document, system.driver,
				   JSON_TABLE(struct jw_driver_info, driver_fields), NULL),
	JSON_PART("cache", JSON_TABLE(struct status_document, cache_fields), "the driver's"),
	JSON_LIST_OF("others", struct status_document, others, other_count,
				 JSON_TABLE(struct jw_other_cache, other_fields),
				 "caches of service accounts, as far as this account may see them"),
	ROW(environment, "the Python environment; absent without one, or without a GPU",
		.presence = JSON_UNLESS_NULL),
	JSON_LIST_OF("packages", struct status_document, packages.packages, packages.package_count,
				 JSON_TABLE(struct jw_check_package, package_fields),
				 "its packages with device code, the slowest to compile first; a module that "
				 "several packages hold counts for the first"),
	JSON_SAID("verdict", struct status_document, packages.verdict, document_verdict,
			  "as in `check`; absent like `environment`",
			  JSON_IF(struct status_document, environment)),
	ROW(troubles, "its files and folders that could not be read: what they hold is not known"),
	JSON_LIST_OF(
		"baked", struct status_document, baked.items, baked.count, &document_baked_members,
		"the libraries that this account has baked in their places, as in `jitwarm.baked/1`"),
	ROW(wsl, "this Linux runs inside Windows (WSL), whose programs have another cache"),
	JSON_AS("state", struct status_document, system.state_dir, "jitwarm's own folder",
			.presence = JSON_UNLESS_NULL),
	{0},
};
const struct json_table document_status = {.schema = "jitwarm.status/1", .fields = status_fields};
