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
	/* Whatever the record holds, the judge takes it. */
	for (size_t t = 0; t < question.target_count; t++) {
		const struct judge_facts facts = {.pieces = image->scan.pieces,
										  .piece_count = image->scan.piece_count,
										  .library = image->scan.library,
										  .path = "a",
										  .runtime_cuda = image->scan.runtime_cuda};
		struct judged is;

		judge_library(&facts, question.targets[t], &question.driver, &is);
	}
	return 0;
}

/* Replays the record, and reads the file again on top of it. */
static void go_through(const uint8_t *data, size_t size)
{
	const struct jw_piece_entry entries[2] = {{.kind = 1}, {.kind = 2}};
	const struct jw_piece pieces[2] = {{.containers = 1, .entries = entries, .entry_count = 2},
									   {.containers = 2}};
	const struct analyse_image image = {
		.scan = {.path = "a", .member = "m", .pieces = pieces, .piece_count = 2}};
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
	const struct analyse_image image = {.scan.path = "a"};
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
