/* Each parser without memory, on the sound inputs of the fuzz targets: it says so, and leaks
 * nothing. What can be written is written without memory, too. */
#include "check.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "bake/wheel_edit.h"
#include "cache/index.h"
#include "cache/profile.h"
#include "devcode/devcode.h"
#include "devcode/leaf.h"
#include "devcode/walk.h"
#include "devcode/zip_directory.h"
#include "find/package_files.h"
#include "find/pip.h"
#include "find/requirement.h"
#include "lacking.h"
#include "os/file.h"
#include "pack/manifest.h"
#include "pack/minisign.h"
#include "plan/inventory.h"
#include "record/recording.h"
#include "state/ledger.h"
#include "tune/assign.h"
#include "tune/block.h"
#include "worker/protocol.h"

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

	if (cache_index_parse(NULL, data, size, &index))
		return false;
	if (index.count) {
		cache_index_free(&index);
		STARVE(cache_index_parse(&err, data, size, &index), cache_index_free(&index));
		assert_int_equal(cache_index_parse(NULL, data, size, &index), 0);
	}
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

static bool try_packages(const char *data, size_t size)
{
	struct pip_lines lines;

	if (pip_lines_read(NULL, "requirements.txt", data, size, &lines))
		return false;
	pip_lines_free(&lines);
	STARVE(pip_lines_read(&err, "requirements.txt", data, size, &lines), pip_lines_free(&lines));
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
	static const enum assign_form forms[] = {ASSIGN_SHELL, ASSIGN_LIST, ASSIGN_UNIT};
	struct buf with;
	struct block_found found;
	bool there;

	for (size_t i = 0; i < sizeof forms / sizeof *forms; i++)
		assert_int_equal(assign_parse(NULL, forms[i], data, size, take_line, NULL), 0);
	if (block_find(NULL, data, size, &there, &found) || there)
		return false;
	STARVE(block_put(&err, data, size, "x=1\n", 1, &with), buf_free(&with));
	return true;
}

static bool try_zip(const char *data, size_t size)
{
	struct zip_directory directory;

	if (zip_directory_read(NULL, data, size, &directory))
		return false;
	zip_directory_free(&directory);
	STARVE(zip_directory_read(&err, data, size, &directory), zip_directory_free(&directory));
	return true;
}

/* Two texts with a NUL between them: METADATA and RECORD, index.json and paths.json. */
static struct buf halves(const char *data, size_t size, struct buf *ret_second)
{
	const char *nul = memchr(data, 0, size);
	const size_t split = nul ? (size_t)(nul - data) : size;
	struct buf first = BUF_MAX(1 << 20), second = BUF_MAX(1 << 20);

	assert_int_equal(buf_append(NULL, &first, data, split), 0);
	if (nul)
		assert_int_equal(buf_append(NULL, &second, nul + 1, size - split - 1), 0);
	*ret_second = second;
	return first;
}

static int take_row(struct jw_error *err, void *context, const char *path, const char *row)
{
	char *kept = mem_string(err, row);

	(void)path;
	*(bool *)context = true;
	mem_free(kept);
	return kept ? 0 : -1;
}

static void starve_version(const struct buf *metadata, const char *old)
{
	static const struct jw_target gpus[] = {{.sm = 86}, {.sm = 90, .suffix = 'a'}};
	struct buf text = BUF_MAX(1 << 20);
	char *version, *made;

	STARVE((made = wheel_edit_old_version(&err, metadata)) ? 0 : -1, mem_free(made));
	version = wheel_edit_version(NULL, old, gpus, 2);
	if (!version)
		return;
	STARVE((made = wheel_edit_version(&err, old, gpus, 2)) ? 0 : -1, mem_free(made));
	STARVE(wheel_edit_metadata(&err, metadata, version, &text) ? (buf_free(&text), -1) : 0,
		   buf_free(&text));
	mem_free(version);
}

static bool try_wheel(const char *data, size_t size)
{
	struct buf record, metadata = halves(data, size, &record);
	char *old = wheel_edit_old_version(NULL, &metadata);
	bool taken = false;
	const bool sound = !wheel_record_rows(NULL, &record, take_row, &taken) && taken;

	if (sound)
		STARVE(wheel_record_rows(&err, &record, take_row, &taken), (void)0);
	if (old)
		starve_version(&metadata, old);
	mem_free(old);
	buf_free(&metadata);
	buf_free(&record);
	return sound || old;
}

/* ---- files with device code: what is found is all of it, or memory is to blame */

struct found_code {
	struct jw_error memory; /* a file or member that was passed over for the lack of it */
	size_t containers;
};

static int count_found(struct jw_error *err, void *context, const struct devcode_container *found)
{
	(void)err;
	(void)found;
	((struct found_code *)context)->containers++;
	return 0;
}

static void note_lack(void *context, const char *path, const char *member,
					  const struct jw_error *why)
{
	(void)path;
	(void)member;
	if (why->code == JW_ERR_MEMORY)
		((struct found_code *)context)->memory = *why;
}

static void note_walk(void *context, const char *member, const struct jw_error *why)
{
	const struct reading *reading = context;

	note_lack(reading->sink->context, reading->path, member, why);
}

static int read_code(struct jw_error *err, const char *data, size_t size, struct found_code *found)
{
	const struct devcode_sink sink = {
		.context = found, .container = count_found, .trouble = note_lack};
	struct reading reading = {.path = "input", .sink = &sink};
	const struct visitor visitor = {&reading, leaf_read, note_walk, &sink.cancel, NULL};
	struct stream stream;

	*found = (struct found_code){.containers = 0};
	stream_of_memory(&stream, (const uint8_t *)data, size, NULL);
	if (walk_stream(err, &visitor, NULL, &stream, 0))
		return -1;
	return found->memory.code ? error_copy(err, &found->memory) : 0;
}

static bool try_code(const char *data, size_t size)
{
	struct found_code whole, part;

	if (read_code(NULL, data, size, &whole) || !whole.containers)
		return false;
	for (size_t n = 1, left = 0; !left; n++) {
		struct jw_error err = {0};
		int failed;

		mem_fail_after(n);
		failed = read_code(&err, data, size, &part);
		left = mem_fail_after(0);
		if (failed)
			assert_int_equal(err.code, JW_ERR_MEMORY);
		else if (part.containers != whole.containers)
			fail_msg("allocation %zu fails: %zu of %zu containers, and no word", n, part.containers,
					 whole.containers);
	}
	return true;
}

/* ---- */

static const struct {
	const char *corpus;
	bool (*try)(const char *data, size_t size);
} parsers[] = {
	{"manifest", try_manifest},
	{"recording", try_recording},
	{"index", try_index},
	{"profile", try_profile},
	{"pip_lines", try_packages},
	{"conda", try_conda},
	{"metadata", try_metadata},
	{"inventory", try_inventory},
	{"protocol", try_protocol},
	{"signature", try_signature},
	{"assign", try_settings},
	{"zip", try_zip},
	{"wheel_edit", try_wheel},
	{"archive", try_code},
	{"pe", try_code},
	{"elf", try_code},
	{"container", try_code},
};

TEST(parsers_say_that_memory_is_short)
{
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

/* A line that lacks memory is reported and leaves nothing behind it. */
TEST(a_message_that_lacks_memory_is_not_sent)
{
	static struct protocol_job job = {
		.id = 1, .form = CACHE_KEY_LINK, .spare_bytes = 4, .path = "/a", .output = "/b"};
	static struct protocol_hello hello = {.device_count = 1, .library = "/l", .error = "e"};
	static const struct protocol_answer answer = {.id = 1, .error = "e"};
	struct buf line = BUF_MAX(PROTOCOL_MOST_LINE), other = BUF_MAX(PROTOCOL_MOST_LINE),
			   third = BUF_MAX(PROTOCOL_MOST_LINE);

	hello.devices[0] = (struct protocol_device){.target = {.sm = 86}, .name = "A GPU"};
	STARVE(protocol_put_job(&err, &line, &job), buf_free(&line));
	STARVE(protocol_put_hello(&err, &other, &hello), buf_free(&other));
	STARVE(protocol_put_answer(&err, &third, &answer), buf_free(&third));
}

RUN_TESTS(NULL, NULL)
