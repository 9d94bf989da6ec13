/* Containers that the writer makes are read back, and damaged ones are recognised. */
#include "make_devcode.h"

#include "code/container.h"

/* Offsets of fields in a container with one entry, as the writer makes it. */
enum { SIZE = 8, ENTRY = 16, MARK = ENTRY + 2, ENTRY_HEADER = ENTRY + 4, PAYLOAD = ENTRY + 8 };

static enum container_state check(const struct buf *file, size_t size)
{
	struct container_walk walk = {0};

	return container_check(&walk, file->data, size, size);
}

TEST(only_an_exact_walk_is_sound)
{
	static const struct {
		size_t at;
		uint8_t value;
	} cases[] = {
		{0, 0x51},          /* magic */
		{4, 2},             /* version */
		{6, 24},            /* header size */
		{SIZE, 1},          /* no multiple of eight */
		{SIZE + 7, 0x80},   /* so large that sums overflow */
		{MARK, 2},          /* 0x0101 */
		{ENTRY_HEADER, 56}, /* an entry's header is 64 at least */
		{ENTRY_HEADER, 68}, /* and a multiple of eight */
		{ENTRY_HEADER, 88}, /* the walk ends elsewhere */
		{ENTRY_HEADER + 3, 0x80},
		{PAYLOAD, 4},
		{PAYLOAD + 7, 0xff}, /* overflow again */
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct buf file = make_buf();

		make_container(&file, DEVCODE_RAW, "");
		assert_int_equal(check(&file, file.size), CONTAINER_SOUND);
		file.data[cases[i].at] = cases[i].value;
		assert_int_equal(check(&file, file.size), CONTAINER_BROKEN);
		buf_free(&file);
	}
}

TEST(every_truncation_is_broken)
{
	struct buf file = make_buf();

	make_container(&file, DEVCODE_RAW, "");
	for (size_t size = 0; size < file.size; size++)
		assert_int_equal(check(&file, size), CONTAINER_BROKEN);
	buf_free(&file);
}

TEST(a_walk_can_be_fed_piece_by_piece)
{
	struct buf file = make_buf();
	struct container_walk walk = {0};
	enum container_state state_now;
	size_t have = 0, steps = 0;

	make_container(&file, DEVCODE_ZSTD, "");
	while ((state_now = container_check(&walk, file.data, have, UINT64_MAX)) == CONTAINER_MORE) {
		assert_true(walk.needed > have && walk.needed <= file.size);
		have = (size_t)walk.needed;
		steps++;
	}
	assert_int_equal(state_now, CONTAINER_SOUND);
	assert_int_equal(walk.size_bytes, file.size);
	assert_int_equal(walk.entries, 1);
	assert_true(steps >= 3);
	buf_free(&file);
}

/* Fields of the entry that contradict others make the entry damaged or of another kind, while the
 * container stays sound. */
TEST(an_entry_has_its_kind_and_target)
{
	enum {
		COMPRESSED = ENTRY + 16,
		OPTIONS = ENTRY + 20,
		ARCH = ENTRY + 28,
		FLAGS = ENTRY + 40,
		UNCOMPRESSED = ENTRY + 56,
		TEXT = ENTRY + 64
	};
	static const struct {
		size_t at;
		uint32_t value;
		bool damaged;
		enum devcode_compression compression;
		char suffix;
	} cases[] = {
		{.at = COMPRESSED,
		 .value = 1u << 30,
		 .damaged = true,
		 .compression = DEVCODE_LZ4},                                      /* more than is stored */
		{.at = UNCOMPRESSED, .damaged = true, .compression = DEVCODE_LZ4}, /* nothing comes out */
		{.at = UNCOMPRESSED,
		 .value = 0x80000000u,
		 .damaged = true,
		 .compression = DEVCODE_LZ4}, /* too much comes out */
		{.at = OPTIONS,
		 .value = 80,
		 .damaged = true,
		 .compression = DEVCODE_LZ4}, /* options after the header */
		{.at = TEXT,
		 .value = 0xfffffff0u,
		 .damaged = true,
		 .compression = DEVCODE_LZ4}, /* and their text */
		{.at = ARCH, .value = 0x10050, .damaged = true, .compression = DEVCODE_LZ4},
		{.at = FLAGS, .value = 0x12011, .compression = DEVCODE_FOREIGN}, /* obfuscated */
		{.at = FLAGS, .value = 0x1011, .compression = DEVCODE_FOREIGN},  /* an older compression */
		{.at = FLAGS, .value = 0xa011, .compression = DEVCODE_FOREIGN},  /* two at once */
		{.at = FLAGS, .value = 0x11, .compression = DEVCODE_FOREIGN},    /* none is named */
		{.at = FLAGS, .value = 0x8011, .compression = DEVCODE_ZSTD},
		{.at = FLAGS, .value = 0x102011, .compression = DEVCODE_LZ4, .suffix = 'a'},
		{.at = FLAGS, .value = 0x202011, .compression = DEVCODE_LZ4, .suffix = 'f'},
		{.at = COMPRESSED, .compression = DEVCODE_RAW},
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct make_seen seen = {0};
		struct buf file = make_buf();

		make_container(&file, DEVCODE_LZ4, "");
		store_u32(file.data + cases[i].at, cases[i].value);
		assert_int_equal(make_read(&file, &seen), 0);
		assert_int_equal(seen.listed, 1);
		assert_int_equal(seen.entry.damaged, cases[i].damaged);
		assert_int_equal(seen.entry.compression, cases[i].compression);
		assert_int_equal(seen.entry.target.suffix, cases[i].suffix);
		buf_free(&file);
	}
}

/* libcuda reads on until a NUL, also into the payload; and behind the entry if it has no field. */
TEST(options_end_within_the_header)
{
	enum { HEADER_AT = ENTRY + 4, OPTIONS_AT = ENTRY + 20 };

	for (unsigned i = 0; i < 4; i++) {
		struct make_seen seen = {0};
		struct buf file = make_buf();
		uint32_t header, options, text;

		make_container(&file, DEVCODE_LZ4, "-v");
		header = load_u32(file.data + HEADER_AT);
		options = load_u32(file.data + OPTIONS_AT);
		text = load_u32(file.data + ENTRY + options);
		if (i == 1)
			memset(file.data + ENTRY + text, 'v', header - text);
		if (i == 2)
			store_u32(file.data + ENTRY + options, header);
		if (i == 3)
			store_u32(file.data + OPTIONS_AT, 0);
		assert_int_equal(make_read(&file, &seen), 0);
		assert_int_equal(seen.entry.options_length, i ? 0 : 2);
		assert_int_equal(seen.entry.options_lost, i > 0);
		assert_int_equal(seen.entry.damaged, i > 0);
		buf_free(&file);
	}
}

RUN_TESTS(NULL, NULL)
