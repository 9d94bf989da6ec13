/* Copies, removes and sums up folders by system calls alone. */
#include "struck_tree.h"

#include "check.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/hash.h"
#include "base/mem.h"
#include "base/text.h"
#include "cache/index.h"
#include "os/file.h"

enum { MAX_FILE = 1 << 22, MAX_OPEN = 16 };

static char text[1 << 16];

/* Only system calls are used here: the copy is made before every trial, and jitwarm's own way to
 * open a file examines each folder above it. */
static void copy_file(const char *from, const char *to, mode_t mode)
{
	const int source = open(from, O_RDONLY | O_CLOEXEC),
			  made = open(to, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);

	assert_true(source >= 0 && made >= 0);
	while (sendfile(made, source, NULL, MAX_FILE) > 0)
		;
	assert_int_equal(close(source) | close(made), 0);
}

static const char *copied_to;
static size_t copied_outer;

static int copy_one(const char *path, const struct stat *stat, int kind, struct FTW *place)
{
	char made[PATH_MAX];

	(void)place;
	(void)snprintf(made, sizeof made, "%s%s", copied_to, path + copied_outer);
	if (kind == FTW_D)
		return mkdir(made, stat->st_mode & 0777);
	assert_int_equal(kind, FTW_F);
	copy_file(path, made, stat->st_mode & 0777);
	return 0;
}

void tree_copy(const char *from, const char *to)
{
	copied_to = to;
	copied_outer = strlen(from);
	assert_int_equal(nftw(from, copy_one, MAX_OPEN, FTW_PHYS), 0);
}

static int remove_one(const char *path, const struct stat *stat, int kind, struct FTW *place)
{
	(void)stat;
	(void)kind;
	(void)place;
	return remove(path);
}

void tree_remove(const char *dir)
{
	assert_true(!nftw(dir, remove_one, MAX_OPEN, FTW_PHYS | FTW_DEPTH) || errno == ENOENT);
}

/* Counts the rows of a driver's index, which may stand in any order, before leftover bytes. */
static size_t count_rows(const char *path)
{
	char *dir = os_dir_name(path);
	struct cache_index index;
	size_t count;

	OK(cache_index_load(why, dir, &index));
	count = index.state == CACHE_INDEX_SOUND ? index.count : SIZE_MAX;
	cache_index_free(&index);
	mem_free(dir);
	return count;
}

static uint64_t sum_file(const char *path, const char *inner, uint64_t sum)
{
	struct buf content = {0};
	size_t used = strlen(text), count;

	OK(os_read_file(why, path, MAX_FILE, &content));
	count = strcmp(os_base_name(path), "index") != 0 ? content.size : count_rows(path);
	if (count == content.size)
		sum = fnv_update(sum, content.data, content.size);
	sum = fnv_update(sum, &count, sizeof count);
	(void)snprintf(text + used, sizeof text - used, "%s %zu %08x\n", inner, count, (unsigned)sum);
	buf_free(&content);
	return sum;
}

static uint64_t sum_below(const char *dir, size_t outer)
{
	struct os_names names;
	uint64_t all = 0;

	OK(os_list(why, dir, &names));
	for (size_t i = 0; i < names.count; i++) {
		char *path = os_join(dir, names.items[i]);
		const char *inner = path + outer;
		const uint64_t sum = fnv_update(FNV_START, inner, strlen(inner));
		struct os_stat stat;

		OK(os_stat(why, path, &stat));
		if (stat.kind != OS_DIRECTORY)
			all += text_ends(path, "lock") ? 0 : sum_file(path, inner, sum);
		/* If the folder beside the cache's tree cannot be removed now, it can be an hour later. */
		else if (strncmp(names.items[i], ".jitwarm-", 9) != 0)
			all += sum + sum_below(path, outer);
		mem_free(path);
	}
	os_names_free(&names);
	return all;
}

uint64_t tree_sum(const char *dir)
{
	*text = '\0';
	return sum_below(dir, strlen(dir));
}

const char *tree_text(void)
{
	return text;
}

size_t tree_open_files(void)
{
	DIR *dir = opendir("/proc/self/fd");
	size_t count = 0;

	assert_non_null(dir);
	while (readdir(dir))
		count++;
	(void)closedir(dir);
	return count;
}
