/* jw_pull: packs of a registry into a cache. */
#include <jitwarm/share.h>

#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/sized.h"
#include "base/text.h"
#include "os/clock.h"
#include "os/file.h"
#include "pack/key_files.h"
#include "share/artifact.h"
#include "share/oci_registry.h"
#include "share/plan_tag.h"
#include "state/run_folder.h"

enum { TIMEOUT_MS = 30000, MOST_PACKS = 512 };

struct pull {
	const struct jw_pull_options *options;
	const struct jw_import_options *how;
	struct reference reference;
	struct registry_options registry_how;
	struct registry *registry;
	struct share_plans plans;
	struct run_folder folder;
	struct artifact *items; /* with the digests of their manifests */
	size_t count, capacity;
	size_t unfit; /* packs that are not for this machine */
	struct jw_pull_result *result;
};

/* ---- which packs */

static int add_artifact(struct jw_error *err, struct pull *pull, const struct artifact *artifact)
{
	for (size_t i = 0; i < pull->count; i++)
		if (!strcmp(pull->items[i].manifest.digest, artifact->manifest.digest))
			return 0;
	if (VEC_ROOM(err, pull->items, pull->capacity, pull->count, MOST_PACKS))
		return -1;
	pull->items[pull->count++] = *artifact;
	return 0;
}

/* One pack of an index, which has to be what the index names. */
static int add_indexed(struct jw_error *err, struct pull *pull, const char *digest)
{
	struct artifact_list list = {0};
	int result;

	for (size_t i = 0; i < pull->count; i++)
		if (!strcmp(pull->items[i].manifest.digest, digest))
			return 0;
	if (artifact_fetch(err, pull->registry, digest, &list))
		return -1;
	result = list.index ? error_set(err, JW_ERR_FORMAT, "%s: %s: an index within an index",
									registry_place(pull->registry), digest)
						: add_artifact(err, pull, &list.items[0]);
	artifact_list_free(&list);
	return result;
}

static int pull_named(struct jw_error *err, struct pull *pull, const char *name)
{
	struct artifact_list list = {0};
	int result = artifact_fetch(err, pull->registry, name, &list);

	for (size_t i = 0; !result && i < list.count; i++) {
		/* One that stands alone is taken whatever its annotations say. */
		if (!list.index)
			result = add_artifact(err, pull, &list.items[i]);
		else if (artifact_fits(&list.items[i], pull->how->system))
			result = add_indexed(err, pull, list.items[i].manifest.digest);
		else
			pull->unfit++;
	}
	artifact_list_free(&list);
	return result;
}

static int add_planned(struct jw_error *err, struct pull *pull)
{
	struct jw_pull_result *result = pull->result;

	for (size_t i = 0; i < pull->plans.count; i++) {
		const char *tag = pull->plans.items[i].tag;
		struct jw_error why = {0};

		if (!pull_named(&why, pull, tag))
			continue;
		if (why.code != JW_ERR_NOT_FOUND)
			return error_copy(err, &why);
		if (!result->missed++)
			TEXT_COPY(result->missed_plan, tag);
	}
	return 0;
}

static int choose_packs(struct jw_error *err, struct pull *pull)
{
	const struct reference *reference = &pull->reference;
	const struct jw_pull_options *options = pull->options;
	const char *name = *reference->digest ? reference->digest : reference->tag;
	char driver[JW_DRIVER_TEXT];

	if (options->found &&
		share_plans_find(err, pull->how->system, options->found, &options->cancel, &pull->plans))
		return -1;
	if (*name ? pull_named(err, pull, name) : add_planned(err, pull))
		return -1;
	if (pull->count)
		return 0;
	if (pull->result->missed)
		return error_set(err, JW_ERR_NOT_FOUND,
						 "%s: no pack of this plan: %s; “jitwarm prime” compiles it here, and then "
						 "“jitwarm push” puts it there",
						 registry_place(pull->registry), pull->result->missed_plan);
	return error_set(err, JW_ERR_NOT_FOUND,
					 "%s%s%s: %s for these GPUs and %s; “jitwarm prime” compiles it here, and then "
					 "“jitwarm push” puts it there",
					 registry_place(pull->registry), *reference->tag ? ":" : "", reference->tag,
					 pull->unfit ? "no pack is" : "holds no pack",
					 jw_driver_text(driver, &pull->how->system->driver.version));
}

/* ---- one pack */

static bool is_key_planned(void *context, uint64_t key)
{
	return set_has(&((const struct pull *)context)->plans.keys, key);
}

static void tell_download(void *context, uint64_t done, uint64_t total)
{
	const struct pull *pull = context;

	if (pull->options->progress)
		pull->options->progress(pull->options->context, done, total);
}

static int pull_part(struct jw_error *err, struct pull *pull, const struct artifact_part *part,
					 const char *path)
{
	const struct blob_progress progress = {.context = pull, .tell = tell_download};
	struct os_file *file;
	int result;

	if (os_file_open(err, path, OS_OPEN_CREATE, &file))
		return -1;
	result = blob_pull(err, pull->registry, part->digest, part->size_bytes, file, &progress);
	os_file_close(file);
	return result;
}

/* Before the pack is downloaded; jw_import checks the signature itself. */
static int check_signer(struct jw_error *err, const struct pull *pull, const char *path)
{
	struct minisign_signature signature;
	struct minisign_public key;
	struct buf text = {0};
	char name[64];
	int result = os_read_file(err, path, MINISIGN_MOST_FILE, &text);

	if (!result && (minisign_read_signature(err, buf_text(&text), text.size, &signature) ||
					keys_find_trusted(err, pull->how->state_dir,
									  pull->how->cache_dir ? pull->how->cache_dir
														   : pull->how->system->cache.path,
									  signature.id, &key, name)))
		result = -1;
	buf_free(&text);
	return result;
}

static int refuse_pack(struct jw_error *err, const struct pull *pull, const char *why)
{
	return error_set(
		err, JW_ERR_NOT_FOUND,
		"%s: %s: a pack holds code that GPUs run with the rights of the user who starts "
		"a program; trust its maker's key with “jitwarm key trust PUBLIC-KEY” (push "
		"shows it), or add --allow-unsigned if you know where it comes from",
		registry_place(pull->registry), why);
}

static int pull_signature(struct jw_error *err, struct pull *pull, const struct artifact *artifact,
						  const char *path)
{
	struct jw_error why = {0};

	if (!*artifact->signature.digest)
		return pull->how->allow_unsigned ? 0 : refuse_pack(err, pull, "is not signed");
	if (pull_part(err, pull, &artifact->signature, path))
		return -1;
	if (pull->how->allow_unsigned || !check_signer(&why, pull, path))
		return 0;
	return why.code == JW_ERR_NOT_FOUND ? refuse_pack(err, pull, why.message)
										: error_copy(err, &why);
}

static int import_file(struct jw_error *err, struct pull *pull, const char *path,
					   struct jw_import_result **ret_result)
{
	struct jw_import_options how = *pull->how;

	how.path = path;
	how.wanted = NULL;
	if (pull->plans.count && (*pull->reference.tag || *pull->reference.digest)) {
		how.wanted = is_key_planned;
		how.context = pull;
	}
	return jw_import(err, &how, ret_result)
			   ? error_prefix(err, "%s", registry_place(pull->registry))
			   : 0;
}

static int pull_one(struct jw_error *err, struct pull *pull, const struct artifact *artifact,
					struct jw_import_result **ret_result)
{
	const char *name = *artifact->title ? artifact->title : "pack.jwpack";
	char *path = mem_printf(err, "%s/%s", pull->folder.path, name),
		 *signature = path ? mem_printf(err, "%s.minisig", path) : NULL;
	int result = -1;

	if (signature)
		result = pull_signature(err, pull, artifact, signature) ||
						 pull_part(err, pull, &artifact->pack, path) ||
						 import_file(err, pull, path, ret_result)
					 ? -1
					 : 0;
	/* The next pack may have the same name. */
	if (path)
		(void)os_remove(NULL, path);
	if (signature)
		(void)os_remove(NULL, signature);
	mem_free(path);
	mem_free(signature);
	return result;
}

static void describe_pulled(struct jw_pulled_pack *pack, const struct artifact *artifact)
{
	TEXT_COPY(pack->plan, artifact->plan);
	TEXT_COPY(pack->digest, artifact->manifest.digest);
	TEXT_COPY(pack->targets, artifact->targets);
	TEXT_COPY(pack->drivers, artifact->drivers);
	pack->pack_bytes = artifact->pack.size_bytes;
}

static int pull_packs(struct jw_error *err, struct pull *pull)
{
	struct jw_pull_result *result = pull->result;

	result->packs = mem_array(err, pull->count, sizeof *result->packs);
	if (!result->packs)
		return -1;
	for (size_t i = 0; i < pull->count; i++) {
		struct jw_pulled_pack *pack = &result->packs[result->pack_count++];

		describe_pulled(pack, &pull->items[i]);
		if (!pull_one(&pack->failed, pull, &pull->items[i], &pack->import))
			continue;
		/* Not found would mean that the registry has no such pack. */
		if (pack->failed.code == JW_ERR_NOT_FOUND)
			pack->failed.code = JW_ERR_FORMAT;
		result->failed++;
		if (pull->count == 1 || pack->failed.code == JW_ERR_INTERRUPTED ||
			pack->failed.code == JW_ERR_MEMORY)
			return error_copy(err, &pack->failed);
	}
	return result->failed == pull->count ? error_copy(err, &result->packs[0].failed) : 0;
}

/* ---- the whole */

static int open_pull(struct jw_error *err, struct pull *pull)
{
	const struct jw_pull_options *options = pull->options;

	if (!pull->how || !pull->how->system)
		return error_set(err, JW_ERR_USAGE, "a pull needs a system to import for");
	if (reference_parse(err, options->from, &pull->reference))
		return -1;
	if (!options->found && !*pull->reference.tag && !*pull->reference.digest)
		return error_set(err, JW_ERR_USAGE,
						 "“%.300s”: name the packages or files that the pack is for, or its tag: "
						 "oci://HOST/REPOSITORY:TAG",
						 options->from);
	pull->registry_how = (struct registry_options){
		.reference = &pull->reference,
		.web = {.plain = {options->insecure, options->insecure_hosts, options->insecure_host_count,
						  false, NULL},
				.timeout_ms = options->timeout_ms ? options->timeout_ms : TIMEOUT_MS,
				.cancel = &options->cancel,
				.traffic = &pull->result->traffic}};
	pull->registry = registry_open(err, &pull->registry_how);
	if (!pull->registry)
		return -1;
	TEXT_COPY(pull->result->place, registry_place(pull->registry));
	return choose_packs(err, pull) ||
				   run_folder_make(err, pull->how->system->state_dir, &pull->folder)
			   ? -1
			   : 0;
}

int jw_pull(struct jw_error *err, const struct jw_pull_options *options,
			struct jw_pull_result **ret_result)
{
	options = SIZED(err, options, struct jw_pull_options);
	if (!options)
		return -1;
	struct pull pull = {.options = options};
	const uint64_t started_ns = os_monotonic_ns();
	int failed;

	pull.how = options->how ? SIZED(err, options->how, struct jw_import_options) : NULL;
	if (options->how && !pull.how)
		return -1;
	pull.result = mem_alloc(err, sizeof *pull.result);
	if (!pull.result)
		return -1;
	failed = open_pull(err, &pull) || pull_packs(err, &pull) ? -1 : 0;
	registry_close(pull.registry);
	run_folder_remove(&pull.folder);
	share_plans_free(&pull.plans);
	mem_free(pull.items);
	pull.result->seconds = (double)(os_monotonic_ns() - started_ns) / 1e9;
	if (failed)
		jw_pull_result_free(pull.result);
	else
		*ret_result = pull.result;
	return failed;
}

void jw_pull_result_free(struct jw_pull_result *result)
{
	if (!result)
		return;
	for (size_t i = 0; i < result->pack_count; i++)
		jw_import_result_free(result->packs[i].import);
	mem_free(result->packs);
	mem_free(result);
}
