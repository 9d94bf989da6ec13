/* A look-up hits by the entry alone; the index only has to open. */
#include "suite.h"

#include <stdlib.h>
#include <string.h>
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
	{"hit/without an index, the driver makes one and loads entries", without_index},
	{"hit/the driver loads entries beside an empty index", with_empty_index},
	{"hit/the driver loads entries beside an index of garbage", with_garbage_index},
	{"hit/the driver loads an entry without a row", without_row},
	{"hit/the driver loads entries if the index has a wrong total", with_wrong_total},
	{"hit/the driver loads an entry from a longer file", longer_file},
	{"hit/the driver loads an entry through a symlink", through_symlink},
	{"hit/the driver loads entries of a copied directory", in_a_copy},
	{"hit/loading an entry moves no row of the index", moves_no_row},
	{NULL, NULL},
};
