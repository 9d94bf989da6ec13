/* The keys of entries that the driver would take. */
#include "make_devcode.h"

#include "cache/key.h"
#include "devcode/container.h"
#include "plan/picks.h"

static const struct jw_target device = {.sm = 86};
static const struct cache_profile profile = {.stamp = "Jun 25 202401:14:48"};

/* The keys of one PTX entry of a kind; `payload` and its NULs as nvcc would store them. */
static struct pick_keys keys_of(uint32_t kind, enum devcode_compression compression,
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
	struct picks picks;
	struct pick_keys keys;
	size_t index;

	assert_int_equal(write_container(NULL, &ptx, &bytes), 0);
	container_entries(bytes.data, bytes.size, 0, &entry, 1);
	entry.kind = kind;
	assert_int_equal(picks_init(NULL, &picks, &device, 1, &profile), 0);
	assert_int_equal(picks_add(NULL, &picks,
							   &(struct devcode_container){.size_bytes = bytes.size,
														   .bytes = bytes.data,
														   .entries = &entry,
														   .entry_count = 1},
							   &entry, 1, &index),
					 0);
	picks_flush(&picks);
	keys = picks.keys[index];
	picks_free(&picks);
	buf_free(&bytes);
	return keys;
}

static uint64_t key(enum cache_key_form form, const char *payload, size_t size, const char *options)
{
	return cache_key_hash(&profile, device.sm, form, payload, size, options, strlen(options), NULL);
}

static void payload_and_options_go_in_as_they_are(void **state)
{
	static const char payload[] = "text with two\0";
	struct pick_keys keys = keys_of(DEVCODE_KIND_PTX, DEVCODE_LZ4, payload, sizeof payload, " -v ");

	(void)state;
	assert_int_equal(keys.load, key(CACHE_KEY_LOAD, payload, sizeof payload, " -v "));
	assert_int_equal(keys.link, key(CACHE_KEY_LINK, payload, sizeof payload, " -v "));
}

/* Of kind 0x40 the text alone, whether it is stored raw or not. */
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(payload_and_options_go_in_as_they_are),
		cmocka_unit_test(relocatable_ptx_goes_in_as_a_string),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
