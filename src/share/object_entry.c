#include "share/object_entry.h"

#include <stdio.h>
#include <string.h>

#include <sodium.h>

#include <jitwarm/pack.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/text.h"
#include "cache/key.h"
#include "os/file.h"
#include "pack/import.h"
#include "pack/reader.h"
#include "pack/trust.h"

int jw_share_check(struct jw_error *err, const char *folder)
{
	char name[300];

	if (*folder && !strstr(folder, "://"))
		return 0;
	return error_set(err, JW_ERR_USAGE, "“%s”: not a folder; name one that the machines mount",
					 text_address(name, sizeof name, folder));
}

enum { MAX_CLAIM = 256 };

#define CLAIM_FORM "{\"claim\": \"%016llx\"}\n"

char *object_name(const char *stamp, uint16_t sm, uint64_t key)
{
	char name[17], place[32];
	size_t at = 0;

	/* Other characters become minus signs: they may have a meaning in an address or on a disk. */
	for (; stamp[at] && at < sizeof place - 1; at++)
		if ((stamp[at] >= 'a' && stamp[at] <= 'z') || (stamp[at] >= 'A' && stamp[at] <= 'Z') ||
			text_is_digit((unsigned char)stamp[at]))
			place[at] = stamp[at];
		else
			place[at] = '-';
	place[at] = '\0';
	(void)snprintf(name, sizeof name, "%016llx", (unsigned long long)key);
	return mem_printf("v1/%s/sm_%u/%.2s/%s", place, sm, name, name + 2);
}

bool object_claim_read(const char *text, size_t size, uint64_t *ret_claim)
{
	cJSON *object = json_parse(NULL, text, size);
	uint64_t claim;
	const bool is = object && json_hex64(object, "claim", &claim) && claim;

	if (is)
		*ret_claim = claim;
	cJSON_Delete(object);
	return is;
}

/* The files of one job. */
struct object_files {
	char *name, *signature_name, *claim_name;
	char *pack, *signature, *claim; /* paths of the run's own files */
};

static struct object_files object_files_of(const struct object_context *context,
										   const struct object_job *job)
{
	char *name = object_name(context->setup->system->driver.stamp, job->sm, job->key);
	char *here = object_folder(context->setup->folder, job->key);
	const struct object_files files = {
		.name = mem_printf("%s.jwpack", name),
		.signature_name = mem_printf("%s.jwpack.minisig", name),
		.claim_name = mem_printf("%s.claim", name),
		.pack = mem_printf("%s.jwpack", here),
		.signature = mem_printf("%s.jwpack.minisig", here),
		.claim = mem_printf("%s.claim", here),
	};

	mem_free(name);
	mem_free(here);
	return files;
}

static void object_files_free(struct object_files *files)
{
	char *const here[] = {files->pack, files->signature, files->claim};

	for (size_t i = 0; i < sizeof here / sizeof *here; i++) {
		(void)os_remove(NULL, here[i]);
		mem_free(here[i]);
	}
	mem_free(files->name);
	mem_free(files->signature_name);
	mem_free(files->claim_name);
}

/* Returns whether a failure concerns only this object. */
static bool is_of_object(const struct jw_error *why)
{
	return why->code == JW_ERR_FORMAT || why->code == JW_ERR_LIMIT ||
		   why->code == JW_ERR_UNSUPPORTED || why->code == JW_ERR_NOT_FOUND ||
		   why->code == JW_ERR_BUSY;
}

/* Reports a refused object by its name in the shared folder, not by that of the temporary file. */
static void report_refused(struct object_answer *answer, const struct object_files *files,
						   const struct jw_error *why)
{
	const char *words = why->message;

	if (text_starts(words, files->pack))
		words += strlen(files->pack);
	if (why->code == JW_ERR_NOT_FOUND)
		words = ": no trusted key has signed it (“jitwarm key trust”; --share-unsigned trusts "
				"whoever can write to the folder)";
	(void)text_format(answer->why, sizeof answer->why, "%.64s%s%.400s", files->name,
					  *words == ':' ? "" : ": ", words);
}

/* ---- taking an entry */

/* The entry of a job. */
struct object_wanted {
	uint64_t key;
	struct jw_identity identity;
};

static int wanted_of_job(struct jw_error *err, const struct object_job *job,
						 struct object_wanted *ret_wanted)
{
	ret_wanted->key = job->key;
	return cache_identity_read(job->identity, &ret_wanted->identity)
			   ? 0
			   : error_set(err, JW_ERR_FORMAT, "the job names no module");
}

/* The name alone does not say whose an entry is. */
static bool is_wanted_object(void *context, uint64_t key, const struct jw_identity *identity)
{
	const struct object_wanted *wanted = context;

	return wanted->key == key && (!identity || cache_identity_equal(&wanted->identity, identity));
}

/* Makes a cache of one entry from the pack, which is checked like any import, as if a worker had
 * made it. */
static int unpack_object(struct jw_error *err, const struct object_context *context,
						 const struct object_job *job, const struct object_files *files)
{
	const struct jw_share_options *options = context->setup->options;
	char *folder = object_folder(context->setup->folder, job->key);
	struct jw_gpu gpu = {.target.sm = job->sm};
	struct jw_system system = *context->setup->system;
	struct object_wanted wanted;
	const struct jw_import_options how = {.path = files->pack,
										  .cache_dir = folder,
										  .system = &system,
										  .limit_bytes = UINT64_MAX,
										  .state_dir = options->state_dir,
										  .allow_unsigned = options->allow_unsigned,
										  .context = &wanted,
										  .wanted = is_wanted_object};
	struct jw_import_result *imported = NULL;
	int result;

	system.gpus = &gpu;
	system.gpu_count = 1;
	result = wanted_of_job(err, job, &wanted);
	if (!result)
		result = jw_import(err, &how, &imported);
	if (!result && imported->accepted != 1)
		result = error_set(err, JW_ERR_FORMAT, "does not hold the entry that its name says");
	jw_import_result_free(imported);
	if (result)
		(void)os_remove_tree(NULL, folder);
	mem_free(folder);
	return result;
}

/* Takes an object; after 0, the answer says whether it was there. */
static int take_object(struct jw_error *err, struct object_thread *thread,
					   const struct object_job *job, const struct object_files *files,
					   struct object_answer *answer)
{
	const struct object_context *context = thread->context;
	struct jw_error why = {0};
	struct os_stat stat;

	answer->said = OBJECT_MISSING;
	if (object_directory_get(&why, &thread->directory, files->name, job->most_bytes, files->pack))
		goto fail;
	if (!context->setup->options->allow_unsigned &&
		object_directory_get(&why, &thread->directory, files->signature_name, MINISIGN_MAX_FILE,
							 files->signature) &&
		why.code != JW_ERR_NOT_FOUND)
		goto fail;
	memset(&why, 0, sizeof why);
	if (unpack_object(&why, context, job, files))
		goto fail;
	answer->said = OBJECT_HERE;
	if (!os_stat(NULL, files->pack, &stat))
		answer->bytes = stat.size_bytes;
	return 0;
fail:
	if (why.code == JW_ERR_NOT_FOUND && !os_exists(files->pack))
		return 0;
	/* An unsound object says nothing about the folder. */
	if (!is_of_object(&why))
		return error_copy(err, &why);
	report_refused(answer, files, &why);
	return 0;
}

/* ---- claims */

/* Reads a claim; returns 0 with *ret_claim 0 if there is none. */
static int read_claim(struct jw_error *err, struct object_thread *thread,
					  const struct object_files *files, uint64_t *ret_claim)
{
	struct jw_error why = {0};
	struct buf text = {0};

	*ret_claim = 0;
	if (object_directory_get(&why, &thread->directory, files->claim_name, MAX_CLAIM, files->claim))
		return is_of_object(&why) ? 0 : error_copy(err, &why);
	if (!os_read_file(NULL, files->claim, MAX_CLAIM, &text) &&
		!object_claim_read(buf_text(&text), text.size, ret_claim))
		*ret_claim = 0;
	buf_free(&text);
	return 0;
}

static int write_claim(struct jw_error *err, struct object_thread *thread,
					   const struct object_files *files, uint64_t *ret_claim)
{
	char text[MAX_CLAIM];
	uint64_t claim;

	do
		randombytes_buf(&claim, sizeof claim);
	while (!claim);
	(void)snprintf(text, sizeof text, CLAIM_FORM, (unsigned long long)claim);
	*ret_claim = claim;
	if (os_write_atomic(err, files->claim, text, strlen(text)))
		return -1;
	return object_directory_put(err, &thread->directory, files->claim_name, files->claim);
}

/* Claims an object. A claim is read again after it was written: if several nodes write at the same
 * time, the last one counts. If that fails, a module is compiled twice. */
static int claim_object(struct jw_error *err, struct object_thread *thread,
						const struct object_job *job, const struct object_files *files,
						struct object_answer *answer)
{
	uint64_t ours;
	struct jw_error why = {0};

	if (read_claim(err, thread, files, &answer->claim))
		return -1;
	if (!answer->claim || answer->claim == job->dead) {
		/* A folder that accepts no claim may still have other objects, since a claim is only a
		 * hint. */
		if (write_claim(&why, thread, files, &ours)) {
			if (!is_of_object(&why))
				return error_copy(err, &why);
		} else if (read_claim(err, thread, files, &answer->claim)) {
			return -1;
		}
		if (why.code || !answer->claim || answer->claim == ours) {
			answer->said = OBJECT_OURS;
			return 0;
		}
	}
	answer->said = OBJECT_THEIRS;
	return 0;
}

/* ---- putting */

/* Signs the pack that was made as the object `name`; the signature is written to `signature`. */
static int object_sign(struct jw_error *err, const struct object_context *context, const char *name,
					   const struct jw_export_options *how, const struct jw_export_result *made,
					   const char *signature)
{
	struct pack_manifest manifest = {0};
	uint8_t prehash[MINISIGN_PREHASH];
	int result;

	if (sodium_hex2bin(prehash, sizeof prehash, made->blake2b_512, strlen(made->blake2b_512), NULL,
					   NULL, NULL))
		return error_set(err, JW_ERR_FORMAT, "%s: its hash cannot be read", how->output);
	if (reader_manifest(err, how->output, NULL, &manifest))
		return -1;
	result = trust_sign(err, &context->secret, &manifest, prehash, name, signature);
	manifest_free(&manifest);
	return result;
}

/* Puts the signature first, so that everybody who sees a pack finds it. */
static int put_object_there(struct jw_error *err, struct object_thread *thread,
							const struct object_job *job, const struct object_files *files,
							struct object_answer *answer)
{
	const struct object_setup *setup = thread->context->setup;
	const struct jw_target target = {.sm = job->sm};
	struct object_wanted wanted;
	const struct jw_export_options how = {.cache_dir = setup->system->cache.path,
										  .system = setup->system,
										  .targets = &target,
										  .target_count = 1,
										  .output = files->pack,
										  .state_dir = setup->options->state_dir,
										  .context = &wanted,
										  .wanted = is_wanted_object};
	struct jw_export_result made = {0};
	int result;

	result = wanted_of_job(err, job, &wanted);
	if (!result)
		result = jw_export(err, &how, &made);
	if (!result && setup->options->sign_key)
		result = object_sign(err, thread->context, files->name, &how, &made, files->signature);
	if (result) {
		/* The entry may have been evicted meanwhile. */
		answer->said = OBJECT_MISSING;
		return err->code == JW_ERR_NOT_FOUND ? 0 : -1;
	}
	if (setup->options->sign_key &&
		object_directory_put(err, &thread->directory, files->signature_name, files->signature))
		return -1;
	if (object_directory_put(err, &thread->directory, files->name, files->pack))
		return -1;
	object_directory_forget(&thread->directory, files->claim_name);
	answer->said = OBJECT_PLACED;
	answer->bytes = made.pack_bytes;
	return 0;
}

void object_do(struct object_thread *thread, const struct object_job *job,
			   struct object_answer *ret_answer)
{
	struct object_files files = object_files_of(thread->context, job);
	struct jw_error why = {0};
	struct object_answer answer = {.id = job->id, .what = job->what};
	int result;

	if (job->what == OBJECT_PUT)
		result = put_object_there(&why, thread, job, &files, &answer);
	else
		result = take_object(&why, thread, job, &files, &answer);
	if (!result && job->what == OBJECT_CLAIM && answer.said == OBJECT_MISSING && !*answer.why)
		result = claim_object(&why, thread, job, &files, &answer);
	if (result) {
		answer.said = is_of_object(&why) ? OBJECT_MISSING : OBJECT_GONE;
		TEXT_COPY(answer.why, why.message);
	}
	object_files_free(&files);
	*ret_answer = answer;
}
