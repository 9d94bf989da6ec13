/* jw_push: packs made of a cache, or a file, into a registry. */
#include <sodium.h>
#include <stdio.h>
#include <string.h>

#include <jitwarm/share.h>

#include "base/cancel.h"
#include "base/mem.h"
#include "base/sized.h"
#include "base/text.h"
#include "machine/known_gpus.h"
#include "os/clock.h"
#include "os/file.h"
#include "pack/key_files.h"
#include "pack/minisign.h"
#include "pack/reader.h"
#include "pack/trust.h"
#include "plan/analyse.h"
#include "share/artifact.h"
#include "share/oci_registry.h"
#include "share/plan_tag.h"
#include "state/run_folder.h"

enum { PUSH_CONFIG, PUSH_SIGNATURE, PUSH_PACK, PUSH_BLOBS };

struct push_pack {
	struct artifact artifact;
	char own_digest[REFERENCE_DIGEST]; /* of `manifest`, whatever the registry has instead */
	size_t missing;                    /* entries of the plan that the cache lacks */
	char signed_by[MINISIGN_ID_TEXT], public_key[MINISIGN_PUBLIC_TEXT];
	struct blob blobs[PUSH_BLOBS]; /* without a digest: there is none */
	struct buf config, signature, manifest;
	char *path;
	struct os_file *file;
};

struct push_packs {
	struct push_pack *items;
	size_t count;
	struct run_folder folder;
	struct minisign_secret secret;
};

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

/* Of a key that is known here. */
static int check_signature_of(struct jw_error *err, const struct jw_push_options *options,
							  const struct push_pack *pack, const char *path)
{
	struct minisign_signature signature;
	struct minisign_public key;
	struct source *source = NULL;
	char name[64];
	int failed =
		source_open(err, pack->path, &source) ||
		minisign_read_signature(err, buf_text(&pack->signature), pack->signature.size, &signature);

	if (!failed && !keys_find_trusted(NULL, state_of(options), NULL, signature.id, &key, name) &&
		!minisign_verify(&signature, &key, source_prehash(source)))
		failed = error_set(
			err, JW_ERR_FORMAT,
			"%s: is not the signature of this file by the key “%s”: one of the two was changed",
			path, name);
	source_close(source);
	return failed ? -1 : 0;
}

/* A file that was signed before brings its signature along, unless it was written anew since: then
 * nobody could pull it. */
static int take_signature(struct jw_error *err, const struct jw_push_options *options,
						  struct push_pack *pack)
{
	char *path = mem_printf(err, "%s.minisig", pack->path);
	bool there = false;
	int result = path ? os_look(err, path, &there) : -1;

	if (there)
		result = os_read_file(err, path, MINISIGN_MOST_FILE, &pack->signature);
	if (there && !result)
		result = check_signature_of(err, options, pack, path);
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
								   : take_signature(err, options, pack);
	}
	manifest_free(&manifest);
	return result || make_blobs(err, pack, &options->cancel) ? -1 : 0;
}

static bool is_in_plan(void *context, uint64_t key)
{
	return set_has(&((const struct share_plans *)context)->keys, key);
}

/* One architecture's entries. JW_ERR_NOT_FOUND: the cache has none. */
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

/* Adds the pack of an architecture, NULL: of all; if the cache has none of its entries, `ret_none`
 * says why. */
static int add_exported(struct jw_error *err, const struct jw_push_options *options,
						const struct jw_target *target, struct share_plans *plans, size_t at,
						struct push_packs *packs, struct jw_error *ret_none)
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
	*ret_none = why;
	return 0;
}

/* The architectures: those of the plans, else those of the GPUs here. */
static size_t find_push_targets(const struct jw_push_options *options,
								const struct share_plans *plans, struct jw_target *targets)
{
	size_t count = 0;

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
	struct jw_error none = {0};
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
	for (size_t i = 0; !result && i < (count ? count : 1); i++)
		result = add_exported(err, options, count ? &targets[i] : NULL,
							  options->found ? &plans : NULL, i, packs, &none);
	share_plans_free(&plans);
	return !result && !packs->count ? error_copy(err, &none) : result;
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

/* JW_ERR_NOT_FOUND: nothing to push. The caller frees in any case. */
static int push_packs_make(struct jw_error *err, const struct jw_push_options *options,
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

static void push_packs_free(struct push_packs *packs)
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

enum { MOST_ROUNDS = 4, TIMEOUT_MS = 30000 };

struct push {
	const struct jw_push_options *options;
	struct reference reference;
	struct registry_options how;
	struct registry *registry;
	struct push_packs packs;
	struct jw_push_result *result;
};

/* Whether the registry has at least as much under the plan's own tag. Ours takes its place only if
 * it holds as many entries: what machines have compiled so far grows. How many there are is the
 * word of whoever may push: no honest pack has more than its plan, so that a whole one always
 * goes there. */
static int look_at_plan(struct jw_error *err, struct push *push, struct push_pack *pack,
						struct jw_pushed_pack *told)
{
	char digest[REFERENCE_DIGEST];
	struct artifact_list list = {0};
	struct jw_error why = {0};

	if (registry_head(err, push->registry, pack->artifact.plan, digest))
		return -1;
	told->there = !strcmp(digest, pack->artifact.manifest.digest);
	if (!*digest || told->there)
		return 0;
	/* What cannot be read is replaced. */
	if (artifact_fetch(&why, push->registry, pack->artifact.plan, &list))
		return why.code == JW_ERR_FORMAT || why.code == JW_ERR_LIMIT ? 0 : error_copy(err, &why);
	if (!list.index && list.items[0].entries > pack->artifact.entries &&
		list.items[0].entries <= pack->artifact.entries + pack->missing) {
		told->fuller = true;
		pack->artifact = list.items[0];
	}
	artifact_list_free(&list);
	return 0;
}

static int push_pack(struct jw_error *err, struct push *push, struct push_pack *pack,
					 struct jw_pushed_pack *told)
{
	if (look_at_plan(err, push, pack, told))
		return -1;
	TEXT_COPY(told->plan, pack->artifact.plan);
	TEXT_COPY(told->digest, pack->artifact.manifest.digest);
	TEXT_COPY(told->targets, pack->artifact.targets);
	TEXT_COPY(told->drivers, pack->artifact.drivers);
	TEXT_COPY(told->signed_by, pack->signed_by);
	TEXT_COPY(told->public_key, pack->public_key);
	told->entries = (size_t)pack->artifact.entries;
	told->missing = told->fuller ? 0 : pack->missing;
	told->pack_bytes = pack->artifact.pack.size_bytes;
	if (told->there || told->fuller)
		return 0;
	/* The manifest comes last: it names only what is there. */
	for (size_t i = 0; i < PUSH_BLOBS; i++)
		if (*pack->blobs[i].digest && blob_push(err, push->registry, &pack->blobs[i]))
			return -1;
	return registry_put(err, push->registry, pack->artifact.plan, REGISTRY_MANIFEST,
						&pack->manifest);
}

/* ---- the tag beside the plans' */

static bool has_manifest(const struct artifact_list *list, const struct artifact *artifact)
{
	for (size_t i = 0; i < list->count; i++)
		if (!strcmp(list->items[i].manifest.digest, artifact->manifest.digest))
			return true;
	return false;
}

/* What the tag names now: nothing, one pack, or an index. */
static int read_tagged(struct jw_error *err, struct push *push, struct artifact_list *ret_list)
{
	struct jw_error why = {0};

	*ret_list = (struct artifact_list){0};
	if (!artifact_fetch(&why, push->registry, push->reference.tag, ret_list))
		return 0;
	if (why.code == JW_ERR_FORMAT || why.code == JW_ERR_LIMIT)
		return error_set(err, JW_ERR_FORMAT, "%s; choose another tag", why.message);
	return why.code == JW_ERR_NOT_FOUND ? 0 : error_copy(err, &why);
}

/* Ours take the places of others for the same GPUs and drivers. */
static int merge_packs_into(struct jw_error *err, const struct push *push,
							const struct artifact_list *old, struct artifact_list *ret_new)
{
	struct artifact_list merged = {.index = true};

	merged.items = mem_array(err, old->count + push->packs.count, sizeof *merged.items);
	if (!merged.items)
		return -1;
	for (size_t i = 0; i < old->count; i++) {
		bool replaced = false;

		for (size_t j = 0; j < push->packs.count; j++)
			replaced =
				replaced || artifact_same_kind(&old->items[i], &push->packs.items[j].artifact);
		if (!replaced)
			merged.items[merged.count++] = old->items[i];
	}
	for (size_t j = 0; j < push->packs.count; j++)
		merged.items[merged.count++] = push->packs.items[j].artifact;
	if (merged.count > ARTIFACT_MOST) {
		artifact_list_free(&merged);
		return error_set(err, JW_ERR_LIMIT, "more than %d packs under one tag", ARTIFACT_MOST);
	}
	*ret_new = merged;
	return 0;
}

static int put_tag(struct jw_error *err, struct push *push, const struct artifact_list *merged)
{
	const char *tag = push->reference.tag;
	struct buf text = {0};
	int result;

	if (merged->count == 1 && push->packs.items[0].manifest.size &&
		!strcmp(merged->items[0].manifest.digest, push->packs.items[0].own_digest))
		return registry_put(err, push->registry, tag, REGISTRY_MANIFEST,
							&push->packs.items[0].manifest);
	result = artifact_write_index(err, merged->items, merged->count, &text) ||
					 registry_put(err, push->registry, tag, REGISTRY_INDEX, &text)
				 ? -1
				 : 0;
	buf_free(&text);
	return result;
}

/* Machines of several kinds may push at the same time, and a registry has no locks: each looks
 * again whether its own is still there. */
static int set_tag(struct jw_error *err, struct push *push)
{
	for (size_t round = 0; round < MOST_ROUNDS; round++) {
		struct artifact_list old, merged = {0};
		bool all = true;
		int result;

		if (read_tagged(err, push, &old))
			return -1;
		for (size_t i = 0; all && i < push->packs.count; i++)
			all = has_manifest(&old, &push->packs.items[i].artifact);
		result =
			all ? 0 : merge_packs_into(err, push, &old, &merged) || put_tag(err, push, &merged);
		artifact_list_free(&old);
		artifact_list_free(&merged);
		if (all || result)
			return result ? -1 : 0;
	}
	return error_set(err, JW_ERR_IO, "%s:%s: others change this tag all the time",
					 registry_place(push->registry), push->reference.tag);
}

/* ---- the whole */

static int open_push(struct jw_error *err, struct push *push)
{
	const struct jw_push_options *options = push->options;

	if (reference_parse(err, options->to, &push->reference))
		return -1;
	if (*push->reference.digest)
		return error_set(err, JW_ERR_USAGE, "“%.300s”: a push has a tag or none, not a digest",
						 options->to);
	if (!options->found && !options->pack && !*push->reference.tag)
		return error_set(err, JW_ERR_USAGE,
						 "“%.300s”: name packages or files, or a tag by which a pull finds the "
						 "whole cache: oci://HOST/REPOSITORY:TAG",
						 options->to);
	push->how = (struct registry_options){
		.reference = &push->reference,
		.web = {.plain = {options->insecure, options->insecure_hosts, options->insecure_host_count,
						  false, NULL},
				.timeout_ms = options->timeout_ms ? options->timeout_ms : TIMEOUT_MS,
				.cancel = &options->cancel,
				.traffic = &push->result->traffic},
		.push = true,
	};
	push->registry = registry_open(err, &push->how);
	if (!push->registry)
		return -1;
	TEXT_COPY(push->result->place, registry_place(push->registry));
	TEXT_COPY(push->result->tag, push->reference.tag);
	return 0;
}

static int push_all(struct jw_error *err, struct push *push)
{
	struct jw_push_result *result = push->result;

	if (open_push(err, push) || push_packs_make(err, push->options, &push->packs))
		return -1;
	result->packs = mem_array(err, push->packs.count, sizeof *result->packs);
	if (!result->packs)
		return -1;
	for (size_t i = 0; i < push->packs.count; i++) {
		if (push_pack(err, push, &push->packs.items[i], &result->packs[i]))
			return -1;
		result->pack_count++;
	}
	return *push->reference.tag ? set_tag(err, push) : 0;
}

int jw_push(struct jw_error *err, const struct jw_push_options *options,
			struct jw_push_result **ret_result)
{
	options = SIZED(err, options, struct jw_push_options);
	if (!options)
		return -1;
	struct push push = {.options = options};
	const uint64_t started_ns = os_monotonic_ns();
	int failed = -1;

	push.result = mem_alloc(err, sizeof *push.result);
	if (!push.result)
		return -1;
	if (sodium_init() < 0)
		error_set(err, JW_ERR_UNSUPPORTED, "this system has no random numbers");
	else
		failed = push_all(err, &push);
	registry_close(push.registry);
	push_packs_free(&push.packs);
	push.result->seconds = (double)(os_monotonic_ns() - started_ns) / 1e9;
	if (failed)
		jw_push_result_free(push.result);
	else
		*ret_result = push.result;
	return failed;
}

void jw_push_result_free(struct jw_push_result *result)
{
	if (!result)
		return;
	mem_free(result->packs);
	mem_free(result);
}
