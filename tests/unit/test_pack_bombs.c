/* Packs with a correct digest and damaged content, which other checks must refuse: with every bit
 * of the content changed, and with content that would decompress to far more than its stated size.
 * */
#include "folder.h"

#include <sodium.h>
#include <zstd.h>

#include "entries.h"
#include "packs.h"

enum { TRAILER = 48, ENTRIES = 2 };

static char *file, *target;
static struct entries_entry wanted[ENTRIES];

/* Appends the trailer for these bytes. */
static void seal(struct buf *pack)
{
	uint8_t digest[32], trailer[TRAILER];

	crypto_generichash(digest, sizeof digest, pack->data, pack->size, NULL, 0);
	pack_trailer(trailer, digest);
	OK(buf_append(why, pack, trailer, sizeof trailer));
}

/* Seals a copy of the bytes and imports it. Returns whether it was accepted. If refused, it leaves
 * no entry. */
static bool is_taken(const void *body, size_t size, struct jw_error *err)
{
	const struct jw_import_options options = {
		.path = file, .allow_unsigned = true, .cache_dir = target};
	struct jw_import_result *result;
	struct buf pack = BUF_MAX(1 << 26);
	bool taken;

	OK(buf_append(why, &pack, body, size));
	seal(&pack);
	OK(os_write_atomic(why, file, pack.data, pack.size));
	buf_free(&pack);
	*err = (struct jw_error){0};
	taken = !jw_import(err, &options, &result);
	if (taken)
		jw_result_free(result);
	else
		assert_false(os_exists(target));
	return taken;
}

/* Checks that the accepted entries equal the packed ones. */
static void check_target(void)
{
	for (size_t i = 0; i < ENTRIES; i++) {
		struct buf bytes = {0};

		OK(os_read_file(why, keep(cache_entry_path(target, wanted[i].key)), 1 << 20, &bytes));
		assert_int_equal(bytes.size, wanted[i].size);
		assert_memory_equal(bytes.data, wanted[i].bytes, bytes.size);
		buf_free(&bytes);
	}
	OK(os_remove_tree(why, target));
}

/* A few bits have no meaning (a hint in a frame's header): then the entries are the same. */
TEST(every_bit_under_its_own_digest)
{
	char *cache = keep(os_join(folder, "cache"));
	struct buf pack = {0};
	size_t body, taken = 0;

	for (unsigned n = 0; n < ENTRIES; n++)
		packs_put(cache, wanted[n].key, wanted[n].bytes, wanted[n].size);
	(void)packs_export(cache, file);
	OK(os_read_file(why, file, 1 << 20, &pack));
	body = pack.size - TRAILER;
	assert_true(is_taken(pack.data, body, why));
	check_target();
	for (size_t bit = 0; bit < 8 * body; bit += EACH_TRIAL) {
		pack.data[bit / 8] ^= (uint8_t)(1u << bit % 8);
		if (is_taken(pack.data, body, why)) {
			check_target();
			taken++;
		}
		pack.data[bit / 8] ^= (uint8_t)(1u << bit % 8);
	}
	assert_true(taken < body / 8);
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

#define HEAD  "{\"format\":\"jitwarm.pack/1\",\"requires\":[],\"os\":\"linux\",\"pointer_bits\":64,"
#define EMPTY HEAD "\"drivers\":[],\"members\":[],\"entries\":[]}"

/* Imports a frame with the manifest and zeros up to this size, and one with the end and more zeros.
 * */
static bool is_taken_with(const char *manifest, uint64_t manifest_size, uint64_t more,
						  int window_log, struct jw_error *err)
{
	struct buf tar = BUF_MAX(1 << 26), end = BUF_MAX(1 << 16), pack = BUF_MAX(1 << 26);
	const size_t length = strlen(manifest);
	bool taken;

	put_member(&tar, PACK_MANIFEST, manifest_size ? manifest_size : length, manifest, length);
	put_frame(&pack, &tar, manifest_size ? manifest_size - length : 0, SIZED);
	put_frame(&pack, &end, TAR_END + more, window_log);
	taken = is_taken(pack.data, pack.size, err);
	buf_free(&tar);
	buf_free(&end);
	buf_free(&pack);
	return taken;
}

TEST(frames)
{
	const uint64_t mib = 1 << 20;

	assert_true(is_taken_with(EMPTY, 0, 0, 0, why)); /* sound, and without entries */
	(void)os_remove_tree(NULL, target);
	/* 17 MiB and 4 GiB of a manifest, in a few kilobytes; one that ends early */
	assert_false(is_taken_with(EMPTY, 17 * mib, 0, 0, why));
	assert_int_equal(why->code, JW_ERR_LIMIT);
	assert_false(is_taken_with(EMPTY, 16 * mib, 0, 0, why));
	assert_int_equal(why->code, JW_ERR_FORMAT);
	/* 256 MiB after the end */
	assert_false(is_taken_with(EMPTY, 0, 256 * mib, 0, why));
	assert_int_equal(why->code, JW_ERR_FORMAT);
	assert_false(is_taken_with(EMPTY, 0, 1, 0, why));
	assert_int_equal(why->code, JW_ERR_FORMAT);
	/* a window that would require 2 GiB, and the largest allowed window */
	assert_false(is_taken_with(EMPTY, 0, 0, 31, why));
	assert_int_equal(why->code, JW_ERR_FORMAT);
	assert_true(is_taken_with(EMPTY, 0, 0, PACK_WINDOW_LOG, why));
	(void)os_remove_tree(NULL, target);
}

/* The manifest's frame has its size in its header and holds nothing else, and another frame
 * follows. */
TEST(a_pack_has_two_frames)
{
	static const struct {
		int first;
		bool together, third, taken;
	} cases[] = {
		{SIZED, false, false, true},
		{0, false, false, false},
		{SIZED, true, false, false},
		{SIZED, false, true, false},
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct buf tar = BUF_MAX(1 << 16), end = BUF_MAX(1 << 16), pack = BUF_MAX(1 << 16);

		put_member(&tar, PACK_MANIFEST, strlen(EMPTY), EMPTY, strlen(EMPTY));
		put_frame(&pack, &tar, cases[i].together ? TAR_END : 0, cases[i].first);
		if (!cases[i].together)
			put_frame(&pack, &end, cases[i].third ? TAR_END / 2 : TAR_END, 0);
		if (cases[i].third)
			put_frame(&pack, &end, TAR_END / 2, 0);
		assert_int_equal(is_taken(pack.data, pack.size, why), cases[i].taken);
		assert_true(cases[i].taken || why->code == JW_ERR_FORMAT);
		(void)os_remove_tree(NULL, target);
		buf_free(&tar);
		buf_free(&end);
		buf_free(&pack);
	}
}

static int set_up(void **state)
{
	if (make_folder(state) || sodium_init() < 0)
		return -1;
	for (unsigned n = 0; n < ENTRIES; n++)
		entries_make(&wanted[n], n, 0);
	file = keep(os_join(folder, "a.jwpack"));
	target = keep(os_join(folder, "target"));
	return 0;
}

RUN_TESTS(set_up, remove_folder)
