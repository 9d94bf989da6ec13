/* Drivers treat parts of kind 0x40, relocatable PTX, which CUDA 12.5 introduced, as jitwarm
 * predicts. */
#include "suite.h"

#include <string.h>

#define OTHER_GENERATION 70 /* no GPU here but sm_75 is of that generation */

static bool is_known(void)
{
	return suite.cuda >= 12050;
}

/* Makes PTX of this kind for the GPU's own architecture, or for another one. */
static struct part relocatable(int arch)
{
	static char target[8];
	static const struct {
		int arch;
		const char *version;
	} first[] = {{75, "6.3"}, {80, "7.0"}, {86, "7.1"}, {89, "7.8"}, {90, "7.8"}};
	struct part part = {.kind = 0x40, .arch = arch, .kernel = "relocatable", .nuls = 1};

	for (size_t i = 0; i < sizeof first / sizeof *first; i++)
		if (first[i].arch == arch)
			part.version = first[i].version;
	snprintf(target, sizeof target, "sm_%d", arch);
	part.target = target;
	return part;
}

/* Uses a separate client, since the load may end it (-1). */
static int load_apart(const char *call, const char *path)
{
	char cache[320];
	const char *settings[] = {cache, NULL};
	struct client *client;
	int result;

	snprintf(cache, sizeof cache, "CUDA_CACHE_PATH=%s", suite.cache);
	client = client_start(settings);
	result = client_load(client, call, path, NULL).result;
	client_stop(client);
	return result;
}

/* Says whether some entry was made from a text with this word, and its key ends with `end`. */
static bool made(const char *word, const char *end)
{
	struct entry entries[4];
	size_t count = entries_read(suite.cache, entries, 4), length = strlen(end);
	bool found = false;

	for (size_t i = 0; i < count && i < 4; i++) {
		const struct entry *one = &entries[i];

		found |= memmem(one->key, one->key_size, word, strlen(word)) && one->key_size > length &&
				 memcmp(one->key + one->key_size - length, end, length) == 0;
		entry_free(&entries[i]);
	}
	return found;
}

/* If PTX of this architecture could not run as a cubin, drivers before 12.5 ignore it (a load gives
 * 209, a link no error); later drivers link it, even in a load. */
static enum outcome of_another_generation(void)
{
	static const char *const calls[] = {"dataex", "link"};
	const struct part part = relocatable(OTHER_GENERATION);

	if (suite.sm[0] / 10 == OTHER_GENERATION / 10)
		return case_skipped("for GPUs of 8.0 and newer");
	for (size_t i = 0; i < 2; i++) {
		cache_clear();
		CHECK_IS(client_load(suite.client, calls[i], container(&part, 1), NULL).result,
				 is_known() || i ? 0 : 209);
		CHECK_IS(entries_count(suite.cache), is_known());
		CHECK(!is_known() || made("relocatable", " -c"));
	}
	return PASSED;
}

/* If it could, drivers before 12.5 take it for a cubin and refuse it with 200; in 12.4, a load ends
 * the process. */
static enum outcome of_this_generation(void)
{
	const struct part parts[] = {relocatable(suite.sm[0]), {.kernel = "plain", .nuls = 1}};
	const int expected = is_known() ? 0 : suite.cuda >= 12040 ? -1 : 200;

	for (size_t count = 1; count <= 2; count++) {
		CHECK_IS(load_apart("dataex", container(parts, count)), expected);
		CHECK_IS(load_apart("link", container(parts, count)), is_known() ? 0 : 200);
	}
	return PASSED;
}

/* All drivers prefer a cubin that runs. */
static enum outcome cubin_goes_before(void)
{
	struct part parts[] = {relocatable(suite.sm[0]), {.kind = 2, .arch = suite.sm[0]}};
	struct entry entry;
	int result;

	CHECK_IS(load(CONTAINER({.kernel = "as_cubin", .nuls = 1})).result, 0);
	CHECK(only_entry(&entry));
	parts[1].data = entry.value;
	parts[1].size = entry.value_size;
	cache_clear();
	result = load_apart("dataex", container(parts, 2));
	entry_free(&entry);
	CHECK_IS(result, 0);
	CHECK_IS(entries_count(suite.cache), 0);
	return PASSED;
}

/* Loads and links prefer other PTX, even if it is older. */
static enum outcome other_ptx_goes_before(void)
{
	const int arch = is_known() ? suite.sm[0] : OTHER_GENERATION;
	const struct part plain = {.kernel = "plain", .nuls = 1},
					  parts[2][2] = {{plain, relocatable(arch)}, {relocatable(arch), plain}};

	if (!is_known() && suite.sm[0] / 10 == OTHER_GENERATION / 10)
		return case_skipped("for GPUs of 8.0 and newer");
	for (size_t i = 0; i < 2; i++) {
		cache_clear();
		CHECK_IS(load(container(parts[i], 2)).result, 0);
		CHECK_IS(entries_count(suite.cache), 1);
		CHECK(made("plain", " "));
		cache_clear();
		CHECK_IS(client_load(suite.client, "link", container(parts[i], 2), NULL).result, 0);
		CHECK_IS(entries_count(suite.cache), 1);
		CHECK(made("plain", " -c"));
	}
	return PASSED;
}

/* There is no second try. PTX that this GPU cannot use does not count as other PTX. */
static enum outcome newer_ptx_does_not(void)
{
	const struct part parts[] = {
		relocatable(OTHER_GENERATION),
		{.kernel = "newer", .arch = 120, .target = "sm_120", .version = "8.7", .nuls = 1}};

	if (!is_known())
		return case_skipped("since 12.5");
	CHECK_IS(load(container(parts, 2)).result, 0);
	CHECK(made("relocatable", " -c"));
	return PASSED;
}

/* The driver compiles all usable parts, not only the newest. */
static enum outcome all_of_them(void)
{
	struct part parts[] = {relocatable(OTHER_GENERATION), relocatable(OTHER_GENERATION),
						   relocatable(OTHER_GENERATION)};

	if (!is_known())
		return case_skipped("since 12.5");
	parts[1].kernel = "another";
	parts[1].arch = 52;
	parts[1].target = "sm_52";
	parts[2].kernel = "newer";
	parts[2].arch = 120;
	CHECK_IS(client_load(suite.client, "link", container(parts, 3), NULL).result, 0);
	CHECK_IS(entries_count(suite.cache), 2);
	CHECK(made("relocatable", " -c"));
	CHECK(made("another", " -c"));
	return PASSED;
}

/* The key of relocatable PTX contains the text up to the first NUL, and not the options in its
 * container. */
static enum outcome key(void)
{
	static const struct {
		int nuls, compression;
		const char *options;
	} cases[] = {
		{1, 0, NULL}, {3, 0, "-v"}, {1, 4, NULL}, {3, 4, " --compile-only -maxrregcount=96"}};

	if (!is_known())
		return case_skipped("since 12.5");
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct part part = relocatable(OTHER_GENERATION);
		struct blob text;
		bool found;

		part.nuls = cases[i].nuls;
		part.compression = cases[i].compression;
		part.options = cases[i].options;
		cache_clear();
		CHECK_IS(client_load(suite.client, "link", container(&part, 1), NULL).result, 0);
		text = part_text(&part);
		found = has_key(suite.sm[0], text.data, text.size + 1, " -c");
		blob_free(&text);
		CHECK(found);
	}
	return PASSED;
}

const struct test_case relocatable_cases[] = {
	{"relocatable/drivers from CUDA 12.5 on read kind 0x40", of_another_generation},
	{"relocatable/relocatable code for the GPU's generation: error 200; with CUDA 12.4 the process "
	 "ends",
	 of_this_generation},
	{"relocatable/the driver prefers a cubin to relocatable code", cubin_goes_before},
	{"relocatable/the driver prefers other PTX to relocatable code", other_ptx_goes_before},
	{"relocatable/PTX for newer GPUs is not preferred to relocatable code", newer_ptx_does_not},
	{"relocatable/a link compiles all usable relocatable images", all_of_them},
	{"relocatable/the key is of a C string, without options", key},
	{NULL, NULL},
};
