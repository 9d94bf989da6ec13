/* An entry's name is the hash of the key that jitwarm computes, and its content has the documented
 * form. */
#include "suite.h"

#include <string.h>

/* Loads one part and looks for the key made of the part's text, `nuls` NULs and its options. */
static enum outcome expect_key(const struct part *part, const char *call, size_t nuls)
{
	struct blob payload = part_text(part);
	struct entry entry = {0};
	char tail[256];
	bool found;
	int result;

	snprintf(tail, sizeof tail, " %s%s", strcmp(call, "link") == 0 ? "-c" : "",
			 part->options ? part->options : "");
	cache_clear();
	result = client_load(suite.client, call, container(part, 1), NULL).result;
	blob_add(&payload, NULL, nuls);
	found = has_key(suite.sm[0], payload.data, payload.size, tail);
	blob_free(&payload);
	CHECK_IS(result, 0);
	CHECK_IS(entries_count(suite.cache), 1);
	if (!found && only_entry(&entry)) {
		/* On a mismatch, shows the key's end. */
		const uint8_t *end = entry.key + entry.key_size;

		for (const uint8_t *at = end - (entry.key_size < 24 ? entry.key_size : 24); at < end; at++)
			printf(*at >= ' ' && *at < 127 ? "%c" : "<%02x>", *at);
		puts("");
	}
	entry_free(&entry);
	CHECK(found);
	return PASSED;
}

static enum outcome all_keys(const struct part *parts, size_t count, size_t nuls)
{
	for (size_t i = 0; i < count; i++) {
		enum outcome outcome = expect_key(&parts[i], "dataex", nuls);

		if (outcome != PASSED)
			return outcome;
	}
	return PASSED;
}

/* A payload as nvcc stores it, with one NUL, compressed: the key contains that NUL and the one that
 * unpacking adds. */
static enum outcome key_has_payload_with_its_nul(void)
{
	const struct part lz4 = {.nuls = 1, .compression = 4};
	const struct part zstd = {.nuls = 1, .compression = 8};
	enum outcome outcome = all_keys(&lz4, 1, 2);

	return outcome == PASSED && suite.cuda >= 12040 ? all_keys(&zstd, 1, 2) : outcome;
}

static enum outcome key_keeps_two_nuls(void)
{
	const struct part part = {.nuls = 2, .compression = 4};

	return all_keys(&part, 1, 3);
}

static enum outcome key_without_nul(void)
{
	const struct part part = {.nuls = 0, .compression = 4};

	return all_keys(&part, 1, 1);
}

/* A raw payload is used unchanged, with its padding to 8, and gets no further NUL; the unpadded
 * size in the header does not matter. The lengths differ by the number of digits of the variant. */
static enum outcome raw_payloads(int nuls, int header_size)
{
	static const unsigned variants[] = {1, 10, 100, 1000, 10000, 100000, 1000000, 10000000};

	for (size_t i = 0; i < sizeof variants / sizeof *variants; i++) {
		const struct part part = {.variant = variants[i], .nuls = nuls, .header_size = header_size};
		struct blob text = part_text(&part);
		size_t stored = (text.size + (size_t)nuls + 7) / 8 * 8;
		enum outcome outcome = expect_key(&part, "dataex", stored - text.size);

		blob_free(&text);
		if (outcome != PASSED)
			return outcome;
	}
	return PASSED;
}

static enum outcome key_of_raw_payloads(void)
{
	return raw_payloads(1, 0);
}

/* A payload that fills its eight bytes has no NUL in its key. */
static enum outcome key_of_raw_payloads_without_nul(void)
{
	return raw_payloads(0, 0);
}

static enum outcome key_of_raw_payloads_with_size(void)
{
	return raw_payloads(1, 1);
}

static enum outcome key_has_options_verbatim(void)
{
	const struct part parts[] = {
		{.nuls = 1, .options = " --generate-line-info ", .compression = 4},
		{.nuls = 1, .options = "-v  ", .compression = 4},
		{.nuls = 1, .options = "--generate-line-info -v", .compression = 4},
	};

	return all_keys(parts, sizeof parts / sizeof *parts, 2);
}

/* Without the field that says where the options are, the entry's first bytes (kind and version) say
 * it, also behind the container. */
static enum outcome key_has_options_from_behind(void)
{
	enum { ENTRY = 16, FIELD = ENTRY + 20, BEHIND = 0x01010001 };
	static const char options[] = "-v ";
	const struct part part = {.nuls = 1};
	struct blob image, payload = part_text(&part);
	bool found;
	int result;

	CHECK(read_file(container(&part, 1), &image));
	memset(image.data + FIELD, 0, 4);
	blob_add(&image, NULL, ENTRY + BEHIND - image.size);
	blob_add(&image, options, sizeof options);
	cache_clear();
	result = client_load(suite.client, "dataex", raw_file(image.data, image.size), NULL).result;
	blob_add(&payload, NULL, (payload.size + 8) / 8 * 8 - payload.size);
	found = has_key(suite.sm[0], payload.data, payload.size, " -v ");
	blob_free(&payload);
	blob_free(&image);
	CHECK_IS(result, 0);
	CHECK(found);
	return PASSED;
}

static enum outcome key_is_the_same_for_every_call(void)
{
	static const char *const calls[] = {"data", "dataex", "fatbin"};
	const struct part part = {.nuls = 1, .options = " --generate-line-info ", .compression = 4};

	for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
		enum outcome outcome = expect_key(&part, calls[i], 2);

		if (outcome != PASSED)
			return outcome;
	}
	return PASSED;
}

/* A library belongs to no context: it is compiled for every GPU of the process. */
static enum outcome library_makes_an_entry_for_each_gpu(void)
{
	const struct part part = {.nuls = 1, .compression = 4};
	struct blob payload = part_text(&part);
	bool found[2] = {false, true};
	int result = client_load(suite.client, "library", container(&part, 1), NULL).result;

	if (result == -2) {
		blob_free(&payload);
		return case_skipped("no cuLibraryLoadData before CUDA 12.0");
	}
	blob_add(&payload, NULL, 2);
	found[0] = has_key(suite.sm[0], payload.data, payload.size, " ");
	if (suite.sm[1])
		found[1] = has_key(suite.sm[1], payload.data, payload.size, " ");
	blob_free(&payload);
	CHECK_IS(result, 0);
	CHECK_IS(entries_count(suite.cache), suite.sm[1] && suite.sm[1] != suite.sm[0] ? 2 : 1);
	CHECK(found[0] && found[1]);
	return PASSED;
}

/* Only the library call accepts the CUDA runtime's wrappers. */
static enum outcome wrappers_are_not_modules(void)
{
	const char *path = module(1);

	CHECK_IS(client_load(suite.client, "wrapper-data", path, NULL).result, 200);
	CHECK_IS(client_load(suite.client, "wrapper-fatbin", path, NULL).result, 200);
	CHECK_IS(entries_count(suite.cache), 0);
	if (suite.cuda < 12000)
		return case_skipped("no cuLibraryLoadData before CUDA 12.0");
	CHECK_IS(client_load(suite.client, "wrapper-library", path, NULL).result, 0);
	CHECK(entries_count(suite.cache) > 0);
	return PASSED;
}

static enum outcome key_of_text(void)
{
	const struct part part = {0};
	struct blob text = part_text(&part);
	const char *path = raw_file(text.data, text.size);
	int result = load(path).result;
	bool found = has_key(suite.sm[0], text.data, text.size + 1, " ");

	blob_free(&text);
	CHECK_IS(result, 0);
	CHECK(found);
	return PASSED;
}

static enum outcome optimisation_level_changes_key(void)
{
	const struct part part = {.nuls = 1};
	const char *path = container(&part, 1);

	CHECK_IS(load(path).result, 0);
	CHECK_IS(client_load(suite.client, "opt4", path, NULL).result, 0);
	CHECK_IS(entries_count(suite.cache), 2);
	return PASSED;
}

static enum outcome key_of_link_input(void)
{
	const struct part plain = {.nuls = 1, .compression = 4};
	const struct part options = {
		.nuls = 1, .options = "-v --compile-only  --generate-line-info ", .compression = 4};
	enum outcome outcome = expect_key(&plain, "link", 2);

	if (outcome != PASSED)
		return outcome;
	return expect_key(&options, "link", 2);
}

static enum outcome keys_name_the_architecture(void)
{
	const struct part part = {.nuls = 1, .compression = 4};
	struct blob payload = part_text(&part);
	const char *path = container(&part, 1);
	bool found;
	int result;

	blob_add(&payload, NULL, 2);
	if (!suite.sm[1]) {
		blob_free(&payload);
		return case_skipped("one GPU");
	}
	client_load(suite.client, "device", "1", NULL);
	result = load(path).result;
	client_load(suite.client, "device", "0", NULL);
	found = has_key(suite.sm[1], payload.data, payload.size, " ");
	blob_free(&payload);
	CHECK_IS(result, 0);
	CHECK(found);
	CHECK_IS(load(path).compiled, 1);
	CHECK_IS(entries_count(suite.cache), 2);
	return PASSED;
}

static enum outcome name_is_the_keys_hash(void)
{
	struct entry entry;

	CHECK_IS(load(module(1)).result, 0);
	CHECK(only_entry(&entry));
	CHECK(fnv(entry.key, entry.key_size) == entry.hash);
	CHECK(fnv(entry.value, entry.value_size) == entry.checksum);
	CHECK_IS(entry.file.size, 28 + entry.key_size + entry.value_size);
	entry_free(&entry);
	return PASSED;
}

/* The cubin's type is 2, or 1 for an input to a link; the position of the architecture depends on
 * the ABI. */
static enum outcome value_is_cubin(void)
{
	static const char *const calls[] = {"dataex", "link"};

	for (int i = 0; i < 2; i++) {
		struct entry entry;
		uint32_t flags;
		int sm;

		cache_clear();
		CHECK_IS(client_load(suite.client, calls[i], module(1), NULL).result, 0);
		CHECK(only_entry(&entry));
		CHECK(entry.value_size > 64 && memcmp(entry.value,
											  "\x7f"
											  "ELF",
											  4) == 0);
		CHECK_IS(entry.value[18], 190);
		CHECK_IS(entry.value[16], i ? 1 : 2);
		memcpy(&flags, entry.value + 48, 4);
		sm = (int)(entry.value[8] > 7 ? flags >> 8 & 0xff : flags & 0xff);
		CHECK_IS(sm, suite.sm[0]);
		entry_free(&entry);
	}
	return PASSED;
}

static enum outcome compiler_is_deterministic(void)
{
	struct entry first, second;
	bool same;

	CHECK_IS(load(module(1)).result, 0);
	CHECK(only_entry(&first));
	cache_clear();
	CHECK_IS(load(module(1)).result, 0);
	CHECK(only_entry(&second));
	same = first.file.size == second.file.size &&
		   memcmp(first.file.data, second.file.data, first.file.size) == 0;
	entry_free(&first);
	entry_free(&second);
	CHECK(same);
	return PASSED;
}

const struct test_case key_cases[] = {
	{"key/the key contains the payload with its NUL", key_has_payload_with_its_nul},
	{"key/the key keeps two NULs", key_keeps_two_nuls},
	{"key/the key of a payload without a NUL", key_without_nul},
	{"key/uncompressed payloads with their padding", key_of_raw_payloads},
	{"key/uncompressed payloads without a NUL", key_of_raw_payloads_without_nul},
	{"key/uncompressed payloads whose header has a size", key_of_raw_payloads_with_size},
	{"key/the key contains the options as they are", key_has_options_verbatim},
	{"key/options that follow the image in the container", key_has_options_from_behind},
	{"key/each call that loads a module uses the same key", key_is_the_same_for_every_call},
	{"key/a library is compiled once for every GPU", library_makes_an_entry_for_each_gpu},
	{"key/wrappers of containers are read only in libraries", wrappers_are_not_modules},
	{"key/the key of PTX text", key_of_text},
	{"key/the optimisation level changes the key", optimisation_level_changes_key},
	{"key/the key of an input of a link", key_of_link_input},
	{"key/each architecture has its own key", keys_name_the_architecture},
	{"key/the file name and the checksum are FNV-1a-64", name_is_the_keys_hash},
	{"value/the value is a cubin for the GPU's architecture", value_is_cubin},
	{"value/each compile gives the same bytes", compiler_is_deterministic},
	{NULL, NULL},
};
