/* A container gets machine code in its own space if there is enough of it, and the keys of its PTX
 * never change. */
#include "make_devcode.h"

#include "bake/container_edit.h"
#include "code/container.h"
#include "plan/verdict.h"

enum { MAX_ENTRIES = 8, NOISE = 4096 };

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
	OK(write_cubin_entry(why, &cubin, out));
}

/* One container: PTX for sm_80, and the additions of `fill`. */
struct made {
	struct buf bytes;
	struct devcode_entry entries[MAX_ENTRIES];
	struct devcode_container container;
};

static void open_bytes(struct made *made)
{
	struct container_walk walk = {0};

	assert_int_equal(container_check(&walk, made->bytes.data, made->bytes.size, made->bytes.size),
					 CONTAINER_SOUND);
	assert_true(walk.entries <= MAX_ENTRIES);
	container_entries(made->bytes.data, walk.size_bytes, 0, made->entries, walk.entries);
	made->container = (struct devcode_container){.size_bytes = walk.size_bytes,
												 .bytes = made->bytes.data,
												 .entries = made->entries,
												 .entry_count = walk.entries};
}

static struct made *make(enum devcode_compression ptx, size_t zeros_sm75, size_t noise_sm70)
{
	struct made *made = mem_alloc(sizeof *made);

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

/* Adds `size` bytes of code for sm_86, and reads the result, whether or not there was enough space.
 * */
static struct made *add(const struct made *before, size_t size)
{
	uint8_t code[4 * NOISE];
	const struct write_cubin cubin = {
		.cubin = {code, size}, .target = sm_86, .flags = before->entries[0].flags};
	struct made *after = mem_alloc(sizeof *after);
	struct container_form form;
	struct buf scratch = make_buf();
	struct devcode_view view;

	assert_non_null(after);
	make_code(code, size, true, 86);
	after->bytes = make_buf();
	OK(container_edit(why, &before->container, &cubin, 1, &form));
	OK(container_form_join(why, &form, &after->bytes));
	assert_int_equal(after->bytes.size, form.size_bytes);
	container_form_free(&form);
	open_bytes(after);
	/* Every entry is there, with the code after them. */
	assert_int_equal(after->container.size_bytes, after->bytes.size);
	assert_int_equal(after->container.entry_count, before->container.entry_count + 1);
	for (size_t i = 0; i < before->container.entry_count; i++) {
		assert_int_equal(after->entries[i].kind, before->entries[i].kind);
		assert_int_equal(after->entries[i].target.sm, before->entries[i].target.sm);
	}
	OK(devcode_payload(why, &after->container, &after->entries[before->container.entry_count],
					   &scratch, &view));
	assert_int_equal(view.size, size);
	assert_memory_equal(view.data, code, size);
	buf_free(&scratch);
	return after;
}

static bool has_room(const struct made *before, const struct made *after)
{
	return after->bytes.size <= before->bytes.size;
}

static enum plan_verdict verdict(const struct made *made, struct jw_target device)
{
	const struct jw_driver driver = {.cuda = 12040, .release = {550, 163, 1}};

	return plan_judge(&made->container, NULL, false, device, &driver).verdict;
}

/* The key of the PTX's entry in a driver's cache must not change: payload and options are the same
 * bytes. */
static void assert_same_ptx(const struct made *before, const struct made *after)
{
	struct buf scratch[2] = {make_buf(), make_buf()};
	struct devcode_view view[2];

	assert_int_equal(after->entries[0].kind, DEVCODE_KIND_PTX);
	assert_int_equal(after->entries[0].options_length, before->entries[0].options_length);
	assert_memory_equal(after->bytes.data + after->entries[0].options_offset,
						before->bytes.data + before->entries[0].options_offset,
						before->entries[0].options_length);
	OK(devcode_payload(why, &before->container, before->entries, &scratch[0], &view[0]));
	OK(devcode_payload(why, &after->container, after->entries, &scratch[1], &view[1]));
	assert_int_equal(view[0].size, view[1].size);
	assert_memory_equal(view[0].data, view[1].data, view[0].size);
	buf_free(&scratch[0]);
	buf_free(&scratch[1]);
}

/* Raw code is compressed to make space, but only if there is none: unchanged code need not be read
 * again. */
TEST(raw_code_is_packed_where_room_is_needed)
{
	struct made *before = make(DEVCODE_RAW, 2 * NOISE, NOISE);
	struct made *after = add(before, NOISE);

	assert_true(has_room(before, after));
	assert_int_equal(after->entries[1].compression, DEVCODE_LZ4);
	/* Then there is enough space, and the next entry stays as it is. */
	assert_int_equal(after->entries[2].compression, DEVCODE_RAW);
	assert_same_ptx(before, after);
	assert_int_equal(verdict(after, sm_86), VERDICT_NATIVE);
	made_free(after);
	made_free(before);
}

/* A container that gets another place has the size that it needs, and its entries are unchanged. */
TEST(without_room_nothing_leaves)
{
	struct made *before = make(DEVCODE_LZ4, 0, 2 * NOISE);
	struct made *after = add(before, 2 * NOISE);

	assert_false(has_room(before, after));
	assert_memory_equal(after->bytes.data + CONTAINER_HEADER, before->bytes.data + CONTAINER_HEADER,
						before->bytes.size - CONTAINER_HEADER);
	assert_int_equal(verdict(after, sm_86), VERDICT_NATIVE);
	made_free(after);
	made_free(before);
}

/* An entry that fits to the last byte stays as it is. */
TEST(the_last_bytes_of_the_room_count)
{
	struct made *before = make(DEVCODE_RAW, NOISE, 0), *after;
	size_t full = 0;

	for (size_t size = NOISE - 512; size < NOISE + 512; size += 8) {
		after = add(before, size);
		full += after->bytes.size == before->bytes.size;
		assert_int_equal(has_room(before, after),
						 after->bytes.size <= before->container.size_bytes);
		made_free(after);
	}
	assert_true(full);
	made_free(before);
}

RUN_TESTS(NULL, NULL)
