/* Copies that become longer: which files can, why others cannot, and many mutated ones. The files
 * are those of the fuzz target. */
#include "files.h"

#include "../fuzz/fuzz_grow.h"
/* Behind those that have parameters of its names */
#include "bake/growing.h"
#include "folder.h"

enum { PE_AT = 0xc0 }; /* where the headers of the PE files begin */
#ifdef _WIN32
enum { MUTATIONS = 60 }; /* Wine takes fifty times as long for files */
#else
enum { MUTATIONS = 1500 };
#endif
enum { MOST_FILE = 1 << 20 };

static struct buf read_sample(const char *name)
{
	char *path = os_join(NULL, JITWARM_SOURCE_DIR "/tests/fuzz/corpus/bake_grow", name);
	struct buf file;

	assert_int_equal(os_read_file(NULL, path, MOST_FILE, &file), 0);
	mem_free(path);
	return file;
}

TEST(files_of_each_form_grow)
{
	static const struct {
		const char *name;
		size_t moved;
	} cases[] = {
		{"elf", 2}, {"elf-packed", 2}, {"elf-fixed", 2}, {"elf-no-sections", 2},
		{"pe", 2},  {"pe-fixed", 2},   {"pe-full", 2},   {"pe-behind", 0},
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct buf file = read_sample(cases[i].name);

		if (fuzz_grow(folder, file.data, file.size) != cases[i].moved)
			fail_msg("%s", cases[i].name);
		buf_free(&file);
	}
}

/* Each differs from a library that grows by one thing, or from a program by one. */
TEST(the_new_segment_is_where_nothing_is)
{
	enum { DYN = 3, EXEC = 2, AMD64 = 62, ARM64 = 183, SIZE = 1192, SEGMENT = 64, SECTION = 1128 };
	static const struct {
		const char *what;
		uint16_t type, machine;
		uint64_t memory_bytes, second_at; /* 0: none but the first */
		uint64_t nothing_bytes;           /* a section without content behind the others */
		bool appended;
		uint64_t start, delta;
		const char *why; /* NULL: it grows */
	} cases[] = {
		{"a library", DYN, AMD64, 896, 0, 0, false, 0x1000, 0, NULL},
		{"large pages", DYN, ARM64, 896, 0, 0, false, 0x10000, 0, NULL},
		{"large pages and .bss", DYN, ARM64, 0x5000, 0, 0, false, 0x10000, 0, NULL},
		{".bss", DYN, AMD64, 0x5000, 0, 0, false, 0x1000, 0x4000, NULL},
		{"more .bss", DYN, ARM64, 0x15000, 0, 0, false, 0x10000, 0x10000, NULL},
		{"a program", EXEC, AMD64, 896, 0, 0, false, 0x1000, 0, NULL},
		{"a program's .bss", EXEC, AMD64, 0x5000, 0, 0, false, 0x5000, 0, NULL},
		{"the same on large pages", EXEC, ARM64, 0x15000, 0, 0, false, 0x20000, 0, NULL},
		{"appended to a library", DYN, AMD64, 896, 0, 0, true, 0, 0, "data after its sections"},
		{"appended", EXEC, AMD64, 896, 0, 0, true, 0, 0, "data after its sections"},
		{"appended behind .bss", EXEC, AMD64, 896, 0, 8, true, 0, 0, "data after its sections"},
		{"less memory than file", DYN, AMD64, 800, 0, 0, false, 0, 0, "longer in the file"},
		{"a segment of .bss", DYN, AMD64, 896, 0x2000, 0, false, 0x1000, 0x2000, NULL},
		{"the same before the first's end", DYN, AMD64, 896, 400, 0, false, 0, 0, "out of order"},
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct buf file = read_sample("elf");
		struct os_map map = {0};
		struct jw_error why = {0};
		struct grow *grow = NULL;

		assert_int_equal(file.size, SIZE);
		store_u16(file.data + 16, cases[i].type);
		store_u16(file.data + 18, cases[i].machine);
		store_u64(file.data + SEGMENT + 40, cases[i].memory_bytes);
		if (cases[i].second_at) {
			store_u32(file.data + SEGMENT + 56, 1);
			store_u64(file.data + SEGMENT + 56 + 16, cases[i].second_at);
			store_u64(file.data + SEGMENT + 56 + 32, 0);
		}
		if (cases[i].nothing_bytes) {
			store_u32(file.data + SECTION + 4, 8);
			store_u64(file.data + SECTION + 24, SIZE);
			store_u64(file.data + SECTION + 32, cases[i].nothing_bytes);
		}
		if (cases[i].appended)
			assert_int_equal(buf_append(NULL, &file, "appended", 8), 0);
		map = (struct os_map){.data = file.data, .size = file.size};
		if (grow_open(&why, &map, NULL, 0, &grow) != (cases[i].why ? -1 : 0) ||
			(cases[i].why && !strstr(why.message, cases[i].why)))
			fail_msg("%s: “%s”", cases[i].what, why.message);
		if (grow && (grow->start != cases[i].start || grow->delta != cases[i].delta))
			fail_msg("%s: 0x%llx and 0x%llx", cases[i].what, (unsigned long long)grow->start,
					 (unsigned long long)grow->delta);
		grow_free(grow);
		buf_free(&file);
	}
}

/* A number of the PE file's headers is another: whether the file grows. */
TEST(what_no_loader_takes_does_not_grow)
{
	enum { SECTIONS = PE_AT + 264 };
	static const struct {
		const char *what;
		size_t at;
		uint32_t value;
		size_t moved;
		const char *why; /* NULL: it is baked, or not read at all */
	} cases[] = {
		{"nothing", 0, 0, 2, NULL},
		{"alignment of sections", PE_AT + 56, 512, 0, "an unknown alignment"},
		{"the same, no power", PE_AT + 56, 0x1800, 0, "an unknown alignment"},
		{"alignment in the file", PE_AT + 60, 0x100, 0, "an unknown alignment"},
		{"larger than that of sections", PE_AT + 60, 0x2000, 0, "an unknown alignment"},
		{"another length of the image", PE_AT + 80, 0x5000, 0, "do not fill the image"},
		{"headers beyond the file", PE_AT + 84, 0x10000, 0, "leave the file"},
		{"a gap between sections", SECTIONS + 40 + 12, 0x3000, 0, "do not follow each other"},
		{"an empty section", SECTIONS + 80 + 8, 0, 2, NULL}, /* its length in the file counts */
		{"a section that ends beyond", SECTIONS + 80 + 16, 0x10000, 0, "an unknown alignment"},
		{"a section at an odd place", SECTIONS + 80 + 20, 0x901, 0, "an unknown alignment"},
		{"a last section of 2 GB", SECTIONS + 80 + 8, 0x7fff0000, 0, "do not fill the image"},
		{"relocations that leave", PE_AT + 136 + 44, 0x2000, 0, "not in the file"},
		{"a directory behind the headers", PE_AT + 136 + 88, 0x1b8, 2, NULL},
		{"32 bits", PE_AT + 4, 0x3014c, 0, "no 64-bit PE"},
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct buf file = read_sample("pe");
		struct os_map map = {.data = file.data, .size = file.size};
		struct jw_error why = {0};
		struct grow *grow = NULL;

		if (cases[i].at)
			store_u32(file.data + cases[i].at, cases[i].value);
		if (cases[i].why) {
			assert_int_equal(grow_open(&why, &map, NULL, 0, &grow), -1);
			if (!strstr(why.message, cases[i].why))
				fail_msg("%s: %s", cases[i].what, why.message);
		}
		if (fuzz_grow(folder, file.data, file.size) != cases[i].moved)
			fail_msg("%s", cases[i].what);
		buf_free(&file);
	}
}

/* The headers move only where what a directory names is in the next section header's place. */
TEST(headers_move_where_they_must)
{
	enum { DIRECTORY = PE_AT + 136 + 88, NEXT = PE_AT + 264 + 3 * 40 };
	static const struct {
		uint32_t at, size, shift;
	} cases[] = {{0, 0, 0},          {NEXT + 40, 16, 0},  {NEXT + 39, 16, 40},
				 {NEXT - 16, 16, 0}, {NEXT - 15, 16, 40}, {NEXT, 0, 0}};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct buf file = read_sample("pe");
		struct os_map map = {.data = file.data, .size = file.size};
		struct grow *grow = NULL;

		store_u32(file.data + DIRECTORY, cases[i].at);
		store_u32(file.data + DIRECTORY + 4, cases[i].size);
		assert_int_equal(grow_open(NULL, &map, NULL, 0, &grow), 0);
		assert_int_equal(grow->header_shift, cases[i].shift);
		grow_free(grow);
		buf_free(&file);
	}
}

/* A file that could not be looked at for lack of memory is not taken for one without a loader. */
TEST(a_check_without_memory_fails)
{
	static const char *const names[] = {"elf", "pe"};

	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		struct buf file = read_sample(names[i]);
		const struct os_map map = {.data = file.data, .size = file.size};
		struct jw_error why = {0};

		assert_int_equal(grow_check(NULL, &map, NULL, 0), 0);
		mem_fail_after(1);
		assert_int_equal(grow_check(&why, &map, NULL, 0), -1);
		mem_fail_after(0);
		assert_int_equal(why.code, JW_ERR_MEMORY);
		buf_free(&file);
	}
}

/* A room that could not be noted would not be cleared. */
TEST(a_move_without_memory_fails)
{
	struct buf file = read_sample("elf");
	char *path = os_join(NULL, folder, "library"), *output = os_join(NULL, folder, "copy");
	struct baked_copy copy = {0};
	struct fuzz_rooms rooms;
	struct grow *grow = NULL;
	struct jw_error why = {0};
	struct os_map map;
	uint8_t *bytes;
	size_t size;

	assert_int_equal(os_write_atomic(NULL, path, file.data, file.size), 0);
	fuzz_read_rooms(path, &rooms);
	assert_int_equal(os_map_open(NULL, path, &map), 0);
	assert_int_equal(grow_open(NULL, &map, rooms.items, rooms.count, &grow), 0);
	assert_int_equal(baked_copy_begin(NULL, path, &map, output, &copy), 0);
	bytes = fuzz_longer(map.data + rooms.items->offset, rooms.items->size_bytes, &size);
	mem_fail_after(1);
	assert_int_equal(grow_move(&why, grow, &copy, rooms.items, bytes, size), -1);
	assert_int_equal(mem_fail_after(0), 0);
	assert_int_equal(why.code, JW_ERR_MEMORY);
	assert_int_equal(grow->moved, 0);
	assert_int_equal(grow_move(NULL, grow, &copy, rooms.items, bytes, size), 0);
	assert_int_equal(grow->moved, 1);
	baked_copy_drop(&copy);
	grow_free(grow);
	os_map_close(&map);
	mem_free(bytes);
	mem_free(path);
	mem_free(output);
	buf_free(&file);
}

TEST(nothing_beyond_two_gigabytes)
{
	struct buf file = read_sample("pe");
	const struct container_room room = {0x400, 0x10};
	struct os_map map = {.data = file.data, .size = (size_t)3 << 30};
	struct jw_error why = {0};
	struct grow *grow;

	assert_int_equal(grow_open(&why, &map, &room, 1, &grow), -1);
	assert_string_equal(why.message, "no PE file, or more than 2 GB");
	/* The last section has almost all addresses. */
	map.size = file.size;
	store_u32(file.data + PE_AT + 264 + 88, 0x7ffe0000 - 0x3000);
	store_u32(file.data + PE_AT + 80, 0x7ffe0000);
	assert_int_equal(grow_open(NULL, &map, &room, 1, &grow), 0);
	assert_int_equal(grow_may_move(NULL, grow, &room, 0x1000), 0);
	assert_int_equal(grow_may_move(&why, grow, &room, 0x20000), -1);
	assert_string_equal(why.message, "the file would be larger than 2 GB");
	grow_free(grow);
	buf_free(&file);
}

/* What the loader reads is not overwritten: each of these places is in the first container. */
TEST(containers_do_not_overlap_what_the_loader_reads)
{
	enum { DIRECTORIES = PE_AT + 136 };
	static const struct {
		size_t at;
		uint32_t value;
		bool sound;
	} cases[] = {
		{0, 0, true},
		{DIRECTORIES, 0x1010, false},      /* exports */
		{DIRECTORIES + 8, 0x1010, false},  /* imports */
		{DIRECTORIES + 32, 0x410, false},  /* certificates, by their place in the file */
		{DIRECTORIES + 40, 0x1010, false}, /* relocations */
		{DIRECTORIES + 40, 0x2010, true},
		{PE_AT + 84, 0x408, false}, /* the headers are longer */
		{PE_AT + 6, 97, false},     /* more sections than are looked at */
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct buf file = read_sample("pe");
		const struct container_room room = {0x400, 0x100};
		const struct os_map map = {.data = file.data, .size = file.size};

		if (cases[i].at) {
			store_u32(file.data + cases[i].at, cases[i].value);
			if (cases[i].at >= DIRECTORIES)
				store_u32(file.data + cases[i].at + 4, 16);
		}
		assert_int_equal(grow_check(NULL, &map, &room, 1), cases[i].sound ? 0 : -1);
		buf_free(&file);
	}
}

/* Numbers drawn without the library's generator, so that they are the same everywhere. */
static uint64_t draw(uint64_t *state)
{
	*state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return *state >> 33;
}

static void mutate(struct buf *file, const struct buf *original, uint64_t *state)
{
	static const uint64_t values[] = {0,    1,      8,          0xff,       0x200,      0x400,
									  1000, 0x1000, 0x7fffffff, 0xffffffff, UINT64_MAX, 1ULL << 63};
	const size_t count = 1 + draw(state) % 3;

	memcpy(file->data, original->data, original->size);
	for (size_t i = 0; i < count; i++) {
		const size_t width = (size_t)1 << draw(state) % 4;
		const size_t at = (size_t)(draw(state) % (file->size / width)) * width;
		uint8_t bytes[8];

		store_u64(bytes, draw(state) % 2 ? values[draw(state) % (sizeof values / sizeof *values)]
										 : draw(state) << 20 ^ draw(state));
		memcpy(file->data + at, bytes, width);
	}
}

TEST(mutated_files_stay_within_their_copies)
{
	static const char *const names[] = {"elf", "elf-packed", "pe", "pe-full", "pe-fixed"};
	const size_t count = MUTATIONS;

	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		struct buf original = read_sample(names[i]), file = read_sample(names[i]);
		uint64_t seed = i + 1;
		size_t moved = 0;

		for (size_t j = 0; j < count; j++) {
			mutate(&file, &original, &seed);
			moved += fuzz_grow(folder, file.data, file.size) > 0;
		}
		/* Most of a file is padding and code: what was mutated there does not matter. */
		assert_in_range(moved, count / 8, count - 1);
		buf_free(&original);
		buf_free(&file);
	}
}

RUN_TESTS(make_folder, remove_folder)
