/* Packs that are damaged, or made to do harm, are never accepted, and nothing is written. */
#include "folder.h"

#include "base/text.h"
#include "entries.h"
#include "os/platform.h"
#include "pack/judge.h"
#include "packs.h"

static char *file, *target;

static void make_pack(struct buf *ret_bytes)
{
	char *cache = keep(os_join(folder, "cache"));
	struct entries_entry entry;

	for (unsigned n = 0; n < 2; n++) {
		entries_make(&entry, n, 0);
		packs_put(cache, entry.key, entry.bytes, entry.size);
	}
	(void)packs_export(cache, file);
	OK(os_read_file(why, file, 1 << 20, ret_bytes));
}

/* Sets `err` if the bytes are refused, as they must be unless `sound`. */
static void import_bytes(const void *bytes, size_t size, bool sound, struct jw_error *err)
{
	const struct jw_import_options options = {
		.path = file, .allow_unsigned = true, .cache_dir = target};
	struct jw_import_result *result;
	struct os_file *out;

	OK(os_file_open(why, file, OS_OPEN_CREATE, &out));
	OK(os_file_truncate(why, out, 0));
	OK(os_file_write(why, out, 0, bytes, size));
	os_file_close(out);
	*err = (struct jw_error){0};
	if (!jw_import(err, &options, &result)) {
		jw_result_free(result);
		assert_true(sound);
		return;
	}
	assert_false(sound);
	assert_false(os_exists(target));
}

TEST(every_bit)
{
	struct buf pack = {0};

	make_pack(&pack);
	for (size_t bit = 0; bit < 8 * pack.size; bit += EACH_TRIAL) {
		pack.data[bit / 8] ^= (uint8_t)(1u << bit % 8);
		import_bytes(pack.data, pack.size, false, why);
		assert_int_equal(why->code, JW_ERR_FORMAT);
		pack.data[bit / 8] ^= (uint8_t)(1u << bit % 8);
	}
	buf_free(&pack);
}

TEST(every_length)
{
	struct buf pack = {0};

	make_pack(&pack);
	for (size_t size = 0; size < pack.size; size += EACH_TRIAL)
		import_bytes(pack.data, size, false, why);
	OK(buf_append(why, &pack, "", 1));
	import_bytes(pack.data, pack.size, false, why);
	import_bytes(pack.data, pack.size - 1, true, why);
	OK(os_remove_tree(why, target));
	buf_free(&pack);
}

/* A frame is cut at each place, with the digest of the rest: the first frame ends at one place
 * only. */
TEST(a_frame_that_is_cut)
{
	struct buf pack = {0};
	size_t cut = 0;

	make_pack(&pack);
	pack.size -= PACK_TRAILER_SIZE;
	while (pack.size-- > 5) {
		struct digest digest;
		struct buf bytes = BUF_MAX(1 << 20);
		uint8_t trailer[PACK_TRAILER_SIZE];

		digest_of(&digest, pack.data, pack.size);
		pack_trailer(trailer, digest.bytes);
		OK(buf_append(why, &bytes, pack.data, pack.size));
		OK(buf_append(why, &bytes, trailer, sizeof trailer));
		import_bytes(bytes.data, bytes.size, false, why);
		assert_int_equal(why->code, JW_ERR_FORMAT);
		cut += strstr(why->message, "ends in the middle of a frame") != NULL;
		buf_free(&bytes);
	}
	assert_true(cut > 0);
	buf_free(&pack);
}

/* ---- a sound pack with hostile contents */

#define HEAD_OF(os)                                                                                \
	"{\"format\":\"jitwarm.pack/1\",\"requires\":[],\"os\":\"" os "\",\"pointer_bits\":64,"
#define HEAD    HEAD_OF("linux")
#define DRIVERS "\"drivers\":[{\"stamp\":\"Jun 25 202401:14:48\"}],"

static struct packs_parts parts;

static char *manifest_of(const char *members, const char *entries)
{
	return mem_printf(HEAD DRIVERS "\"members\":[%s],\"entries\":[%s]}", members, entries);
}

static char *two_members(void)
{
	return mem_printf("{\"name\":\"%s\",\"bytes\":%zu},{\"name\":\"%s\",\"bytes\":%zu}",
					  parts.ptx_name, sizeof parts.ptx, parts.cubin_name, sizeof parts.cubin);
}

/* Frees `manifest`. The members are the two that belong to it. */
static void try_manifest(char *manifest, enum jw_code wanted)
{
	const struct packs_member members[] = {{parts.ptx_name, parts.ptx, sizeof parts.ptx},
										   {parts.cubin_name, parts.cubin, sizeof parts.cubin}};
	struct buf pack;

	packs_make(&pack, manifest, members, 2);
	import_bytes(pack.data, pack.size, !wanted, why);
	if (why->code != wanted)
		fail_msg("%s: %s (%d)", manifest, why->message, why->code);
	OK(os_remove_tree(why, target));
	buf_free(&pack);
	mem_free(manifest);
}

/* Four members of 1 GiB fit into a cache, however small the pack is; five are beyond any ratio. */
TEST(more_than_a_cache_can_hold)
{
	for (unsigned count = 4; count <= 5; count++) {
		struct buf members = BUF_MAX(4096), entries = BUF_MAX(4096), pack;
		char *manifest;

		for (unsigned i = 0; i < count; i++) {
			const char *comma = i ? "," : "";

			OK(buf_printf(why, &members, "{\"name\":\"ptx/%064x\",\"bytes\":1073741824},", i));
			OK(buf_printf(why, &entries,
						  "%s{\"key\":\"%016x\",\"driver\":0,\"target\":\"sm_86\",\"form\":"
						  "\"load\",\"options\":\"\",\"ptx\":%u,\"cubin\":%u}",
						  comma, i + 1, i, count));
		}
		OK(buf_printf(why, &members, "{\"name\":\"%s\",\"bytes\":64}", parts.cubin_name));
		manifest = keep(manifest_of(buf_text(&members), buf_text(&entries)));
		packs_make(&pack, manifest, NULL, 0);
		import_bytes(pack.data, pack.size, false, why);
		if ((strstr(why->message, "no compression") != NULL) != (count == 5))
			fail_msg("%u GiB: %s", count, why->message);
		buf_free(&pack);
		buf_free(&entries);
		buf_free(&members);
	}
}

/* Code of a link in place of code to load, and the other way round. */
TEST(machine_code_of_another_kind)
{
	static const char link_key[] = "Jun 25 202401:14:48HOST64sm_86// 00000\0 -c";

	for (unsigned i = 0; i < 4; i++) {
		const bool relocatable = i & 1, link = i & 2;
		char *members, *entry;

		packs_parts_for(&parts, 86, relocatable);
		if (link)
			parts.key = fnv_update(FNV_START, link_key, sizeof link_key - 1);
		members = keep(two_members());
		entry = keep(packs_entry_text(&parts, "sm_86", link ? "link" : "load", 0, 1));
		try_manifest(manifest_of(members, entry), relocatable == link ? JW_OK : JW_ERR_FORMAT);
	}
	packs_parts_make(&parts);
}

/* The pack is sound, but this machine's driver does not know the code, which is left out with the
 * reason. */
TEST(machine_code_that_is_too_new)
{
	static const uint8_t abi_8[] = {0x7f, 'E', 'L', 'F', 2, 1, 1, 0x41, 8};
	struct jw_gpu gpu = {.target = {86, 0}};
	struct jw_system system = {.gpus = &gpu, .gpu_count = 1, .state_dir = folder};
	const struct jw_import_options options = {
		.path = file, .allow_unsigned = true, .cache_dir = target, .system = &system};

	system.cache.path = target;
	system.cache.limit_bytes = 1 << 20;
	TEXT_COPY(system.driver.stamp, "Jun 25 202401:14:48");
	system.driver.version = (struct jw_driver){12050, {555, 58, 2}};
	system.driver.trust = JW_TRUST_CONFIRMED;
	for (int newer = 0; newer < 2; newer++) {
		struct jw_import_result *result;
		char *members, *entry, *manifest;
		struct buf pack;

		packs_parts_make(&parts);
		if (newer) {
			memcpy(parts.cubin, abi_8, sizeof abi_8);
			store_u32(parts.cubin + 48, 86U << 8);
		}
		packs_parts_name(&parts);
		members = keep(two_members());
		entry = keep(packs_entry_text(&parts, "sm_86", "load", 0, 1));
		manifest = keep(mem_printf(HEAD_OF("%s") DRIVERS "\"members\":[%s],\"entries\":[%s]}",
								   os_name, members, entry));
		packs_make(
			&pack, manifest,
			(const struct packs_member[]){{parts.ptx_name, parts.ptx, sizeof parts.ptx},
										  {parts.cubin_name, parts.cubin, sizeof parts.cubin}},
			2);
		OK(os_write_atomic(why, file, pack.data, pack.size));
		OK(jw_import(why, &options, &result));
		assert_int_equal(result->added, !newer);
		assert_int_equal(result->accepted, !newer);
		if (newer)
			assert_non_null(strstr(result->groups[0].why, "cubin ABI 8"));
		jw_result_free(result);
		OK(os_exists(target) ? os_remove_tree(why, target) : 0);
		buf_free(&pack);
	}
	packs_parts_make(&parts);
}

TEST(the_gpus_of_a_machine)
{
	static struct jw_gpu gpus[] = {{.target = {86, 0}}, {.target = {90, 0}}};
	struct jw_system system = {.gpus = gpus, .gpu_count = 1};

	assert_true(judge_has_gpu(&system, (struct jw_target){86, 'a'}));
	assert_false(judge_has_gpu(&system, (struct jw_target){90, 0}));
	system.gpu_count = 2;
	assert_true(judge_has_gpu(&system, (struct jw_target){90, 0}));
	assert_false(judge_has_gpu(&system, (struct jw_target){80, 0}));
	/* Without a GPU here, the pack is for a machine that has one. */
	system.gpu_count = 0;
	assert_true(judge_has_gpu(&system, (struct jw_target){80, 0}));
}

/* Content that differs from the manifest, with a sound digest of the whole. */
TEST(wrong_content)
{
	char *members = keep(two_members()),
		 *entry = keep(packs_entry_text(&parts, "sm_86", "load", 0, 1));
	char *manifest = keep(manifest_of(members, entry));
	enum { PADDED = 7 };
	uint8_t other[ENTRIES_CUBIN];
	const struct packs_member cases[][3] = {
		{{parts.ptx_name, "// 00001", 8}, {parts.cubin_name, parts.cubin, 64}, {0}},
		{{parts.ptx_name, parts.ptx, 8}, {parts.cubin_name, other, 64}, {0}},
		{{parts.cubin_name, parts.cubin, 64}, {parts.ptx_name, parts.ptx, 8}, {0}},
		{{parts.ptx_name, parts.ptx, 8}, {"cubin/x", parts.cubin, 64}, {0}},
		{{parts.ptx_name, parts.ptx, 8}, {parts.cubin_name, parts.cubin, 64}, {"more", "x", 1}},
		{{parts.ptx_name, parts.ptx, 8}, {0}, {0}},
		/* correct up to the size, and below it everywhere except in the padding */
		{{parts.ptx_name, "// 00000x", 9}, {parts.cubin_name, parts.cubin, 64}, {0}},
		{{parts.ptx_name, parts.ptx, 8}, {parts.cubin_name, parts.cubin, 64}, {0}},
		{{0}, {0}, {0}},
	};

	memcpy(other, parts.cubin, sizeof other);
	other[63] ^= 1;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct buf pack;
		size_t count = 0;

		while (count < 3 && cases[i][count].name)
			count++;
		packs_last_padding = i == PADDED;
		packs_make(&pack, manifest, cases[i], count);
		packs_last_padding = 0;
		import_bytes(pack.data, pack.size, false, why);
		assert_int_equal(why->code, JW_ERR_FORMAT);
		buf_free(&pack);
	}
}

static int set_up(void **state)
{
	if (make_folder(state))
		return -1;
	file = keep(os_join(folder, "a.jwpack"));
	target = keep(os_join(folder, "target"));
	packs_parts_make(&parts);
	return 0;
}

RUN_TESTS(set_up, remove_folder)
