/* jw_push: packs made of a cache, or a file, into a registry. */
#include <jitwarm/share.h>

#include <stdio.h>
#include <string.h>

#include <sodium.h>

#include "base/cancel.h"
#include "base/mem.h"
#include "base/sized.h"
#include "base/text.h"
#include "os/clock.h"
#include "share/oci_registry.h"
#include "share/push_packs.h"

enum { MOST_ROUNDS = 4, TIMEOUT_MS = 30000, CHUNK = 16 << 20 };

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
	struct buf text;

	if (registry_head(err, push->registry, pack->artifact.plan, digest))
		return -1;
	told->there = !strcmp(digest, pack->artifact.manifest.digest);
	if (!*digest || told->there)
		return 0;
	if (registry_manifest(err, push->registry, pack->artifact.plan, &text, digest))
		return -1;
	/* What cannot be read is replaced. */
	if (!artifact_read(NULL, buf_text(&text), text.size, &list) && !list.index &&
		list.items[0].entries > pack->artifact.entries &&
		list.items[0].entries <= pack->artifact.entries + pack->missing) {
		told->fuller = true;
		pack->artifact = list.items[0];
		TEXT_COPY(pack->artifact.manifest.digest, digest);
		pack->artifact.manifest.size_bytes = text.size;
	}
	artifact_list_free(&list);
	buf_free(&text);
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
	const char *tag = push->reference.tag;
	struct artifact_list list = {0};
	struct jw_error why = {0};
	struct buf text;
	char digest[REFERENCE_DIGEST];

	*ret_list = list;
	if (registry_manifest(&why, push->registry, tag, &text, digest))
		return why.code == JW_ERR_NOT_FOUND ? 0 : error_copy(err, &why);
	if (artifact_read(&why, buf_text(&text), text.size, &list))
		error_set(err, JW_ERR_FORMAT, "%s:%s: %s; choose another tag",
				  registry_place(push->registry), tag, why.message);
	else if (!list.index) {
		TEXT_COPY(list.items[0].manifest.digest, digest);
		list.items[0].manifest.size_bytes = text.size;
	}
	buf_free(&text);
	*ret_list = list;
	return why.code ? -1 : 0;
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
	push->how = (struct registry_options){
		.reference = &push->reference,
		.web = {.plain = {options->insecure, options->insecure_hosts, options->insecure_host_count,
						  false},
				.timeout_ms = options->timeout_ms ? options->timeout_ms : TIMEOUT_MS,
				.cancel = &options->cancel,
				.traffic = &push->result->traffic},
		.push = true,
		.mount_from = options->mount_from,
		.mount_from_count = options->mount_from_count,
		.chunk_bytes = options->chunk_bytes ? options->chunk_bytes : CHUNK,
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
