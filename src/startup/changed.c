/* Whether anything has changed since the last run. */
#include <jitwarm/startup.h>

#include <stdio.h>
#include <string.h>

#include "base/hash.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/text.h"
#include "cache/settings.h"
#include "find/named_paths.h"
#include "find/sites.h"
#include "os/environment.h"
#include "os/file.h"
#include "os/folders.h"
#include "os/library.h"
#include "os/pci.h"

enum { MOST_GPUS = 64, MOST_PART = 64 << 20, MOST_STATE = 1 << 20 };
static const char schema[] = "jitwarm.last-run/1";

enum part { PART_DRIVER, PART_GPUS, PART_PACKAGES, PART_SETTINGS, PARTS };
static const char *const part_names[PARTS] = {"driver", "GPUs", "packages", "settings"};

struct jw_run_state {
	char *path; /* of the file that remembers it; NULL: nothing is kept */
	char parts[PARTS][DIGEST_TEXT_SIZE];
	char *cache_dir;
	uint64_t index_bytes; /* of the cache's index: a driver that wipes makes it smaller */
};

/* ---- what it depends on */

static int add_stamp(struct jw_error *err, struct buf *text, const char *path, uint64_t size_bytes,
					 int64_t mtime_ns)
{
	return buf_printf(err, text, "%s %llu %lld\n", path, (unsigned long long)size_bytes,
					  (long long)mtime_ns);
}

static int add_file(struct jw_error *err, struct buf *text, const char *path)
{
	struct os_stat stat;

	return os_stat(NULL, path, &stat) ? buf_printf(err, text, "%s -\n", path)
									  : add_stamp(err, text, path, stat.size_bytes, stat.mtime_ns);
}

static int add_driver(struct jw_error *err, struct buf *text)
{
	char *path = NULL;
	int result;

	if (os_find_driver(NULL, &path))
		return buf_printf(err, text, "none\n");
	result = add_file(err, text, path);
	mem_free(path);
	return result;
}

static int add_gpus(struct jw_error *err, struct buf *text)
{
	struct os_pci_device devices[MOST_GPUS];
	size_t count;

	if (os_pci_gpus(err, devices, MOST_GPUS, &count))
		return -1;
	for (size_t i = 0; i < count; i++)
		if (buf_printf(err, text, "%04x:%04x@%s\n", devices[i].vendor, devices[i].device,
					   devices[i].bus))
			return -1;
	return 0;
}

/* Packages come and go with their records: NAME-VERSION.dist-info, conda-meta/NAME-VERSION.json. */
static int add_records(struct jw_error *err, struct buf *text, const char *folder)
{
	static const char *const ends[] = {".dist-info", ".egg-info", ".json", ".egg-link", ".pth"};
	struct os_names names;
	int result = 0;

	if (os_list(NULL, folder, &names))
		return 0;
	for (size_t i = 0; !result && i < names.count; i++)
		for (size_t j = 0; !result && j < sizeof ends / sizeof *ends; j++)
			if (text_ends(names.items[i], ends[j])) {
				char *path = os_join(err, folder, names.items[i]);

				result = path ? add_file(err, text, path) : -1;
				mem_free(path);
			}
	os_names_free(&names);
	return result;
}

static int add_environment(struct jw_error *err, struct buf *text)
{
	struct found_list list = {0};
	struct sites sites = {0};
	char *meta;
	int result = 0;

	if (found_open(err, &list))
		return -1;
	if (sites_find(NULL, &list, &sites))
		result = buf_printf(err, text, "no environment\n");
	for (size_t i = 0; !result && i < sites.count; i++)
		result = buf_printf(err, text, "%s\n", sites.items[i].path) ||
						 add_records(err, text, sites.items[i].path)
					 ? -1
					 : 0;
	meta = sites.conda && !result ? os_join(err, sites.prefix, "conda-meta") : NULL;
	if (sites.conda && !result)
		result = meta ? add_records(err, text, meta) : -1;
	mem_free(meta);
	sites_free(&sites);
	found_close(&list);
	jw_found_free(list.found);
	return result;
}

/* Paths count with the files below them, packages' names with the environment. */
static int add_packages(struct jw_error *err, const struct jw_run_key *key, struct buf *text)
{
	bool environment = !key->name_count;
	struct found_list list;
	int result = found_open(err, &list);

	for (size_t i = 0; !result && i < key->name_count; i++) {
		struct os_stat stat;

		if (os_stat(NULL, key->names[i], &stat))
			environment = true;
		else
			result = named_path_take(err, &list, key->names[i], &stat);
	}
	for (size_t i = 0; !result && i < list.found->file_count; i++) {
		const struct jw_found_file *file = &list.found->files[i];

		result = add_stamp(err, text, file->path, file->size_bytes, file->mtime_ns);
	}
	jw_found_free(list.found);
	found_close(&list);
	return result || !environment ? result : add_environment(err, text);
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

static int look_at(struct jw_error *err, const struct jw_run_key *key, enum part part,
				   char digest[DIGEST_TEXT_SIZE])
{
	struct buf text = BUF_MAX(MOST_PART);
	struct digest sum;
	int result = 0;

	switch (part) {
	case PART_DRIVER: result = add_driver(err, &text); break;
	case PART_GPUS: result = add_gpus(err, &text); break;
	case PART_PACKAGES: result = add_packages(err, key, &text); break;
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

static uint64_t size_of_index(const char *dir)
{
	char *path = dir ? os_join(NULL, dir, "index") : NULL;
	struct os_stat stat = {0};
	bool there = path && !os_stat(NULL, path, &stat);

	mem_free(path);
	return there ? stat.size_bytes : 0;
}

static int find_cache(struct jw_error *err, const struct jw_run_key *key,
					  struct jw_run_state *state)
{
	struct cache_settings settings;

	if (cache_settings_read(err, key->cache_dir, NULL, &settings))
		return -1;
	state->cache_dir = settings.path;
	settings.path = NULL;
	cache_settings_free(&settings);
	state->index_bytes = size_of_index(state->cache_dir);
	return 0;
}

/* ---- remembering it */

/* Each set of names has a file of its own: several tasks do not disturb each other. */
static int choose_file(struct jw_error *err, const struct jw_run_key *key,
					   struct jw_run_state *state)
{
	struct buf text = BUF_MAX(MOST_STATE);
	char digest[DIGEST_TEXT_SIZE], *folder = NULL;
	struct digest sum;
	int result = buf_printf(err, &text, "%s", key->cache_dir ? key->cache_dir : "");

	for (size_t i = 0; !result && i < key->name_count; i++)
		result = buf_printf(err, &text, "\n%s", key->names[i]);
	if (result || os_state_dir(NULL, &folder))
		goto done;
	digest_of(&sum, buf_text(&text), text.size);
	digest_text(digest, &sum);
	digest[16] = '\0';
	state->path = mem_printf(err, "%s%clast-run-%s.json", folder, os_separator, digest);
	result = state->path ? 0 : -1;
done:
	mem_free(folder);
	buf_free(&text);
	return result;
}

static int append_change(struct jw_error *err, struct buf *text, const char *what)
{
	return buf_printf(err, text, "%s%s", text->size ? ", " : "", what);
}

static int compare(struct jw_error *err, const struct jw_run_state *state, struct buf *changes)
{
	struct buf text = {0};
	cJSON *document = NULL;
	int result = 0;

	if (state->path && !os_read_file(NULL, state->path, MOST_STATE, &text))
		document = json_parse(NULL, buf_text(&text), text.size);
	buf_free(&text);
	if (!document || strcmp(json_text(document, "schema", ""), schema) != 0) {
		cJSON_Delete(document);
		return append_change(err, changes, "first run");
	}
	for (size_t i = 0; !result && i < PARTS; i++)
		if (strcmp(json_text(document, part_names[i], ""), state->parts[i]) != 0)
			result = append_change(err, changes, part_names[i]);
	if (!result && state->index_bytes < json_count(document, "index_bytes"))
		result = append_change(err, changes, "cache");
	cJSON_Delete(document);
	return result;
}

int jw_run_look(struct jw_error *err, const struct jw_run_key *key, struct jw_run_state **ret_state,
				char **ret_changes)
{
	struct jw_run_state *state = mem_alloc(err, sizeof *state);
	struct buf changes = BUF_MAX(1024);
	char *text = NULL;
	int result = state ? 0 : -1;

	for (size_t i = 0; !result && i < PARTS; i++)
		result = look_at(err, key, (enum part)i, state->parts[i]);
	if (result || find_cache(err, key, state) || choose_file(err, key, state) ||
		compare(err, state, &changes) || !(text = mem_string(err, buf_text(&changes))))
		result = -1;
	buf_free(&changes);
	if (result) {
		jw_run_state_free(state);
		return -1;
	}
	*ret_state = state;
	*ret_changes = text;
	return 0;
}

int jw_run_remember(struct jw_error *err, const struct jw_run_state *state)
{
	cJSON *document = cJSON_CreateObject();
	char *folder = state->path ? os_dir_name(err, state->path) : NULL, *text = NULL;
	bool made = cJSON_AddStringToObject(document, "schema", schema) != NULL;
	int result = -1;

	for (size_t i = 0; made && i < PARTS; i++)
		made = cJSON_AddStringToObject(document, part_names[i], state->parts[i]);
	if (!made || !cJSON_AddNumberToObject(document, "index_bytes",
										  (double)size_of_index(state->cache_dir))) {
		error_set(err, JW_ERR_MEMORY, "out of memory");
		goto done;
	}
	text = json_line(err, document);
	if (text && !state->path)
		result = 0;
	else if (text && folder)
		result =
			os_make_dirs(err, folder, 0700) || os_write_atomic(err, state->path, text, strlen(text))
				? -1
				: 0;
done:
	cJSON_free(text);
	cJSON_Delete(document);
	mem_free(folder);
	return result;
}

void jw_run_state_free(struct jw_run_state *state)
{
	if (!state)
		return;
	mem_free(state->path);
	mem_free(state->cache_dir);
	mem_free(state);
}

void jw_run_text_free(char *text)
{
	mem_free(text);
}
