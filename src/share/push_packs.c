#include "share/push_packs.h"

#include <stdio.h>
#include <string.h>

#include <jitwarm/system.h>

#include "base/cancel.h"
#include "base/mem.h"
#include "base/text.h"
#include "machine/wanted_targets.h"
#include "os/file.h"
#include "pack/key_files.h"
#include "pack/pack_source.h"
#include "pack/reader.h"
#include "pack/trust.h"
#include "plan/analyse.h"
#include "share/plan_tag.h"

static const char *state_of(const struct jw_push_options *options)
{
	return options->state_dir ? options->state_dir
		   : options->system  ? options->system->state_dir
							  : NULL;
}

/* The tag of a pack without a plan: of the entries in it. */
static int tag_of_entries(struct jw_error *err, const struct pack_manifest *manifest,
						  char tag[JW_PLAN_TAG])
{
	uint64_t *keys = mem_array(err, manifest->entry_count, sizeof *keys);
	size_t count = manifest->entry_count;
	int result;

	if (!keys)
		return -1;
	for (size_t i = 0; i < count; i++)
		keys[i] = manifest->entries[i].key;
	result = share_plan_tag(err, keys, &count, tag);
	mem_free(keys);
	return result;
}

/* The name in the manifest, and in the signature. */
static void set_title(struct push_pack *pack, bool own)
{
	const char *name = os_base_name(pack->path);

	if (!own && strlen(name) < sizeof pack->artifact.title && reference_is_tag(name))
		TEXT_COPY(pack->artifact.title, name);
	else
		(void)snprintf(pack->artifact.title, sizeof pack->artifact.title, "%s.jwpack",
					   pack->artifact.plan);
}

static int sign_pack(struct jw_error *err, struct push_packs *packs, struct push_pack *pack,
					 const struct pack_manifest *manifest)
{
	struct source *source = NULL;
	struct minisign_public public_key;
	char *path = mem_printf(err, "%s/%s.minisig", packs->folder.path, pack->artifact.title);
	int result = -1;

	if (path && !source_open(err, pack->path, &source))
		result = trust_sign(err, &packs->secret, manifest, source_prehash(source),
							pack->artifact.title, path) ||
						 os_read_file(err, path, MINISIGN_MOST_FILE, &pack->signature)
					 ? -1
					 : 0;
	if (!result) {
		(void)minisign_id_text(pack->signed_by, packs->secret.id);
		minisign_public_of(&packs->secret, &public_key);
		minisign_public_text(pack->public_key, &public_key);
	}
	source_close(source);
	mem_free(path);
	return result;
}

/* Of the key, where it is known here; else by what jitwarm's comment says of the pack. */
static int check_signature_of(struct jw_error *err, const struct jw_push_options *options,
							  const struct push_pack *pack, const struct pack_manifest *manifest,
							  const char *path)
{
	const struct jw_import_options how = {.path = pack->path};
	struct jw_import_result *result = mem_alloc(err, sizeof *result);
	struct minisign_signature signature;
	struct minisign_public key;
	struct source *source = NULL;
	char name[64];
	int failed =
		!result || source_open(err, pack->path, &source) ||
		minisign_read_signature(err, buf_text(&pack->signature), pack->signature.size, &signature);

	if (!failed && !keys_find_trusted(NULL, state_of(options), NULL, signature.id, &key, name) &&
		!minisign_verify(&signature, &key, source_prehash(source)))
		failed = error_set(
			err, JW_ERR_FORMAT,
			"%s: is not the signature of this file by the key “%s”: one of the two was changed",
			path, name);
	if (!failed)
		failed = trust_check_comment(err, &how, source, &signature, manifest, result);
	source_close(source);
	jw_import_result_free(result);
	return failed ? -1 : 0;
}

/* A file that was signed before brings its signature along, unless it was written anew since: then
 * nobody could pull it. */
static int take_signature(struct jw_error *err, const struct jw_push_options *options,
						  struct push_pack *pack, const struct pack_manifest *manifest)
{
	char *path = mem_printf(err, "%s.minisig", pack->path);
	bool there = false;
	int result = path ? os_look(err, path, &there) : -1;

	if (there)
		result = os_read_file(err, path, MINISIGN_MOST_FILE, &pack->signature);
	if (there && !result)
		result = check_signature_of(err, options, pack, manifest, path);
	mem_free(path);
	return result;
}

static void set_blob(struct blob *blob, const char *type, const struct buf *text)
{
	*blob = (struct blob){.type = type, .data = text->data, .size_bytes = text->size};
}

static struct artifact_part blob_part(const struct blob *blob)
{
	struct artifact_part part = {.size_bytes = blob->size_bytes};

	TEXT_COPY(part.digest, blob->digest);
	return part;
}

/* From the pack and its signature to the manifest. */
static int make_blobs(struct jw_error *err, struct push_pack *pack, const struct jw_cancel *cancel)
{
	struct artifact *artifact = &pack->artifact;
	struct blob *blobs = pack->blobs;

	if (artifact_write_config(err, artifact, &pack->config) ||
		os_file_open(err, pack->path, OS_OPEN_READ, &pack->file))
		return -1;
	set_blob(&blobs[PUSH_CONFIG], ARTIFACT_CONFIG_TYPE, &pack->config);
	set_blob(&blobs[PUSH_SIGNATURE], ARTIFACT_SIGNATURE_TYPE, &pack->signature);
	blobs[PUSH_PACK] =
		(struct blob){.type = ARTIFACT_PACK_TYPE, .file = pack->file, .path = pack->path};
	for (size_t i = 0; i < PUSH_BLOBS; i++)
		if ((i != PUSH_SIGNATURE || pack->signature.size) && blob_measure(err, &blobs[i], cancel))
			return -1;
	artifact->config = blob_part(&blobs[PUSH_CONFIG]);
	artifact->pack = blob_part(&blobs[PUSH_PACK]);
	artifact->signature = blob_part(&blobs[PUSH_SIGNATURE]);
	if (artifact_write(err, artifact, &pack->manifest))
		return -1;
	registry_digest(artifact->manifest.digest, pack->manifest.data, pack->manifest.size);
	artifact->manifest.size_bytes = pack->manifest.size;
	TEXT_COPY(pack->own_digest, artifact->manifest.digest);
	return 0;
}

/* `plan` NULL: the pack's own entries are its plan. `own`: we have just made the file. */
static int describe_pushed(struct jw_error *err, const struct jw_push_options *options,
						   struct push_packs *packs, struct push_pack *pack,
						   const struct share_plan *plan, bool own)
{
	struct pack_manifest manifest;
	int result;

	if (reader_manifest(err, pack->path, &manifest))
		return -1;
	artifact_describe(&pack->artifact, &manifest);
	if (plan) {
		TEXT_COPY(pack->artifact.plan, plan->tag);
		pack->missing = plan->count - manifest.entry_count;
	}
	result = plan ? 0 : tag_of_entries(err, &manifest, pack->artifact.plan);
	if (!result) {
		set_title(pack, own);
		result = options->sign_key ? sign_pack(err, packs, pack, &manifest)
				 : own             ? 0
								   : take_signature(err, options, pack, &manifest);
	}
	manifest_free(&manifest);
	return result || make_blobs(err, pack, &options->cancel) ? -1 : 0;
}

static bool is_in_plan(void *context, uint64_t key)
{
	return set_has(&((const struct share_plans *)context)->keys, key);
}

/* One architecture's entries. JW_ERR_NOT_FOUND: there are none. */
static int export_for(struct jw_error *err, const struct jw_push_options *options,
					  const struct jw_target *target, struct share_plans *plans, const char *path)
{
	const struct jw_export_options how = {.size = sizeof how,
										  .system = options->system,
										  .cache_dir = options->cache_dir,
										  .targets = target,
										  .target_count = target ? 1 : 0,
										  .output = path,
										  .state_dir = state_of(options),
										  .cancel = options->cancel,
										  .context = plans,
										  .wanted = plans ? is_in_plan : NULL};
	struct jw_export_result result = JW_EXPORT_RESULT_INIT;

	return jw_export(err, &how, &result);
}

/* Adds the pack of an architecture, if the cache has any of its entries; NULL: of all. */
static int add_exported(struct jw_error *err, const struct jw_push_options *options,
						const struct jw_target *target, struct share_plans *plans, size_t at,
						struct push_packs *packs)
{
	struct push_pack *pack = &packs->items[packs->count];
	struct jw_error why = {0};

	*pack = (struct push_pack){.path = mem_printf(err, "%s/%zu.jwpack", packs->folder.path, at)};
	if (!pack->path)
		return -1;
	packs->count++;
	if (!export_for(&why, options, target, plans, pack->path))
		return describe_pushed(err, options, packs, pack, plans ? &plans->items[at] : NULL, true);
	if (why.code != JW_ERR_NOT_FOUND)
		return error_copy(err, &why);
	mem_free(pack->path);
	packs->count--;
	return error_copy(err, &why);
}

/* The architectures: those of the plans, else those of the GPUs here. An opaque cache has none. */
static size_t find_push_targets(const struct jw_push_options *options,
								const struct share_plans *plans, struct jw_target *targets)
{
	size_t count = 0;

	if (options->system->driver.trust == JW_TRUST_OPAQUE)
		return 0;
	if (!options->found)
		return wanted_targets(options->system, NULL, 0, targets, ANALYSE_MOST_TARGETS);
	for (; count < plans->count && count < ANALYSE_MOST_TARGETS; count++)
		targets[count] = plans->items[count].target;
	return count;
}

static int make_of_cache(struct jw_error *err, const struct jw_push_options *options,
						 struct push_packs *packs)
{
	struct jw_target targets[ANALYSE_MOST_TARGETS];
	struct share_plans plans = {0};
	struct jw_error why = {0};
	size_t count;
	int result = 0;

	if (options->found &&
		share_plans_find(err, options->system, options->found, &options->cancel, &plans))
		return -1;
	count = find_push_targets(options, &plans, targets);
	packs->items = mem_array(err, count + 1, sizeof *packs->items);
	if (!packs->items)
		result = -1;
	/* An architecture without entries is left out. */
	for (size_t i = 0; !result && i < (count ? count : 1); i++) {
		why = (struct jw_error){0};
		result = add_exported(&why, options, count ? &targets[i] : NULL,
							  options->found ? &plans : NULL, i, packs);
		if (result && why.code == JW_ERR_NOT_FOUND)
			result = 0;
		else if (result)
			error_copy(err, &why);
	}
	share_plans_free(&plans);
	return !result && !packs->count ? error_copy(err, &why) : result;
}

static int make_of_file(struct jw_error *err, const struct jw_push_options *options,
						struct push_packs *packs)
{
	packs->items = mem_array(err, 1, sizeof *packs->items);
	if (!packs->items || !(packs->items->path = mem_string(err, options->pack)))
		return -1;
	packs->count = 1;
	return describe_pushed(err, options, packs, packs->items, NULL, false);
}

int push_packs_make(struct jw_error *err, const struct jw_push_options *options,
					struct push_packs *packs)
{
	if (!options->pack && !options->system)
		return error_set(err, JW_ERR_USAGE, "neither a pack nor a system to push from");
	/* A wrong passphrase is noticed before the work is done. */
	if ((options->sign_key && keys_unlock(err, state_of(options), options->sign_key,
										  options->passphrase, &packs->secret)) ||
		run_folder_make(err, state_of(options), &packs->folder))
		return -1;
	return options->pack ? make_of_file(err, options, packs) : make_of_cache(err, options, packs);
}

void push_packs_free(struct push_packs *packs)
{
	for (size_t i = 0; i < packs->count; i++) {
		struct push_pack *pack = &packs->items[i];

		os_file_close(pack->file);
		buf_free(&pack->config);
		buf_free(&pack->signature);
		buf_free(&pack->manifest);
		mem_free(pack->path);
	}
	mem_free(packs->items);
	run_folder_remove(&packs->folder);
	minisign_forget(&packs->secret, sizeof packs->secret);
	*packs = (struct push_packs){0};
}
