/* jw_push and jw_pull: packs through a registry. */
#include <jitwarm/share.h>

#include <stdio.h>
#include <string.h>

#include <sodium.h>

#include "base/mem.h"
#include "base/text.h"
#include "driver/run_folder.h"
#include "driver/targets.h"
#include "os/clock.h"
#include "os/file.h"
#include "pack/judge.h"
#include "pack/minisign.h"
#include "pack/reader.h"
#include "plan/analyse.h"
#include "share/carrier.h"
#include "share/layout.h"
#include "share/reference.h"

/* The pack's name in the run's folder, and in signatures that push makes. */
#define PACK_NAME   "pack.jwpack"
#define TAG_LETTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"

struct registry {
	struct reference reference;
	struct run_folder folder;
	struct carrier carrier;
	char place[512], *layout;
};

static int registry_open(struct jw_error *err, struct registry *registry, const char *name,
						 const char *state_dir, const char *const *plain_hosts, size_t count,
						 const struct jw_cancel *cancel)
{
	if (reference_parse(err, name, &registry->reference))
		return -1;
	(void)snprintf(registry->place, sizeof registry->place, "%s/%s", registry->reference.host,
				   registry->reference.repository);
	registry->carrier.place = registry->place;
	for (size_t i = 0; i < count; i++)
		registry->carrier.plain |= reference_host_is(registry->reference.host, plain_hosts[i]);
	registry->carrier.cancel = *cancel;
	/* In the layout's name oras ends the folder at the last “@”, and skopeo at the first “:” except
	 * after a drive's letter; then the run's folder is in the temporary directory. */
	if (state_dir &&
		(strchr(state_dir, '@') || (strlen(state_dir) > 2 && strchr(state_dir + 2, ':'))))
		state_dir = NULL;
	if (carrier_open(err, &registry->carrier) || run_folder_make(err, state_dir, &registry->folder))
		return -1;
	registry->carrier.folder = registry->folder.path;
	registry->layout = os_join(registry->folder.path, "layout");
	return 0;
}

static void registry_close(struct registry *registry)
{
	run_folder_remove(&registry->folder);
	carrier_close(&registry->carrier);
	mem_free(registry->layout);
}

/* ---- tags: NAMES-GPU-DRIVER, "torch-sm_86-550.163.01" */

/* Writes a tag from packages and files as they were named; characters that a tag may not have
 * become dashes. */
static void tag_of_names(char *tag, size_t size, const char *const *names, size_t count)
{
	size_t used = 0;

	for (size_t i = 0; i < count; i++) {
		const char *at = os_base_name(names[i]);
		const char *end = at + strlen(at) - (text_ends(at, ".jwpack") ? strlen(".jwpack") : 0);

		if (used && used + 1 < size)
			tag[used++] = '_';
		for (; at < end && used + 1 < size; at++)
			if (strspn((char[]){*at, '\0'}, TAG_LETTERS) || (used && strchr("._", *at)))
				tag[used++] = *at;
			else if (used && tag[used - 1] != '-')
				tag[used++] = '-';
		while (used && tag[used - 1] == '-')
			used--;
	}
	tag[used] = '\0';
	if (!used)
		text_copy(tag, size, count ? "files" : "cache");
}

static int make_tag(struct jw_error *err, char tag[JW_TAG], const char *const *names, size_t count,
					const char *gpu, const char *driver)
{
	char first[64] = "";
	const size_t release = strspn(driver, "0123456789.");

	tag_of_names(first, sizeof first, names, count);
	if (!release || !*gpu || strchr(gpu, ' ') || driver[release] == ',')
		return error_set(err, JW_ERR_USAGE,
						 "no tag follows from GPU “%.60s” and driver “%.60s”: name one, "
						 "oci://HOST/REPOSITORY:TAG",
						 gpu, driver);
	(void)snprintf(tag, JW_TAG, "%s-%s-%.*s", first, gpu, (int)release, driver);
	return 0;
}

/* ---- push */

struct push {
	const struct jw_push_options *options;
	struct registry registry;
	struct jw_push_result *result;
	char *pack, *signature; /* paths in the run's folder */
};

/* Pushes the pack in the folder, and its signature, if there is one, to the tag. */
static int push_pack(struct jw_error *err, struct push *push, struct jw_pushed_pack *pushed)
{
	struct registry *registry = &push->registry;
	struct pack_manifest manifest;
	bool is_signed = false;
	int result;

	if (os_check_exists(err, push->signature, &is_signed) ||
		reader_manifest(err, push->pack, &push->options->cancel, &manifest))
		return -1;
	(void)pack_targets_text(pushed->targets, &manifest);
	(void)pack_drivers_text(pushed->drivers, &manifest);
	pushed->entries = manifest.entry_count;
	manifest_free(&manifest);
	if (*registry->reference.tag)
		TEXT_COPY(pushed->tag, registry->reference.tag);
	else if (make_tag(err, pushed->tag, push->options->names, push->options->name_count,
					  pushed->targets, pushed->drivers))
		return -1;
	result = layout_write(err, registry->layout, push->pack, is_signed ? push->signature : NULL);
	if (!result)
		result = carrier_push(err, &registry->carrier, registry->layout, pushed->tag);
	(void)os_remove_tree(NULL, registry->layout);
	return result;
}

/* Exports and pushes the entries of one GPU; NULL for all. If there are none, *ret_none has the
 * reason. */
static int push_exported(struct jw_error *err, struct push *push, const struct jw_target *target,
						 struct jw_error *ret_none)
{
	const struct jw_push_options *options = push->options;
	struct jw_pushed_pack *pushed = &push->result->packs[push->result->pack_count];
	const struct jw_export_options how = {.system = options->system,
										  .cache_dir = options->cache_dir,
										  .targets = target,
										  .target_count = target ? 1 : 0,
										  .output = push->pack,
										  .found = options->found,
										  .sign_key = options->sign_key,
										  .state_dir = options->state_dir,
										  .cancel = options->cancel};
	struct jw_export_result result = {0};
	struct jw_error why = {0};

	if (jw_export(&why, &how, &result)) {
		*ret_none = why;
		return why.code == JW_ERR_NOT_FOUND ? 0 : error_copy(err, &why);
	}
	pushed->pack_bytes = result.pack_bytes;
	TEXT_COPY(pushed->signed_by, result.signed_by);
	TEXT_COPY(pushed->public_key, result.public_key);
	push->result->pack_count++;
	return push_pack(err, push, pushed);
}

static int push_cache(struct jw_error *err, struct push *push)
{
	struct jw_target targets[ANALYSE_MAX_TARGETS];
	const bool whole = *push->registry.reference.tag;
	const size_t count =
		whole ? 1 : targets_wanted(push->options->system, NULL, 0, targets, ANALYSE_MAX_TARGETS);
	struct jw_error none = {0};

	if (!count)
		return error_set(err, JW_ERR_USAGE, "no GPU here: name a tag, oci://HOST/REPOSITORY:TAG");
	push->result->packs = mem_array(count, sizeof *push->result->packs);
	for (size_t i = 0; i < count; i++)
		if (push_exported(err, push, whole ? NULL : &targets[i], &none))
			return -1;
	return push->result->pack_count ? 0 : error_copy(err, &none);
}

static int copy_into(struct jw_error *err, const char *from, const char *to, uint64_t most_bytes,
					 const struct jw_cancel *cancel)
{
	struct os_file *in, *out = NULL;
	uint64_t size_bytes;
	int result = -1;

	if (os_file_open(err, from, OS_OPEN_READ, &in))
		return -1;
	if (os_file_size(err, in, &size_bytes))
		goto end;
	if (size_bytes > most_bytes)
		error_set(err, JW_ERR_LIMIT, "%s: too large for a pack", from);
	else if (!os_file_open(err, to, OS_OPEN_CREATE, &out))
		result = os_file_copy(err, in, out, size_bytes, cancel);
end:
	os_file_close(out);
	os_file_close(in);
	return result;
}

/* Pushes a file; if it was signed before, with its signature. The pack is examined before it is
 * copied, because a sparse file would fill the disk. */
static int push_file(struct jw_error *err, struct push *push)
{
	const struct jw_push_options *options = push->options;
	char *signature = mem_printf("%s.minisig", options->pack);
	struct jw_pushed_pack *pushed;
	struct pack_manifest manifest;
	struct os_stat stat;
	bool is_signed = false;
	int result = reader_manifest(err, options->pack, &options->cancel, &manifest);

	if (!result) {
		manifest_free(&manifest);
		result = copy_into(err, options->pack, push->pack, PACK_MAX_SIZE, &options->cancel) ||
						 os_check_exists(err, signature, &is_signed) ||
						 (is_signed &&
						  copy_into(err, signature, push->signature, MINISIGN_MAX_FILE, NULL))
					 ? -1
					 : 0;
	}
	mem_free(signature);
	if (result)
		return -1;
	push->result->packs = pushed = mem_array(1, sizeof *push->result->packs);
	push->result->pack_count = 1;
	if (!os_stat(NULL, push->pack, &stat))
		pushed->pack_bytes = stat.size_bytes;
	return push_pack(err, push, pushed);
}

int jw_push(struct jw_error *err, const struct jw_push_options *options,
			struct jw_push_result **ret_result)
{
	struct jw_push_options given;
	struct push push = {.options = &given};
	const uint64_t started_ns = os_monotonic_ns();
	int result;

	given = *options;
	if (!given.pack && !given.system)
		return error_set(err, JW_ERR_USAGE, "neither a pack nor a system to push from");
	if (!given.state_dir && given.system)
		given.state_dir = given.system->state_dir;
	if (sodium_init() < 0)
		return error_set(err, JW_ERR_UNSUPPORTED, "this system has no random numbers");
	push.result = mem_alloc(sizeof *push.result);
	result = registry_open(err, &push.registry, given.to, given.state_dir, given.plain_hosts,
						   given.plain_host_count, &given.cancel);
	TEXT_COPY(push.result->place, push.registry.place);
	if (!result) {
		push.pack = mem_printf("%s/" PACK_NAME, push.registry.folder.path);
		push.signature = mem_printf("%s/" PACK_NAME ".minisig", push.registry.folder.path);
		result = given.pack ? push_file(err, &push) : push_cache(err, &push);
	}
	registry_close(&push.registry);
	mem_free(push.pack);
	mem_free(push.signature);
	push.result->seconds = (double)(os_monotonic_ns() - started_ns) / 1e9;
	if (result)
		jw_push_result_free(push.result);
	else
		*ret_result = push.result;
	return result;
}

void jw_push_result_free(struct jw_push_result *result)
{
	if (!result)
		return;
	mem_free(result->packs);
	mem_free(result);
}

/* ---- pull */

static int fail_pull(struct jw_error *err, struct registry *registry, const char *tag,
					 const struct jw_error *why)
{
	struct jw_error unlisted = {0};
	struct buf tags = {0};

	if (why->code != JW_ERR_NOT_FOUND)
		return error_copy(err, why);
	if (!carrier_tags(&unlisted, &registry->carrier, &tags) && tags.size)
		(void)error_set(err, JW_ERR_NOT_FOUND,
						"%s has no tag %s, but %s: name one of these after a “:”; or compile here "
						"with “jitwarm prime”, and upload the results with “jitwarm push”",
						registry->place, tag, buf_text(&tags));
	else
		(void)error_set(err, JW_ERR_NOT_FOUND,
						unlisted.code && unlisted.code != JW_ERR_NOT_FOUND
							? "%s has no tag %s: compile here with “jitwarm prime”, and upload the "
							  "results with “jitwarm push”"
							: "%s is empty (no tag %s): compile here with “jitwarm prime”, and "
							  "upload the results with “jitwarm push”",
						registry->place, tag);
	buf_free(&tags);
	return -1;
}

static int pull_tag(struct jw_error *err, struct registry *registry,
					const struct jw_import_options *how, struct jw_pulled_pack *pulled)
{
	char *path = mem_printf("%s/" PACK_NAME, registry->folder.path),
		 *signature = mem_printf("%s/" PACK_NAME ".minisig", registry->folder.path);
	struct jw_import_options import = *how;
	struct jw_error why = {0};
	struct os_stat stat;
	bool is_signed = false;
	int result = -1;

	if (carrier_pull(&why, &registry->carrier, registry->layout, pulled->tag)) {
		result = fail_pull(err, registry, pulled->tag, &why);
	} else if (layout_read(&why, registry->layout, path)) {
		result = error_set(err, why.code, "%s:%s: %s", registry->place, pulled->tag, why.message);
	} else if (!os_check_exists(err, signature, &is_signed)) {
		if (!os_stat(NULL, path, &stat))
			pulled->pack_bytes = stat.size_bytes;
		import.path = path;
		if (is_signed || how->allow_unsigned)
			result = jw_import(err, &import, &pulled->import);
		else
			error_set(err, JW_ERR_FORMAT,
					  "is not signed; upload a signed one with “jitwarm push --sign”, or add "
					  "--allow-unsigned if you trust whoever made the pack: your GPU runs its code "
					  "with your rights");
		if (result)
			(void)error_prefix(err, "%s:%s", registry->place, pulled->tag);
		if (result && is_signed && err->code == JW_ERR_NOT_FOUND)
			err->code = JW_ERR_FORMAT;
	}
	(void)os_remove_tree(NULL, registry->layout);
	(void)os_remove(NULL, path);
	(void)os_remove(NULL, signature);
	mem_free(path);
	mem_free(signature);
	return result;
}

static int pull_all(struct jw_error *err, struct registry *registry,
					const struct jw_pull_options *options, const struct jw_import_options *how,
					struct jw_pull_result *result)
{
	struct jw_target targets[ANALYSE_MAX_TARGETS];
	const bool named = *registry->reference.tag;
	size_t count = named ? 1 : targets_wanted(how->system, NULL, 0, targets, ANALYSE_MAX_TARGETS);
	struct pack_driver driver;

	pack_driver_of_stamp(&driver, how->system->driver.stamp, how->system);
	if (!count)
		return error_set(err, JW_ERR_USAGE, "no GPU here: name a tag, oci://HOST/REPOSITORY:TAG");
	result->packs = mem_array(count, sizeof *result->packs);
	for (size_t i = 0; i < count; i++) {
		struct jw_pulled_pack *pulled = &result->packs[result->pack_count++];
		char gpu[JW_TARGET_TEXT];

		if (named)
			TEXT_COPY(pulled->tag, registry->reference.tag);
		else if (make_tag(err, pulled->tag, options->names, options->name_count,
						  jw_target_sm(gpu, targets[i]), driver.release))
			return -1;
		if (!pull_tag(&pulled->failed, registry, how, pulled))
			continue;
		result->failed++;
		if (count == 1 || pulled->failed.code == JW_ERR_INTERRUPTED)
			return error_copy(err, &pulled->failed);
	}
	if (result->failed < count)
		return 0;
	/* A failure counts more than a missing pack. */
	for (size_t i = 0; i < count; i++)
		if (result->packs[i].failed.code != JW_ERR_NOT_FOUND)
			return error_copy(err, &result->packs[i].failed);
	return error_copy(err, &result->packs[0].failed);
}

int jw_pull(struct jw_error *err, const struct jw_pull_options *options,
			struct jw_pull_result **ret_result)
{
	const struct jw_import_options *how = options->how;
	const uint64_t started_ns = os_monotonic_ns();
	struct registry registry = {.layout = NULL};
	struct jw_pull_result *pulled;
	int result;

	if (!how || !how->system)
		return error_set(err, JW_ERR_USAGE, "a pull needs a system to import for");
	pulled = mem_alloc(sizeof *pulled);
	result = registry_open(err, &registry, options->from, how->system->state_dir,
						   options->plain_hosts, options->plain_host_count, &options->cancel);
	TEXT_COPY(pulled->place, registry.place);
	if (!result)
		result = pull_all(err, &registry, options, how, pulled);
	registry_close(&registry);
	pulled->seconds = (double)(os_monotonic_ns() - started_ns) / 1e9;
	if (result)
		jw_pull_result_free(pulled);
	else
		*ret_result = pulled;
	return result;
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
