#include <jitwarm/ahead.h>

#include <string.h>

#include "base/cancel.h"
#include "base/json_table.h"
#include "base/mem.h"
#include "base/text.h"
#include "cache/former.h"
#include "cache/insert.h"
#include "cache/profile.h"
#include "cache/verified.h"
#include "code/release.h"
#include "driver/state_file.h"
#include "os/clock.h"
#include "os/file.h"
#include "os/folders.h"
#include "os/library.h"
#include "os/platform.h"

static const char schema[] = "jitwarm.ahead/1";

/* The content of the state file, with members that the public struct does not have. */
struct record {
	struct jw_ahead ahead;
	char stamp[CACHE_STAMP_SIZE + 1];      /* the running driver's stamp */
	char next_stamp[CACHE_STAMP_SIZE + 1]; /* src/pack/prune.c spares entries with this stamp */
	/* The limit that had no room, and when the machine with this limit was booted. */
	uint64_t held_bytes, held_boot_s;
	uint64_t written_s; /* see src/pack/prepared.c */
};

static const char *const state_names[] = {
	[JW_AHEAD_NONE] = "none",
	[JW_AHEAD_NOTICED] = "noticed",
	[JW_AHEAD_UNFINISHED] = "unfinished",
	[JW_AHEAD_COMPILING] = "compiling",
	[JW_AHEAD_READY] = "ready",
	[JW_AHEAD_LIVE] = "live",
	[JW_AHEAD_UNDONE] = "undone",
	[JW_AHEAD_NO_ROOM] = "no-room",
	[JW_AHEAD_NO_COMPILER] = "no-compiler",
	[JW_AHEAD_FAILED] = "failed",
	[JW_AHEAD_FAILED + 1] = NULL,
};

const char *jw_ahead_state_name(enum jw_ahead_state state)
{
	return state_names[state];
}

#define KEPT(name, member) JSON_AS(name, struct record, member, NULL)
static const struct json_field record_fields[] = {
	KEPT("running", ahead.running),
	KEPT("next", ahead.next),
	KEPT("stamp", stamp),
	KEPT("next_stamp", next_stamp),
	KEPT("modules", ahead.modules),
	KEPT("ready", ahead.ready),
	KEPT("stored", ahead.stored),
	KEPT("limit_bytes", ahead.limit_bytes),
	KEPT("held_bytes", held_bytes),
	KEPT("held_boot_s", held_boot_s),
	KEPT("written_s", written_s),
	KEPT("why", ahead.why),
	/* This row is the last: if the state is unknown, everything else is read. */
	JSON_AS("state", struct record, ahead.state, NULL, .names = state_names),
	{0},
};
static const struct json_table record_table = {.schema = schema, .fields = record_fields};

/* The state of one call; only one prepares at a time. */
struct ahead_work {
	const struct jw_ahead_options *options;
	struct jw_prime_options prime;
	struct record record;
	char *state_dir; /* NULL if nothing is stored */
	char *library; /* the library of the driver that is compared with the running one; NULL if there
					  is none */
	bool booted;   /* `next` is running, and the record does not say so yet */
	struct os_file *lock; /* NULL if not taken, or if files cannot be locked */
};

/* Stores the record; without it a later call only reports less. */
static void keep_record(const struct ahead_work *work, enum jw_ahead_state state)
{
	struct record record = work->record;

	record.ahead.state = state;
	record.written_s = (uint64_t)os_now_s();
	(void)state_write(NULL, work->state_dir, STATE_AHEAD, json_object(&record_table, &record));
}

/* Takes the lock of preparing, for as long as it is open; returns false if another process holds
 * it. */
static bool take_ahead_lock(struct ahead_work *work, enum os_open how)
{
	char *path = work->state_dir ? os_join(work->state_dir, "ahead-lock") : NULL;
	bool taken = true;

	if (path && (how != OS_OPEN_LOCK || !os_make_parent(NULL, path, 0700)) &&
		!os_file_open(NULL, path, how, &work->lock) && os_file_lock(NULL, work->lock, true, &taken))
		taken = true;
	mem_free(path);
	return taken;
}

/* ---- which driver is running, and which one is next */

/* Returns the state of a run that has ended early, or had nothing to compile. */
static enum jw_ahead_state state_by_counts(const struct jw_ahead *ahead)
{
	if (ahead->modules && ahead->ready == ahead->modules)
		return JW_AHEAD_READY;
	return ahead->ready ? JW_AHEAD_UNFINISHED : JW_AHEAD_NOTICED;
}

/* The state that a compiling process has stored holds only while it lives. */
static void settle_state(struct ahead_work *work, struct jw_ahead *ahead)
{
	if (ahead->state == JW_AHEAD_COMPILING) {
		if (take_ahead_lock(work, OS_OPEN_UPDATE))
			ahead->state = state_by_counts(ahead);
		os_file_close(work->lock);
		work->lock = NULL;
	}
	if (!ahead->pending && ahead->state != JW_AHEAD_NONE)
		ahead->state = strcmp(ahead->running, ahead->next) != 0 ? JW_AHEAD_UNDONE : JW_AHEAD_LIVE;
}

static int find_next(struct jw_error *err, struct ahead_work *work, const char *library)
{
	struct jw_ahead *ahead = &work->record.ahead;
	struct cache_profile next = {0};
	const uint32_t *release = next.driver.release;
	struct jw_driver running = {0};
	char text[32] = "", name[32] = "";
	cJSON *document;

	(void)os_state_dir(NULL, &work->state_dir);
	os_running_driver(text);
	if (library && os_real_path(err, library, &work->library))
		return -1;
	if (!library && os_find_driver(NULL, &work->library))
		work->library = NULL;
	/* The library is read only if its name does not end in the running driver's version, or if
	 * the caller named it. */
	if (work->library && (library || !*text || !text_ends(work->library, text)) &&
		!cache_profile_find(NULL, work->state_dir, work->library, NULL, &next) && release[0])
		(void)text_format(name, sizeof name, release[2] ? "%u.%u.%02u" : "%u.%02u", release[0],
						  release[1], release[2]);
	if (library && !name[0])
		return error_set(err, JW_ERR_UNSUPPORTED,
						 "%s: cannot tell which driver this is: name the file whose name has "
						 "the version (libcuda.so.550.163.01), or a link to it",
						 library);
	document = state_read(work->state_dir, STATE_AHEAD);
	if (document)
		(void)json_take(NULL, NULL, document, &record_table, &work->record);
	cJSON_Delete(document);
	(void)jw_driver_parse(NULL, text, &running);
	ahead->pending =
		name[0] && running.release[0] && gpu_release_compare(running.release, release) != 0;
	TEXT_COPY(ahead->running, text);
	/* A later upgrade begins anew. */
	if (ahead->pending && strcmp(ahead->next, name) != 0) {
		work->record = (struct record){.ahead = {.state = JW_AHEAD_NOTICED, .pending = true},
									   .held_bytes = work->record.held_bytes,
									   .held_boot_s = work->record.held_boot_s};
		TEXT_COPY(ahead->running, text);
		TEXT_COPY(ahead->next, name);
	}
	if (ahead->pending && ahead->state == JW_AHEAD_NONE)
		ahead->state = JW_AHEAD_NOTICED;
	ahead->named = library != NULL;
	work->booted = ahead->state != JW_AHEAD_LIVE;
	settle_state(work, ahead);
	work->booted = work->booted && ahead->state == JW_AHEAD_LIVE;
	return 0;
}

static void work_free(struct ahead_work *work)
{
	os_file_close(work->lock);
	mem_free(work->state_dir);
	mem_free(work->library);
}

int jw_ahead_find(struct jw_error *err, const char *library, struct jw_ahead *ret_ahead)
{
	struct ahead_work work = {0};
	int result = find_next(err, &work, library);

	if (!result)
		*ret_ahead = work.record.ahead;
	work_free(&work);
	return result;
}

/* ---- preparing */

/* Finds the stamp of the running driver in the table, or in a profile that was kept when its
 * library was there. */
static int find_running_stamp(struct jw_error *err, struct ahead_work *work,
							  const struct jw_system *next)
{
	struct former_drivers drivers;
	struct jw_driver running = {0};

	(void)jw_driver_parse(NULL, work->record.ahead.running, &running);
	if (former_read(err, work->state_dir, next->driver.stamp, next->driver.version.release,
					&drivers))
		return -1;
	for (size_t i = 0; i < drivers.count; i++)
		if (drivers.items[i].verdict == FORMER_LIVING &&
			!gpu_release_compare(drivers.items[i].release, running.release))
			TEXT_COPY(work->record.stamp, drivers.items[i].stamp);
	former_free(&drivers);
	if (!work->record.stamp[0])
		return error_set(err, JW_ERR_UNSUPPORTED,
						 "jitwarm does not know the names under which the running driver %s keeps "
						 "its results, so it cannot prepare them for driver %s",
						 work->record.ahead.running, work->record.ahead.next);
	return 0;
}

/* Opens the next driver's system with this machine's GPUs. They are found without a driver, because
 * the installed one does not start under the running kernel module. */
static int open_next(struct jw_error *err, struct ahead_work *work, struct jw_system **ret_system)
{
	const struct jw_system_options asleep = {.asleep = true};
	struct jw_system_options how = {.worker = work->options->worker,
									.cache_dir = work->options->cache_dir,
									.driver_library = work->library};
	struct jw_target targets[64];
	struct jw_system *here;
	int result;

	if (jw_system_open(err, &asleep, &here))
		return -1;
	how.targets = targets;
	how.target_count = jw_system_targets(here, targets, sizeof targets / sizeof *targets);
	result = how.target_count ? jw_system_open(err, &how, ret_system)
							  : error_set(err, JW_ERR_NOT_FOUND, "%s", here->why_none);
	jw_system_free(here);
	if (result)
		return -1;
	if (find_running_stamp(err, work, *ret_system)) {
		jw_system_free(*ret_system);
		return -1;
	}
	TEXT_COPY((*ret_system)->user_stamp, work->record.stamp);
	TEXT_COPY(work->record.next_stamp, (*ret_system)->driver.stamp);
	return 0;
}

/* Opens the system of the driver that was the next one, and now runs. */
static int open_booted(struct jw_error *err, const struct ahead_work *work,
					   struct jw_system **ret_system)
{
	const struct jw_system_options how = {
		.probe = true, .worker = work->options->worker, .cache_dir = work->options->cache_dir};

	if (jw_system_open(err, &how, ret_system))
		return -1;
	/* The entries of the driver that now runs are not evicted, only those of the former one. */
	TEXT_COPY((*ret_system)->user_stamp, (*ret_system)->driver.stamp);
	return 0;
}

/* The part that takes tenths of a second, without a compiler. */
static const struct jw_prime_options reuse = {.no_compile = true};
static const struct jw_prime_options only_count = {.dry_run = true};

/* Reuses entries, and counts those that exist then. */
static int prepare_at_once(struct jw_error *err, struct ahead_work *work,
						   const struct jw_system *system, struct jw_prime_options prime)
{
	struct jw_ahead *ahead = &work->record.ahead;
	struct jw_prime_result *result;

	prime.plan.paths = work->prime.plan.paths;
	prime.plan.path_count = work->prime.plan.path_count;
	prime.plan.found = work->prime.plan.found;
	prime.plan.of_stamp = work->record.stamp;
	prime.reuse = work->prime.reuse;
	if (!prime.dry_run)
		prime.cancel = work->prime.cancel;
	if (jw_prime(err, system, &prime, &result))
		return -1;
	ahead->modules = result->plan.modules;
	ahead->ready = result->plan.warm;
	jw_result_free(result);
	return 0;
}

/* Moves the running driver's entries after all others: programs that compile meanwhile evict the
 * oldest, which should be those of the other driver. */
static void spare_running(const struct ahead_work *work, const struct jw_system *system)
{
	const struct cache_live_options how = {
		.limit_bytes = system->cache.limit_bytes,
		.stamp = work->record.ahead.pending ? work->record.stamp : system->driver.stamp};
	struct cache_live *live;

	/* Without modules, no empty cache is made. */
	if (!work->record.ahead.modules || cache_live_open(NULL, system->cache.path, &how, &live))
		return;
	(void)cache_put_own_last(NULL, live);
	(void)cache_live_close(NULL, live);
}

/* Returns whether the cache limit is too small for the results. False if the disk is full: it may
 * have space at the next call. */
static bool is_short_of_room(const struct jw_prime_result *result, const struct jw_system *system)
{
	return (result->plan.too_much &&
			result->plan.forecast.cache_bytes <= system->cache.free_bytes) ||
		   result->compile.stopped.code == JW_ERR_LIMIT;
}

/* Compiles the modules without room into the store; the first run after the boot takes them. */
static void compile_for_boot(struct ahead_work *work, const struct jw_system *system,
							 struct jw_prime_options prime)
{
	struct jw_prime_result *result;
	struct jw_error why = {0};

	prime.compile.store_only = true;
	/* Entries that the limit will not hold then are not taken then. */
	prime.plan.budget_bytes = system->cache.limit_bytes;
	if (jw_prime(&why, system, &prime, &result))
		return;
	if (!result->compile.interrupted && !result->keep.not_kept.code)
		work->record.ahead.stored =
			result->plan.cold - result->compile.undone - result->compile.failed;
	jw_result_free(result);
}

/* Compiles the remaining modules. With `full`, a former call had no room, and compiling would be in
 * vain again. */
static int compile_ahead(struct jw_error *err, struct ahead_work *work,
						 const struct jw_system *system, bool full, enum jw_ahead_state *ret_state)
{
	struct jw_ahead *ahead = &work->record.ahead;
	struct jw_prime_options prime = work->prime;
	struct jw_prime_result *primed;
	struct jw_error why = {0};
	bool fetches = false;
	int result;

	prime.plan.of_stamp = work->record.stamp;
	prime.compile.fetch = NULL;
	*ret_state = JW_AHEAD_NO_ROOM;
	if (full) {
		compile_for_boot(work, system, prime);
		return 0;
	}
	result = jw_prime(&why, system, &prime, &primed);
	if (result && why.code == JW_ERR_NOT_FOUND && work->prime.compile.fetch) {
		fetches = true;
		prime.compile.fetch = work->prime.compile.fetch;
		result = jw_prime(&why, system, &prime, &primed);
	}
	if (result) {
		/* If a network does not answer, the reused entries stay. */
		if (why.code != JW_ERR_NOT_FOUND &&
			!(fetches && (why.code == JW_ERR_IO || why.code == JW_ERR_FORMAT)))
			return error_copy(err, &why);
		*ret_state = JW_AHEAD_NO_COMPILER;
		TEXT_COPY(ahead->why, why.message);
		return 0;
	}
	ahead->stored = 0;
	*ret_state = JW_AHEAD_READY;
	if (primed->compile.undone || primed->compile.failed)
		*ret_state = primed->compile.interrupted        ? JW_AHEAD_UNFINISHED
					 : is_short_of_room(primed, system) ? JW_AHEAD_NO_ROOM
														: JW_AHEAD_FAILED;
	if (*ret_state == JW_AHEAD_NO_ROOM) {
		ahead->limit_bytes = system->cache.outlook.bytes + primed->plan.forecast.cache_bytes;
		work->record.held_bytes = system->cache.limit_bytes;
		work->record.held_boot_s = settled_boot_s();
		if (ahead->pending)
			compile_for_boot(work, system, prime);
	}
	if (primed->compile.stopped.code)
		TEXT_COPY(ahead->why, primed->compile.stopped.message);
	else if (primed->compile.failure_count)
		TEXT_COPY(ahead->why, primed->compile.failures[0].reason);
	jw_result_free(primed);
	return 0;
}

static int prepare_next(struct jw_error *err, struct ahead_work *work)
{
	struct jw_ahead *ahead = &work->record.ahead;
	enum jw_ahead_state state = JW_AHEAD_READY;
	struct jw_system *system;
	bool full;
	int result;

	if (ahead->pending ? open_next(err, work, &system) : open_booted(err, work, &system))
		return -1;
	/* Programs keep the limit with which they started, even if it was changed since. They would
	 * evict the oldest entries, those of the running driver. */
	full = ahead->pending && work->record.held_bytes &&
		   settled_same_boot(work->record.held_boot_s, settled_boot_s());
	if (full && system->cache.limit_bytes > work->record.held_bytes)
		system->cache.limit_bytes = work->record.held_bytes;
	full = full && ahead->state == JW_AHEAD_NO_ROOM;
	if (!full) {
		ahead->why[0] = '\0';
		ahead->limit_bytes = 0;
	}
	keep_record(work, JW_AHEAD_COMPILING);
	result = prepare_at_once(err, work, system, reuse);
	if (!result)
		spare_running(work, system);
	if (!result && work->options->reused)
		work->options->reused(work->prime.context, ahead);
	keep_record(work, JW_AHEAD_COMPILING);
	if (!result && ahead->ready == ahead->modules) {
		ahead->stored = 0;
	} else if (!result && !work->prime.no_compile) {
		result = compile_ahead(err, work, system, full, &state);
		spare_running(work, system);
		if (!result)
			result = prepare_at_once(err, work, system, only_count);
	}
	jw_system_free(system);
	/* Also applies if it was ready: entries may be evicted or wiped in between. */
	if (result || (state == JW_AHEAD_READY && ahead->modules))
		state = state_by_counts(ahead);
	ahead->state = ahead->pending ? state : JW_AHEAD_LIVE;
	keep_record(work, ahead->state);
	return result;
}

/* Returns whether the cache is to be prepared: for a pending driver, and for one that runs since
 * the last call, or was not ready then. */
static bool is_work_left(const struct ahead_work *work)
{
	const struct jw_ahead *ahead = &work->record.ahead;

	if (ahead->pending)
		return true;
	return ahead->state == JW_AHEAD_LIVE && work->record.stamp[0] &&
		   (work->booted || ahead->ready < ahead->modules);
}

int jw_ahead_prepare(struct jw_error *err, const struct jw_ahead_options *options,
					 struct jw_ahead *ret_ahead)
{
	struct ahead_work work = {.options = options};
	int result = find_next(err, &work, options->library);

	work.prime = options->prime ? *options->prime : (struct jw_prime_options){0};
	if (!result && is_work_left(&work)) {
		if (!take_ahead_lock(&work, OS_OPEN_LOCK))
			result = error_set(err, JW_ERR_BUSY,
							   "another process is preparing this account's cache for driver %s",
							   work.record.ahead.next);
		if (!result)
			result = prepare_next(err, &work);
	}
	if (!result)
		*ret_ahead = work.record.ahead;
	work_free(&work);
	return result;
}
