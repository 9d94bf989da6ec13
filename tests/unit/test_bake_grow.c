/* Libraries and programs that can become longer do, the reason is given for all others, and mutated
 * files never lead out of a copy. The files are those of the fuzz target. */
#include "files.h"

#include "../fuzz/fuzz_grow.h"
/* This header must follow those that have parameters with its names. */
#include "bake/grow.h"
#include "folder.h"

#ifdef _WIN32
enum { MUTATIONS = 60 }; /* Wine takes fifty times as long for files */
#else
enum { MUTATIONS = 1500 };
#endif
enum { MAX_FILE = 1 << 20 };

static struct buf read_sample(const char *name)
{
	char *path = keep(os_join(JITWARM_SOURCE_DIR "/tests/fuzz/corpus/bake_grow", name));
	struct buf file;

	OK(os_read_file(why, path, MAX_FILE, &file));
	return file;
}

TEST(files_of_each_form_grow)
{
	static const struct {
		const char *name;
		size_t moved;
	} cases[] = {
		{"elf", 2}, {"elf-packed", 2}, {"elf-fixed", 2}, {"elf-no-sections", 2}, {"pe", 0},
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct buf file = read_sample(cases[i].name);

		if (fuzz_grow(folder, file.data, file.size) != cases[i].moved)
			fail_msg("%s", cases[i].name);
		buf_free(&file);
	}
}

/* Each case differs by one thing from a library or a program that grows. */
TEST(the_new_segment_is_where_nothing_is)
{
	enum { DYN = 3, EXEC = 2, AMD64 = 62, ARM64 = 183, SIZE = 1192, SEGMENT = 64, SECTION = 1128 };
	static const struct {
		const char *what;
		uint16_t type, machine;
		uint64_t memory_bytes, second_at; /* 0: none but the first */
		uint64_t nothing_bytes;           /* a section without content after the others */
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
			OK(buf_append(why, &file, "appended", 8));
		map = (struct os_map){.data = file.data, .size = file.size};
		if (grow_open(why, &map, NULL, 0, &grow) != (cases[i].why ? -1 : 0) ||
			(cases[i].why && !strstr(why->message, cases[i].why)))
			fail_msg("%s: “%s”", cases[i].what, why->message);
		if (grow && (grow->start != cases[i].start || grow->delta != cases[i].delta))
			fail_msg("%s: 0x%llx and 0x%llx", cases[i].what, (unsigned long long)grow->start,
					 (unsigned long long)grow->delta);
		grow_free(grow);
		buf_free(&file);
	}
}

/* Only so many are read: a sparse file has any number of them. */
TEST(zeros_after_the_sections_are_padding_up_to_a_length)
{
	enum { MOST = 1 << 20 };

	for (size_t zeros = MOST; zeros <= MOST + 1; zeros++) {
		struct buf file = read_sample("elf");
		struct os_map map;
		struct grow *grow = NULL;
		uint8_t *padding = keep(mem_alloc(zeros));

		file.most = 2 * MOST;
		OK(buf_append(why, &file, padding, zeros));
		map = (struct os_map){.data = file.data, .size = file.size};
		assert_int_equal(grow_open(why, &map, NULL, 0, &grow), zeros > MOST ? -1 : 0);
		grow_free(grow);
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
	static const char *const names[] = {"elf", "elf-packed", "elf-fixed"};
	const size_t count = MUTATIONS;

	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		struct buf original = read_sample(names[i]), file = read_sample(names[i]);
		uint64_t seed = i + 1;
		size_t moved = 0;

		for (size_t j = 0; j < count; j++) {
			mutate(&file, &original, &seed);
			moved += fuzz_grow(folder, file.data, file.size) > 0;
		}
		/* Most of a file is padding and code: a mutation there does not matter. */
		assert_in_range(moved, count / 8, count - 1);
		buf_free(&original);
		buf_free(&file);
	}
}

RUN_TESTS(make_folder, remove_folder)
