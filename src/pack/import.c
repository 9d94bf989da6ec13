/* jw_import: the first pass checks the whole pack, the second inserts the new entries. */
#include "pack/import.h"

#include <sodium.h>

#include "base/mem.h"
#include "base/sized.h"
#include "base/text.h"
#include "cache/settings.h"
#include "os/clock.h"
#include "os/file.h"
#include "os/identity.h"
#include "pack/trust.h"

/* Free disk space required beside the new entries: index, folders, rounding to blocks. */
enum { SPARE_BYTES = 1 << 20 };
/* The decompressor needs no window for content that is kept, so that an import stays below 300 MB.
 */
enum { KEPT_BYTES = 256 << 20 };

static int find_import_directory(struct jw_error *err, struct import *import)
{
	const struct jw_import_options *options = import->options;
	const struct jw_system *system = import->system;
	struct cache_settings settings;
	int result = -1;

	if (cache_settings_read(err, options->cache_dir, NULL, &settings))
		return -1;
	if (!options->cache_dir && system && system->cache.path) {
		mem_free(settings.path);
		settings.path = mem_string(err, system->cache.path);
		if (!settings.path)
			goto done;
	}
	if (!settings.path) {
		error_set(err, JW_ERR_UNSUPPORTED, "%s",
				  settings.warning_count ? settings.warnings[0] : "the driver caches nothing");
		goto done;
	}
	import->result->path = settings.path;
	settings.path = NULL;
	import->limit_bytes = options->limit_bytes ? options->limit_bytes
						  : system             ? system->cache.limit_bytes
											   : settings.limit_bytes;
	result = 0;
done:
	cache_settings_free(&settings);
	return result;
}

static int check_space(struct jw_error *err, const struct import *import)
{
	char *path, text[2][TEXT_SHORT];
	uint64_t wanted = import->new_bytes + SPARE_BYTES;
	struct os_space space;
	int result = 0;

	if (import->options->pack_only)
		return 0;
	path = os_nearest(err, import->result->path);
	if (!path)
		return -1;
	if (import->new_bytes && !os_space(NULL, path, &space) && space.free_bytes < wanted)
		result = error_set(err, JW_ERR_IO, "%s: the new entries take %s, and %s are free%s",
						   import->result->path, text_bytes(text[0], wanted),
						   text_bytes(text[1], space.free_bytes),
						   space.quota ? " (this account's quota)" : "");
	mem_free(path);
	return result;
}

static int check_limit(struct jw_error *err, const struct import *import)
{
	const uint64_t accepted = import->result->accepted_bytes;
	char text[2][TEXT_SHORT], advice[IMPORT_ADVICE];

	if (accepted <= import->limit_bytes)
		return 0;
	return error_set(err, JW_ERR_LIMIT, "its entries take %s, and the driver keeps %s: %s",
					 text_bytes(text[0], accepted), text_bytes(text[1], import->limit_bytes),
					 import_larger_limit(advice, accepted, accepted * 3 / 2));
}

/* A directory that the superuser fills by name is for other accounts: for example in an image. */
static uint32_t new_mode(const struct jw_import_options *options)
{
	struct os_account account;
	bool superuser = !os_account(NULL, &account) && account.superuser;

	if (superuser)
		os_account_free(&account);
	return superuser && options->cache_dir && !options->account ? 0755 : 0;
}

/* The cache that a trusted key decides about; NULL: those of several accounts. */
static const char *kept_for(const struct import *import)
{
	const struct jw_import_options *options = import->options;

	if (import->final_dir)
		return import->final_dir;
	return options->account || options->pack_only ? NULL : import->result->path;
}

/* The only place that tells the two kinds of pack apart. */
static int check(struct jw_error *err, struct import *import)
{
	struct reader *reader = NULL;
	int result;

	if (source_open(err, import->options->path, &import->source) ||
		trust_check(err, import->options, kept_for(import), import->source, import->result,
					&import->signature) ||
		reader_open(err, import->source, &import->manifest, &reader))
		return -1;
	import->form = import->manifest.opaque ? &import_of_tree : &import_of_entries;
	result = trust_check_comment(err, import->options, import->source, &import->signature,
								 &import->manifest, import->result);
	if (!result)
		result = import->form->check(err, import, reader);
	reader_close(reader);
	return result;
}

static int decide(struct jw_error *err, struct import *import)
{
	return import->form->decide(err, import) || check_limit(err, import) ||
				   import_refuse_evicting(err, import) || check_space(err, import)
			   ? -1
			   : 0;
}

static int as_account(struct jw_error *err, struct import *import,
					  int (*step)(struct jw_error *err, struct import *import))
{
	const struct jw_account *account = import->options->account;
	int result;

	if (account && os_act_as_account(err, account))
		return -1;
	result = step(err, import);
	if (account)
		os_act_as_self();
	return result;
}

static int run(struct jw_error *err, struct import *import)
{
	int (*step)(struct jw_error * err, struct import * import);

	if (find_import_directory(err, import) || check(err, import) || as_account(err, import, decide))
		return -1;
	import->result->pack_bytes = source_size(import->source);
	import->result->content_bytes = manifest_content(&import->manifest);
	if (import->options->pack_only || !import->wanted)
		return 0;
	step = import->options->dry_run ? import->form->try_insert : import->form->insert;
	return import->form->as_account ? as_account(err, import, step) : step(err, import);
}

static void import_free(struct import *import)
{
	source_close(import->source);
	member_walk_free(&import->walk);
	manifest_free(&import->manifest);
	mem_free(import->fates);
	set_free(&import->keys);
}

int import_one(struct jw_error *err, const struct jw_import_options *options, const char *final_dir,
			   struct jw_import_result **ret_result)
{
	struct import import = {.options = options,
							.final_dir = final_dir,
							.system = options->system,
							.most_kept_bytes = KEPT_BYTES,
							.new_mode = new_mode(options)};
	uint64_t started_ns = os_monotonic_ns();
	int result = -1;

	if (sodium_init() < 0)
		return error_set(err, JW_ERR_UNSUPPORTED, "this system has no random numbers");
	import.result = mem_alloc(err, sizeof *import.result);
	if (import.result && !run(err, &import)) {
		import.result->dry_run = options->dry_run;
		import.result->seconds = (double)(os_monotonic_ns() - started_ns) / 1e9;
		*ret_result = import.result;
		import.result = NULL;
		result = 0;
	}
	import_free(&import);
	jw_import_result_free(import.result);
	return result;
}

int jw_import(struct jw_error *err, const struct jw_import_options *options,
			  struct jw_import_result **ret_result)
{
	options = SIZED(err, options, struct jw_import_options);
	if (!options)
		return -1;
	return import_one(err, options, NULL, ret_result);
}

int import_check_pack(struct jw_error *err, const struct jw_import_options *given)
{
	struct jw_import_options options = *given;
	struct jw_import_result *result = NULL;
	char *nowhere = mem_printf(err, "%s.none", given->path);
	int failed;

	options.account = NULL;
	options.cache_dir = nowhere;
	options.dry_run = options.pack_only = true;
	failed = nowhere ? import_one(err, &options, NULL, &result) : -1;
	jw_import_result_free(result);
	mem_free(nowhere);
	return failed;
}

void jw_import_result_free(struct jw_import_result *result)
{
	if (!result)
		return;
	mem_free(result->path);
	mem_free(result->groups);
	mem_free(result);
}
