#include "struck_tree.h"

#include "check.h"

#include <dirent.h>
#include <stdio.h>
#include <string.h>

#include "base/hash.h"
#include "base/mem.h"
#include "base/text.h"
#include "cache/index.h"
#include "os/file.h"
#include "os/folders.h"

enum { MOST_FILE = 1 << 22 };

static char text[1 << 16];

void tree_copy(const char *from, const char *to)
{
	struct os_names names;

	assert_int_equal(os_make_dirs(NULL, to, 0700), 0);
	assert_int_equal(os_list(NULL, from, &names), 0);
	for (size_t i = 0; i < names.count; i++) {
		char *source = os_join(NULL, from, names.items[i]),
			 *made = os_join(NULL, to, names.items[i]);
		struct buf content = {0};
		struct os_stat stat;

		assert_int_equal(os_stat(NULL, source, &stat), 0);
		if (stat.kind == OS_DIRECTORY) {
			tree_copy(source, made);
		} else {
			assert_int_equal(os_read_file(NULL, source, MOST_FILE, &content), 0);
			assert_int_equal(os_write_atomic(NULL, made, content.data, content.size), 0);
		}
		buf_free(&content);
		mem_free(source);
		mem_free(made);
	}
	os_names_free(&names);
}

/* A driver's index: its number of rows, which may stand in any order before bytes that are left. */
static size_t count_rows(const char *path)
{
	char *dir = os_dir_name(NULL, path);
	struct cache_index index;
	size_t count;

	assert_int_equal(cache_index_load(NULL, dir, &index), 0);
	count = index.state == CACHE_INDEX_SOUND ? index.count : SIZE_MAX;
	cache_index_free(&index);
	mem_free(dir);
	return count;
}

static uint64_t sum_file(const char *path, const char *inner, uint64_t sum)
{
	struct buf content = {0};
	size_t used = strlen(text), count;

	assert_int_equal(os_read_file(NULL, path, MOST_FILE, &content), 0);
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

	assert_int_equal(os_list(NULL, dir, &names), 0);
	for (size_t i = 0; i < names.count; i++) {
		char *path = os_join(NULL, dir, names.items[i]);
		const char *inner = path + outer;
		const uint64_t sum = fnv_update(FNV_START, inner, strlen(inner));
		struct os_stat stat;

		assert_int_equal(os_stat(NULL, path, &stat), 0);
		if (stat.kind != OS_DIRECTORY)
			all += text_ends(path, "lock") ? 0 : sum_file(path, inner, sum);
		/* What cannot be removed of a folder beside the cache's tree is, an hour later. */
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
