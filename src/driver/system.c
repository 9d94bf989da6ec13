#include <jitwarm/system.h>

#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "base/text.h"
#include "cache/outlook.h"
#include "cache/profile.h"
#include "cache/settings.h"
#include "code/release.h"
#include "code/target_names.h"
#include "driver/child.h"
#include "driver/driver_probe.h"
#include "driver/driver_session.h"
#include "driver/known_gpus.h"
#include "driver/run_folder.h"
#include "driver/speed_model.h"
#include "driver/state_file.h"
#include "driver/targets.h"
#include "os/env.h"
#include "os/file.h"
#include "os/folders.h"
#include "os/library.h"
#include "os/platform.h"

enum { MAX_PCI = 64, LIMIT_S = 120 };

/* Takes the GPUs and the driver from the hello of a worker. */
static void take_query_hello(struct jw_system *system, const struct protocol_hello *hello)
{
	for (size_t i = 0; i < hello->device_count; i++) {
		const struct protocol_device *device = &hello->devices[i];
		struct jw_gpu *gpu = &system->gpus[i];

		TEXT_COPY(gpu->name, device->name);
		TEXT_COPY(gpu->bus, device->bus);
		TEXT_COPY(gpu->uuid, device->uuid);
		gpu->target = device->target;
		gpu->memory_bytes = device->memory_bytes;
		gpu->ordinal = device->ordinal;
		gpu->compute_mode = device->compute_mode;
	}
	system->gpu_count = hello->device_count;
	if (hello->library[0])
		TEXT_COPY(system->driver.library, hello->library);
	if (hello->cuda)
		system->driver.version.cuda = hello->cuda;
}

/* Asks the driver for its GPUs. If the driver does not start, that is no failure here: it becomes
 * why_none. */
static void ask_devices(const struct jw_system_options *options, const struct known_gpus_key *key,
						struct jw_system *system)
{
	struct protocol_hello hello = {0};
	struct jw_error why = {0};
	struct driver_query ask = {.limit_s = LIMIT_S};
	struct run_folder folder = {0};

	/* Listing GPUs writes nothing, so the driver needs no cache of its own. */
	(void)run_folder_make(NULL, system->state_dir, &folder);
	ask.worker = options->worker;
	ask.cache_dir = folder.path;
	if (driver_query(&why, &ask, &hello, NULL))
		TEXT_COPY(system->why_none, why.message);
	else if (hello.result)
		(void)text_format(system->why_none, sizeof system->why_none,
						  "the driver does not start: %.400s", hello.error);
	else if (!hello.device_count)
		TEXT_COPY(system->why_none, "the driver shows no GPU: check CUDA_VISIBLE_DEVICES");
	system->start_error = hello.result > 0 ? hello.result : 0;
	take_query_hello(system, &hello);
	if (hello.device_count && !system->why_none[0])
		known_gpus_save(system->state_dir, key, &hello);
	run_folder_remove(&folder);
}

/* If the system lists no GPU, device files of the driver show that a query is worthwhile. */
static bool has_device_file(void)
{
	char *simulated = os_env("JITWARM_PCI_DEVICES");
	const bool has = !simulated && os_has_gpu_file();

	mem_free(simulated);
	return has;
}

/* Records the PCI devices, whether there is a driver or not. */
static void note_pci(const struct os_pci_device *pci, size_t count, struct jw_system *system)
{
	struct jw_target target = {89, 0};

	system->pci_count = count;
	for (size_t i = 0; i < count; i++)
		if (gpu_of_pci_device(pci[i].device, &target)) {
			(void)jw_target_sm(system->example, target);
			break;
		}
	if (!system->example[0])
		TEXT_COPY(system->example, "rtx4090");
	system->example_driver = jw_driver_example(&target, 1);
}

/* Adds what to do, if a part of the driver or a GPU shows it. */
static void explain_no_driver(const struct jw_error *why, struct jw_system *system)
{
	struct os_pci_device pci[MAX_PCI];
	const char *hint = "";
	size_t count = 0;

	if (os_pci_gpus(NULL, pci, MAX_PCI, &count))
		count = 0;
	note_pci(pci, count, system);
	if (os_is_wsl())
		hint = "; the Windows driver brings it";
	else if (has_device_file())
		hint = "; the kernel module is here: use --gpus all";
	else if (count)
		hint = "; but an NVIDIA GPU is here";
	(void)text_format(system->why_none, sizeof system->why_none, "%.300s%s", why->message, hint);
}

/* If nothing hides devices from programs, they see the GPUs that the system lists. False if one is
 * unknown. */
static bool guess_gpus(const struct known_gpus_key *key, struct jw_system *system)
{
	char *chosen = os_env("CUDA_VISIBLE_DEVICES");
	bool known = !chosen && key->pci_count;

	for (size_t i = 0; known && i < key->pci_count; i++) {
		struct jw_gpu gpu = {.ordinal = (int)i};

		known = gpu_of_pci_device(key->pci[i].device, &gpu.target);
		TEXT_COPY(gpu.name, jw_target_products(gpu.target));
		TEXT_COPY(gpu.bus, key->pci[i].bus);
		system->gpus[i] = gpu;
	}
	mem_free(chosen);
	system->gpu_count = known ? key->pci_count : 0;
	return known;
}

static bool any_sleeps(const struct known_gpus_key *key)
{
	for (size_t i = 0; i < key->pci_count; i++)
		if (os_pci_sleeps(&key->pci[i]))
			return true;
	return false;
}

static int find_gpus(struct jw_error *err, const struct jw_system_options *options,
					 const char *library, struct jw_system *system)
{
	struct protocol_hello hello = {0};
	struct os_pci_device pci[MAX_PCI];
	struct known_gpus_key key = {.library = library, .pci = pci};

	if (os_pci_gpus(err, pci, MAX_PCI, &key.pci_count))
		return -1;
	note_pci(pci, key.pci_count, system);
	if (known_gpus_find(system->state_dir, &key, &hello) && hello.device_count) {
		take_query_hello(system, &hello);
		system->remembered = true;
		return 0;
	}
	if (!key.pci_count && !has_device_file()) {
		TEXT_COPY(system->why_none, "this machine has no NVIDIA GPU");
		return 0;
	}
	if (((options->asleep && options->ask != JW_ASK_UNCERTAIN) ||
		 (options->let_sleep && any_sleeps(&key))) &&
		guess_gpus(&key, system)) {
		system->unasked = true;
		return 0;
	}
	if (options->asleep && !options->ask) {
		system->unasked = true;
		TEXT_COPY(system->why_none, "the GPUs are not known yet: the driver has not been asked");
		return 0;
	}
	ask_devices(options, &key, system);
	return 0;
}

static void take_profile(const struct cache_profile *profile, struct jw_system *system)
{
	system->driver.version = profile->driver;
	system->driver.trust = profile->trust == JW_TRUST_TABLE ? JW_TRUST_READ : profile->trust;
	TEXT_COPY(system->driver.stamp, profile->stamp);
}

/* Finds the driver's profile. Has the driver compile a tiny module if the form of its names is not
 * confirmed yet, and a few larger ones if its speed is unknown. A failure to measure the speed is
 * ignored. */
static int find_profile(struct jw_error *err, const struct jw_system_options *options,
						struct jw_system *system)
{
	struct cache_profile profile;
	bool sure;

	if (cache_profile_find(err, system->state_dir, system->driver.library, system->cache.path,
						   &profile))
		return -1;
	if (system->driver.version.cuda)
		profile.driver.cuda = system->driver.version.cuda;
	sure = profile.trust == JW_TRUST_CONFIRMED || profile.trust == JW_TRUST_OPAQUE;
	if (system->gpu_count && options->probe && !sure && !system->cache.no_compiler &&
		driver_probe_confirm(err, system, &profile))
		return -1;
	take_profile(&profile, system);
	system->speed = speed_recall(system->state_dir, &profile.driver);
	return 0;
}

/* Finds settings with which programs do not use a cache, even a warm one. */
static void judge_settings(struct jw_cache_info *cache)
{
	if (cache->disabled)
		TEXT_COPY(cache->why_useless,
				  "CUDA_CACHE_DISABLE=1: the driver neither reads nor writes its cache; unset it "
				  "first");
	else if (!cache->path)
		TEXT_COPY(cache->why_useless,
				  cache->warning_count ? cache->warnings[0] : "the driver caches nothing");
	else if (!cache->usable)
		/* The directory's warning comes last. */
		TEXT_COPY(cache->why_useless, cache->warning_count
										  ? cache->warnings[cache->warning_count - 1]
										  : "the driver cannot use its cache");
}

/* Warns of a setting with which the driver compiles at each start. */
static void judge_forced(const struct jw_system_options *options, struct jw_system *system)
{
	struct jw_cache_info *cache = &system->cache;
	char text[256];

	(void)text_format(text, sizeof text,
					  "%s=1: each start compiles everything, and the cache is not read",
					  cache->force_jit ? "CUDA_FORCE_JIT" : "CUDA_FORCE_PTX_JIT");
	arena_add_string(system, &cache->warnings, &cache->warning_count, CACHE_MAX_WARNINGS, text);
	if (!options->cache_dir && !cache->disabled)
		TEXT_COPY(cache->why_useless, text);
}

/* Completes the settings, which depend on the driver and its GPUs. */
static void settle_settings(const struct jw_system_options *options, struct jw_system *system)
{
	const struct gpu_branch *branch = gpu_branch_of(&system->driver.version);
	const uint64_t embedded = (uint64_t)256 << 20;
	struct jw_cache_info *cache = &system->cache;
	uint64_t limit = branch->default_limit_bytes;

	/* NVIDIA's guide (CUDA_CACHE_MAXSIZE): 256 MiB on embedded platforms, with any driver. */
	for (size_t i = 0; i < system->gpu_count; i++)
		if (gpu_is_tegra(system->gpus[i].target.sm) && limit > embedded)
			limit = embedded;
	if (!cache->limit_set)
		cache->limit_bytes = limit;
	if (!cache->now.limit_set)
		cache->now.limit_bytes = limit;
	cache_outlook(cache->path, cache->limit_bytes, !options->asleep, &cache->outlook);
	if (!options->cache_dir)
		judge_settings(cache);
	cache->force_ptx_jit = cache->force_ptx_jit || (cache->force_jit && branch->force_jit);
	cache->reads = (cache->reads || (cache->no_compiler && cache->usable)) && !cache->disabled &&
				   !cache->force_ptx_jit;
	if (cache->force_ptx_jit)
		judge_forced(options, system);
	if (cache->no_compiler)
		TEXT_COPY(
			cache->why_useless,
			"the driver's compiler is missing (libnvidia-ptxjitcompiler.so.1): modules that are "
			"not in the cache fail with error 221; “jitwarm doctor” says what to install");
}

static int profile_elsewhere(struct jw_error *err, const struct jw_system_options *options,
							 struct jw_system *system, struct cache_profile *ret_profile)
{
	struct jw_error why = {0};
	char *library = NULL;

	if (options->driver && !*options->driver)
		return 0;
	if (options->driver_profile) {
		if (!cache_profile_read(&why, options->driver_profile, ret_profile))
			return 0;
		if (why.code != JW_ERR_FORMAT)
			return error_copy(err, &why);
		return error_set(err, JW_ERR_FORMAT,
						 "%s: neither a driver's library nor a profile that “jitwarm status "
						 "--driver-profile FILE” has written",
						 options->driver_profile);
	}
	if (options->driver_library) {
		if (os_real_path(err, options->driver_library, &library))
			return -1;
	} else if (options->driver) {
		return cache_profile_for_release(err, options->driver, ret_profile);
	} else if (os_find_driver(&why, &library)) {
		return error_set(err, JW_ERR_USAGE,
						 "name the other machine's driver, for example --driver %s: %s",
						 jw_driver_example(options->targets, options->target_count), why.message);
	}
	/* A library shows its build, and often its release; another source of the release has
	 * priority. */
	if (cache_profile_find(err, NULL, arena_keep(system, library), system->cache.path, ret_profile))
		return -1;
	TEXT_COPY(system->driver.library, library);
	return options->driver ? jw_driver_parse(err, options->driver, &ret_profile->driver) : 0;
}

/* Fails because the names of the driver's entries are unknown, and says how to name the driver. */
static int names_unknown(struct jw_error *err, const struct jw_driver *driver, const char *library)
{
	const struct cache_known_driver *known = cache_known_driver_like(driver);
	char text[JW_DRIVER_TEXT], names[JW_DRIVER_NAMES];

	if (library && !driver->cuda)
		return error_set(err, JW_ERR_UNSUPPORTED,
						 "%s: neither its name nor its bytes show which driver this is: name the "
						 "driver's own library (libcuda.so.%s), or add “--driver VERSION”",
						 library, known ? known->name : "550.163.01");
	/* A branch, or a CUDA version, may mean any of its releases. */
	if (!driver->release[1])
		return error_set(err, JW_ERR_UNSUPPORTED,
						 "driver %s: give the full version, for example --driver %s, or its "
						 "library or profile (--driver FILE)",
						 jw_driver_text(text, driver), known ? known->name : "550.163.01");
	return error_set(
		err, JW_ERR_UNSUPPORTED,
		"driver %s: jitwarm does not know the names of its cache entries; it knows those of %s and "
		"others (“--driver list” names all). “jitwarm scan” needs no names. "
		"--driver FILE reads the names from the driver's libcuda.so or nvcuda64.dll, or from the "
		"profile that “jitwarm status --driver-profile FILE” writes on a machine with this driver",
		jw_driver_text(text, driver), jw_driver_names(names, driver));
}

static int open_elsewhere(struct jw_error *err, const struct jw_system_options *options,
						  struct jw_system *system)
{
	struct cache_profile profile = {0};
	char text[JW_DRIVER_TEXT];

	for (size_t i = 0; i < options->target_count && i < PROTOCOL_MAX_DEVICES; i++) {
		system->gpus[i] = (struct jw_gpu){.target = options->targets[i], .ordinal = (int)i};
		TEXT_COPY(system->gpus[i].name, jw_target_products(options->targets[i]));
		system->gpu_count++;
	}
	if (profile_elsewhere(err, options, system, &profile))
		return -1;
	for (size_t i = 0; i < options->target_count; i++)
		if (jw_driver_supports(err, &profile.driver, options->targets[i]))
			return -1;
	if (!profile.stamp[0] && !options->nameless)
		return names_unknown(err, &profile.driver, options->driver_library);
	if (profile.trust == JW_TRUST_OPAQUE)
		return error_set(err, JW_ERR_UNSUPPORTED,
						 "jitwarm does not know the form of driver %s's cache",
						 jw_driver_text(text, &profile.driver));
	take_profile(&profile, system);
	return 0;
}

/* Explains that the installed driver does not start after an upgrade, because the kernel module is
 * still the former one's. */
static void explain_pending(struct jw_system *system)
{
	struct jw_driver running = {0};
	char text[32], installed[JW_DRIVER_TEXT];

	os_running_driver(text);
	(void)jw_driver_parse(NULL, text, &running);
	if (running.release[0] && system->driver.version.release[0] &&
		gpu_release_compare(running.release, system->driver.version.release) != 0)
		(void)text_format(system->why_none, sizeof system->why_none,
						  "driver %s is installed, and %s runs until the next boot: restart the "
						  "machine",
						  jw_driver_text(installed, &system->driver.version), text);
}

/* Opens this machine as it is. */
static int open_here(struct jw_error *err, const struct jw_system_options *options,
					 struct jw_system *system)
{
	struct jw_error why = {0};
	char *library = NULL;

	if (os_find_driver(&why, &library)) {
		explain_no_driver(&why, system);
		return 0;
	}
	(void)arena_keep(system, library);
	TEXT_COPY(system->driver.library, library);
	system->cache.no_compiler = os_lacks_jit_compiler(library);
	if (find_gpus(err, options, library, system) || find_profile(err, options, system))
		return -1;
	if (!system->gpu_count) {
		explain_pending(system);
		if (targets_unfit_driver(&why, &system->driver.version))
			TEXT_COPY(system->why_none, why.message);
	}
	return 0;
}

int jw_system_open(struct jw_error *err, const struct jw_system_options *given,
				   struct jw_system **ret_system)
{
	struct jw_system *system;
	struct jw_system_options how = *given;
	const struct jw_system_options *options = &how;
	struct jw_error why = {0};

	/* This applies also if there is no GPU to ask about, as on a developer's machine. */
	if (!options->target_count && (!options->asleep || options->probe || options->ask) &&
		child_check_command(err, options->worker))
		return -1;
	system = arena_open(sizeof *system);
	system->worker = options->worker;
	system->elsewhere = options->target_count != 0;
	system->gpus = arena_array(system, PROTOCOL_MAX_DEVICES, sizeof *system->gpus);
	/* An account without a home has no state. */
	if (os_state_dir(&why, &system->state_dir) && error_unless_missing(err, &why))
		goto fail;
	(void)arena_keep(system, system->state_dir);
	if (system->state_dir && state_may_write(&why, system->state_dir))
		(void)text_format(system->why_forgets, sizeof system->why_forgets,
						  "%.200s cannot be written to (%.280s)", system->state_dir, why.message);
	if (given->scratch) {
		system->scratch = arena_alloc(system, sizeof *system->scratch);
		if (run_folder_make(err, system->state_dir, system->scratch))
			goto fail;
		/* The first insert makes the cache, with its final permissions. */
		how.cache_dir = arena_keep(system, os_join(system->scratch->path, "ComputeCache"));
	}
	if (cache_settings_read(err, system, options->cache_dir, &system->cache))
		goto fail;
	system->cache.named = options->cache_dir != NULL;
	if (options->target_count ? open_elsewhere(err, options, system)
							  : open_here(err, options, system))
		goto fail;
	settle_settings(options, system);
	*ret_system = system;
	return 0;
fail:
	jw_system_free(system);
	return -1;
}

int jw_system_write_profile(struct jw_error *err, const struct jw_system *system, const char *path)
{
	const struct cache_profile profile = profile_of_system(system);

	if (!system->driver.library[0])
		return error_set(err, JW_ERR_NOT_FOUND, "%s", system->why_none);
	if (!profile_is_known(system))
		return error_set(err, JW_ERR_UNSUPPORTED,
						 "jitwarm does not know the names of this driver's entries");
	return cache_profile_write(err, path, &profile);
}

void jw_system_free(struct jw_system *system)
{
	if (system && system->scratch)
		run_folder_remove(system->scratch);
	jw_result_free(system);
}
