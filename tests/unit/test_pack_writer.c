/* Several threads write the same pack as one, and a full output is reported. */
#include "check.h"

#include <string.h>

#include <sodium.h>

#include "base/mem.h"
#include "pack/writer.h"

enum { SIZE = 3 << 20, MEMBER = 1 << 19 };

struct writing {
	uint8_t *data;
	uint8_t sum[32], wanted[32];
	crypto_generichash_state state;
};

static int sum_up(struct jw_error *err, void *context, const void *data, size_t size)
{
	struct writing *writing = context;

	(void)err;
	return crypto_generichash_update(&writing->state, data, size);
}

/* Long enough for libzstd to compress it in threads. */
static int write_frame(struct jw_error *err, void *context)
{
	struct writing *writing = context;
	const struct writer_options options = {
		.context = writing, .write = sum_up, .level = WRITER_USUAL, .workers = 2};
	struct written written;
	struct writer *writer;
	int result;

	(void)crypto_generichash_init(&writing->state, NULL, 0, sizeof writing->sum);
	if (writer_open(err, &options, &writer))
		return -1;
	result =
		writer_frame(err, writer, SIZE) || writer_put(err, writer, writing->data, SIZE) ? -1 : 0;
	if (writer_close(err, writer, result ? NULL : &written))
		result = -1;
	(void)crypto_generichash_final(&writing->state, writing->sum, sizeof writing->sum);
	if (!result)
		assert_memory_equal(writing->sum, writing->wanted, sizeof writing->sum);
	return result;
}

TEST(threads_write_the_same)
{
	struct writing writing = {.data = mem_alloc(SIZE)};
	const struct writer_options options = {
		.context = &writing, .write = sum_up, .level = WRITER_USUAL, .workers = 1};
	struct written written;
	struct writer *writer;

	assert_non_null(writing.data);
	for (uint32_t i = 0, x = 1; i < SIZE; i++, x = x * 1664525 + 1013904223)
		writing.data[i] = (uint8_t)(x >> 29);
	(void)crypto_generichash_init(&writing.state, NULL, 0, sizeof writing.sum);
	OK(writer_open(why, &options, &writer));
	OK(writer_frame(why, writer, SIZE));
	OK(writer_put(why, writer, writing.data, SIZE));
	OK(writer_close(why, writer, &written));
	(void)crypto_generichash_final(&writing.state, writing.wanted, sizeof writing.wanted);
	OK(write_frame(why, &writing));
	mem_free(writing.data);
}

struct room {
	size_t pieces; /* that still fit */
	size_t written_bytes;
};

static int refuse(struct jw_error *err, void *context, const void *data, size_t size)
{
	struct room *room = context;

	(void)data;
	if (!room->pieces)
		return error_set(err, JW_ERR_LIMIT, "no room");
	room->pieces--;
	room->written_bytes += size;
	return 0;
}

/* The first piece of a member does not fit, then the second one, and so on. */
TEST(a_member_that_finds_no_room_is_reported)
{
	uint8_t *data = keep(mem_alloc(MEMBER));
	size_t pieces = 0;
	bool fitted = false;

	assert_non_null(data);
	for (uint32_t i = 0, x = 1; i < MEMBER; i++, x = x * 1664525 + 1013904223)
		data[i] = (uint8_t)(x >> 24);
	for (; !fitted; pieces += pieces ? 1000 : 1) {
		struct room room = {.pieces = pieces};
		const struct writer_options options = {
			.context = &room, .write = refuse, .level = 1, .workers = 1};
		struct writer *writer;

		OK(writer_open(why, &options, &writer));
		OK(writer_frame(why, writer, tar_extent(MEMBER)));
		fitted = !writer_member(why, writer, "a", data, MEMBER);
		assert_true(fitted || why->code == JW_ERR_LIMIT);
		(void)writer_close(NULL, writer, NULL);
		/* Random bytes do not pack, so a member that is there took at least its size. */
		assert_true(!fitted || room.written_bytes >= MEMBER);
	}
}

TEST_PROGRAM
{
	return sodium_init() < 0 ? 1 : RUN_GROUP(NULL, NULL);
}
