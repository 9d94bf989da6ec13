/* Wheels, .conda and zstd files are read without unpacking to disk, with the same containers as
 * plain files, also if they are cut off. */
#include "make_archive.h"

#include <stdatomic.h>

#include "base/cursor.h"
#include "code/code_reader.h"

struct names {
	char text[1024];
};

/* Asserts the members of a file, one line each with its number of containers. */
static void assert_members(const struct buf *file, const char *expected)
{
	struct names names = {""};
	char *path = keep(write_file("file", file));
	struct code_reader *reader;
	struct code_found found;
	int step;

	OK(code_open(why, path, NULL, &reader));
	while ((step = code_next(NULL, reader, &found)) > CODE_END) {
		const size_t used = strlen(names.text);

		if (step == CODE_IMAGE)
			(void)snprintf(names.text + used, sizeof names.text - used, "%s %zu\n",
						   found.image->member ? found.image->member : "-",
						   found.image->container_count);
	}
	assert_int_equal(step, CODE_END);
	code_close(reader);
	assert_string_equal(names.text, expected);
}

/* A static library that the user names is reported; in a wheel it is one of many files. */
TEST(a_static_library_is_not_read)
{
	struct buf ar = make_buf(), library = make_buf(), wheel = make_buf();
	struct make_seen named = {0}, packed = {0};

	make_library(&library, 100);
	make_bytes(&ar, "!<arch>\n", 8);
	make_bytes(&ar, library.data, library.size);
	assert_int_equal(make_read(&ar, &named), 0);
	assert_int_equal(named.images, 0);
	assert_int_equal(named.troubles, 1);
	assert_int_equal(named.code, JW_ERR_FORMAT);
	make_archive(&wheel, false, "zip:compression=store",
				 (struct packed_file[]){{"x/b.a", &ar}, {"x/b.so", &library}}, 2);
	assert_int_equal(make_read(&wheel, &packed), 0);
	assert_int_equal(packed.images, 1);
	assert_int_equal(packed.troubles, 0);
	buf_free(&ar);
	buf_free(&library);
	buf_free(&wheel);
}

/* A name that is not ASCII leaves the whole wheel to libarchive: the result is the same; a damaged
 * member is reported, and does not affect the next one. */
TEST(a_plain_wheel_is_read_like_any_other)
{
	static const char *const names[] = {"x/notes.txt", "x/\xed\x95\x9c.txt"};
	static const char *const options[] = {"zip:compression=deflate", "zip:compression=store"};

	for (size_t i = 0; i < 4; i++) {
		struct buf library = make_buf(), notes = make_buf(), wheel = make_buf();
		struct make_seen sound = {0}, damaged = {0};

		make_library(&library, 700000);
		make_bytes(&notes, "no code\n", 8);
		make_archive(&wheel, false, options[i % 2],
					 (struct packed_file[]){{"x/a.so", &library},
											{names[i / 2], &notes},
											{"x/b.so", &library},
											{"x/empty.so", &(struct buf){0}}},
					 4);
		assert_members(&wheel, "x/a.so 1\nx/b.so 1\n");
		assert_int_equal(make_read(&wheel, &sound), 0);
		assert_int_equal(sound.troubles, 0);
		/* The changed byte lies in the noise of the first library and decides nothing. */
		wheel.data[400000] ^= 1;
		assert_int_equal(make_read(&wheel, &damaged), 0);
		assert_int_equal(damaged.troubles, 1);
		assert_int_equal(damaged.code, JW_ERR_FORMAT);
		assert_string_equal(damaged.member, "x/b.so");
		/* The directory is cut off: libarchive reads the members that it finds, or reports the
		 * lack. */
		wheel.data[400000] ^= 1;
		wheel.size -= 30;
		assert_int_equal(make_read(&wheel, &damaged), 0);
		buf_free(&library);
		buf_free(&notes);
		buf_free(&wheel);
	}
}

/* TensorFlow's library has its section names before 160 MB of symbols, and its section headers
 * after them. */
TEST(names_before_long_symbols_are_not_unpacked_once_more)
{
	enum { CODE = 2 << 20, SYMBOLS = 9 << 20, SHOFF_AT = 40 };
	struct buf container = make_buf(), code = make_buf(), library = make_buf(),
			   headers = make_buf(), wheel = make_buf();
	atomic_uint_least64_t again_bytes = 0;
	struct code_found found = {0};
	struct walk_found at;
	struct walk *walk;
	struct leaf leaf;
	uint64_t shoff;
	char *path;

	make_container(&container, DEVCODE_LZ4, "");
	make_zeros(&code, CODE);
	/* A file that begins like PTX is examined only as PTX. */
	make_elf(&library, MAKE_ELF_X86_64,
			 (struct make_section[]){
				 {.name = ".gnu.version", .data = container.data, .size = 8},
				 {.name = ".nv_fatbin", .data = container.data, .size = container.size},
				 {.name = ".text", .data = code.data, .size = code.size},
			 },
			 3);
	shoff = load_u64(library.data + SHOFF_AT);
	make_bytes(&headers, library.data + shoff, library.size - (size_t)shoff);
	make_zeros(&library, SYMBOLS);
	store_u64(library.data + SHOFF_AT, library.size);
	make_bytes(&library, headers.data, headers.size);
	make_archive(&wheel, false, "zip:compression=deflate",
				 &(struct packed_file){"x/a.so", &library}, 1);
	path = keep(write_file("x-1.0-py3-none-any.whl", &wheel));
	OK(walk_open(why, path, NULL, NULL, &walk));
	assert_int_equal(walk_next(why, walk, &at), WALK_LEAF);
	leaf_open(&leaf, (struct origin){path, at.member, NULL, &again_bytes}, at.kind, at.stream);
	while (leaf_next(why, &leaf, &found) == CODE_CONTAINER)
		;
	assert_non_null(found.image);
	assert_int_equal(found.image->container_count, 1);
	assert_int_equal(again_bytes, 0);
	leaf_close(&leaf);
	walk_close(walk);
	buf_free(&container);
	buf_free(&code);
	buf_free(&library);
	buf_free(&headers);
	buf_free(&wheel);
}

TEST(loose_files_may_be_packed_with_zstd)
{
	static const struct {
		const char *text; /* NULL: a container */
		enum devcode_format format;
		uint64_t size;
	} cases[] = {{MAKE_PTX, DEVCODE_PTX, sizeof MAKE_PTX - 1}, {NULL, DEVCODE_FATBIN, 0}};

	for (size_t i = 0; i < 2 * sizeof cases / sizeof *cases; i++) {
		struct buf plain = make_buf(), packed = make_buf();
		struct make_seen seen = {0};

		if (cases[i / 2].text)
			make_bytes(&plain, cases[i / 2].text, cases[i / 2].size);
		else
			make_container(&plain, DEVCODE_LZ4, "");
		make_zstd(&packed, &plain);
		assert_int_equal(make_read(i % 2 ? &packed : &plain, &seen), 0);
		assert_int_equal(seen.troubles, 0);
		assert_int_equal(seen.images, 1);
		assert_int_equal(seen.format, cases[i / 2].format);
		assert_int_equal(seen.size_bytes, plain.size);
		assert_string_equal(seen.payload, MAKE_PTX);
		assert_int_equal(seen.entry.target.sm, 80);
		buf_free(&plain);
		buf_free(&packed);
	}
}

enum { LARGE_CUBIN = 5 << 20 };

/* Makes a container of a cubin and PTX, larger than the part of a stream that is kept whole, and a
 * small one after it. */
static void make_large(struct buf *file)
{
	struct buf small = make_buf();
	uint8_t cubin[64] = {DEVCODE_KIND_CUBIN, 0, 1, 1, 64};

	make_container(&small, DEVCODE_LZ4, "--maxrregcount 32");
	store_u64(cubin + 8, LARGE_CUBIN);
	store_u32(cubin + 28, 75);
	make_bytes(file, small.data, 16);
	store_u64(file->data + 8, sizeof cubin + LARGE_CUBIN + small.size - 16);
	make_bytes(file, cubin, sizeof cubin);
	make_zeros(file, LARGE_CUBIN);
	make_bytes(file, small.data + 16, small.size - 16);
	make_bytes(file, small.data, small.size);
	buf_free(&small);
}

TEST(a_large_container_is_the_same_in_a_stream)
{
	static const struct {
		size_t broken_at, cut; /* 0: not broken, not cut */
		size_t listed, damaged;
	} cases[] = {
		{.listed = 2},
		{.broken_at = 16 + 64 + LARGE_CUBIN + 2,
		 .listed = 1,
		 .damaged = 1}, /* the mark of its second entry */
		{.cut = LARGE_CUBIN / 2, .damaged = 1},
		{.cut = 16 + 64 + LARGE_CUBIN, .damaged = 1},      /* between two entries, */
		{.cut = 16 + 64 + LARGE_CUBIN + 33, .damaged = 1}, /* in the header of the second, */
		{.cut = 16 + 64 + LARGE_CUBIN + 99, .damaged = 1}, /* in its text */
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct buf plain = make_buf(), packed = make_buf();
		struct make_seen seen[2] = {0};

		make_large(&plain);
		if (cases[i].broken_at)
			plain.data[cases[i].broken_at] ^= 1;
		plain.size = cases[i].cut ? cases[i].cut : plain.size;
		make_zstd(&packed, &plain);
		assert_int_equal(make_read(&plain, &seen[0]), 0);
		assert_int_equal(make_read(&packed, &seen[1]), 0);
		for (size_t k = 0; k < 2; k++) {
			assert_int_equal(seen[k].troubles, 0);
			assert_int_equal(seen[k].listed, cases[i].listed);
			assert_int_equal(seen[k].damaged, cases[i].damaged);
			assert_string_equal(seen[k].payload, cases[i].listed ? MAKE_PTX : "");
			assert_string_equal(seen[k].options, cases[i].listed ? "--maxrregcount 32" : "");
			assert_int_equal(seen[k].offset, seen[0].offset);
			assert_int_equal(seen[k].entry.offset, seen[0].entry.offset);
			assert_int_equal(seen[k].entry.size_bytes, seen[0].entry.size_bytes);
		}
		buf_free(&plain);
		buf_free(&packed);
	}
}

/* A stream ends inside a small container, at any byte: one container is damaged, as in a file. */
TEST(a_small_container_may_be_cut_by_a_streams_end)
{
	struct buf whole = make_buf();
	size_t second;

	make_container(&whole, DEVCODE_LZ4, "");
	second = whole.size;
	make_container(&whole, DEVCODE_LZ4, "");
	for (size_t size = second + 16; size <= whole.size; size += size < second + 100 ? 1 : 8) {
		struct buf plain = {.data = whole.data, .size = size}, packed = make_buf();
		struct make_seen seen[2] = {0};

		make_zstd(&packed, &plain);
		assert_int_equal(make_read(&plain, &seen[0]), 0);
		assert_int_equal(make_read(&packed, &seen[1]), 0);
		for (size_t k = 0; k < 2; k++) {
			assert_int_equal(seen[k].troubles, 0);
			assert_int_equal(seen[k].listed, size < whole.size ? 1 : 2);
			assert_int_equal(seen[k].damaged, size < whole.size ? 1 : 0);
		}
		buf_free(&packed);
	}
	buf_free(&whole);
}

/* A reader may be closed at any step, among archives in archives, too; its memory is freed. */
TEST(a_reader_may_be_closed_at_any_step)
{
	struct buf library = make_buf(), tar = make_buf(), layer = make_buf(), conda = make_buf();
	struct devcode_part parts[] = {{.member = "a.so", .size_bytes = 9},
								   {.member = "b.so", .size_bytes = 9}};
	struct code_copy copy = {.parts = parts, .count = 2};
	size_t steps = 0;
	char *path;

	make_library(&library, 100);
	make_archive(&tar, true, "", (struct packed_file[]){{"a.so", &library}, {"b.so", &library}}, 2);
	make_zstd(&layer, &tar);
	make_archive(&conda, false, "zip:compression=store",
				 (struct packed_file[]){{"pkg-a.tar.zst", &layer}}, 1);
	path = keep(write_file("conda", &conda));
	for (int step = CODE_IMAGE; step > CODE_END; steps++) {
		struct code_reader *reader;
		struct code_found found;

		OK(code_open(why, path, NULL, &reader));
		for (size_t i = 0; i < steps && step > CODE_END; i++)
			step = code_next(NULL, reader, &found);
		assert_int_not_equal(step, CODE_FAILED);
		code_close(reader);
	}
	/* Each library has a container, one in its code, and the image. */
	assert_int_equal(steps, 1 + 2 * 3 + 1);
	copy.path = path;
	assert_int_equal(code_copy_next(NULL, &copy), 1);
	assert_memory_equal(copy.data, library.data, 9);
	code_copy_close(&copy);
	buf_free(&library);
	buf_free(&tar);
	buf_free(&layer);
	buf_free(&conda);
}

RUN_TESTS(make_folder, remove_folder)
