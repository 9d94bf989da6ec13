/* Damaged entries are compiled again and rewritten; wrong values with a right checksum are used. */
#include "suite.h"

#include <string.h>
#include <unistd.h>

/* Replaces the entry of module 1 by `file` and expects it to be healed: compiled, with the same
 * bytes as before. */
static enum outcome heals(const struct entry *sound, const void *file, size_t size)
{
	struct entry now;
	bool same;

	CHECK(write_file(sound->path, file, size));
	CHECK_IS(load(module(1)).compiled, 1);
	CHECK(only_entry(&now));
	same = now.file.size == sound->file.size &&
		   memcmp(now.file.data, sound->file.data, now.file.size) == 0;
	entry_free(&now);
	CHECK(same);
	CHECK_IS(load(module(1)).compiled, 0);
	return PASSED;
}

/* Changes one byte of the file. A negative `where` counts from the end. */
static enum outcome heals_byte(long where)
{
	struct entry entry;
	struct blob bent;
	enum outcome outcome;

	CHECK_IS(load(module(1)).compiled, 1);
	CHECK(only_entry(&entry));
	bent = blob_copy(entry.file.data, entry.file.size);
	bent.data[where < 0 ? (long)bent.size + where : where] ^= 0x10;
	outcome = heals(&entry, bent.data, bent.size);
	blob_free(&bent);
	entry_free(&entry);
	return outcome;
}

/* Keeps this many bytes of the file; a negative number counts from the end. */
static enum outcome heals_size(long keep)
{
	struct entry entry;
	enum outcome outcome;

	CHECK_IS(load(module(1)).compiled, 1);
	CHECK(only_entry(&entry));
	outcome =
		heals(&entry, entry.file.data, (size_t)(keep < 0 ? (long)entry.file.size + keep : keep));
	entry_free(&entry);
	return outcome;
}

/* After a power loss, the size is written, and the bytes after `keep` are not. A negative number
 * counts from the end. */
static enum outcome heals_zeros(long keep)
{
	struct entry entry;
	struct blob zeros;
	enum outcome outcome;
	size_t from;

	CHECK_IS(load(module(1)).compiled, 1);
	CHECK(only_entry(&entry));
	zeros = blob_copy(entry.file.data, entry.file.size);
	from = (size_t)(keep < 0 ? (long)zeros.size + keep : keep);
	memset(zeros.data + from, 0, zeros.size - from);
	outcome = heals(&entry, zeros.data, zeros.size);
	blob_free(&zeros);
	entry_free(&entry);
	return outcome;
}

/* Replaces the value of module 1's entry by `size` bytes of the entry `of`, which is freed, with a
 * correct checksum. The driver answers with `result` (200: or it crashes); if that is 0, the kernel
 * returns `function`. */
static enum outcome uses_value(struct entry *of, size_t size, int result, int function)
{
	uint64_t numbers[2] = {size, fnv(of->value, size)};
	struct answer answer;
	struct entry entry;
	struct blob file, after;
	bool same;

	cache_clear();
	CHECK_IS(load(module(1)).compiled, 1);
	CHECK(only_entry(&entry));
	file = blob_copy(entry.file.data, 28 + entry.key_size);
	memcpy(file.data + 12, numbers, sizeof numbers);
	blob_add(&file, of->value, size);
	entry_free(of);
	CHECK(write_file(entry.path, file.data, file.size));
	answer = client_load(suite.client, "dataex", module(1), "k");
	CHECK(read_file(entry.path, &after));
	same = after.size == file.size && memcmp(after.data, file.data, file.size) == 0;
	blob_free(&after);
	blob_free(&file);
	entry_free(&entry);
	/* The value is used: neither compiled nor rewritten. */
	CHECK_IS(answer.compiled, 0);
	CHECK(same);
	CHECK(answer.result == result || (result == 200 && answer.result == -1));
	if (!result)
		CHECK_IS(answer.function, function);
	return PASSED;
}

static enum outcome other_modules_value(void)
{
	const struct part part = {.kernel = "another", .nuls = 1};
	struct entry other;

	CHECK_IS(load(container(&part, 1)).compiled, 1);
	CHECK(only_entry(&other));
	return uses_value(&other, other.value_size, 0, 500);
}

static enum outcome other_architectures_value(void)
{
	struct entry other;
	bool made;

	if (!suite.sm[1])
		return case_skipped("one GPU");
	client_load(suite.client, "device", "1", NULL);
	made = load(module(1)).compiled == 1;
	client_load(suite.client, "device", "0", NULL);
	CHECK(made);
	CHECK(only_entry(&other));
	return uses_value(&other, other.value_size, 300, 0);
}

/* The value is the module's own cubin with another architecture in its flags. The first
 * architecture of a generation runs on its later ones. */
static enum outcome first_architectures_value(void)
{
	const uint8_t sm = (uint8_t)(suite.sm[0] / 10 * 10);
	struct entry entry;
	uint8_t *flags;

	if (suite.sm[0] % 10 == 0)
		return case_skipped("this GPU is the first of its generation");
	CHECK_IS(load(module(1)).compiled, 1);
	CHECK(only_entry(&entry));
	flags = entry.file.data + 28 + entry.key_size + 48;
	flags[0] = flags[2] = sm;
	return uses_value(&entry, entry.value_size, 0, 0);
}

static enum outcome input_of_a_link_as_value(void)
{
	struct entry other;

	CHECK_IS(client_load(suite.client, "link", module(1), NULL).result, 0);
	CHECK(only_entry(&other));
	return uses_value(&other, other.value_size, 0, 0);
}

/* The reverse: a linked cubin is not an input. */
static enum outcome linked_value_as_input(void)
{
	struct entry linked, input;
	struct blob file;
	uint64_t numbers[2];
	int result;

	CHECK_IS(load(module(1)).compiled, 1);
	CHECK(only_entry(&linked));
	cache_clear();
	CHECK_IS(client_load(suite.client, "link", module(1), NULL).result, 0);
	CHECK(only_entry(&input));
	numbers[0] = linked.value_size;
	numbers[1] = linked.checksum;
	file = blob_copy(input.file.data, 28 + input.key_size);
	memcpy(file.data + 12, numbers, sizeof numbers);
	blob_add(&file, linked.value, linked.value_size);
	CHECK(write_file(input.path, file.data, file.size));
	result = client_load(suite.client, "link", module(1), NULL).result;
	blob_free(&file);
	entry_free(&linked);
	entry_free(&input);
	CHECK_IS(result, 209);
	return PASSED;
}

static enum outcome half_a_cubin(void)
{
	struct entry entry;

	CHECK_IS(load(module(1)).compiled, 1);
	CHECK(only_entry(&entry));
	return uses_value(&entry, entry.value_size / 2, 200, 0);
}

/* 550 crashes, which ends the suite's client; the others return CUDA_ERROR_INVALID_IMAGE. */
static enum outcome garbage_value(void)
{
	static uint8_t garbage[500];
	struct entry entry = {.path = ""};

	memset(garbage, 'x', sizeof garbage);
	entry.value = garbage;
	return uses_value(&entry, sizeof garbage, 200, 0);
}

/* The value's header names a cubin of ABI 8, and the driver has CUDA 12.2 to 12.5; 550 crashes. */
static enum outcome newer_abi(void)
{
	struct entry entry;
	uint32_t flags;

	if (suite.cuda >= 12080)
		return case_skipped("this driver knows ABI 8");
	CHECK_IS(load(module(1)).compiled, 1);
	CHECK(only_entry(&entry));
	entry.file.data[28 + entry.key_size + 7] = 0x41;
	entry.file.data[28 + entry.key_size + 8] = 8;
	flags = 0x06000004 | (uint32_t)suite.sm[0] << 8;
	memcpy(entry.file.data + 28 + entry.key_size + 48, &flags, 4);
	return uses_value(&entry, entry.value_size, 200, 0);
}

/* There is no row, and a dangling symlink: the driver neither writes through it nor replaces it. */
static enum outcome dangling_symlink(void)
{
	static const uint32_t no_rows[4] = {0x41, 0, 0, 0};
	struct entry entry;

	CHECK_IS(load(module(1)).compiled, 1);
	CHECK(only_entry(&entry));
	entry_free(&entry);
	unlink(entry.path);
	CHECK_IS(symlink("/nowhere/at/all", entry.path), 0);
	CHECK(write_file(cache_file("index"), no_rows, sizeof no_rows));
	for (int i = 0; i < 2; i++) {
		CHECK_IS(load(module(1)).compiled, 1);
		CHECK(exists(entry.path) && access(entry.path, F_OK) != 0);
	}
	return PASSED;
}

const struct test_case damage_cases[] = {
	{"damage/another version", NULL, heals_byte, 0},
	{"damage/a wrong key length", NULL, heals_byte, 4},
	{"damage/a wrong value length", NULL, heals_byte, 12},
	{"damage/a value length larger than any file", NULL, heals_byte, 19},
	{"damage/a wrong checksum", NULL, heals_byte, 20},
	{"damage/a wrong key", NULL, heals_byte, 100},
	{"damage/a wrong value", NULL, heals_byte, -40},
	{"damage/an entry that lacks its last byte", NULL, heals_size, -1},
	{"damage/an empty file", NULL, heals_size, 0},
	{"damage/half a header", NULL, heals_size, 14},
	{"damage/an entry of zeros", NULL, heals_zeros, 0},
	{"damage/an entry with zeros after its header", NULL, heals_zeros, 28},
	{"damage/an entry with zeros at its end", NULL, heals_zeros, -512},
	{"damage/an entry that is a dangling symlink is never repaired", dangling_symlink},
	{"trust/an entry with another module's cubin", other_modules_value},
	{"trust/an entry with a cubin for another architecture", other_architectures_value},
	{"trust/the driver runs a cubin for the first architecture of the GPU's generation",
	 first_architectures_value},
	{"trust/an entry with an input of a link, loaded as a module", input_of_a_link_as_value},
	{"trust/an entry with a linked cubin for an input of a link: error 209", linked_value_as_input},
	{"trust/an entry with a cubin of a newer ABI", newer_abi},
	{"trust/an entry with half a cubin", half_a_cubin},
	{"trust/an entry with garbage", garbage_value},
	{NULL, NULL},
};
