/* Packs that are damaged, or made to do harm, are never accepted, and nothing is written: with a
 * bit changed or an end missing, each also under a correct digest, with content that would
 * decompress to far more than its stated size, and with hostile content. */
#include "folder.h"

#include <zstd.h>

#include "entries.h"
#include "os/platform.h"
#include "pack/judge.h"
#include "packs.h"

enum { ENTRIES = 2, SPARSE = 11 };

static char *file, *target;
static struct entries_entry wanted[ENTRIES];
static struct packs_parts parts;

static void make_pack(struct buf *ret_bytes)
{
	char *cache = keep(os_join(folder, "cache"));

	for (unsigned n = 0; n < ENTRIES; n++)
		packs_put(cache, wanted[n].key, wanted[n].bytes, wanted[n].size);
	(void)packs_export(cache, file);
	OK(os_read_file(why, file, 1 << 20, ret_bytes));
}

/* Imports these bytes, with a correct trailer behind them if `sealed`, and returns whether they are
 * taken. If not, nothing is written, and `why` says why. */
static bool is_taken(const void *bytes, size_t size, bool sealed)
{
	const struct jw_import_options options = {
		.path = file, .allow_unsigned = true, .cache_dir = target};
	struct buf pack = BUF_MAX(1 << 26);
	uint8_t trailer[PACK_TRAILER_SIZE];
	struct jw_import_result *result;
	struct digest digest;

	OK(buf_append(why, &pack, bytes, size));
	digest_of(&digest, bytes, size);
	pack_trailer(trailer, digest.bytes);
	OK(buf_append(why, &pack, trailer, sealed ? sizeof trailer : 0));
	OK(os_write_atomic(why, file, pack.data, pack.size));
	buf_free(&pack);
	*why = (struct jw_error){0};
	if (jw_import(why, &options, &result)) {
		assert_false(os_exists(target));
		return false;
	}
	jw_result_free(result);
	return true;
}

/* Expects this code, and removes what was written. */
static void try_bytes(const struct buf *pack, bool sealed, enum jw_code code, const char *what)
{
	if (is_taken(pack->data, pack->size, sealed) == (code != JW_OK) || why->code != code)
		fail_msg("%s: %s (%d)", what, why->message, why->code);
	(void)os_remove_tree(NULL, target);
}

/* Checks that the accepted entries equal the packed ones. */
static void check_target(void)
{
	for (size_t i = 0; i < ENTRIES; i++) {
		char *path = keep(cache_entry_path(target, wanted[i].key));
		struct buf bytes = {0};

		OK(os_read_file(why, path, 1 << 20, &bytes));
		assert_int_equal(bytes.size, wanted[i].size);
		assert_memory_equal(bytes.data, wanted[i].bytes, bytes.size);
		buf_free(&bytes);
	}
	OK(os_remove_tree(why, target));
}

/* Each bit of the content under a correct digest: a few have no meaning (a hint in a frame's
 * header), and then the entries are the same. Without one, no bit passes. */
TEST(every_bit)
{
	struct buf pack = {0};
	size_t body, taken = 0;

	make_pack(&pack);
	body = pack.size - PACK_TRAILER_SIZE;
	assert_true(is_taken(pack.data, body, true));
	check_target();
	for (size_t bit = 0; bit < 8 * pack.size; bit += EACH_TRIAL) {
		pack.data[bit / 8] ^= (uint8_t)(1u << bit % 8);
		if (bit % SPARSE == 0 || bit >= 8 * body)
			try_bytes(&pack, false, JW_ERR_FORMAT, "a bit");
		if (bit < 8 * body && is_taken(pack.data, body, true)) {
			check_target();
			taken++;
		}
		pack.data[bit / 8] ^= (uint8_t)(1u << bit % 8);
	}
	assert_true(taken < body / 8);
	buf_free(&pack);
}

/* A frame that is cut has the digest of the rest: the first frame ends at one place only. */
TEST(every_length)
{
	struct buf pack = {0};
	size_t cut = 0, whole;

	make_pack(&pack);
	whole = pack.size;
	for (size_t size = 0; size < whole; size += EACH_TRIAL) {
		assert_false(is_taken(pack.data, size, false));
		if (size < whole - PACK_TRAILER_SIZE) {
			pack.size = size;
			try_bytes(&pack, true, JW_ERR_FORMAT, "a frame");
			cut += strstr(why->message, "ends in the middle of a frame") != NULL;
			pack.size = whole;
		}
	}
	assert_true(cut > 0);
	OK(buf_append(why, &pack, "", 1));
	assert_false(is_taken(pack.data, whole + 1, false));
	assert_true(is_taken(pack.data, whole, false));
	check_target();
	buf_free(&pack);
}

/* ---- frames made by hand */

enum { SIZED = -1 };

static void put_member(struct buf *tar, const char *name, uint64_t size, const void *data,
					   size_t data_size)
{
	uint8_t header[TAR_BLOCK];

	tar_header(header, name, size);
	OK(buf_append(why, tar, header, sizeof header));
	OK(buf_append(why, tar, data, data_size));
	while (tar->size % TAR_BLOCK)
		OK(buf_append(why, tar, "", 1));
}

/* Appends to `pack` a frame of these bytes and `zeros` zeros. window_log 0 is zstd's own choice;
 * with SIZED, the frame also has its size. */
static void put_frame(struct buf *pack, const struct buf *bytes, uint64_t zeros, int window_log)
{
	static const uint8_t nothing[1 << 16];
	static uint8_t out[1 << 16];
	ZSTD_CCtx *context = ZSTD_createCCtx();
	ZSTD_inBuffer in = {bytes->data, bytes->size, 0};
	ZSTD_EndDirective how;
	size_t left;

	(void)ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 1);
	if (window_log == SIZED)
		(void)ZSTD_CCtx_setPledgedSrcSize(context, bytes->size + zeros);
	else if (window_log)
		assert_false(ZSTD_isError(ZSTD_CCtx_setParameter(context, ZSTD_c_windowLog, window_log)));
	do {
		ZSTD_outBuffer room = {out, sizeof out, 0};

		if (in.pos == in.size && zeros) {
			in = (ZSTD_inBuffer){nothing, zeros < sizeof nothing ? (size_t)zeros : sizeof nothing,
								 0};
			zeros -= in.size;
		}
		/* If the stream ended at once, the frame would be as small as its content. */
		how = zeros || in.pos < in.size ? ZSTD_e_continue : ZSTD_e_end;
		left = ZSTD_compressStream2(context, &room, &in, how);
		assert_false(ZSTD_isError(left));
		OK(buf_append(why, pack, out, room.pos));
	} while (how != ZSTD_e_end || left);
	(void)ZSTD_freeCCtx(context);
}

#define HEAD_OF(os)                                                                                \
	"{\"format\":\"jitwarm.pack/1\",\"requires\":[],\"os\":\"" os "\",\"pointer_bits\":64,"
#define HEAD    HEAD_OF("linux")
#define DRIVERS "\"drivers\":[{\"stamp\":\"Jun 25 202401:14:48\"}],"
#define EMPTY   HEAD "\"drivers\":[],\"members\":[],\"entries\":[]}"

/* A frame has the manifest, zeros up to `manifest_size`, and `tail` zeros of the end; then come
 * frames of zeros, as long as a pack's end unless `more` is added. The first frame has its size in
 * its header. */
TEST(frames)
{
	const uint64_t mib = 1 << 20;
	static const uint64_t half = TAR_END / 2;
	const struct {
		const char *what;
		uint64_t manifest_size, tail, ends[2];
		int first, window_log;
		enum jw_code code;
	} cases[] = {
		{"sound, and without entries", 0, 0, {TAR_END}, SIZED, 0, JW_OK},
		{"17 MiB of a manifest, in a few kilobytes",
		 17 * mib,
		 0,
		 {TAR_END},
		 SIZED,
		 0,
		 JW_ERR_LIMIT},
		{"a manifest that ends early", 16 * mib, 0, {TAR_END}, SIZED, 0, JW_ERR_FORMAT},
		{"256 MiB after the end", 0, 0, {TAR_END + 256 * mib}, SIZED, 0, JW_ERR_FORMAT},
		{"a byte after the end", 0, 0, {TAR_END + 1}, SIZED, 0, JW_ERR_FORMAT},
		{"a window that would require 2 GiB", 0, 0, {TAR_END}, SIZED, 31, JW_ERR_FORMAT},
		{"the largest allowed window", 0, 0, {TAR_END}, SIZED, PACK_WINDOW_LOG, JW_OK},
		{"a first frame without its size", 0, 0, {TAR_END}, 0, 0, JW_ERR_FORMAT},
		{"one frame", 0, TAR_END, {0}, SIZED, 0, JW_ERR_FORMAT},
		{"three frames", 0, 0, {half, half}, SIZED, 0, JW_ERR_FORMAT},
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct buf tar = BUF_MAX(1 << 16), end = {0}, pack = BUF_MAX(1 << 26);
		const uint64_t size = cases[i].manifest_size;

		put_member(&tar, PACK_MANIFEST, size ? size : strlen(EMPTY), EMPTY, strlen(EMPTY));
		put_frame(&pack, &tar, size ? size - strlen(EMPTY) : cases[i].tail, cases[i].first);
		for (size_t k = 0; k < 2 && cases[i].ends[k]; k++)
			put_frame(&pack, &end, cases[i].ends[k], cases[i].window_log);
		try_bytes(&pack, true, cases[i].code, cases[i].what);
		buf_free(&tar);
		buf_free(&pack);
	}
}

/* ---- a sound pack with hostile contents */

static char *manifest_of(const char *members, const char *entries)
{
	return mem_printf(HEAD DRIVERS "\"members\":[%s],\"entries\":[%s]}", members, entries);
}

static char *two_members(void)
{
	return mem_printf("{\"name\":\"%s\",\"bytes\":%zu},{\"name\":\"%s\",\"bytes\":%zu}",
					  parts.ptx_name, sizeof parts.ptx, parts.cubin_name, sizeof parts.cubin);
}

/* The members are the two that belong to the manifest, which it frees. */
static void try_manifest(char *manifest, enum jw_code code)
{
	const struct packs_member members[] = {{parts.ptx_name, parts.ptx, sizeof parts.ptx},
										   {parts.cubin_name, parts.cubin, sizeof parts.cubin}};
	struct buf pack;

	packs_make(&pack, manifest, members, 2);
	try_bytes(&pack, false, code, manifest);
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
		assert_false(is_taken(pack.data, pack.size, false));
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
	struct jw_system system = packs_machine(folder);
	const struct jw_import_options options = {
		.path = file, .allow_unsigned = true, .cache_dir = target, .system = &system};

	system.cache.path = target;
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
		try_bytes(&pack, false, JW_ERR_FORMAT, "wrong content");
		buf_free(&pack);
	}
}

static int set_up(void **state)
{
	if (make_folder(state))
		return -1;
	file = keep(os_join(folder, "a.jwpack"));
	target = keep(os_join(folder, "target"));
	for (unsigned n = 0; n < ENTRIES; n++)
		entries_make(&wanted[n], n, 0);
	packs_parts_make(&parts);
	return 0;
}

RUN_TESTS(set_up, remove_folder)
