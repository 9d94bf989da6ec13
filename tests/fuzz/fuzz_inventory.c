/* Any inventory is replayed or dropped: as a whole file, and as the record of one known file with a
 * correct checksum, which a fuzzer does not find. */
#include "fuzz.h"

#include "base/cursor.h"
#include "plan/inventory.h"

static char known_path[] = "a";
static const struct jw_found_file known = {
	.path = known_path, .size_bytes = 1, .mtime_ns = 1, .device = 1, .inode = 1};
static const struct jw_target targets[] = {{86, 0}, {90, 0}};
static const struct analyse_question question = {.targets = targets, .target_count = 2};

static int take(struct jw_error *err, void *context, const struct analyse_image *image)
{
	size_t *images = context;

	(void)err;
	++*images;
	for (size_t i = 0; i < image->module_count; i++)
		MUST(image->modules[i].target < question.target_count);
	return 0;
}

/* Replays the record, and reads the file again on top of it. */
static void go_through(const uint8_t *data, size_t size)
{
	struct analyse_target answers[2] = {{.jit_modules = 1}, {.jit_modules = 2}};
	const struct analyse_image image = {.scan = {.path = "a", .member = "m"}, .targets = answers};
	struct inventory *inventory;
	size_t images = 0;
	bool is_known = false;

	inventory = inventory_parse(data, size);
	MUST(!inventory_replay(NULL, inventory, &known, &question, take, &images, &is_known));
	MUST(is_known || !images);
	inventory_begin(inventory, &known, &question);
	inventory_image(inventory, &image);
	inventory_image(inventory, &image);
	inventory_end(inventory);
	images = 0;
	MUST(!inventory_replay(NULL, inventory, &known, &question, take, &images, &is_known));
	MUST(is_known && images == 2);
	inventory_close(inventory);
}

/* Reads `data` as the images of a file, in a record and a file that are sound otherwise. */
static void go_through_record(const uint8_t *data, size_t size)
{
	enum { HEAD = 8, RECORD_HEAD = 12, KEY_SIZE_AT = 16, KEY_AT = 20 };
	const struct analyse_target answers[2] = {0};
	const struct analyse_image image = {.scan.path = "a", .targets = answers};
	struct buf whole = BUF_MAX(1 << 24);
	struct inventory *inventory;
	uint8_t *record;

	inventory = inventory_parse(NULL, 0);
	inventory_begin(inventory, &known, &question);
	inventory_image(inventory, &image);
	inventory_end(inventory);
	inventory_format(inventory, &whole);
	inventory_close(inventory);
	whole.size = HEAD + KEY_AT + load_u32(whole.data + HEAD + KEY_SIZE_AT);
	MUST(!buf_append(NULL, &whole, data, size));
	record = whole.data + HEAD;
	store_u32(record, (uint32_t)(whole.size - HEAD - RECORD_HEAD));
	store_u64(record + 4,
			  fnv_update(FNV_START, record + RECORD_HEAD, whole.size - HEAD - RECORD_HEAD));
	go_through(whole.data, whole.size);
	buf_free(&whole);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	go_through(data, size);
	go_through_record(data, size);
	return 0;
}
