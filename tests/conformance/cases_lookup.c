/* A look-up hits by the entry alone; the index only has to open. */
#include "suite.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Compiles module 1, then replaces the index by these bytes (NULL: removes it); a second load still
 * hits, and writes nothing. */
static enum outcome hit_with_index(const void *bytes, size_t size)
{
	struct blob before, after;
	const char *path = module(1);
	bool same;

	CHECK_IS(load(path).compiled, 1);
	if (bytes)
		CHECK(write_file(cache_file("index"), bytes, size));
	else
		unlink(cache_file("index"));
	CHECK(!bytes || read_file(cache_file("index"), &before));
	CHECK_IS(load(path).compiled, 0);
	CHECK_IS(entries_count(suite.cache), 1);
	CHECK(read_file(cache_file("index"), &after));
	if (!bytes) {
		/* A look-up creates the missing index, empty. */
		CHECK_IS(after.size, 0);
		blob_free(&after);
		return PASSED;
	}
	same = after.size == before.size && memcmp(after.data, before.data, before.size) == 0;
	blob_free(&before);
	blob_free(&after);
	CHECK(same);
	return PASSED;
}

static enum outcome without_index(void)
{
	return hit_with_index(NULL, 0);
}

static enum outcome with_empty_index(void)
{
	return hit_with_index("", 0);
}

static enum outcome with_garbage_index(void)
{
	return hit_with_index("no index, but forty bytes of other text..", 40);
}

static enum outcome without_row(void)
{
	static const uint32_t no_rows[4] = {0x41, 0, 0, 0};

	return hit_with_index(no_rows, sizeof no_rows);
}

static enum outcome with_wrong_total(void)
{
	static const uint32_t wrong[4] = {0x41, 0, 77, 99};

	return hit_with_index(wrong, sizeof wrong);
}

static enum outcome longer_file(void)
{
	struct entry entry;
	const char *path = module(1);

	CHECK_IS(load(path).compiled, 1);
	CHECK(only_entry(&entry));
	blob_add(&entry.file, "and more", 8);
	CHECK(write_file(entry.path, entry.file.data, entry.file.size));
	entry_free(&entry);
	CHECK_IS(load(path).compiled, 0);
	return PASSED;
}

static enum outcome through_symlink(void)
{
	struct entry entry;
	char *elsewhere = cache_file("elsewhere");
	const char *path = module(1);

	CHECK_IS(load(path).compiled, 1);
	CHECK(only_entry(&entry));
	entry_free(&entry);
	CHECK_IS(rename(entry.path, elsewhere), 0);
	CHECK_IS(symlink(elsewhere, entry.path), 0);
	CHECK_IS(load(path).compiled, 0);
	return PASSED;
}

/* A copy of the directory gives hits, too. */
static enum outcome in_a_copy(void)
{
	char command[1024], cache[320];
	const char *settings[] = {cache, NULL};
	struct client *client;
	const char *path = module(1);
	struct answer answer;

	CHECK_IS(load(path).compiled, 1);
	snprintf(command, sizeof command, "cp -r '%s' '%s/copy'", suite.cache, suite.scratch);
	CHECK_IS(system(command), 0);
	snprintf(cache, sizeof cache, "CUDA_CACHE_PATH=%s/copy", suite.scratch);
	client = client_start(settings);
	answer = client_load(client, "dataex", path, "k");
	client_stop(client);
	CHECK_IS(answer.result, 0);
	CHECK_IS(answer.compiled, 0);
	CHECK_IS(answer.function, 0);
	return PASSED;
}

static enum outcome moves_no_row(void)
{
	struct index before, after;

	for (unsigned i = 1; i <= 3; i++)
		CHECK_IS(load(module(i)).compiled, 1);
	CHECK(index_read(&before));
	CHECK_IS(load(module(1)).compiled, 0);
	CHECK(index_read(&after));
	CHECK_IS(before.count, 3);
	CHECK(memcmp(&before, &after, sizeof before) == 0);
	return PASSED;
}

const struct test_case lookup_cases[] = {
	{"hit/without an index, which it makes", without_index},
	{"hit/with an empty index", with_empty_index},
	{"hit/with garbage for an index", with_garbage_index},
	{"hit/without a row", without_row},
	{"hit/with a wrong total", with_wrong_total},
	{"hit/file longer than its entry", longer_file},
	{"hit/through a symbolic link", through_symlink},
	{"hit/in a copied directory", in_a_copy},
	{"hit/moves no row", moves_no_row},
	{NULL, NULL},
};
