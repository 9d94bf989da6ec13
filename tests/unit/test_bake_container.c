/* Containers with machine code added in their own room. */
#include "lacking.h"
#include "make_devcode.h"

#include "bake/container_edit.h"
#include "devcode/container.h"
#include "plan/verdict.h"

enum { MOST_ENTRIES = 8, NOISE = 4096 };

/* Only the size of machine code matters here. `noise`: bytes that do not compress, else zeros. */
static void make_code(uint8_t *code, size_t size, bool noise, uint32_t seed)
{
	for (size_t i = 0; i < size; i++) {
		seed = seed * 1664525U + 1013904223U;
		code[i] = noise ? (uint8_t)(seed >> 24) : 0;
	}
}

static void append_code(struct buf *out, uint16_t sm, size_t size, bool noise)
{
	uint8_t code[4 * NOISE];
	const struct write_cubin cubin = {
		.cubin = {code, size}, .target = {.sm = sm}, .flags = 0x11, .compression = DEVCODE_RAW};

	make_code(code, size, noise, sm);
	assert_int_equal(write_cubin_entry(NULL, &cubin, out), 0);
}

/* One container: PTX for sm_80, and what `fill` adds. */
struct made {
	struct buf bytes;
	struct devcode_entry entries[MOST_ENTRIES];
	struct devcode_container container;
};

static void open_bytes(struct made *made)
{
	struct container_walk walk = {0};

	assert_int_equal(container_check(&walk, made->bytes.data, made->bytes.size, made->bytes.size),
					 CONTAINER_SOUND);
	assert_true(walk.entries <= MOST_ENTRIES);
	container_entries(made->bytes.data, walk.size_bytes, 0, made->entries, walk.entries);
	made->container = (struct devcode_container){.size_bytes = walk.size_bytes,
												 .bytes = made->bytes.data,
												 .entries = made->entries,
												 .entry_count = walk.entries};
}

static struct made *make(enum devcode_compression ptx, size_t zeros_sm75, size_t noise_sm70)
{
	struct made *made = mem_alloc(NULL, sizeof *made);

	assert_non_null(made);
	made->bytes = make_buf();
	make_container(&made->bytes, ptx, " --generate-line-info ");
	if (zeros_sm75)
		append_code(&made->bytes, 75, zeros_sm75, false);
	if (noise_sm70)
		append_code(&made->bytes, 70, noise_sm70, true);
	store_u64(made->bytes.data + 8, made->bytes.size - CONTAINER_HEADER);
	open_bytes(made);
	return made;
}

static void made_free(struct made *made)
{
	buf_free(&made->bytes);
	mem_free(made);
}

static const struct jw_target sm_86 = {.sm = 86};

/* All bytes of the new form, and zeros up to the old length; empty without room. */
static int edit_into(struct jw_error *err, const struct container_edit *edit, struct buf *out,
					 enum container_edit_room *ret_room, size_t *ret_dropped)
{
	struct container_form form;
	int result = container_edit(err, edit, &form);

	buf_clear(out);
	if (result)
		return result;
	*ret_room = form.room;
	*ret_dropped = form.dropped;
	if (form.room != CONTAINER_EDIT_NO_ROOM)
		result = container_form_join(err, &form, out);
	container_form_free(&form);
	while (!result && out->size && !edit->anywhere && out->size < edit->container->size_bytes)
		result = buf_append(err, out, "", 1);
	return result;
}

/* Adds `size` bytes of code for each GPU, and reads the result. */
struct tried {
	enum container_edit_room room;
	size_t dropped;
	struct made *after; /* NULL: no room */
};

static struct tried try(const struct made *before, const struct jw_target *gpus, size_t gpu_count,
						size_t size, bool drop_ptx, bool zstd)
{
	static uint8_t code[2][4 * NOISE];
	struct write_cubin cubins[2];
	const struct container_edit edit = {.container = &before->container,
										.cubins = cubins,
										.cubin_count = gpu_count,
										.gpus = gpus,
										.gpu_count = gpu_count,
										.drop_ptx = drop_ptx,
										.zstd = zstd};
	struct tried tried = {0};
	struct buf out = make_buf();

	for (size_t i = 0; i < gpu_count; i++) {
		make_code(code[i], size, true, gpus[i].sm * 7U);
		cubins[i] = (struct write_cubin){
			.cubin = {code[i], size}, .target = gpus[i], .flags = before->entries[0].flags};
	}
	assert_int_equal(edit_into(NULL, &edit, &out, &tried.room, &tried.dropped), 0);
	if (tried.room == CONTAINER_EDIT_NO_ROOM) {
		assert_int_equal(out.size, 0);
		buf_free(&out);
		return tried;
	}
	assert_int_equal(out.size, before->bytes.size);
	tried.after = mem_alloc(NULL, sizeof *tried.after);
	assert_non_null(tried.after);
	/* The container ends as its size says, and only zeros follow. */
	for (size_t i = CONTAINER_HEADER + (size_t)load_u64(out.data + 8); i < out.size; i++)
		assert_int_equal(out.data[i], 0);
	tried.after->bytes = out;
	tried.after->bytes.size = CONTAINER_HEADER + (size_t)load_u64(out.data + 8);
	open_bytes(tried.after);
	for (size_t i = 0; i < gpu_count; i++) {
		const size_t at = tried.after->container.entry_count - gpu_count + i;
		struct buf scratch = make_buf();
		struct devcode_view view;

		assert_int_equal(tried.after->entries[at].kind, DEVCODE_KIND_CUBIN);
		assert_int_equal(tried.after->entries[at].target.sm, gpus[i].sm);
		assert_int_equal(devcode_payload(NULL, &tried.after->container, &tried.after->entries[at],
										 &scratch, &view),
						 0);
		assert_int_equal(view.size, size);
		assert_memory_equal(view.data, code[i], size);
		buf_free(&scratch);
	}
	return tried;
}

static void tried_free(struct tried *tried)
{
	if (tried->after)
		made_free(tried->after);
}

static enum plan_verdict verdict(const struct made *made, struct jw_target device)
{
	const struct jw_driver driver = {.cuda = 12040, .release = {550, 163, 1}};

	return plan_judge(&made->container, NULL, false, device, &driver).verdict;
}

/* The key of its entry in a driver's cache must not change: payload and options, byte for byte. */
static void assert_same_ptx(const struct made *before, const struct made *after)
{
	struct buf scratch[2] = {make_buf(), make_buf()};
	struct devcode_view view[2];

	assert_int_equal(after->entries[0].kind, DEVCODE_KIND_PTX);
	assert_int_equal(after->entries[0].options_length, before->entries[0].options_length);
	assert_memory_equal(after->bytes.data + after->entries[0].options_offset,
						before->bytes.data + before->entries[0].options_offset,
						before->entries[0].options_length);
	assert_int_equal(
		devcode_payload(NULL, &before->container, before->entries, &scratch[0], &view[0]), 0);
	assert_int_equal(
		devcode_payload(NULL, &after->container, after->entries, &scratch[1], &view[1]), 0);
	assert_int_equal(view[0].size, view[1].size);
	assert_memory_equal(view[0].data, view[1].data, view[0].size);
	buf_free(&scratch[0]);
	buf_free(&scratch[1]);
}

/* A header of an unknown form is copied unchanged. */

TEST(kept_code_stays)
{
	static const struct jw_target kept = {.sm = 75};
	struct made *before = make(DEVCODE_RAW, 64, 2 * NOISE);
	uint8_t code[2 * NOISE];
	const struct write_cubin cubin = {
		.cubin = {code, sizeof code}, .target = sm_86, .flags = before->entries[0].flags};
	struct container_edit edit = {.container = &before->container,
								  .cubins = &cubin,
								  .cubin_count = 1,
								  .gpus = &sm_86,
								  .gpu_count = 1};
	struct buf out = make_buf();

	make_code(code, sizeof code, true, 1);
	for (edit.kept_count = 0; edit.kept_count < 2; edit.kept_count++) {
		enum container_edit_room room;
		size_t dropped;

		edit.kept = &kept;
		assert_int_equal(edit_into(NULL, &edit, &out, &room, &dropped), 0);
		assert_int_equal(room, edit.kept_count ? CONTAINER_EDIT_NO_ROOM : CONTAINER_EDIT_DROPPED);
	}
	buf_free(&out);
	made_free(before);
}

/* At another place everything stays, and no zeros follow. */
TEST(anywhere_nothing_leaves)
{
	struct made *before = make(DEVCODE_RAW, 64, 2 * NOISE);
	const struct write_cubin cubin = {.cubin = {before->bytes.data, 2 * NOISE},
									  .target = sm_86,
									  .flags = before->entries[0].flags};
	const struct container_edit edit = {.container = &before->container,
										.cubins = &cubin,
										.cubin_count = 1,
										.gpus = &sm_86,
										.gpu_count = 1,
										.drop_ptx = true,
										.anywhere = true};
	struct made after = {.bytes = make_buf()};
	enum container_edit_room room;
	size_t dropped;

	assert_int_equal(edit_into(NULL, &edit, &after.bytes, &room, &dropped), 0);
	assert_int_equal(room, CONTAINER_EDIT_COMPRESSED);
	assert_int_equal(dropped, 0);
	open_bytes(&after);
	assert_int_equal(after.container.size_bytes, after.bytes.size);
	assert_int_equal(after.container.entry_count, before->container.entry_count + 1);
	assert_same_ptx(before, &after);
	assert_int_equal(verdict(&after, sm_86), VERDICT_NATIVE);
	buf_free(&after.bytes);
	made_free(before);
}

static int edit_of_packed(struct jw_error *err, const struct made *before)
{
	static uint8_t code[NOISE];
	const struct write_cubin cubin = {
		.cubin = {code, NOISE}, .target = sm_86, .flags = before->entries[0].flags};
	const struct container_edit edit = {.container = &before->container,
										.cubins = &cubin,
										.cubin_count = 1,
										.gpus = &sm_86,
										.gpu_count = 1,
										.zstd = true};
	struct buf out = make_buf();
	enum container_edit_room room;
	size_t dropped;
	int result;

	make_code(code, sizeof code, true, 1);
	result = edit_into(err, &edit, &out, &room, &dropped);
	buf_free(&out);
	return result;
}

/* Without memory a part that could be packed better is no part that cannot: the copy would be
 * another one. */
TEST(lack_of_memory_is_no_lack_of_room)
{
	struct made *before = make(DEVCODE_LZ4, NOISE / 2, 0);

	STARVE(edit_of_packed(&err, before), (void)0);
	made_free(before);
}

/* Noise that is repeated beyond the window of zstd's fast level, by which the guess goes: the level
 * that is used finds it. What can move elsewhere is given up by the guess, nothing else is. */
TEST(what_cannot_move_is_not_given_up_by_a_guess)
{
	enum { HALF = 3 << 20, ROOM_BYTES = HALF + (1 << 18) };
	struct made *before = make(DEVCODE_RAW, 0, 0);
	uint8_t *code = mem_alloc(NULL, 2 * HALF);
	const struct write_cubin other = {.cubin = {code, ROOM_BYTES},
									  .target = {.sm = 70},
									  .flags = 0x11,
									  .compression = DEVCODE_RAW};
	const struct write_cubin added = {
		.cubin = {code, 2 * HALF}, .target = sm_86, .flags = before->entries[0].flags};
	struct container_edit edit = {.container = &before->container,
								  .cubins = &added,
								  .cubin_count = 1,
								  .gpus = &sm_86,
								  .gpu_count = 1,
								  .zstd = true};
	struct buf out = {.most = 16 << 20};
	enum container_edit_room room;
	size_t dropped;

	assert_non_null(code);
	make_code(code, HALF, true, 1);
	memcpy(code + HALF, code, HALF);
	before->bytes.most = 16 << 20;
	assert_int_equal(write_cubin_entry(NULL, &other, &before->bytes), 0);
	store_u64(before->bytes.data + 8, before->bytes.size - CONTAINER_HEADER);
	open_bytes(before);
	assert_int_equal(edit_into(NULL, &edit, &out, &room, &dropped), 0);
	assert_int_equal(room, CONTAINER_EDIT_NO_ROOM);
	edit.must_fit = true;
	assert_int_equal(edit_into(NULL, &edit, &out, &room, &dropped), 0);
	assert_int_equal(room, CONTAINER_EDIT_DROPPED);
	buf_free(&out);
	mem_free(code);
	made_free(before);
}

/* What takes a few bytes more than there are has no room. */
TEST(the_last_bytes_of_the_room_count)
{
	struct made *before = make(DEVCODE_LZ4, 0, NOISE);
	size_t fit = 0, full = 0, other = 0;

	for (size_t size = NOISE - 512; size < NOISE + 512; size += 8) {
		struct tried tried = try(before, &sm_86, 1, size, false, false);

		assert_true(!other || tried.room == CONTAINER_EDIT_NO_ROOM);
		fit += tried.room != CONTAINER_EDIT_NO_ROOM;
		other += tried.room == CONTAINER_EDIT_NO_ROOM;
		full += tried.after && tried.after->bytes.size == before->bytes.size;
		tried_free(&tried);
	}
	assert_true(fit && other && full);
	made_free(before);
}

RUN_TESTS(NULL, NULL)
