/* A small file may claim to hold terabytes: whatever packs them, reading ends with one line as soon
 * as the limit for the file's size is reached. */
#include "make_archive.h"

#include "base/text.h"
#include "code/walk.h"

enum { MOST = 1 << 26, RATIO = 250 };

struct read {
	size_t images, troubles;
	enum jw_code code;
	char member[64], why[512];
};

/* Reads all parts of a file. */
static struct read read_parts(const struct buf *bytes)
{
	char *path = keep(write_file("file", bytes));
	struct read read = {0};
	struct code_reader *whole;
	size_t parts;

	OK(code_open(why, path, NULL, &whole));
	parts = code_parts(whole);
	for (size_t i = 0; i < parts; i++) {
		struct code_reader *reader = parts > 1 ? code_part(whole, i) : whole;
		struct code_found found;
		int step;

		while ((step = code_next(why, reader, &found)) > CODE_END) {
			read.images += step == CODE_IMAGE;
			if (step != CODE_TROUBLE)
				continue;
			read.troubles++;
			read.code = found.why.code;
			TEXT_COPY(read.why, found.why.message);
			TEXT_COPY(read.member, found.member ? found.member : "-");
		}
		assert_int_equal(step, CODE_END);
		if (parts > 1)
			code_close(reader);
	}
	code_close(whole);
	return read;
}

static void assert_bomb(const struct buf *bytes, const char *member)
{
	const struct read read = read_parts(bytes);

	assert_int_equal(read.troubles, 1);
	assert_int_equal(read.code, JW_ERR_LIMIT);
	assert_string_equal(read.member, member);
	if (!strstr(read.why, "unpacks to more than 64 MiB, the limit for a file of its size"))
		fail_msg("%s", read.why);
}

/* Makes the beginning of a library, and zeros. */
static void make_bomb(struct buf *bomb, size_t size)
{
	make_bytes(bomb, "\177ELF\2\1\1", 7);
	make_zeros(bomb, size - 7);
}

/* Packs files as a .conda does. */
static void make_conda(struct buf *conda, const struct packed_file *files, size_t count)
{
	struct buf tar = make_buf(), layer = make_buf();

	make_archive(&tar, true, "", files, count);
	make_zstd(&layer, &tar);
	make_archive(conda, false, "zip:compression=store",
				 &(struct packed_file){"pkg-a.tar.zst", &layer}, 1);
	buf_free(&tar);
	buf_free(&layer);
}

TEST(every_kind_of_packing_has_the_limit)
{
	struct buf bomb = make_buf(), library = make_buf(), packed = make_buf();
	const struct packed_file files[] = {{"x/a.so", &bomb}, {"x/b.so", &library}},
							 strange[] = {files[0], {"x/\xed\x95\x9c.so", &library}};

	make_library(&library, 100);
	make_bomb(&bomb, MOST + 1);
	make_zstd(&packed, &bomb);
	assert_bomb(&packed, "-");
	buf_clear(&packed);
	make_archive(&packed, false, "zip:compression=deflate", files, 2);
	assert_bomb(&packed, "x/a.so");
	buf_clear(&packed);
	make_archive(&packed, false, "zip:compression=deflate", strange, 2);
	assert_bomb(&packed, "x/a.so");
	buf_clear(&packed);
	make_conda(&packed, files, 2);
	/* Both the tar and its member are unpacked. */
	assert_bomb(&packed, "x/a.so");
	buf_free(&packed);
	buf_free(&library);
	buf_free(&bomb);
}

/* Neither members, nor their parts that several threads read, nor what is passed over has a limit
 * of its own. */
TEST(the_limit_is_that_of_the_whole_file)
{
	enum { PART = 17 << 20 }; /* large enough for a part of its own */
	struct buf bomb = make_buf(), zeros = make_buf(), packed = make_buf();
	const struct packed_file files[] = {
		{"a.so", &bomb}, {"b.so", &bomb}, {"c.so", &bomb}, {"d.so", &bomb}, {"e.so", &bomb}};

	make_bomb(&bomb, PART);
	make_archive(&packed, false, "zip:compression=deflate", files, 3);
	assert_int_equal(read_parts(&packed).troubles, 0);
	buf_clear(&packed);
	make_archive(&packed, false, "zip:compression=deflate", files, 5);
	assert_bomb(&packed, "d.so");
	buf_clear(&packed);
	make_zeros(&zeros, MOST);
	make_conda(&packed, &(struct packed_file){"data", &zeros}, 1);
	assert_bomb(&packed, "pkg-a.tar.zst");
	/* Without its directory, a zip is read from its beginning: the sizes are after the data. */
	buf_clear(&packed);
	make_archive(&packed, false, "zip:compression=deflate",
				 (struct packed_file[]){{"data", &zeros}, {"more", &zeros}}, 2);
	packed.size -= 30;
	assert_bomb(&packed, "more");
	buf_free(&packed);
	buf_free(&zeros);
	buf_free(&bomb);
}

/* Makes containers with so many compressed texts of 16 MiB. */
static void make_texts(struct buf *file, enum devcode_compression compression, size_t count)
{
	enum { SIZE = 1 << 24 };
	struct buf text = make_buf();
	struct write_ptx ptx = {.payload_size = SIZE,
							.isa_major = 7,
							.isa_minor = 8,
							.target = {.sm = 80},
							.options = "",
							.compression = compression};

	make_bytes(&text, MAKE_PTX, sizeof MAKE_PTX - 1);
	make_zeros(&text, SIZE - text.size);
	memset(text.data + sizeof MAKE_PTX - 1, '\n', SIZE - sizeof MAKE_PTX);
	ptx.payload = (const char *)text.data;
	for (size_t i = 0; i < count; i++)
		OK(write_container(why, &ptx, file));
	buf_free(&text);
}

TEST(compressed_texts_have_the_limit)
{
	struct buf file = make_buf();

	make_texts(&file, DEVCODE_ZSTD, 4);
	assert_int_equal(read_parts(&file).troubles, 0);
	make_texts(&file, DEVCODE_ZSTD, 1);
	assert_bomb(&file, "-");
	/* LZ4 makes 16 MiB of 66 KB, a ratio of 255. */
	buf_clear(&file);
	make_texts(&file, DEVCODE_LZ4, 5);
	assert_int_equal(read_parts(&file).troubles, 1);
	buf_free(&file);
}

/* Zeros are not forbidden: a file that is not small may have more of them. */
TEST(large_files_may_hold_zeros)
{
	struct buf bomb = make_buf(), library = make_buf(), packed = make_buf();

	make_library(&library, MOST / RATIO + 1000);
	make_bomb(&bomb, MOST + 1000);
	make_archive(&packed, false, "zip:compression=deflate",
				 (struct packed_file[]){{"a.so", &bomb}, {"b.so", &library}}, 2);
	assert_int_equal(read_parts(&packed).images, 1);
	assert_int_equal(read_parts(&packed).troubles, 0);
	buf_free(&packed);
	buf_free(&library);
	buf_free(&bomb);
}

TEST(limits_follow_the_size)
{
	assert_int_equal(walk_most_unpacked(0), MOST);
	assert_int_equal(walk_most_unpacked(MOST / RATIO - 1), MOST);
	assert_int_equal(walk_most_unpacked(1 << 20), ((UINT64_C(1) << 20) + 1) * RATIO);
	/* A sparse file of any size does not unpack to more than 128 GiB. */
	assert_int_equal(walk_most_unpacked(UINT64_C(1) << 36), UINT64_C(1) << 37);
	assert_int_equal(walk_most_unpacked(UINT64_MAX), UINT64_C(1) << 37);
}

RUN_TESTS(make_folder, remove_folder)
