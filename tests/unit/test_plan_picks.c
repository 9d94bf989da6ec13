/* The keys of entries that the driver would take. */
#include "make_devcode.h"

#include "cache/key.h"
#include "devcode/container.h"
#include "plan/picks.h"

static const struct jw_target device = {.sm = 86};
static const struct cache_profile profile = {.stamp = "Jun 25 202401:14:48"};

/* Picks one PTX entry; returns its index. The container's bytes are gone when this returns. */
static size_t pick(struct picks *picks, uint32_t kind, enum devcode_compression compression,
				   const char *payload, size_t size, const char *options)
{
	const struct write_ptx ptx = {.payload = payload,
								  .payload_size = size,
								  .isa_major = 8,
								  .target = {.sm = 80},
								  .options = options,
								  .compression = compression};
	struct buf bytes = make_buf();
	struct devcode_entry entry;
	size_t index;

	assert_int_equal(write_container(NULL, &ptx, &bytes), 0);
	container_entries(bytes.data, bytes.size, 0, &entry, 1);
	entry.kind = kind;
	assert_int_equal(picks_add(NULL, picks,
							   &(struct devcode_container){.size_bytes = bytes.size,
														   .bytes = bytes.data,
														   .entries = &entry,
														   .entry_count = 1},
							   &entry, 1, &index),
					 0);
	buf_free(&bytes);
	return index;
}

/* The keys of one PTX entry of a kind; `payload` and its NULs as nvcc would store them. */
static struct pick_keys keys_of(uint32_t kind, enum devcode_compression compression,
								const char *payload, size_t size, const char *options)
{
	struct picks picks;
	struct pick_keys keys;
	size_t index;

	assert_int_equal(picks_init(NULL, &picks, &device, 1, &profile), 0);
	index = pick(&picks, kind, compression, payload, size, options);
	assert_int_equal(picks_flush(NULL, &picks), 0);
	keys = picks.keys[index];
	picks_free(&picks);
	return keys;
}

static uint64_t key(enum cache_key_form form, const char *payload, size_t size, const char *options)
{
	return cache_key_hash(
		&profile,
		&(struct cache_key_input){device.sm, form, payload, size, options, strlen(options), false},
		NULL);
}

static void payload_and_options_go_in_as_they_are(void **state)
{
	static const char payload[] = "text with two\0";
	struct pick_keys keys = keys_of(DEVCODE_KIND_PTX, DEVCODE_LZ4, payload, sizeof payload, " -v ");

	(void)state;
	assert_int_equal(keys.load, key(CACHE_KEY_LOAD, payload, sizeof payload, " -v "));
	assert_int_equal(keys.link, key(CACHE_KEY_LINK, payload, sizeof payload, " -v "));
}

/* For kind 0x40 only the text, stored raw or not. */
static void relocatable_ptx_goes_in_as_a_string(void **state)
{
	static const struct {
		const char *payload;
		size_t size;
		enum devcode_compression compression;
	} cases[] = {
		{"seventeen letters\0\0", 20, DEVCODE_LZ4}, {"seventeen letters", 18, DEVCODE_LZ4},
		{"seventeen letters", 18, DEVCODE_RAW},     {"fifteen letters", 16, DEVCODE_RAW},
		{"sixteen  letters", 16, DEVCODE_RAW},
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		const char *payload = cases[i].payload;
		struct pick_keys keys = keys_of(DEVCODE_KIND_RELOCATABLE_PTX, cases[i].compression, payload,
										cases[i].size, "-maxrregcount=96");

		assert_int_equal(keys.link, key(CACHE_KEY_LINK, payload, strlen(payload), ""));
	}
}

/* So many that several threads process them, some too large to wait beside others. */
static void many_verdicts_equal_single_ones(void **state)
{
	enum { MANY = 300, MOST = 13 << 20 };
	static const enum devcode_compression compressions[] = {DEVCODE_LZ4, DEVCODE_RAW, DEVCODE_ZSTD};
	static char text[MOST];
	size_t sizes[MANY];
	struct picks picks;

	(void)state;
	for (size_t i = 0; i < MOST; i++)
		text[i] = (char)(i % 61 ? 'a' + i * i % 23 : ';');
	assert_int_equal(picks_init(NULL, &picks, &device, 1, &profile), 0);
	for (size_t i = 0; i < MANY; i++) {
		sizes[i] = i % 100 == 99 ? MOST - i : 20000 + i * 331 % 60000;
		assert_int_equal(
			pick(&picks, DEVCODE_KIND_PTX, compressions[i % 3], text + i, sizes[i], "-v"), i);
	}
	assert_int_equal(picks_flush(NULL, &picks), 0);
	assert_int_equal(picks.count, MANY);
	for (size_t i = 0; i < MANY; i++) {
		struct pick_keys alone =
			keys_of(DEVCODE_KIND_PTX, compressions[i % 3], text + i, sizes[i], "-v");

		assert_true(picks.items[i].readable);
		assert_int_equal(picks.keys[i].load, alone.load);
		assert_int_equal(picks.keys[i].link, alone.link);
	}
	picks_free(&picks);
}

/* An entry that claims a larger size than it holds does not exclude the others. */
static void a_failed_decompression_is_reported(void **state)
{
	static const char text[] = "a text that is long enough to be worth a second thread or two";
	uint8_t bytes[256] = {0};
	struct devcode_entry entry = {.kind = DEVCODE_KIND_PTX,
								  .compression = DEVCODE_LZ4,
								  .payload_offset = 64,
								  .stored_bytes = 32,
								  .size_bytes = 4096};
	const struct devcode_container container = {
		.size_bytes = sizeof bytes, .bytes = bytes, .entries = &entry, .entry_count = 1};
	static const uint64_t sizes[] = {4096, UINT64_C(1) << 20, UINT64_C(1) << 40, UINT64_MAX};
	struct picks picks;
	size_t sound, index;

	(void)state;
	memset(bytes, 0xee, sizeof bytes);
	assert_int_equal(picks_init(NULL, &picks, &device, 1, &profile), 0);
	for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
		entry.size_bytes = sizes[i];
		assert_int_equal(picks_add(NULL, &picks, &container, &entry, 1, &index), 0);
		entry.stored_bytes = sizes[i]; /* from the second on it lies outside, too */
	}
	sound = pick(&picks, DEVCODE_KIND_PTX, DEVCODE_LZ4, text, sizeof text, "");
	assert_int_equal(picks_flush(NULL, &picks), 0);
	for (size_t i = 0; i < picks.count; i++)
		assert_int_equal(picks.items[i].readable, i == sound);
	assert_int_equal(picks.keys[sound].load, key(CACHE_KEY_LOAD, text, sizeof text, ""));
	picks_free(&picks);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(payload_and_options_go_in_as_they_are),
		cmocka_unit_test(relocatable_ptx_goes_in_as_a_string),
		cmocka_unit_test(many_verdicts_equal_single_ones),
		cmocka_unit_test(a_failed_decompression_is_reported),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
