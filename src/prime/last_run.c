/* Remembers a run, and finds out whether anything has changed since then. */
#include <jitwarm/find.h>
#include <jitwarm/prime.h>
#include <jitwarm/startup.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/hash.h"
#include "base/json_table.h"
#include "base/mem.h"
#include "base/text.h"
#include "cache/outlook.h"
#include "cache/settings.h"
#include "cache/verified.h"
#include "cache/view.h"
#include "driver/state_file.h"
#include "os/clock.h"
#include "os/env.h"
#include "os/file.h"
#include "os/folders.h"
#include "os/library.h"
#include "os/platform.h"

enum { MAX_GPUS = 64, MAX_PART = 64 << 20, MAX_STATE = 1 << 20 };

enum state_part { PART_DRIVER, PART_GPUS, PART_PACKAGES, PART_SETTINGS, PARTS };

struct jw_run_state {
	char *state_dir;                                     /* NULL if nothing is stored */
	char name[sizeof STATE_LAST_RUN + DIGEST_TEXT_SIZE]; /* the member's name in the state file */
	char parts[PARTS][DIGEST_TEXT_SIZE];
	char *cache_dir;
	uint64_t limit_bytes;
	/* Additional members in the state file: the entries at the end of the run (struct
	 * left_entries). */
	char entries[DIGEST_TEXT_SIZE], until_ns[24], boot_s[24];
	bool settled;
};

#define PART(name, member) JSON_AS(name, struct jw_run_state, member, NULL)
static const struct json_field kept_fields[] = {
	PART("driver", parts[PART_DRIVER]),
	PART("GPUs", parts[PART_GPUS]),
	PART("packages", parts[PART_PACKAGES]),
	PART("settings", parts[PART_SETTINGS]),
	PART("entries", entries),
	PART("entries_until_ns", until_ns),
	PART("boot_s", boot_s),
	PART("settled", settled),
	{0},
};
static const struct json_table kept_run = {.schema = "jitwarm.last-run/1", .fields = kept_fields};

static int add_stamp(struct jw_error *err, struct buf *text, const char *path, uint64_t size_bytes,
					 int64_t mtime_ns)
{
	uint64_t stamp[2] = {size_bytes, (uint64_t)mtime_ns};

	if (buf_append(err, text, path, strlen(path) + 1))
		return -1;
	return buf_append(err, text, stamp, sizeof stamp);
}

static int add_driver_stamp(struct jw_error *err, struct buf *text)
{
	struct os_stat stat = {0};
	char *path = NULL;
	int result;

	if (os_find_driver(NULL, &path))
		return buf_printf(err, text, "none");
	(void)os_stat(NULL, path, &stat);
	result = add_stamp(err, text, path, stat.size_bytes, stat.mtime_ns);
	mem_free(path);
	return result;
}

static int add_gpus(struct jw_error *err, struct buf *text)
{
	struct os_pci_device devices[MAX_GPUS];
	size_t count;

	if (os_pci_gpus(err, devices, MAX_GPUS, &count))
		return -1;
	for (size_t i = 0; i < count; i++)
		if (buf_printf(err, text, "%04x:%04x@%s\n", devices[i].vendor, devices[i].device,
					   devices[i].bus))
			return -1;
	return 0;
}

/* Adds the files that the run would read, by size and time. */
static int add_files(struct jw_error *err, const struct jw_run_key *key, struct buf *text)
{
	struct jw_found *found;
	struct os_stat stat;
	struct jw_error why;
	int result = 0;

	if (key->recording && !os_stat(NULL, key->recording, &stat) &&
		add_stamp(err, text, key->recording, stat.size_bytes, stat.mtime_ns))
		return -1;
	if (jw_find(&why,
				&(struct jw_find_options){
					.names = key->names, .name_count = key->name_count, .sources = true},
				&found))
		return buf_printf(err, text, "%s", why.message);
	for (size_t i = 0; !result && i < found->file_count; i++) {
		const struct jw_found_file *file = &found->files[i];

		result = add_stamp(err, text, file->path, file->size_bytes, file->mtime_ns);
	}
	jw_result_free(found);
	return result;
}

static int add_settings(struct jw_error *err, struct buf *text)
{
	static const char *const names[] = {
		"CUDA_CACHE_PATH", "CUDA_CACHE_MAXSIZE",   "CUDA_CACHE_DISABLE", "CUDA_FORCE_PTX_JIT",
		"CUDA_FORCE_JIT",  "CUDA_VISIBLE_DEVICES", "CUDA_DEVICE_ORDER"};
	int result = 0;

	for (size_t i = 0; !result && i < sizeof names / sizeof *names; i++) {
		char *value = os_env(names[i]);

		result = buf_printf(err, text, "%s=%s\n", names[i], value ? value : "-");
		mem_free(value);
	}
	return result;
}

static int digest_state_part(struct jw_error *err, const struct jw_run_key *key,
							 enum state_part part, char digest[DIGEST_TEXT_SIZE])
{
	struct buf text = BUF_MAX(MAX_PART);
	struct digest sum;
	int result = 0;

	switch (part) {
	case PART_DRIVER: result = add_driver_stamp(err, &text); break;
	case PART_GPUS: result = add_gpus(err, &text); break;
	case PART_PACKAGES: result = add_files(err, key, &text); break;
	case PART_SETTINGS: result = add_settings(err, &text); break;
	case PARTS: break;
	}
	if (!result) {
		digest_of(&sum, buf_text(&text), text.size);
		digest_text(digest, &sum);
	}
	buf_free(&text);
	return result;
}

static int find_cache(struct jw_error *err, const struct jw_run_key *key,
					  struct jw_run_state *state)
{
	struct jw_cache_info settings;

	if (cache_settings_read(err, state, key->cache_dir, &settings))
		return -1;
	state->cache_dir = settings.path;
	state->limit_bytes = settings.limit_bytes;
	return 0;
}

/* The entries that existed at some time. */
struct left_entries {
	int64_t until_ns;              /* that time; INT64_MAX stands for the newest entry's */
	char digest[DIGEST_TEXT_SIZE]; /* a hash of their names, inodes, sizes and times: an entry that
									  is lost, truncated or written again changes it, and a newer
									  entry does not */
	bool settled;                  /* all of them have reached the disk */
};

static int digest_entries(struct jw_error *err, const char *dir, struct left_entries *left)
{
	const int64_t until_ns = left->until_ns;
	struct cache_files scan = {0};
	struct buf bytes = BUF_MAX(MAX_PART);
	struct digest digest;
	struct jw_error why = {0};
	int64_t changed_ns = 0;
	int result = 0;

	if (dir && cache_files_scan(&why, dir, /* headers= */ false, NULL, &scan) &&
		error_unless_missing(err, &why))
		return -1;
	if (until_ns == INT64_MAX)
		left->until_ns = 0;
	for (size_t i = 0; !result && i < scan.count; i++) {
		const struct cache_file *file = &scan.files[i];
		const struct cache_probed *probed = &file->probed;
		const uint64_t stamp[] = {file->key, probed->stat.inode, probed->stat.size_bytes,
								  (uint64_t)probed->stat.mtime_ns,
								  (uint64_t)probed->stat.changed_ns};

		if (probed->stat.mtime_ns > until_ns)
			continue;
		if (until_ns == INT64_MAX && probed->stat.mtime_ns > left->until_ns)
			left->until_ns = probed->stat.mtime_ns;
		if (probed->stat.changed_ns > changed_ns)
			changed_ns = probed->stat.changed_ns;
		result = buf_append(err, &bytes, stamp, sizeof stamp);
	}
	left->settled = settled_is(changed_ns / 1000000000, os_now_s());
	digest_of(&digest, bytes.data, bytes.size);
	digest_text(left->digest, &digest);
	buf_free(&bytes);
	cache_files_free(&scan);
	return result;
}

/* Finds out whether entries of the last run may be lost or damaged, or are not used by the driver.
 */
static int are_entries_doubtful(struct jw_error *err, const struct jw_run_state *state,
								const struct jw_run_state *last, bool *ret_has)
{
	struct left_entries left = {.until_ns = strtoll(last->until_ns, NULL, 10)};
	/* Entries may have been lost in a power cut although they have the same sizes and times. */
	const bool restarted =
		!last->settled && !settled_same_boot(strtoull(last->boot_s, NULL, 10), settled_boot_s());
	struct jw_cache_outlook outlook;

	if (digest_entries(err, state->cache_dir, &left))
		return -1;
	cache_outlook(state->cache_dir, state->limit_bytes, /* count= */ false, &outlook);
	*ret_has = outlook.harmful || restarted || strcmp(last->entries, left.digest) != 0;
	return 0;
}

/* Chooses a name for each set of names, so that several tasks do not disturb each other. */
static int choose_name(struct jw_error *err, const struct jw_run_key *key,
					   struct jw_run_state *state)
{
	struct buf text = BUF_MAX(MAX_STATE);
	char digest[DIGEST_TEXT_SIZE];
	struct digest sum;
	int result = buf_printf(err, &text, "%s", key->cache_dir ? key->cache_dir : "");

	for (size_t i = 0; !result && i < key->name_count; i++)
		result = buf_printf(err, &text, "\n%s", key->names[i]);
	if (!result && key->recording)
		result = buf_printf(err, &text, "\n--recording\n%s", key->recording);
	if (!result && key->what)
		result = buf_printf(err, &text, "\n--what\n%s", key->what);
	if (!result && !os_state_dir(NULL, &state->state_dir))
		(void)arena_keep(state, state->state_dir);
	digest_of(&sum, buf_text(&text), text.size);
	digest_text(digest, &sum);
	digest[16] = '\0';
	(void)snprintf(state->name, sizeof state->name, STATE_LAST_RUN "%s", digest);
	buf_free(&text);
	return result;
}

static int append_change(struct jw_error *err, struct buf *text, const char *what)
{
	return buf_printf(err, text, "%s%s", text->size ? ", " : "", what);
}

static int compare_with_last(struct jw_error *err, const struct jw_run_state *state,
							 struct buf *changes)
{
	struct jw_run_state last = {0};
	cJSON *document = state_read(state->state_dir, state->name);
	bool suffered = false;
	int result = 0;

	if (!document || json_take(NULL, NULL, document, &kept_run, &last)) {
		cJSON_Delete(document);
		return append_change(err, changes, "first run");
	}
	cJSON_Delete(document);
	for (size_t i = 0; !result && i < PARTS; i++)
		if (strcmp(last.parts[i], state->parts[i]) != 0)
			result = append_change(err, changes, kept_fields[i].name);
	if (!result)
		result = are_entries_doubtful(err, state, &last, &suffered);
	if (!result && suffered)
		result = append_change(err, changes, "cache");
	return result;
}

int jw_run_compare(struct jw_error *err, const struct jw_run_key *key,
				   struct jw_run_state **ret_state, const char **ret_changes)
{
	struct jw_run_state *state = arena_open(sizeof *state);
	struct buf changes = BUF_MAX(1024);
	int result = choose_name(err, key, state) || find_cache(err, key, state) ? -1 : 0;

	for (size_t i = 0; !result && i < PARTS; i++)
		result = digest_state_part(err, key, (enum state_part)i, state->parts[i]);
	if (result || compare_with_last(err, state, &changes)) {
		jw_result_free(state);
		result = -1;
	} else {
		*ret_state = state;
		*ret_changes = arena_string(state, buf_text(&changes));
	}
	buf_free(&changes);
	return result;
}

bool jw_run_left_nothing(const struct jw_prime_result *result)
{
	const struct jw_prime_plan *plan = &result->plan;
	const struct jw_prime_compiled *compiled = &result->compile;

	return !plan->over_budget && !plan->unused && !plan->refused && !plan->sources_failed &&
		   (plan->images || !result->troubles) && !compiled->undone && !compiled->interrupted &&
		   !compiled->refused;
}

int jw_run_remember(struct jw_error *err, const struct jw_run_state *state)
{
	struct jw_run_state now = *state;
	struct left_entries left = {.until_ns = INT64_MAX};

	if (digest_entries(err, state->cache_dir, &left))
		return -1;
	TEXT_COPY(now.entries, left.digest);
	(void)snprintf(now.until_ns, sizeof now.until_ns, "%lld", (long long)left.until_ns);
	(void)snprintf(now.boot_s, sizeof now.boot_s, "%llu", (unsigned long long)settled_boot_s());
	now.settled = left.settled;
	return state_write(err, state->state_dir, state->name, json_object(&kept_run, &now));
}
