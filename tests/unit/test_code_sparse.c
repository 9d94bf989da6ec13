/* A sparse file costs its owner nothing: reading its holes takes no memory, and can be
 * interrupted. */
#include "make_archive.h"

#include <fcntl.h>
#include <unistd.h>

#include <sys/mman.h>
#include <sys/stat.h>

#include "code/devcode.h"
#include "code/walk.h"

enum { SIZE = 64 << 20, PAGE = 4096 };

/* Each file has a beginning, then a hole to its end: an ELF without sections, a container, a zip,
 * and zstd data of empty blocks. */
static const struct {
	const char *name, *start;
	size_t size;
} kinds[] = {
#define START(text) text, sizeof text - 1
	{"elf", START("\177ELF\2\1\1\0\0\0\0\0\0\0\0\0\3\0\76\0\1\0\0\0")},
	{"fatbin", START("\120\355\125\272\1\0\20\0\144\0\0\0\0\0\0\0")},
	{"zip", START("PK\3\4")},
	{"zstd", START("\50\265\57\375")},
};

/* Makes a sparse file; NULL if this file system makes none. */
static char *make_sparse(const char *name, const char *start, size_t size)
{
	char *path = keep(os_join(folder, name));
	const int file = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	bool sparse;

	assert_true(file >= 0 && write(file, start, size) == (ssize_t)size && !ftruncate(file, SIZE));
	sparse = lseek(file, 0, SEEK_HOLE) < SIZE;
	(void)close(file);
	if (sparse)
		return path;
	return NULL;
}

/* Returns how many bytes of the file are in memory: the cached pages, and, in tmpfs, those that a
 * look at a hole has allocated. */
static size_t bytes_in_memory(const char *path)
{
	static unsigned char pages[SIZE / PAGE];
	const int file = open(path, O_RDONLY | O_CLOEXEC);
	void *view = mmap(NULL, SIZE, PROT_READ, MAP_PRIVATE, file, 0);
	struct stat stat;
	size_t count = 0;

	assert_true(file >= 0 && view != MAP_FAILED && !mincore(view, SIZE, pages) &&
				!fstat(file, &stat));
	for (size_t i = 0; i < sizeof pages; i++)
		count += pages[i] & 1;
	(void)munmap(view, SIZE);
	(void)close(file);
	return count * PAGE > (size_t)stat.st_blocks * 512 ? count * PAGE
													   : (size_t)stat.st_blocks * 512;
}

static bool count_question(void *context)
{
	++*(size_t *)context;
	return false;
}

TEST(holes_take_no_memory)
{
	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
		char *path = keep(make_sparse(kinds[i].name, kinds[i].start, kinds[i].size));
		struct make_seen seen = {0};

		if (!path || sysconf(_SC_PAGESIZE) != PAGE)
			skip();
		OK(make_read_path(why, path, NULL, &seen));
		assert_in_range(bytes_in_memory(path), 0, SIZE / 8);
	}
}

/* However a file is read, the question whether to end comes for every few MiB. */
TEST(reading_holes_can_be_cancelled)
{
	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
		char *path = keep(make_sparse(kinds[i].name, kinds[i].start, kinds[i].size));
		size_t questions = 0;
		const struct jw_cancel cancel = {&questions, count_question};
		struct make_seen seen = {0};

		if (!path)
			skip();
		OK(make_read_path(why, path, &cancel, &seen));
		assert_in_range(questions, SIZE >> 22, SIZE);
	}
}

/* A zip has its members without gaps and its directory at its end: what has neither is damaged, and
 * is not searched for as long as its size says. The question comes for each MiB. */
TEST(a_zip_is_not_searched_to_its_end)
{
	char *path = keep(make_sparse("large", "PK\3\4", 4));
	size_t questions = 0;
	const struct jw_cancel cancel = {&questions, count_question};
	struct make_seen seen = {0};

	if (!path)
		skip();
	assert_int_equal(truncate(path, 16 * (off_t)SIZE), 0);
	OK(make_read_path(why, path, &cancel, &seen));
	assert_int_equal(seen.troubles, 1);
	assert_int_equal(seen.code, JW_ERR_FORMAT);
	assert_in_range(questions, 1, 3 * (SIZE >> 20));
}

/* Bytes between holes, before them and after them are read as they are. */
TEST(bytes_between_holes_are_read)
{
	static const struct {
		size_t at, size;
	} written[] = {{0, 10}, {(3 << 20) + 5, 10000}, {16 << 20, 1}, {SIZE - 100, 100}};
	char *path = keep(make_sparse("between", "", 0));
	struct buf content = {0};
	struct os_map map;
	int file;

	if (!path)
		skip();
	file = open(path, O_RDWR | O_CLOEXEC);
	for (size_t i = 0; i < sizeof written / sizeof *written; i++)
		for (size_t at = written[i].at; at < written[i].at + written[i].size; at++)
			assert_true(pwrite(file, "x", 1, (off_t)at) == 1);
	(void)close(file);
	OK(os_map_open(why, path, &map));
	OK(os_read_file(why, path, SIZE, &content));
	assert_int_equal(map.size, SIZE);
	assert_true(!memcmp(map.data, content.data, SIZE));
	os_map_close(&map);
	buf_free(&content);
}

static size_t count_mappings(void)
{
	FILE *maps = fopen("/proc/self/maps", "re");
	size_t lines = 0;

	for (int letter; maps && (letter = fgetc(maps)) != EOF;)
		lines += letter == '\n';
	if (maps)
		(void)fclose(maps);
	return lines;
}

/* A process may have 65,530 mappings; the files that are open at once share them. */
TEST(many_files_with_many_holes_are_read_at_once)
{
	enum { HOLES = 4000, STEP = (2 << 20) + PAGE, FILES = 20, MOST_MAPPINGS = 40000 };
	char *path = keep(make_sparse("holes", "", 0));
	struct os_map maps[FILES];
	int file;

	if (!path || sysconf(_SC_PAGESIZE) != PAGE)
		skip();
	file = open(path, O_RDWR | O_CLOEXEC);
	for (size_t i = 1; i <= HOLES; i++)
		assert_true(pwrite(file, "x", 1, (off_t)(i * STEP - PAGE)) == 1);
	(void)close(file);
	for (size_t i = 0; i < FILES; i++)
		OK(os_map_open(why, path, &maps[i]));
	assert_in_range(count_mappings(), 2 * HOLES, MOST_MAPPINGS);
	for (size_t i = 0; i < FILES; i++)
		assert_int_equal(((const char *)maps[i].data)[(size_t)HOLES * STEP - PAGE], 'x');
	for (size_t i = 0; i < FILES; i++)
		os_map_close(&maps[i]);
	/* The next file has as many as the first. */
	OK(os_map_open(why, path, maps));
	assert_in_range(count_mappings(), 2 * HOLES, 3 * HOLES);
	os_map_close(maps);
}

RUN_TESTS(make_folder, remove_folder)
