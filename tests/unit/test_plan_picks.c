/* The keys of the entries that the driver would choose are the same, however many are computed at
 * once, and damaged ones do not affect others. */
#include "make_devcode.h"

#include "cache/key.h"
#include "code/container.h"
#include "plan/picks.h"

static const struct jw_target device = {.sm = 86};
static const struct cache_profile profile = {.stamp = "Jun 25 202401:14:48"};

static uint32_t pick_for = 1; /* the targets, as bits */

/* Picks one PTX entry and returns its index. The container's bytes are freed when this returns. */
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

	OK(write_container(why, &ptx, &bytes));
	container_entries(bytes.data, bytes.size, 0, &entry, 1);
	entry.kind = kind;
	OK(picks_add(
		why, picks,
		&(struct devcode_container){
			.size_bytes = bytes.size, .bytes = bytes.data, .entries = &entry, .entry_count = 1},
		&entry, pick_for, &index));
	buf_free(&bytes);
	return index;
}

/* Returns the keys of one PTX entry of a kind, with `payload` and its NULs as nvcc would store
 * them. */
static struct pick_keys keys_of(uint32_t kind, enum devcode_compression compression,
								const char *payload, size_t size, const char *options)
{
	struct picks picks;
	struct pick_keys keys;
	size_t index;

	OK(picks_init(why, &picks, &device, 1, &profile));
	index = pick(&picks, kind, compression, payload, size, options);
	picks_flush(&picks);
	keys = picks.keys[index];
	picks_free(&picks);
	return keys;
}

static uint64_t key(enum cache_key_form form, const char *payload, size_t size, const char *options)
{
	return cache_key_hash(
		profile.stamp,
		&(struct cache_key_input){device.sm, form, payload, size, options, strlen(options), false},
		NULL);
}

/* There are so many that several threads process them; some are too large to wait beside others. */
TEST(many_verdicts_equal_single_ones)
{
	enum { MANY = 300, MOST = 13 << 20 };
	static const enum devcode_compression compressions[] = {DEVCODE_LZ4, DEVCODE_RAW, DEVCODE_ZSTD};
	static char text[MOST];
	size_t sizes[MANY];
	struct picks picks;

	for (size_t i = 0; i < MOST; i++)
		text[i] = (char)(i % 61 ? 'a' + i * i % 23 : ';');
	OK(picks_init(why, &picks, &device, 1, &profile));
	for (size_t i = 0; i < MANY; i++) {
		sizes[i] = i % 100 == 99 ? MOST - i : 20000 + i * 331 % 60000;
		assert_int_equal(
			pick(&picks, DEVCODE_KIND_PTX, compressions[i % 3], text + i, sizes[i], "-v"), i);
	}
	picks_flush(&picks);
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

/* An entry that claims a larger size than it has does not prevent the others. */
TEST(a_failed_decompression_is_reported)
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

	memset(bytes, 0xee, sizeof bytes);
	OK(picks_init(why, &picks, &device, 1, &profile));
	for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
		entry.size_bytes = sizes[i];
		OK(picks_add(why, &picks, &container, &entry, 1, &index));
		entry.stored_bytes =
			sizes[i]; /* from the second size on, the payload also exceeds the container */
	}
	sound = pick(&picks, DEVCODE_KIND_PTX, DEVCODE_LZ4, text, sizeof text, "");
	picks_flush(&picks);
	for (size_t i = 0; i < picks.count; i++)
		assert_int_equal(picks.items[i].readable, i == sound);
	assert_int_equal(picks.keys[sound].load, key(CACHE_KEY_LOAD, text, sizeof text, ""));
	picks_free(&picks);
}

TEST(one_entrys_key_is_the_same)
{
	static const uint32_t kinds[] = {DEVCODE_KIND_PTX, DEVCODE_KIND_RELOCATABLE_PTX};
	static const enum devcode_compression compressions[] = {DEVCODE_RAW, DEVCODE_LZ4};
	static const char text[] = "sixteen  letters";

	for (size_t i = 0; i < 8; i++) {
		const size_t size = 15 + i / 4;
		const struct write_ptx ptx = {.payload = text,
									  .payload_size = size,
									  .isa_major = 8,
									  .target = {.sm = 80},
									  .options = "-v",
									  .compression = compressions[i / 2 % 2]};
		const struct pick_keys keys = keys_of(kinds[i % 2], ptx.compression, text, size, "-v");
		struct devcode_container container = {0};
		struct buf bytes = make_buf();
		struct devcode_entry entry;
		struct cache_key_input input;

		OK(write_container(why, &ptx, &bytes));
		container_entries(bytes.data, bytes.size, 0, &entry, 1);
		container.bytes = bytes.data;
		container.size_bytes = bytes.size;
		entry.kind = kinds[i % 2];
		for (int form = 0; form < 2; form++) {
			input = picks_key_input(&container, &entry,
									(struct devcode_view){(const uint8_t *)text, size}, device.sm,
									form ? CACHE_KEY_LINK : CACHE_KEY_LOAD);
			assert_int_equal(form ? keys.link : keys.load,
							 cache_key_hash(profile.stamp, &input, NULL));
		}
		buf_free(&bytes);
	}
}

/* There are as many targets as allowed, and an entry is for some of them. */
TEST(each_target_has_its_keys)
{
	static const char text[] = "a text for many";
	struct jw_target targets[PLAN_MAX_TARGETS + 1];
	struct picks picks = {.count = 7};
	size_t index, other;

	for (uint16_t t = 0; t <= PLAN_MAX_TARGETS; t++)
		targets[t] = (struct jw_target){.sm = (uint16_t)(50 + t)};
	GIVES(JW_ERR_USAGE, picks_init(why, &picks, targets, PLAN_MAX_TARGETS + 1, &profile));
	assert_int_equal(picks.count, 7);
	OK(picks_init(why, &picks, targets, PLAN_MAX_TARGETS, &profile));
	assert_true(picks.keyed);
	assert_int_equal(picks.target_count, PLAN_MAX_TARGETS);
	pick_for = 0x80000005;
	index = pick(&picks, DEVCODE_KIND_PTX, DEVCODE_LZ4, text, sizeof text, "-v");
	pick_for = 2;
	other = pick(&picks, DEVCODE_KIND_PTX, DEVCODE_LZ4, text, sizeof text, "-v");
	pick_for = 1;
	picks_flush(&picks);
	for (size_t t = 0; t < PLAN_MAX_TARGETS; t++)
		assert_int_equal(picks.keys[other * PLAN_MAX_TARGETS + t].load != 0, t == 1);
	for (size_t t = 0; t < PLAN_MAX_TARGETS; t++) {
		const struct pick_keys *keys = &picks.keys[index * PLAN_MAX_TARGETS + t];
		struct cache_key_input input = {.sm = targets[t].sm,
										.form = CACHE_KEY_LOAD,
										.payload = text,
										.payload_size = sizeof text,
										.options = "-v",
										.options_length = 2};
		const bool wanted = t == 0 || t == 2 || t == 31;

		assert_int_equal(keys->load, wanted ? cache_key_hash(profile.stamp, &input, NULL) : 0);
		assert_int_equal(keys->link != 0, wanted);
	}
	picks_free(&picks);
}

/* With a stamp or without one, a module is known by its content and its options. */
TEST(with_and_without_keys_there_is_an_identity)
{
	static const struct cache_profile unknown = {0};
	struct jw_identity identities[4];

	for (int how = 0; how < 3; how++) {
		struct picks picks;

		OK(picks_init(why, &picks, &device, how < 2, how ? &unknown : NULL));
		if (how == 2)
			assert_int_equal(picks.target_count, 0);
		assert_false(picks.keyed);
		for (size_t i = 0; i < 4; i++)
			assert_int_equal(pick(&picks, DEVCODE_KIND_PTX, DEVCODE_LZ4, i == 1 ? "Text" : "text",
								  5, i == 2 ? "-v" : ""),
							 i);
		picks_flush(&picks);
		for (size_t i = 0; i < 4; i++) {
			if (how)
				assert_true(cache_identity_equal(&picks.items[i].load, &identities[i]));
			identities[i] = picks.items[i].load;
			assert_false(cache_identity_equal(&picks.items[i].link, &identities[i]));
			if (how < 2)
				assert_int_equal(picks.keys[i].load + picks.keys[i].link, 0);
		}
		assert_true(cache_identity_equal(&identities[0], &identities[3]));
		assert_false(cache_identity_equal(&identities[0], &identities[1]));
		assert_false(cache_identity_equal(&identities[0], &identities[2]));
		picks_free(&picks);
	}
}

/* The third entry claims to be large: the members before it are processed first, and it is damaged.
 * */
TEST(a_damaged_one_leaves_the_others)
{
	static const size_t sizes[] = {1000, 2000, 4000, 3000};
	static char text[4000];
	static struct buf bytes[4];
	static struct devcode_entry entries[4];
	static uint64_t right[4];
	struct picks picks;
	int result = 0;

	for (size_t i = 0; !bytes[3].size && i < 4; i++) {
		const struct write_ptx ptx = {.payload = text,
									  .payload_size = sizes[i],
									  .isa_major = 8,
									  .target = {.sm = 80},
									  .compression = DEVCODE_ZSTD};

		memset(text, 'a', sizeof text);
		bytes[i] = make_buf();
		OK(write_container(why, &ptx, &bytes[i]));
		container_entries(bytes[i].data, bytes[i].size, 0, &entries[i], 1);
		if (i == 2)
			entries[i].size_bytes = 13 << 20;
		right[i] = key(CACHE_KEY_LOAD, text, sizes[i], "");
	}
	OK(picks_init(why, &picks, &device, 1, &profile));
	for (size_t i = 0; !result && i < 4; i++) {
		const struct devcode_container container = {.size_bytes = bytes[i].size,
													.bytes = bytes[i].data,
													.entries = &entries[i],
													.entry_count = 1};
		size_t index;

		result = picks_add(NULL, &picks, &container, &entries[i], 1, &index);
	}
	picks_flush(&picks);
	for (size_t i = 0; !result && i < 4; i++) {
		assert_int_equal(picks.items[i].readable, i != 2);
		assert_int_equal(picks.keys[i].load, i != 2 ? right[i] : 0);
	}
	assert_int_equal(result, 0);
	picks_free(&picks);
}

RUN_TESTS(NULL, NULL)
