/* jw_export: writes the entries of a cache directory into a pack. */
#include <jitwarm/find.h>
#include <jitwarm/pack.h>

#include <string.h>

#include <sodium.h>

#include "base/arena.h"
#include "base/cancel.h"
#include "base/mem.h"
#include "base/set.h"
#include "base/text.h"
#include "cache/settings.h"
#include "os/clock.h"
#include "os/file.h"
#include "os/platform.h"
#include "pack/gather.h"
#include "pack/judge.h"
#include "pack/key_files.h"
#include "pack/trust.h"
#include "pack/writer.h"

/* With one thread an export takes 228 MB in all; two may take more than 350. */
enum { LEVEL_BEST = 19 };

struct job {
	const struct jw_export_options *options;
	const char *dir;
	void *owner; /* of `dir` */
	struct gather gather;
	struct pack_manifest manifest;
	size_t *contributors; /* for each member, the gathered item that contributes it */
	struct buf bytes;     /* the bytes of the contributor that was read last: */
	size_t loaded;
	struct gather_parts parts;
	struct os_file *file;
	uint64_t written_bytes;
	struct minisign_secret secret; /* set if the pack is signed */
	struct wanted_entries wanted;  /* the entries of the modules that the user named */
};

/* Returns whether an entry is exported. Threads call this while the set is only read. */
static bool is_export_wanted(void *context, uint64_t key, const struct jw_identity *identity)
{
	return wanted_has(&((const struct job *)context)->wanted, key, identity);
}

static int add_driver(struct jw_error *err, struct job *job, const char *stamp, uint32_t *ret_at)
{
	struct pack_manifest *manifest = &job->manifest;
	uint32_t at = 0;

	while (at < manifest->driver_count && strcmp(manifest->drivers[at].stamp, stamp) != 0)
		at++;
	if (at == PACK_MAX_DRIVERS)
		return error_set(err, JW_ERR_LIMIT,
						 "entries of more than %d drivers: name some with --arch",
						 PACK_MAX_DRIVERS);
	if (at == manifest->driver_count)
		pack_driver_of_stamp(&manifest->drivers[manifest->driver_count++], stamp,
							 job->options->system);
	*ret_at = at;
	return 0;
}

static int make_export_manifest(struct jw_error *err, struct job *job)
{
	struct pack_manifest *manifest = &job->manifest;
	const size_t count = job->gather.count;
	struct set set = {0};
	int result = 0;

	if (count > PACK_MAX_ENTRIES)
		return error_set(err, JW_ERR_LIMIT, "a pack holds at most %d entries", PACK_MAX_ENTRIES);
	TEXT_COPY(manifest->os, os_name);
	manifest->entries = mem_array(count, sizeof *manifest->entries);
	manifest->members = mem_array(2 * count, sizeof *manifest->members);
	manifest->drivers = mem_array(PACK_MAX_DRIVERS, sizeof *manifest->drivers);
	job->contributors = mem_array(2 * count, sizeof *job->contributors);
	/* Writes each payload, then the cubins compiled from it: a cubin has its module's names, and
	 * with line numbers its text, so that one helps to compress the other. */
	for (size_t i = 0; !result && i < count; i++) {
		struct gathered *item = &job->gather.items[i];
		const struct pack_member ptx = {
			.kind = PACK_PTX, .digest = item->payload, .size_bytes = item->payload_bytes};
		const struct pack_member cubin = {
			.kind = PACK_CUBIN, .digest = item->cubin, .size_bytes = item->cubin_bytes};
		const size_t before = manifest->member_count;

		result = add_driver(err, job, item->stamp, &item->entry.driver) ||
						 manifest_add_member(err, manifest, &set, &ptx, &item->entry.ptx) ||
						 manifest_add_member(err, manifest, &set, &cubin, &item->entry.cubin)
					 ? -1
					 : 0;
		for (size_t at = before; at < manifest->member_count; at++)
			job->contributors[at] = i;
		if (!result) {
			manifest->entries[manifest->entry_count++] = item->entry;
			item->entry.options = NULL; /* the manifest owns it now */
		}
	}
	set_free(&set);
	return result;
}

static int gather_entries(struct jw_error *err, struct job *job, struct jw_export_result *result)
{
	struct jw_export_options options = *job->options;
	struct jw_error why = {0};

	if (options.path_count || options.found) {
		if (wanted_of_paths(err, job->options, &job->wanted))
			return -1;
		if (!job->wanted.keys.count)
			return error_set(err, JW_ERR_NOT_FOUND,
							 "there is nothing to export: for these GPUs the driver compiles none "
							 "of what was named");
		options.context = job;
		options.wanted = is_export_wanted;
	}
	if (gather_cache(&why, &options, job->dir, &job->gather, result))
		return why.code == JW_ERR_NOT_FOUND && !os_exists(job->dir)
				   ? error_set(err, JW_ERR_NOT_FOUND,
							   "%s: the cache is empty: run “jitwarm prime” first", job->dir)
				   : error_copy(err, &why);
	if (job->gather.count)
		return make_export_manifest(err, job);
	if (result->other_drivers)
		return error_set(err, JW_ERR_NOT_FOUND,
						 "%s: holds entries of other drivers only (%zu): --all exports them",
						 job->dir, result->other_drivers);
	return error_set(err, JW_ERR_NOT_FOUND,
					 result->other_targets ? "%s: holds nothing for these GPUs"
					 : options.wanted
						 ? "%s: holds nothing of what was named: run “jitwarm prime” first"
						 : "%s: holds no module of a program: run “jitwarm prime” first",
					 job->dir);
}

static int write_out(struct jw_error *err, void *context, const void *data, size_t size)
{
	struct job *job = context;
	const uint64_t at = job->written_bytes;

	job->written_bytes += size;
	return os_file_write(err, job->file, at, data, size);
}

static int put_content(struct jw_error *err, void *context, struct writer *writer)
{
	struct job *job = context;

	for (size_t i = 0; i < job->manifest.member_count; i++) {
		const struct pack_member *member = &job->manifest.members[i];
		const size_t item = job->contributors[i];
		char name[TAR_MAX_NAME + 1];

		if (cancel_check(err, &job->options->cancel) ||
			(item != job->loaded &&
			 gather_read(err, job->dir, &job->gather.items[item], &job->bytes, &job->parts)))
			return -1;
		job->loaded = item;
		if (writer_member(err, writer, pack_member_name(name, member),
						  member->kind == PACK_PTX ? job->parts.payload : job->parts.cubin,
						  member->size_bytes))
			return -1;
	}
	return 0;
}

static bool is_same_pack(const char *a, const char *b)
{
	struct os_map one, two;
	bool same = false;

	if (os_map_open(NULL, a, &one))
		return false;
	if (!os_map_open(NULL, b, &two)) {
		same = one.size == two.size && !memcmp(one.data, two.data, one.size);
		os_map_close(&two);
	}
	os_map_close(&one);
	return same;
}

/* Writes the pack beside the final file, and renames it when it is complete. */
static int replace_pack_file(struct jw_error *err, struct job *job, struct written *ret_written)
{
	const struct jw_export_options *options = job->options;
	const struct writer_options how = {
		.context = job,
		.write = write_out,
		.content = put_content,
		.level = options->best ? LEVEL_BEST : WRITER_USUAL,
		.workers = options->best ? 1 : 0,
	};
	char *real, *start, *path, *signature;
	struct jw_error why = {0};
	bool left = false, locked;
	int result = -1;

	if (os_replaceable(err, options->output, &real))
		return -1;
	os_sweep_unlocked(real);
	start = os_beside_start(real);
	path = mem_printf("%s%08x", start, (unsigned)randombytes_random());
	signature = mem_printf("%s.minisig", options->output);
	if (os_file_open(&why, path, OS_OPEN_CREATE, &job->file)) {
		/* The message names the path that the user typed, not the temporary file. */
		error_set(err, why.code == JW_ERR_NOT_FOUND ? JW_ERR_IO : why.code, "%s%s", options->output,
				  why.message + (text_starts(why.message, path) ? strlen(path) : 0));
		goto done;
	}
	/* The next export knows from the lock that this one is still running. */
	(void)os_file_lock(NULL, job->file, true, &locked);
	result = writer_pack(err, &how, &job->manifest, ret_written);
	/* The exported entries may leave the cache next, so the pack has to outlast a power loss. */
	if (!result)
		result = os_file_sync(err, job->file);
	os_file_close(job->file);
	job->file = NULL;
	if (!result) {
		/* Removes the signature of a former pack, unless it is still valid: no import would accept
		 * it, but the same entries make the same pack, whose signature holds. */
		left = !options->sign_key && os_exists(signature) && !is_same_pack(path, real);
		result = os_rename(err, path, real);
	}
	if (result)
		(void)os_remove(NULL, path);
	else
		os_sync_names(real);
	if (!result && left)
		result = os_remove(err, signature);
done:
	mem_free(signature);
	mem_free(path);
	mem_free(start);
	mem_free(real);
	return result;
}

/* Marks are stored under the cache's canonical name, which every program that fills it computes. */
static int find_export_directory(struct jw_error *err, struct job *job)
{
	const struct jw_export_options *options = job->options;
	struct jw_cache_info settings = {0};

	if (options->cache_dir && cache_settings_read(err, job->owner, options->cache_dir, &settings))
		return -1;
	job->dir = !settings.path && options->system ? options->system->cache.path : settings.path;
	return job->dir ? 0 : error_set(err, JW_ERR_NOT_FOUND, "the driver caches nothing here");
}

static void describe_export(const struct job *job, const struct written *written,
							struct jw_export_result *result)
{
	const struct pack_manifest *manifest = &job->manifest;

	for (size_t i = 0; i < manifest->member_count; i++) {
		result->modules += manifest->members[i].kind == PACK_PTX;
		result->cubins += manifest->members[i].kind == PACK_CUBIN;
	}
	for (size_t i = 0; i < job->gather.count; i++)
		result->entry_bytes += job->gather.items[i].file_bytes;
	(void)pack_targets_text(result->targets, manifest);
	(void)pack_drivers_text(result->drivers, manifest);
	result->entries = manifest->entry_count;
	result->content_bytes = manifest_content(manifest);
	result->pack_bytes = written->size_bytes;
	sodium_bin2hex(result->blake2b_512, sizeof result->blake2b_512, written->prehash,
				   PACK_PREHASH_SIZE);
}

/* Signs the pack; the signature is a separate file beside it. */
static int sign(struct jw_error *err, const struct job *job, const struct written *written,
				struct jw_export_result *result)
{
	const char *output = job->options->output;
	char *path = mem_printf("%s.minisig", output);
	struct minisign_public public_key;
	const int failed =
		trust_sign(err, &job->secret, &job->manifest, written->prehash, output, path);

	mem_free(path);
	if (failed)
		return -1;
	(void)minisign_id_text(result->signed_by, job->secret.id);
	minisign_public_of(&job->secret, &public_key);
	minisign_public_text(result->public_key, &public_key);
	return 0;
}

int jw_export(struct jw_error *err, const struct jw_export_options *options,
			  struct jw_export_result *ret_result)
{
	struct job job = {.options = options, .loaded = SIZE_MAX};
	struct jw_export_result result = {0};
	struct written written = {0};
	uint64_t started_ns = os_monotonic_ns();
	int done = -1;

	/* Reads the key first, so that a key that cannot sign is noticed before the work is done. */
	if (sodium_init() < 0)
		return error_set(err, JW_ERR_UNSUPPORTED, "this system has no random numbers");
	if (!options->output)
		return error_set(err, JW_ERR_USAGE, "an export needs the name of a file");
	if (options->found && !options->found->file_count)
		return error_set(err, JW_ERR_UNSUPPORTED,
						 "the named files and packages have no device code");
	job.owner = arena_open(0);
	if (find_export_directory(err, &job))
		goto done;
	if (options->system && options->system->driver.trust == JW_TRUST_OPAQUE) {
		error_set(err, JW_ERR_UNSUPPORTED,
				  "%s: the form of this driver's cache is not known: copy the folder as "
				  "it is, to machines with the same driver and GPU",
				  job.dir);
		goto done;
	}
	if (options->sign_key && keys_read(err, options->state_dir, options->sign_key, &job.secret))
		goto done;
	if (gather_entries(err, &job, &result) || replace_pack_file(err, &job, &written))
		goto done;
	if (options->sign_key && sign(err, &job, &written, &result))
		goto done;
	describe_export(&job, &written, &result);
	result.seconds = (double)(os_monotonic_ns() - started_ns) / 1e9;
	*ret_result = result;
	done = 0;
done:
	wanted_free(&job.wanted);
	minisign_forget(&job.secret, sizeof job.secret);
	gather_free(&job.gather);
	manifest_free(&job.manifest);
	buf_free(&job.bytes);
	mem_free(job.contributors);
	jw_result_free(job.owner);
	return done;
}
