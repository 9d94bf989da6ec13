/* The process that reads and writes a store's folder for others (folder.h). A line of its output
 * tells the supervisor that the folder still answers. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <sodium.h>

#include "base/arena.h"
#include "base/json.h"
#include "base/json_table.h"
#include "base/mem.h"
#include "base/set.h"
#include "base/text.h"
#include "driver/protocol.h"
#include "os/console.h"
#include "os/env.h"
#include "os/file.h"
#include "os/interrupt.h"
#include "os/process.h"
#include "pack/folder.h"
#include "pack/reader.h"
#include "pack/store_packs.h"
#include "pack/trust.h"

enum {
	STDIN = 0,
	STDERR = 2,
	MAX_MESSAGE = 64 << 20,
	BLOCK = 256 << 10,
	/* Waits for the disk after so many blocks, so that no single wait is long. */
	BLOCKS_SYNCED = 32,
	DAY_S = 86400,
};

/* The beginning of the names of files that are not complete. */
#define FOLDER_UNFINISHED ".jitwarm-"

struct folder_worker {
	void *owner; /* of the lines of the job */
	int out;
	struct folder_job job;
	struct set wanted;  /* the names of the entries that no copied pack has yet */
	struct set lengths; /* the lengths of all wanted keys */
	size_t missing;     /* the number of `wanted` */
	bool *found;
};

/* Prints a word, and what follows it, in one line. */
static void tell_supervisor(const struct folder_worker *worker, const char *word, const char *text)
{
	char *line = mem_printf("%s %s", word, text);

	for (char *at = line; *at; at++)
		*at = (char)(*at == '\n' ? ' ' : *at);
	(void)os_fd_write(NULL, worker->out, line, strlen(line));
	(void)os_fd_write(NULL, worker->out, "\n", 1);
	mem_free(line);
}

/* Prints a failure in English and, if the account has another language, also in that. */
static void report_error(const struct folder_worker *worker, const char *word,
						 const struct jw_error *why)
{
	char *said = text_language ? text_language->translation(why->message) : NULL;
	char *text =
		mem_printf("%s%s%s", why->message, said ? FOLDER_TRANSLATION : "", said ? said : "");

	tell_supervisor(worker, word, text);
	mem_free(text);
	mem_free(said);
}

/* Copies a file to a new one. With `lasting` the bytes are on disk afterwards. */
static int copy_reporting(struct jw_error *err, const struct folder_worker *worker,
						  const char *from, const char *to, uint64_t most_bytes, bool lasting)
{
	struct os_file *source = NULL, *target = NULL;
	uint8_t *block = mem_alloc(BLOCK);
	struct os_stat stat;
	uint64_t at = 0;
	size_t got = 1, blocks = 0;
	int result = -1;

	if (os_file_open(err, from, OS_OPEN_READ, &source) || os_file_stat(err, source, &stat))
		goto done;
	if (stat.kind != OS_REGULAR) {
		error_set(err, JW_ERR_FORMAT, "%s: is not a file", from);
		goto done;
	}
	if (stat.size_bytes > most_bytes) {
		error_set(err, JW_ERR_LIMIT, "%s: is larger than the cache limit", from);
		goto done;
	}
	if (os_file_open(err, to, OS_OPEN_CREATE, &target) || os_file_truncate(err, target, 0))
		goto done;
	while (got && at <= most_bytes) {
		if (os_file_read(err, source, at, block, BLOCK, &got) ||
			os_file_write(err, target, at, block, got) ||
			(lasting && (!got || ++blocks % BLOCKS_SYNCED == 0) && os_file_sync(err, target)))
			goto done;
		at += got;
		tell_supervisor(worker, ".", "");
	}
	result = 0;
done:
	os_file_close(source);
	os_file_close(target);
	mem_free(block);
	return result;
}

/* ---- packs from the folder */

/* Returns whether a pack's entries are worth a copy: wanted ones of the driver, or ones of another
 * driver of its CUDA version that may be wanted under other names. Notes the former as found. */
static bool take_manifest(struct folder_worker *worker, const struct pack_manifest *manifest)
{
	bool useful = false;

	for (size_t i = 0; i < manifest->entry_count; i++) {
		const struct pack_entry *entry = &manifest->entries[i];
		const struct pack_driver *driver = &manifest->drivers[entry->driver];
		size_t cursor = 0, at;

		if (strcmp(driver->stamp, worker->job.stamp) != 0) {
			useful = useful || (driver->cuda == worker->job.cuda &&
								set_has(&worker->lengths, pack_key_bytes(manifest, entry)));
			continue;
		}
		while ((at = set_find(&worker->wanted, entry->key, &cursor)) != SET_NONE) {
			useful = useful || !worker->found[at];
			worker->missing -= !worker->found[at];
			worker->found[at] = true;
		}
	}
	return useful;
}

/* Checks a copied pack: it is complete, and its signature is trusted. The messages name the pack in
 * the folder. */
static int check_pack(struct jw_error *err, const struct folder_worker *worker, const char *path,
					  const char *copy, struct pack_manifest *ret_manifest)
{
	const struct jw_import_options rules = {.path = path,
											.state_dir =
												*worker->job.state ? worker->job.state : NULL,
											.allow_unsigned = worker->job.allow_unsigned};
	struct jw_import_result *result = mem_alloc(sizeof *result);
	struct source *source = NULL;
	struct reader *reader = NULL;
	struct jw_error why = {0};
	int failed = source_open(&why, copy, NULL, &source) ||
				 trust_check(&why, &rules, source, result) ||
				 reader_open(&why, source, ret_manifest, &reader);

	if (failed && text_starts(why.message, copy))
		error_set(err, why.code, "%s%s", path, why.message + strlen(copy));
	else if (failed)
		error_copy(err, &why);
	reader_close(reader);
	source_close(source);
	mem_free(result);
	return failed ? -1 : 0;
}

static void take_pack(struct folder_worker *worker, const char *name)
{
	char *path = os_join(worker->job.folder, name), *copy = os_join(worker->job.local, name);
	struct pack_manifest manifest = {0};
	struct jw_error why = {0};
	bool there = true, kept = false;

	tell_supervisor(worker, ".", "");
	if (copy_reporting(&why, worker, path, copy, worker->job.most_bytes, false) ||
		check_pack(&why, worker, path, copy, &manifest)) {
		/* Another machine may have removed it (“jitwarm store clear”). */
		if (os_check_exists(NULL, path, &there) || there)
			report_error(worker, "refused", &why);
	} else {
		kept = take_manifest(worker, &manifest);
		if (kept)
			tell_supervisor(worker, "took", name);
	}
	if (!kept)
		(void)os_remove(NULL, copy);
	manifest_free(&manifest);
	mem_free(path);
	mem_free(copy);
}

/* Returns whether the pack is one of this machine's driver and GPUs by its name. */
static bool is_own(const struct folder_job *job, const char *name)
{
	for (size_t i = 0; i < job->name_count; i++)
		if (text_starts(name, job->names[i]))
			return true;
	return false;
}

/* Returns whether the name says that the pack is for a GPU that this machine lacks. */
static bool is_pack_for_others(const struct folder_job *job, const char *name)
{
	const size_t length = strcspn(name, "-");

	for (size_t i = 0; i < job->name_count; i++)
		if (!strncmp(name, job->names[i], length) && job->names[i][length] == '-')
			return false;
	return text_starts(name, "sm_") && name[length] == '-';
}

static int take_packs(struct jw_error *err, struct folder_worker *worker)
{
	const struct folder_job *job = &worker->job;
	struct os_names names;

	if (os_list(err, job->folder, &names))
		return -1;
	for (int own = 1; own >= 0; own--)
		for (size_t i = 0; worker->missing && i < names.count; i++)
			if (names.kinds[i] == OS_REGULAR && text_ends(names.items[i], STORE_EXTENSION) &&
				is_own(job, names.items[i]) == own && !is_pack_for_others(job, names.items[i]))
				take_pack(worker, names.items[i]);
	os_names_free(&names);
	return 0;
}

/* ---- packs for the folder */

/* Copies a file into the folder: others see all of it or nothing. A message names the folder. */
static int put_in_folder(struct jw_error *err, const struct folder_worker *worker, const char *from,
						 const char *name)
{
	const char *folder = worker->job.folder;
	char *to = os_join(folder, name), *fresh;
	struct jw_error why = {0};
	uint64_t number;
	int result = 0;

	randombytes_buf(&number, sizeof number);
	fresh = mem_printf("%s/" FOLDER_UNFINISHED "%llx", folder, (unsigned long long)number);
	if (copy_reporting(&why, worker, from, fresh, PACK_MAX_SIZE, true) ||
		os_rename(&why, fresh, to)) {
		(void)os_remove(NULL, fresh);
		result = text_starts(why.message, fresh)
					 ? error_set(err, why.code, "%s%s", folder, why.message + strlen(fresh))
					 : error_copy(err, &why);
	} else {
		os_sync_names(to);
	}
	mem_free(fresh);
	mem_free(to);
	return result;
}

/* Puts the signature before the pack, so that nobody finds a pack without it. */
static int put_pack(struct jw_error *err, const struct folder_worker *worker, const char *name)
{
	char *from = os_join(worker->job.local, name), *to = os_join(worker->job.folder, name),
		 *beside = mem_printf("%s.minisig", name), *signature = os_join(worker->job.local, beside),
		 *signature_to = os_join(worker->job.folder, beside);
	const bool is_signed = os_exists(signature);
	struct os_stat stat;
	int result = os_stat(err, from, &stat);

	/* A pack with this name has the same bytes and signer. In a sticky folder, nobody replaces the
	 * files of another account. */
	if (!result && (!os_exists(to) || (is_signed && !os_exists(signature_to)))) {
		if (is_signed)
			result = put_in_folder(err, worker, signature, beside);
		if (!result)
			result = put_in_folder(err, worker, from, name);
		if (result && !os_exists(to))
			(void)os_remove(NULL, signature_to);
	}
	if (!result) {
		char bytes[32];

		(void)snprintf(bytes, sizeof bytes, "%llu", (unsigned long long)stat.size_bytes);
		tell_supervisor(worker, "put", bytes);
	}
	mem_free(signature_to);
	mem_free(signature);
	mem_free(beside);
	mem_free(to);
	mem_free(from);
	return result;
}

static int put_packs(struct jw_error *err, const struct folder_worker *worker)
{
	struct os_names names;
	int result = 0;

	if (os_list(err, worker->job.local, &names))
		return -1;
	/* Removes what machines have left that were switched off. */
	os_sweep(worker->job.folder, FOLDER_UNFINISHED, "%", OS_REGULAR, DAY_S);
	for (size_t i = 0; !result && i < names.count; i++)
		if (text_ends(names.items[i], STORE_EXTENSION))
			result = put_pack(err, worker, names.items[i]);
	os_names_free(&names);
	return result;
}

/* ---- the process */

/* Reads the whole message, which ends with a line with a full stop. */
static int read_message(struct jw_error *err, struct buf *message)
{
	uint8_t fresh[65536];
	size_t got;

	do {
		if (os_fd_read_some(err, STDIN, fresh, sizeof fresh, &got) ||
			buf_append(err, message, fresh, got))
			return -1;
	} while (got && !text_ends(buf_text(message), "\n.\n"));
	return 0;
}

static int read_job(struct jw_error *err, struct folder_worker *worker, const char *message)
{
	const char *line = strchr(message, '\n');
	cJSON *object = line ? json_parse(err, message, (size_t)(line - message)) : NULL;
	size_t count = 0;
	int result =
		object ? json_take(err, worker->owner, object, &folder_job_table, &worker->job) : -1;

	cJSON_Delete(object);
	if (result || !*worker->job.folder || !*worker->job.local)
		return error_set(err, JW_ERR_FORMAT, "no folder is named");
	for (const char *at = line + 1; *at && *at != '.'; at = strchr(at, '\n') + 1) {
		char *end;
		const uint64_t key = strtoull(at, &end, 16);

		set_add(&worker->wanted, key, count++);
		set_put(&worker->lengths, strtoull(end, NULL, 10), 0);
	}
	worker->missing = count;
	worker->found = mem_array(count, sizeof *worker->found);
	return 0;
}

bool jw_is_store_worker(void)
{
	char *task = os_env(WORKER_TASK);
	const bool is = task && !strcmp(task, FOLDER_TASK);

	mem_free(task);
	return is;
}

int jw_store_worker_main(void)
{
	struct folder_worker worker = {.owner = arena_open(1)};
	struct buf message = BUF_MAX(MAX_MESSAGE);
	struct jw_error err = {0};
	struct os_stat stat;

	os_die_with_parent();
	os_ignore_interrupts();
	os_ignore_broken_pipes();
	os_crash_quietly();
	if (sodium_init() < 0 || os_take_stdout(&err, &worker.out) || read_message(&err, &message) ||
		read_job(&err, &worker, buf_text(&message))) {
		(void)os_fd_write(NULL, STDERR, err.message, strlen(err.message));
		os_end_now(3);
	}
	/* The place of a missing mount is not filled. */
	if (!os_stat(&err, worker.job.folder, &stat) && stat.kind != OS_DIRECTORY)
		error_set(&err, JW_ERR_NOT_FOUND, "%s: not a directory", worker.job.folder);
	if (err.code)
		report_error(&worker, err.code == JW_ERR_NOT_FOUND ? "missing" : "failed", &err);
	else if (worker.job.put ? put_packs(&err, &worker) : take_packs(&err, &worker))
		report_error(&worker, "failed", &err);
	tell_supervisor(&worker, "done", "");
	os_end_now(0);
	return 0;
}
