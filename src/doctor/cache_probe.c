#include "doctor/cache_probe.h"

#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "cache/entry.h"
#include "machine/device_pool.h"
#include "machine/driver_probe.h"
#include "machine/driver_query.h"
#include "os/file.h"
#include "state/run_folder.h"
#include "worker/worker_command.h"

enum { LIMIT_S = 60, LOADS = 2, LEAST_LIMIT = 1 << 16 };

/* Another entry would evict or delete what is there, or the driver would hang. */
static bool is_worth_a_probe(const struct jw_system *system)
{
	const struct jw_cache_info *cache = &system->cache;

	return system->gpu_count && profile_is_known(system) && cache->path && !cache->disabled &&
		   cache->usable && !cache->force_ptx_jit && cache->limit_bytes >= LEAST_LIMIT &&
		   !strcmp(cache->outlook.next_insert, "adds");
}

/* A driver that compiles a module again writes its entry again. */
static bool is_as_before(const struct os_stat *before, const struct os_stat *after)
{
	return before->inode == after->inode && before->size_bytes == after->size_bytes &&
		   before->mtime_ns == after->mtime_ns && before->changed_ns == after->changed_ns;
}

static int load_probe(struct jw_error *err, const struct jw_system *system,
					  const struct protocol_job *job, const struct jw_cancel *cancel,
					  struct cache_probe *probe)
{
	const struct driver_query ask = {
		.worker = system->worker, .job = job, .limit_s = LIMIT_S, .cancel = cancel};
	struct protocol_hello hello = {0};
	struct protocol_answer answer = {0};
	struct jw_error why = {0};

	if (driver_query(&why, &ask, &hello, &answer)) {
		if (why.code != JW_ERR_DRIVER)
			return error_copy(err, &why);
		TEXT_COPY(probe->why, why.message);
	} else if (hello.result || answer.result || answer.no_context) {
		const int mode =
			job->device < (int)hello.device_count ? hello.devices[job->device].compute_mode : 0;

		(void)snprintf(probe->why, sizeof probe->why, "%.500s%s",
					   hello.result ? hello.error : answer.error, device_pool_mode_text(mode));
	}
	return 0;
}

/* Loads it until the entry is there before a load, at most twice. */
static int load_twice(struct jw_error *err, const struct jw_system *system,
					  const struct protocol_job *job, const struct jw_cancel *cancel,
					  struct cache_probe *probe)
{
	bool there = false;

	for (unsigned load = 0; load < LOADS && !there; load++) {
		struct os_stat before, after;

		there = !os_stat(NULL, probe->entry, &before);
		if (load_probe(err, system, job, cancel, probe))
			return -1;
		if (probe->why[0])
			probe->use = JW_PROBE_FAILED;
		else if (os_stat(NULL, probe->entry, &after))
			probe->use = JW_PROBE_REFUSED;
		else if (there)
			probe->use = is_as_before(&before, &after) ? JW_PROBE_HIT : JW_PROBE_UNREAD;
		if (probe->why[0] || probe->use == JW_PROBE_REFUSED)
			return 0;
	}
	return 0;
}

int cache_probe(struct jw_error *err, const struct jw_system *system,
				const struct jw_cancel *cancel, struct cache_probe *ret_probe)
{
	const struct cache_profile profile = profile_of_system(system);
	struct run_folder folder = {0};
	struct protocol_job job = {.form = CACHE_KEY_LOAD};
	struct cache_probe probe = {.use = JW_PROBE_NOT};
	char *container = NULL;
	struct os_stat stat;
	int result = -1;

	/* Another account could have put a link there, which the superuser's driver would follow. */
	if (is_worth_a_probe(system) && !os_is_private(system->cache.path))
		probe.use = JW_PROBE_UNSAFE;
	if (probe.use || !is_worth_a_probe(system)) {
		*ret_probe = probe;
		return 0;
	}
	probe.entry = cache_entry_path(err, system->cache.path,
								   driver_probe_key(&profile, system->gpus[0].target.sm));
	if (!probe.entry || run_folder_make(err, system->state_dir, &folder))
		goto done;
	container = os_join(err, folder.path, "probe.fatbin");
	if (!container || strlen(container) >= sizeof job.path || driver_probe_write(err, container) ||
		os_stat(err, container, &stat))
		goto done;
	job.device = system->gpus[0].ordinal;
	job.size_bytes = stat.size_bytes;
	TEXT_COPY(job.path, container);
	result = load_twice(err, system, &job, cancel, &probe);
done:
	mem_free(container);
	run_folder_remove(&folder);
	if (result)
		mem_free(probe.entry);
	else
		*ret_probe = probe;
	return result;
}
