/* Each part of a key, a stamp, a state or a document counts: if one of them changes, the answer
 * changes, and if all are as before, the answer is the same. */
#include "check.h"

#include <stdio.h>

#include <jitwarm/startup.h>

#include "base/hash.h"
#include "base/text.h"
#include "cache/key.h"
#include "driver/known_gpus.h"
#include "environments.h"
#include "pack/ledger.h"
#include "pack/manifest.h"

#define COUNT(a) (sizeof(a) / sizeof *(a))

/* Returns a key: the bytes that the driver hashes, written out. */
static uint64_t plain_key(const char *stamp, const struct cache_key_input *input, char *key,
						  size_t *ret_size)
{
	size_t size = (size_t)sprintf(key, "%sHOST64sm_%u", stamp, (unsigned)input->sm);

	memcpy(key + size, input->payload, input->payload_size);
	size += input->payload_size;
	key[size++] = 0;
	key[size++] = ' ';
	if (input->form == CACHE_KEY_LINK) {
		key[size++] = '-';
		key[size++] = 'c';
	}
	for (size_t i = 0; i < input->options_length; i++)
		key[size++] = input->options[i];
	*ret_size = size;
	return fnv_update(FNV_START, key, size);
}

TEST(each_part_of_a_key_counts)
{
	static const char *const stamps[] = {"Jun 25 202401:14:48", "Jun 25 202401:14:49",
										 "Jul 25 202401:14:48"};
	static const char payloads[][8] = {"ptx\0", "ptx\0\0", "ptY\0"};
	static const size_t lengths[] = {4, 5, 4};
	static const char *const options[] = {NULL, "-O3", "-O4", "-O3 -g"};
	static const uint16_t sms[] = {86, 89, 120};
	enum { FORMS = 2, ALL = COUNT(stamps) * COUNT(payloads) * COUNT(options) * COUNT(sms) * FORMS };
	uint64_t keys[ALL];
	char key[256];

	for (size_t i = 0; i < ALL; i++) {
		size_t at = i, size;
		struct cache_profile profile = {.trust = JW_TRUST_CONFIRMED};
		struct cache_key_input input = {0};
		uint64_t bytes = 0;

		memcpy(profile.stamp, stamps[at % COUNT(stamps)], sizeof profile.stamp);
		at /= COUNT(stamps);
		input.payload = payloads[at % COUNT(payloads)];
		input.payload_size = lengths[at % COUNT(payloads)];
		at /= COUNT(payloads);
		input.options = options[at % COUNT(options)];
		input.options_length = input.options ? strlen(input.options) : 0;
		at /= COUNT(options);
		input.sm = sms[at % COUNT(sms)];
		input.form = at / COUNT(sms) ? CACHE_KEY_LINK : CACHE_KEY_LOAD;
		keys[i] = cache_key_hash(profile.stamp, &input, &bytes);
		(void)plain_key(profile.stamp, &input, key, &size);
		assert_int_equal(keys[i], fnv_update(FNV_START, key, size));
		assert_int_equal(bytes, size);
		for (size_t k = 0; k < i; k++)
			assert_int_not_equal(keys[i], keys[k]);
	}
}

/* ---- remembered GPUs */

static const char *library;

static bool remembers(const char *folder, const struct os_pci_device *pci, size_t count)
{
	static struct protocol_hello hello;
	const struct known_gpus_key key = {library, pci, count};

	return known_gpus_find(folder, &key, &hello);
}

CASE(remembered_gpus_are_those_of_one_machine)
{
	static const char *const variables[] = {"CUDA_VISIBLE_DEVICES", "CUDA_DEVICE_ORDER"};
	static const char *const values[] = {"", "0", "1,0", "PCI_BUS_ID", "FASTEST_FIRST"};
	static struct protocol_hello hello;
	const struct os_pci_device pci[2] = {
		{.vendor = 0x10de, .device = 0x2684, .bus = "0000:01:00.0"},
		{.vendor = 0x10de, .device = 0x2204, .bus = "0000:02:00.0"}};
	char *kept = keep(at("state")), *file = keep(at("lib/libcuda.so.1")),
		 *moved = keep(at("lib/libcuda.so.2"));
	const struct known_gpus_key key = {file, pci, 2};

	put("lib/libcuda.so.1", "driver");
	put("lib/libcuda.so.2", "driver");
	check_set_mtime(file, INT64_C(1000000000000000000));
	check_set_mtime(moved, INT64_C(1000000000000000000));
	for (size_t i = 0; i < COUNT(variables); i++)
		OK(os_env_set(why, variables[i], NULL));
	library = file;
	TEXT_COPY(hello.library, file);
	hello.cuda = 12040;
	hello.device_count = 2;
	for (size_t i = 0; i < 2; i++) {
		hello.devices[i].ordinal = (int)i;
		hello.devices[i].target.sm = i ? 86 : 89;
		TEXT_COPY(hello.devices[i].name, "GPU");
	}
	known_gpus_save(kept, &key, &hello);
	assert_true(remembers(kept, pci, 2));
	for (size_t i = 0; i < 2; i++) {
		struct os_pci_device other[2] = {pci[0], pci[1]};

		other[i].vendor++;
		assert_false(remembers(kept, other, 2));
		other[i].vendor--;
		other[i].device++;
		assert_false(remembers(kept, other, 2));
		other[i].device--;
		other[i].bus[6] = '7';
		assert_false(remembers(kept, other, 2));
	}
	assert_false(remembers(kept, (const struct os_pci_device[]){pci[1], pci[0]}, 2));
	assert_false(remembers(kept, pci, 1));
	for (size_t i = 0; i < COUNT(variables); i++) {
		for (size_t k = 0; k < COUNT(values); k++) {
			OK(os_env_set(why, variables[i], values[k]));
			assert_false(remembers(kept, pci, 2));
		}
		OK(os_env_set(why, variables[i], NULL));
		assert_true(remembers(kept, pci, 2));
	}
	library = moved;
	assert_false(remembers(kept, pci, 2));
	library = file;
	check_set_mtime(file, INT64_C(1000000001000000000));
	assert_false(remembers(kept, pci, 2));
	put("lib/libcuda.so.1", "driver.");
	check_set_mtime(file, INT64_C(1000000000000000000));
	assert_false(remembers(kept, pci, 2));
}

/* ---- the state of a run, for prime --if-changed */

static char said[256];

static bool has_changed(const char *const *names, size_t count, const char *cache,
						const char *recording)
{
	const struct jw_run_key key = {
		.names = names, .name_count = count, .cache_dir = cache, .recording = recording};
	struct jw_run_state *now = NULL;
	const char *changes = NULL;

	OK(jw_run_compare(why, &key, &now, &changes));
	TEXT_COPY(said, changes);
	if (*said)
		OK(jw_run_remember(why, now));
	jw_result_free(now);
	return *said;
}

CASE(each_part_of_a_run_counts)
{
	static const char *const variables[] = {"CUDA_CACHE_MAXSIZE",   "CUDA_CACHE_DISABLE",
											"CUDA_FORCE_PTX_JIT",   "CUDA_FORCE_JIT",
											"CUDA_VISIBLE_DEVICES", "CUDA_DEVICE_ORDER"};
	char *one = keep(at("one.so")), *two = keep(at("two.so")), *recording = keep(at("recording")),
		 *second = keep(at("second")), *cache = keep(at("other"));
	const char *const names[] = {one, two};

	set("JITWARM_STATE", "state");
	set("CUDA_CACHE_PATH", "cache");
	put("one.so", "one");
	put("two.so", "two");
	put("recording", "r");
	for (size_t i = 0; i < COUNT(variables); i++)
		OK(os_env_set(why, variables[i], NULL));
#define NOW has_changed(names, 2, NULL, recording)
	assert_true(NOW);
	assert_false(NOW);
	for (size_t i = 0; i < COUNT(variables); i++)
		for (int k = 0; k < 3; k++) {
			static const char *const values[] = {"1", "0", NULL};

			OK(os_env_set(why, variables[i], values[k]));
			assert_true(NOW);
			assert_false(NOW);
		}
	for (size_t i = 0; i < 3; i++) {
		static const char *const files[] = {"one.so", "two.so", "recording"};
		char *path = keep(at(files[i]));

		check_set_mtime(path, (INT64_C(1000000000) + (int64_t)i) * 1000000000);
		assert_true(NOW);
		put(files[i], "longer");
		check_set_mtime(path, (INT64_C(1000000000) + (int64_t)i) * 1000000000);
		assert_true(NOW);
		assert_false(NOW);
	}
	/* Another question is another run with its own answer, which stays beside the others'. */
	put("second", "r");
	for (int round = 0; round < 2; round++) {
		assert_int_equal(has_changed(names, 1, NULL, recording), !round);
		assert_int_equal(has_changed(names + 1, 1, NULL, recording), !round);
		assert_int_equal(has_changed(names, 2, cache, recording), !round);
		assert_int_equal(has_changed(names, 2, NULL, second), !round);
		assert_int_equal(has_changed(names, 2, NULL, NULL), !round);
		assert_false(NOW);
	}
	set("CUDA_CACHE_PATH", "third");
	assert_true(NOW);
}

/* ---- the place of a module in the ledger */

CASE(each_part_of_a_module_s_place_counts)
{
	enum { PARTS = 6 };
	char *kept = keep(at("state")), *cache = keep(at("cache")), *one = keep(at("one.so")),
		 *two = keep(at("two.so"));
	static char first[] = "a/member", second[] = "b/member";

	put("one.so", "one");
	put("two.so", "two");
	/* The module of place `i` was used; then the others were not. */
	for (unsigned i = 0; i <= PARTS; i++) {
		for (unsigned k = 0; k <= PARTS; k++) {
			struct plan_file file = {.path = k == 1 ? two : one,
									 .member = k == 2   ? NULL
											   : k == 3 ? second
														: first};
			struct plan_target target = {.device = {k == 4 ? 89 : 86, 0}};
			struct plan_module module = {.key = 1000 + k,
										 .container_offset = k == 5 ? 4096 : 64,
										 .form = k == 6 ? CACHE_KEY_LINK : CACHE_KEY_LOAD,
										 .used = true};
			struct plan plan = {.files = &file,
								.file_count = 1,
								.targets = &target,
								.target_count = 1,
								.modules = &module,
								.module_count = 1,
								.cache_dir = cache};
			struct ledger ledger;

			ledger_open(&ledger, kept, cache);
			ledger_begin(&ledger, &plan);
			assert_int_equal(ledger_find_used(&ledger, &plan), k < i);
			module.used = true;
			if (k == i)
				ledger_note_used(&ledger, kept);
			ledger_close(&ledger);
		}
	}
}

/* ---- a pack's manifest */

static struct pack_driver drivers[2];
static struct pack_member members[3];
static struct pack_entry pack_entries[2];
static char options[2][16];

static struct pack_manifest manifest_now(void)
{
	struct pack_manifest manifest = {"linux", drivers, 2, members, 3, pack_entries, 2};

	return manifest;
}

static void reset(void)
{
	static const char *const stamps[] = {"Jun 25 202401:14:48", "Jul  1 202401:14:48"};

	for (size_t i = 0; i < 2; i++) {
		memcpy(drivers[i].stamp, stamps[i], sizeof drivers[i].stamp);
		TEXT_COPY(drivers[i].release, i ? "555.58.02" : "550.163.01");
		drivers[i].cuda = i ? 12050 : 12040;
		TEXT_COPY(options[i], i ? "" : "-O3");
		pack_entries[i] = (struct pack_entry){.key = 1000 + i,
											  .driver = (uint32_t)i,
											  .ptx = (uint32_t)i,
											  .cubin = 2,
											  .target = {86, 0},
											  .form = PACK_LOAD,
											  .options = options[i]};
	}
	for (size_t i = 0; i < 3; i++) {
		members[i] =
			(struct pack_member){.kind = i == 2 ? PACK_CUBIN : PACK_PTX, .size_bytes = 100 + i};
		memset(&members[i].digest, (int)i + 1, sizeof members[i].digest);
	}
}

/* Returns its text, which is read back to the same. */
static char *text_now(void)
{
	const struct pack_manifest manifest = manifest_now();
	struct pack_manifest read;
	struct buf text = BUF_MAX(1 << 16), again = BUF_MAX(1 << 16);
	char *line;

	OK(manifest_format(why, &manifest, &text));
	line = mem_string(buf_text(&text));
	OK(manifest_parse(why, line, strlen(line), &read));
	OK(manifest_format(why, &read, &again));
	assert_string_equal(buf_text(&again), line);
	assert_int_equal(read.entries[0].form, pack_entries[0].form);
	assert_int_equal(manifest_content(&read),
					 members[0].size_bytes + members[1].size_bytes + members[2].size_bytes);
	manifest_free(&read);
	buf_free(&text);
	buf_free(&again);
	return line;
}

static void change(unsigned what)
{
	switch (what) {
	case 0: drivers[0].stamp[18]++; break;
	case 1: TEXT_COPY(drivers[0].release, "550.163.02"); break;
	case 2: drivers[0].cuda = 12030; break;
	case 3: members[0].digest.bytes[31]++; break;
	case 4: members[0].size_bytes++; break;
	case 5: pack_entries[0].key++; break;
	case 6:
		pack_entries[0].driver = 1;
		pack_entries[1].driver = 0;
		break;
	case 7:
		pack_entries[0].ptx = 1;
		pack_entries[1].ptx = 0;
		break;
	case 8: pack_entries[0].target.sm = 89; break;
	case 9: pack_entries[0].target.suffix = 'a'; break;
	case 10: pack_entries[0].form = PACK_LINK; break;
	case 11: TEXT_COPY(options[0], "-O4"); break;
	default: break;
	}
}

TEST(each_part_of_a_manifest_counts)
{
	enum { CHANGES = 12 };
	char *texts[CHANGES + 1];

	for (unsigned i = 0; i <= CHANGES; i++) {
		reset();
		change(i);
		texts[i] = text_now();
		for (unsigned k = 0; k < i; k++)
			assert_string_not_equal(texts[i], texts[k]);
	}
	for (unsigned i = 0; i <= CHANGES; i++)
		mem_free(texts[i]);
}

RUN_TESTS(NULL, NULL)
