/* Each parser without memory, on the sound inputs of the fuzz targets: it says so, and leaks
 * nothing. What can be written is written without memory, too. */
#include "check.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cache/index.h"
#include "cache/profile.h"
#include "compile/index_page.h"
#include "compile/pip_config.h"
#include "find/conda.h"
#include "find/metadata.h"
#include "history/ledger.h"
#include "lacking.h"
#include "os/file.h"
#include "pack/manifest.h"
#include "pack/minisign.h"
#include "plan/inventory.h"
#include "record/recording.h"
#include "tune/assign.h"
#include "tune/block.h"
#include "tune/settings_record.h"
#include "worker/protocol.h"

static int take_file(struct jw_error *err, void *context, const struct index_file *file)
{
	(void)err;
	(void)context;
	return *file->url ? 0 : -1;
}

static int take_line(struct jw_error *err, void *context, const struct assign *assign)
{
	(void)err;
	(void)context;
	return *assign->name ? 0 : -1;
}

/* ---- a function for each: whether the input is sound, that is, whether it was tried */

static bool try_manifest(const char *data, size_t size)
{
	struct pack_manifest manifest;
	struct buf text = BUF_MAX(1 << 24);

	if (manifest_parse(NULL, data, size, &manifest))
		return false;
	STARVE(manifest_format(&err, &manifest, &text) ? (buf_free(&text), -1) : 0, buf_free(&text));
	manifest_free(&manifest);
	STARVE(manifest_parse(&err, data, size, &manifest), manifest_free(&manifest));
	return true;
}

static bool try_recording(const char *data, size_t size)
{
	struct jw_recording *recording;
	struct buf text = BUF_MAX(RECORDING_MOST_BYTES);

	if (jw_recording_parse(NULL, data, size, &recording))
		return false;
	STARVE(recording_format(&err, recording, &text) ? (buf_free(&text), -1) : 0, buf_free(&text));
	jw_recording_free(recording);
	STARVE(jw_recording_parse(&err, data, size, &recording), jw_recording_free(recording));
	return true;
}

static bool try_index(const char *data, size_t size)
{
	struct cache_index index;
	struct buf bytes = BUF_MAX(1 << 24);

	if (cache_index_parse(NULL, data, size, &index))
		return false;
	if (index.count) {
		cache_index_free(&index);
		STARVE(cache_index_parse(&err, data, size, &index), cache_index_free(&index));
		assert_int_equal(cache_index_parse(NULL, data, size, &index), 0);
	}
	STARVE(cache_index_format(&err, &index, &bytes) ? (buf_free(&bytes), -1) : 0, buf_free(&bytes));
	cache_index_free(&index);
	return true;
}

static bool try_profile(const char *data, size_t size)
{
	struct cache_profile profile;

	if (cache_profile_parse(NULL, data, size, &profile))
		return false;
	STARVE(cache_profile_parse(&err, data, size, &profile), (void)0);
	return true;
}

static bool try_conda(const char *data, size_t size)
{
	struct conda_package package;

	if (conda_parse(NULL, data, size, &package))
		return false;
	conda_free(&package);
	STARVE(conda_parse(&err, data, size, &package), conda_free(&package));
	return true;
}

static bool try_metadata(const char *data, size_t size)
{
	struct metadata metadata;

	if (metadata_parse(NULL, data, size, &metadata))
		return false;
	if (!metadata.name && !metadata.version && !metadata.require_count)
		return true;
	metadata_free(&metadata);
	STARVE(metadata_parse(&err, data, size, &metadata), metadata_free(&metadata));
	return true;
}

static bool try_pip_config(const char *data, size_t size)
{
	struct pip_config config = {{0}, {0}};
	const bool sound = !pip_config_parse(NULL, &config, data, size);

	pip_config_free(&config);
	if (sound && size > 40)
		STARVE(pip_config_parse(&err, &config, data, size) ? (pip_config_free(&config), -1) : 0,
			   pip_config_free(&config));
	return sound;
}

static bool try_json_page(const char *data, size_t size)
{
	const struct index_reader reader = {NULL, take_file};

	if (index_page_read_json(NULL, data, size, &reader))
		return false;
	STARVE(index_page_read_json(&err, data, size, &reader), (void)0);
	return true;
}

static bool try_inventory(const char *data, size_t size)
{
	struct inventory *inventory;

	if (inventory_parse(NULL, data, size, &inventory))
		return false;
	inventory_close(inventory);
	STARVE(inventory_parse(&err, data, size, &inventory), inventory_close(inventory));
	return true;
}

static bool try_protocol(const char *data, size_t size)
{
	static struct protocol_hello hello;
	static struct protocol_answer answer;
	static struct protocol_job job;
	bool tried = false;

	if (!protocol_get_hello(NULL, data, size, &hello)) {
		STARVE(protocol_get_hello(&err, data, size, &hello), (void)0);
		tried = true;
	}
	if (!protocol_get_answer(NULL, data, size, &answer)) {
		STARVE(protocol_get_answer(&err, data, size, &answer), (void)0);
		tried = true;
	}
	if (!protocol_get_job(NULL, data, size, &job)) {
		STARVE(protocol_get_job(&err, data, size, &job), (void)0);
		tried = true;
	}
	return tried;
}

static bool try_signature(const char *data, size_t size)
{
	struct minisign_signature signature;
	struct minisign_public key;
	struct buf text = BUF_MAX(MINISIGN_MOST_FILE);

	if (!minisign_read_signature(NULL, data, size, &signature)) {
		STARVE(minisign_write_signature(&err, &signature, &text), buf_free(&text));
		return true;
	}
	if (minisign_read_public(NULL, data, size, &key))
		return false;
	STARVE(minisign_write_public(&err, &key, &text), buf_free(&text));
	return true;
}

static bool try_settings(const char *data, size_t size)
{
	static const enum assign_form forms[] = {ASSIGN_SHELL, ASSIGN_LIST, ASSIGN_UNIT, ASSIGN_NULS};
	static struct settings_record record;
	struct buf with;
	struct block_found found;
	bool there;

	for (size_t i = 0; i < sizeof forms / sizeof *forms; i++)
		assert_int_equal(assign_parse(NULL, forms[i], data, size, take_line, NULL), 0);
	if (!settings_record_parse(NULL, data, size, &record)) {
		settings_record_free(&record);
		STARVE(settings_record_parse(&err, data, size, &record), settings_record_free(&record));
	}
	if (block_find(NULL, "# ", data, size, &there, &found) || there)
		return false;
	STARVE(block_put(&err, "# ", data, size, "x=1\n", 1, &with), buf_free(&with));
	return true;
}

/* ---- */

static const struct {
	const char *corpus;
	bool (*try)(const char *data, size_t size);
} parsers[] = {
	{"manifest", try_manifest},     {"recording", try_recording},  {"index", try_index},
	{"profile", try_profile},       {"conda", try_conda},          {"metadata", try_metadata},
	{"pip_config", try_pip_config}, {"index_json", try_json_page}, {"inventory", try_inventory},
	{"protocol", try_protocol},     {"signature", try_signature},  {"assign", try_settings},
};

static void parsers_say_that_memory_is_short(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof parsers / sizeof *parsers; i++) {
		char *dir = mem_printf(NULL, JITWARM_SOURCE_DIR "/tests/fuzz/corpus/%s", parsers[i].corpus);
		struct os_names names;
		size_t tried = 0;

		if (access(dir, R_OK) || os_list(NULL, dir, &names))
			fail_msg("%s cannot be read", dir);
		for (size_t j = 0; j < names.count; j++) {
			char *path = os_join(NULL, dir, names.items[j]);
			struct buf content = {0};

			assert_int_equal(os_read_file(NULL, path, 1 << 20, &content), 0);
			tried += parsers[i].try(buf_text(&content), content.size);
			buf_free(&content);
			mem_free(path);
		}
		if (!tried)
			fail_msg("no sound input of %s", parsers[i].corpus);
		os_names_free(&names);
		mem_free(dir);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(parsers_say_that_memory_is_short)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
