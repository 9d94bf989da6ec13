/* Damaged payloads are reported, and decompress to at most their stated size. */
#include "make_devcode.h"

#include <zstd.h>

#include "code/container.h"
#include "code/ptx.h"

/* One container in memory, and its entry. */
struct made {
	struct buf bytes;
	struct devcode_container container;
	struct devcode_entry entry;
};

static void make(struct made *made, enum devcode_compression compression, const void *payload,
				 size_t size)
{
	const struct write_ptx ptx = {.payload = payload,
								  .payload_size = size,
								  .isa_major = 8,
								  .isa_minor = 5,
								  .target = {.sm = 90},
								  .compression = compression};

	made->bytes = make_buf();
	OK(write_container(why, &ptx, &made->bytes));
	container_entries(made->bytes.data, made->bytes.size, 0, &made->entry, 1);
	made->container = (struct devcode_container){.size_bytes = made->bytes.size,
												 .bytes = made->bytes.data,
												 .entries = &made->entry,
												 .entry_count = 1};
}

static int unpack(struct made *made, struct jw_error *err)
{
	struct buf scratch = BUF_MAX(DEVCODE_MAX_PAYLOAD);
	struct devcode_view view;
	int result = devcode_payload(err, &made->container, &made->entry, &scratch, &view);

	buf_free(&scratch);
	return result;
}

TEST(a_wrong_size_is_damage)
{
	static const int64_t off[] = {-1, 1, -200, 100000, 1 << 29};

	for (enum devcode_compression c = DEVCODE_LZ4; c <= DEVCODE_ZSTD; c++) {
		for (size_t i = 0; i < sizeof off / sizeof *off; i++) {
			struct made made;
			char text[400];

			memset(text, 'y', sizeof text);
			make(&made, c, text, sizeof text);
			made.entry.size_bytes = (uint64_t)((int64_t)made.entry.size_bytes + off[i]);
			assert_int_equal(unpack(&made, why), -1);
			assert_int_equal(why->code, JW_ERR_FORMAT);
			buf_free(&made.bytes);
		}
	}
}

/* Each byte of a payload changed in turn: an error or other bytes, never more than was promised. */
/* A frame does not contain the size of its content, so the unpacked bytes are counted. */
TEST(a_short_frame_is_damage)
{
	static const uint64_t sizes[] = {400, 399, 401, 4000};
	ZSTD_CCtx *packer = ZSTD_createCCtx();
	char text[400];
	uint8_t frame[1000];
	size_t packed;

	memset(text, 'y', sizeof text);
	assert_non_null(packer);
	assert_false(ZSTD_isError(ZSTD_CCtx_setParameter(packer, ZSTD_c_contentSizeFlag, 0)));
	packed = ZSTD_compress2(packer, frame, sizeof frame, text, sizeof text);
	assert_false(ZSTD_isError(packed));
	ZSTD_freeCCtx(packer);
	for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
		const struct devcode_entry entry = {.kind = DEVCODE_KIND_PTX,
											.compression = DEVCODE_ZSTD,
											.stored_bytes = packed,
											.size_bytes = sizes[i]};
		const struct devcode_container container = {.bytes = frame, .size_bytes = packed};
		struct buf scratch = BUF_MAX(DEVCODE_MAX_PAYLOAD);
		struct devcode_view view = {0};

		GIVES(i ? JW_ERR_FORMAT : JW_OK, devcode_payload(why, &container, &entry, &scratch, &view));
		assert_int_equal(view.size, i ? 0 : sizeof text);
		buf_free(&scratch);
	}
}

TEST(damage_is_bounded)
{
	for (enum devcode_compression c = DEVCODE_LZ4; c <= DEVCODE_ZSTD; c++) {
		struct made made;

		make(&made, c, MAKE_PTX, sizeof MAKE_PTX);
		for (size_t at = 0; at < made.entry.stored_bytes; at++) {
			struct devcode_ptx_header header;
			uint8_t *byte = made.bytes.data + made.entry.payload_offset + at;

			*byte ^= 0xff;
			(void)unpack(&made, NULL);
			(void)devcode_ptx_header(NULL, &made.container, &made.entry, &header);
			*byte ^= 0xff;
		}
		assert_int_equal(unpack(&made, NULL), 0);
		buf_free(&made.bytes);
	}
}

RUN_TESTS(NULL, NULL)
