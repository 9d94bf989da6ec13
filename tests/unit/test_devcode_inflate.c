/* Deflated data, beside zlib: the same bytes, and refused where zlib refuses it. */
#include "check.h"

#include <stdlib.h>
#include <string.h>

#include <zlib.h>

#include "base/mem.h"
#include "devcode/inflate.h"

enum { CONTENT = 200000, PACKED = CONTENT + CONTENT / 8 + 1000 };

static uint8_t content[CONTENT], packed[PACKED], unpacked[CONTENT + 1000], other[CONTENT + 1000];

static uint32_t random_number(uint32_t *state)
{
	*state = *state * 1664525 + 1013904223;
	return *state >> 8;
}

/* Text, noise, runs and repetitions from near and far, in turn */
static void make_content(uint32_t seed)
{
	size_t at = 0;

	while (at < CONTENT) {
		const uint32_t kind = random_number(&seed) % 4;
		size_t length = 1 + random_number(&seed) % 3000, back = 1 + random_number(&seed) % 40000;

		length = length < CONTENT - at ? length : CONTENT - at;
		back = back < at ? back : at;
		for (size_t end = at + length; at < end; at++)
			content[at] = kind == 0 || !back ? (uint8_t)random_number(&seed)
						  : kind == 1 ? (uint8_t)("add.f32 %r1;\n"[random_number(&seed) % 13])
						  : kind == 2 ? content[at - back]
									  : content[at - 1 - random_number(&seed) % 2 % at];
	}
}

static size_t deflate_content(size_t size, int level, int strategy, bool flushed)
{
	z_stream z = {.next_in = content, .next_out = packed, .avail_out = PACKED};

	assert_int_equal(deflateInit2(&z, level, Z_DEFLATED, -MAX_WBITS, 8, strategy), Z_OK);
	for (size_t at = 0; flushed && at + 9000 < size; at += 9000) {
		z.avail_in = 9000;
		assert_int_equal(deflate(&z, at / 9000 % 2 ? Z_SYNC_FLUSH : Z_PARTIAL_FLUSH), Z_OK);
	}
	z.avail_in = (uInt)(size - z.total_in);
	assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
	assert_int_equal(deflateEnd(&z), Z_OK);
	return z.total_out;
}

/* In pieces of `step` bytes; -1 where it is refused. */
static int inflate_all(struct inflate *inflate, size_t size, size_t step, size_t *ret_size)
{
	struct jw_error err;
	size_t made = 0, got;

	inflate_begin(inflate, packed, size);
	do {
		const size_t room = sizeof unpacked - made;

		if (inflate_read(&err, inflate, unpacked + made, step < room ? step : room, &got)) {
			assert_int_equal(err.code, JW_ERR_FORMAT);
			return -1;
		}
		made += got;
	} while (got);
	*ret_size = made;
	return 0;
}

static void content_is_what_it_was(void **state)
{
	static const int strategies[] = {Z_DEFAULT_STRATEGY, Z_HUFFMAN_ONLY, Z_RLE, Z_FIXED};
	static const int levels[] = {0, 1, 6, 9};
	static const size_t sizes[] = {0, 1, 100, 65536, CONTENT}, steps[] = {CONTENT + 1000, 4096, 7};
	struct inflate *inflate;

	(void)state;
	assert_int_equal(inflate_open(NULL, &inflate), 0);
	for (uint32_t i = 0; i < 4 * 4 * 5; i++) {
		const size_t size = sizes[i % 5];
		size_t deflated, made;

		make_content(i);
		deflated = deflate_content(size, levels[i / 5 % 4], strategies[i / 20], i % 2);
		assert_int_equal(inflate_all(inflate, deflated, steps[i % 3], &made), 0);
		assert_int_equal(made, size);
		assert_memory_equal(unpacked, content, size);
		assert_int_equal(inflate_taken(inflate), deflated);
		/* What lies behind is left; what is missing is missed. */
		packed[deflated] = packed[deflated + 9] = 0xff;
		assert_int_equal(inflate_all(inflate, deflated + 10, steps[i % 3], &made), 0);
		assert_int_equal(inflate_taken(inflate), deflated);
		assert_int_equal(inflate_all(inflate, deflated - 1, steps[i % 3], &made), -1);
	}
	inflate_close(inflate);
}

/* Whether zlib takes it, and what it makes of it, up to what fits. */
static bool zlib_takes(size_t size, size_t *ret_size, size_t *ret_taken)
{
	z_stream z = {
		.next_in = packed, .avail_in = (uInt)size, .next_out = other, .avail_out = sizeof other};
	int result;

	assert_int_equal(inflateInit2(&z, -MAX_WBITS), Z_OK);
	result = inflate(&z, Z_FINISH);
	*ret_size = z.total_out;
	*ret_taken = z.total_in;
	assert_int_equal(inflateEnd(&z), Z_OK);
	assert_true(z.avail_out); /* the content cannot become so much longer */
	return result == Z_STREAM_END;
}

static void damage_is_seen_as_zlib_sees_it(void **state)
{
	static const int strategies[] = {Z_DEFAULT_STRATEGY, Z_FIXED, Z_HUFFMAN_ONLY};
	size_t refused = 0, taken = 0;
	struct inflate *inflate;
	uint32_t seed = 1;

	(void)state;
	assert_int_equal(inflate_open(NULL, &inflate), 0);
	for (uint32_t i = 0; i < 1000; i++) {
		const size_t size = 1 + random_number(&seed) % 2000;
		size_t deflated, made, wanted, read;
		bool good;

		if (i % 100 == 0)
			make_content(i);
		deflated = deflate_content(size, 6, strategies[i % 3], i % 7 == 0);
		/* Most of it in the head, where the codes are */
		for (uint32_t k = 0; k <= i % 3; k++)
			packed[random_number(&seed) % (k               ? deflated
										   : deflated < 60 ? deflated
														   : 60)] ^=
				(uint8_t)(1U << random_number(&seed) % 8);
		good = zlib_takes(deflated, &wanted, &read);
		assert_int_equal(inflate_all(inflate, deflated, sizeof unpacked, &made), good ? 0 : -1);
		if (good) {
			assert_int_equal(made, wanted);
			assert_memory_equal(unpacked, other, wanted);
			assert_int_equal(inflate_taken(inflate), read);
		}
		taken += good;
		refused += !good;
	}
	assert_true(taken > 250 && refused > 100);
	inflate_close(inflate);
}

static void hostile_codes_are_refused(void **state)
{
	/* Reserved kind; sizes of a stored block that differ; a distance before the beginning; a fixed
	 * length symbol 286, a distance 30; nothing */
	static const struct {
		uint8_t data[8];
		size_t size;
	} cases[] = {
		{{7}, 1},       {{1, 1, 0, 0xfe, 0, 'x'}, 6}, {{3 | 2 << 3, 2}, 2},
		{{0x1b, 3}, 2}, {{0x4b, 0x04, 0x7d, 0}, 4},   {{0}, 0},
	};
	struct inflate *inflate;
	size_t made;

	(void)state;
	assert_int_equal(inflate_open(NULL, &inflate), 0);
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		size_t wanted, read;

		memcpy(packed, cases[i].data, cases[i].size);
		assert_false(zlib_takes(cases[i].size, &wanted, &read));
		assert_int_equal(inflate_all(inflate, cases[i].size, 100, &made), -1);
	}
	inflate_close(inflate);
}

/* ---- heads of blocks, bit by bit */

static size_t bits_put;

static void put_bits(unsigned value, unsigned count)
{
	for (unsigned i = 0; i < count; i++, bits_put++) {
		if (bits_put % 8 == 0)
			packed[bits_put / 8] = 0;
		packed[bits_put / 8] |= (uint8_t)((value >> i & 1) << bits_put % 8);
	}
}

/* A last block with codes of its own. Their lengths: zeros (18) by 1 bit; 1 by 1 or 2; and by 2, if
 * it is there, the repetition (16). */
static void put_head(unsigned literals, unsigned distances, unsigned one_bits, bool again)
{
	static const uint8_t order[19] = {16, 17, 18, 0, 8,  7, 9,  6, 10, 5,
									  11, 4,  12, 3, 13, 2, 14, 1, 15};

	bits_put = 0;
	put_bits(1 | 2 << 1, 3);
	put_bits(literals - 257, 5);
	put_bits(distances - 1, 5);
	put_bits(19 - 4, 4);
	for (size_t i = 0; i < 19; i++)
		put_bits(order[i] == 1 ? one_bits : order[i] == 16 ? again * 2 : order[i] == 18, 3);
}

static void put_zeros(unsigned one_first, unsigned count)
{
	for (; count; count -= count > 138 ? 138 : count) {
		put_bits(one_first, 1);
		put_bits((count > 138 ? 138 : count) - 11, 7);
	}
}

static void heads_of_blocks_are_judged_as_by_zlib(void **state)
{
	struct inflate *inflate;
	size_t made = 0, wanted, read;

	(void)state;
	assert_int_equal(inflate_open(NULL, &inflate), 0);
	for (int i = 0; i < 7; i++) {
		/* 0: sound. 1: too many literals. 2: a code is missing among those of the lengths. 3: no
		 * end of the block. 4: zeros beyond both codes. 5: a repetition of nothing. 6: too many
		 * distances */
		const unsigned literals = i == 1 ? 287 : i == 0 ? 286 : 257;

		put_head(literals, i == 6 ? 31 : 1, i == 2 || i == 5 ? 2 : 1, i == 5);
		if (i == 2 || i == 5) {
			put_bits(i == 5 ? 3 : 1, 2);
			if (i == 5)
				put_bits(0, 2);
			put_zeros(0, i == 5 ? 253 : 255);
			put_bits(1, 2);
			put_bits(1, 2);
		} else {
			put_bits(0, 1);
			if (i == 3)
				put_bits(0, 1);
			put_zeros(1, 255);
			if (i != 3)
				put_bits(0, 1);
			if (literals > 257 || i == 4)
				put_zeros(1, i == 4 ? 11 : literals - 257);
			if (i == 6)
				put_zeros(1, 30);
			put_bits(0, 1);
		}
		put_bits(0x2a, 6); /* 0, and the end of the block */
		put_bits(0, 32);
		put_bits(0, 32);
		assert_int_equal(zlib_takes(bits_put / 8, &wanted, &read), i == 0);
		assert_int_equal(inflate_all(inflate, bits_put / 8, 100, &made), i == 0 ? 0 : -1);
	}
	inflate_close(inflate);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(content_is_what_it_was),
		cmocka_unit_test(damage_is_seen_as_zlib_sees_it),
		cmocka_unit_test(hostile_codes_are_refused),
		cmocka_unit_test(heads_of_blocks_are_judged_as_by_zlib),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
