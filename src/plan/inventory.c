#include "plan/inventory.h"

#include <string.h>

#include "base/mem.h"
#include "base/set.h"
#include "base/text.h"
#include "os/system.h"
#include "plan/inventory_record.h"

enum {
	MOST_FILE = 256 << 20,
	KEEP_FILE = 64 << 20, /* records that were not used today go when the file gets larger */
	MOST_RECORDS = 1 << 24,
	VERSION = 1,
	HEAD_SIZE = 8,
	RECORD_HEAD_SIZE = 12,
	USED_DAY_AT = 32, /* in a record's body */
	USED_DAYS = 7,    /* how exact the day of last use is: not every check rewrites the file */
};

static const char file_start[] = "inventory-", file_name[] = "inventory-" JITWARM_RULES;
/* Other versions' files go when nobody has written them for so long. */
enum { OTHERS_DAYS = 60 };

static const uint8_t head[HEAD_SIZE] = {'J', 'W', 'I', 'N', 'V', 0, VERSION, 0};

struct slot {
	uint64_t device, inode;
	size_t offset, size; /* of the body */
	bool added;          /* in `added`, else in `old` */
	bool gone;           /* replaced, or found damaged */
	bool verified;
	uint32_t used_day;
};

/* The file that is being read. */
struct pending {
	bool open;
	char *path;
	struct os_stat stat;
	const struct analyse_question *question;
	struct buf images;
	uint32_t image_count;
	size_t known; /* slot of an earlier record, SET_NONE without */
	struct cursor earlier;
	uint32_t earlier_images; /* left in it */
};

struct inventory {
	char *path; /* NULL: not to be saved */
	char *state_dir;
	struct buf old, added;
	struct slot *slots;
	size_t count, capacity;
	struct set index; /* by inode */
	struct pending pending;
	uint32_t today;
	bool changed;
};

static const uint8_t *body_of(const struct inventory *inventory, const struct slot *slot)
{
	return (slot->added ? inventory->added.data : inventory->old.data) + slot->offset;
}

static int add_slot(struct jw_error *err, struct inventory *inventory, const struct slot *slot)
{
	if (VEC_ROOM(err, inventory->slots, inventory->capacity, inventory->count, MOST_RECORDS) ||
		set_add(err, &inventory->index, slot->inode, inventory->count))
		return -1;
	inventory->slots[inventory->count++] = *slot;
	return 0;
}

/* What comes after damage is forgotten, what stands before it is kept. */
static int read_records(struct jw_error *err, struct inventory *inventory)
{
	const uint8_t *data = inventory->old.data;
	struct cursor cursor = cursor_of(data, inventory->old.size);
	const uint8_t *start = cursor_take(&cursor, HEAD_SIZE);

	if (!start || memcmp(start, head, sizeof head) != 0)
		return 0;
	while (cursor_left(&cursor)) {
		uint32_t size = cursor_u32(&cursor);
		const uint8_t *body;
		struct record_file file;
		struct cursor inner;
		struct slot slot = {0};

		(void)cursor_u64(&cursor);
		body = cursor_take(&cursor, size);
		if (!body)
			break;
		inner = cursor_of(body, size);
		if (!record_read_file(&inner, &file))
			break;
		slot.device = file.device;
		slot.inode = file.inode;
		slot.offset = (size_t)(body - data);
		slot.size = size;
		slot.used_day = file.used_day;
		if (add_slot(err, inventory, &slot))
			return -1;
	}
	inventory->changed = cursor.overrun;
	return 0;
}

static struct inventory *inventory_new(struct jw_error *err)
{
	struct inventory *inventory = mem_alloc(err, sizeof *inventory);

	if (!inventory)
		return NULL;
	inventory->old = BUF_MAX(MOST_FILE);
	inventory->added = BUF_MAX(MOST_FILE);
	inventory->pending.images = BUF_MAX(MOST_FILE);
	inventory->today = (uint32_t)(os_now_s() / 86400);
	return inventory;
}

int inventory_parse(struct jw_error *err, const void *data, size_t size,
					struct inventory **ret_inventory)
{
	struct inventory *inventory = inventory_new(err);

	if (!inventory)
		return -1;
	if ((size && buf_append(err, &inventory->old, data, size)) || read_records(err, inventory)) {
		inventory_close(inventory);
		return -1;
	}
	*ret_inventory = inventory;
	return 0;
}

int inventory_open(struct jw_error *err, const char *state_dir, struct inventory **ret_inventory)
{
	struct inventory *inventory = inventory_new(err);
	struct buf content;

	if (!inventory)
		return -1;
	inventory->state_dir = mem_string(err, state_dir);
	inventory->path = os_join(err, state_dir, file_name);
	if (!inventory->state_dir || !inventory->path)
		goto fail;
	if (!os_read_file(NULL, inventory->path, MOST_FILE, &content)) {
		inventory->old = content;
		if (read_records(err, inventory))
			goto fail;
	}
	*ret_inventory = inventory;
	return 0;
fail:
	inventory_close(inventory);
	return -1;
}

void inventory_close(struct inventory *inventory)
{
	if (!inventory)
		return;
	buf_free(&inventory->old);
	buf_free(&inventory->added);
	buf_free(&inventory->pending.images);
	mem_free(inventory->pending.path);
	mem_free(inventory->slots);
	set_free(&inventory->index);
	mem_free(inventory->path);
	mem_free(inventory->state_dir);
	mem_free(inventory);
}

static bool is_sound(struct inventory *inventory, struct slot *slot)
{
	const uint8_t *body = body_of(inventory, slot);

	if (!slot->verified && !slot->added &&
		fnv_update(FNV_START, body, slot->size) != load_u64(body - sizeof(uint64_t))) {
		slot->gone = true;
		inventory->changed = true;
	}
	slot->verified = true;
	return !slot->gone;
}

/* The sound record of a file that has not changed, as a cursor behind its head; NULL without. */
static struct slot *find_file(struct inventory *inventory, const char *path,
							  const struct os_stat *stat, struct cursor *ret_cursor,
							  struct record_file *ret_file)
{
	size_t cursor = 0, index;

	while ((index = set_find(&inventory->index, stat->inode, &cursor)) != SET_NONE) {
		struct slot *slot = &inventory->slots[index];

		if (slot->gone || slot->device != stat->device || slot->inode != stat->inode)
			continue;
		*ret_cursor = cursor_of(body_of(inventory, slot), slot->size);
		if (!record_read_file(ret_cursor, ret_file) || ret_file->size_bytes != stat->size_bytes ||
			ret_file->mtime_ns != stat->mtime_ns || ret_file->path_length != strlen(path) ||
			memcmp(ret_file->path, path, ret_file->path_length) != 0)
			continue;
		return is_sound(inventory, slot) ? slot : NULL;
	}
	return NULL;
}

/* The views of one image that answer the question; false where one is missing or damaged. */
static bool find_views(struct cursor *cursor, uint32_t count,
					   const struct analyse_question *question, struct record_view *views)
{
	bool found[ANALYSE_MOST_TARGETS] = {false};

	for (uint32_t i = 0; i < count; i++) {
		struct record_view view;

		if (!record_read_view(cursor, &view))
			return false;
		for (size_t t = 0; t < question->target_count; t++) {
			struct record_question wanted = record_question_of(question, t);

			if (record_question_equal(&wanted, &view.question)) {
				views[t] = view;
				found[t] = true;
			}
		}
	}
	for (size_t t = 0; t < question->target_count; t++)
		if (!found[t])
			return false;
	return true;
}

static bool answers(struct cursor cursor, uint32_t images, const struct analyse_question *question)
{
	struct record_view views[ANALYSE_MOST_TARGETS];

	for (uint32_t i = 0; i < images; i++) {
		struct record_image image;

		if (!record_read_image(&cursor, &image) ||
			!find_views(&cursor, image.views, question, views))
			return false;
	}
	return true;
}

static int replay_image(struct jw_error *err, const struct record_image *image, const char *path,
						const struct record_view *views, size_t view_count, inventory_image_fn take,
						void *context)
{
	struct analyse_target targets[ANALYSE_MOST_TARGETS];
	struct build_image told = {.path = path, .library = image->library, .targets = targets};
	struct analyse_module *modules = NULL;
	char *member = NULL;
	size_t count = 0;
	int result = -1;

	for (size_t t = 0; t < view_count; t++) {
		targets[t] = views[t].target;
		count += views[t].modules;
	}
	modules = mem_array(err, count, sizeof *modules);
	if (!modules)
		return -1;
	if (image->member) {
		member = mem_string_n(err, image->member, image->member_length);
		if (!member)
			goto done;
	}
	for (size_t t = 0; t < view_count; t++) {
		struct cursor cursor = views[t].at;

		for (uint32_t i = 0; i < views[t].modules; i++) {
			struct analyse_module *module = &modules[told.module_count];

			if (record_read_module(&cursor, module)) {
				module->target = (uint32_t)t;
				told.module_count++;
			}
		}
	}
	told.member = member;
	told.modules = modules;
	result = take(err, context, &told);
done:
	mem_free(member);
	mem_free(modules);
	return result;
}

/* The day of last use is written anew now and then. */
static void mark_used(struct inventory *inventory, struct slot *slot)
{
	uint8_t *body = (slot->added ? inventory->added.data : inventory->old.data) + slot->offset;

	if (!slot->added && inventory->today >= slot->used_day + USED_DAYS) {
		store_u32(body + USED_DAY_AT, inventory->today);
		store_u64(body - sizeof(uint64_t), fnv_update(FNV_START, body, slot->size));
		inventory->changed = true;
	}
	slot->used_day = inventory->today;
}

int inventory_replay(struct jw_error *err, struct inventory *inventory, const char *path,
					 const struct os_stat *stat, const struct analyse_question *question,
					 inventory_image_fn take, void *context, bool *ret_known)
{
	struct record_view views[ANALYSE_MOST_TARGETS];
	struct record_file file;
	struct cursor cursor;
	struct slot *slot = find_file(inventory, path, stat, &cursor, &file);

	*ret_known = false;
	if (!slot || !answers(cursor, file.images, question))
		return 0;
	*ret_known = true;
	mark_used(inventory, slot);
	for (uint32_t i = 0; i < file.images; i++) {
		struct record_image image;

		if (!record_read_image(&cursor, &image) ||
			!find_views(&cursor, image.views, question, views))
			break;
		if (replay_image(err, &image, path, views, question->target_count, take, context))
			return -1;
	}
	return 0;
}

int inventory_begin(struct jw_error *err, struct inventory *inventory, const char *path,
					const struct os_stat *stat, const struct analyse_question *question)
{
	struct pending *pending = &inventory->pending;
	struct record_file file;
	struct slot *slot = find_file(inventory, path, stat, &pending->earlier, &file);

	mem_free(pending->path);
	pending->open = false;
	pending->path = mem_string(err, path);
	if (!pending->path)
		return -1;
	pending->stat = *stat;
	pending->question = question;
	pending->image_count = 0;
	pending->known = slot ? (size_t)(slot - inventory->slots) : SET_NONE;
	pending->earlier_images = slot ? file.images : 0;
	buf_clear(&pending->images);
	pending->open = true;
	return 0;
}

static bool is_asked(const struct analyse_question *question, const struct record_view *view)
{
	for (size_t t = 0; t < question->target_count; t++) {
		struct record_question asked = record_question_of(question, t);

		if (record_question_equal(&asked, &view->question))
			return true;
	}
	return false;
}

/* The earlier views of this image for other drivers and GPUs, into `kept`. */
static int keep_views(struct jw_error *err, struct pending *pending,
					  const struct build_image *image, struct buf *kept, uint32_t *ret_count)
{
	struct record_image earlier;
	uint32_t most = RECORD_MOST_VIEWS - (uint32_t)pending->question->target_count, count = 0;

	if (!pending->earlier_images)
		return 0;
	pending->earlier_images--;
	if (!record_read_image(&pending->earlier, &earlier) ||
		earlier.member_length != (image->member ? strlen(image->member) : 0) ||
		(image->member && memcmp(image->member, earlier.member, earlier.member_length) != 0)) {
		pending->earlier_images = 0;
		return 0;
	}
	for (uint32_t i = 0; i < earlier.views; i++) {
		const uint8_t *start = pending->earlier.at;
		struct record_view view;

		if (!record_read_view(&pending->earlier, &view)) {
			pending->earlier_images = 0;
			break;
		}
		if (count == most || is_asked(pending->question, &view))
			continue;
		if (buf_append(err, kept, start, (size_t)(pending->earlier.at - start)))
			return -1;
		count++;
	}
	*ret_count = count;
	return 0;
}

static int write_view(struct jw_error *err, struct pending *pending,
					  const struct build_image *image, size_t target)
{
	struct record_question question = record_question_of(pending->question, target);
	uint32_t count = 0;

	for (size_t i = 0; i < image->module_count; i++)
		count += image->modules[i].target == target;
	if (record_write_view(err, &pending->images, &question, &image->targets[target], count))
		return -1;
	for (size_t i = 0; i < image->module_count; i++)
		if (image->modules[i].target == target &&
			record_write_module(err, &pending->images, &image->modules[i]))
			return -1;
	return 0;
}

int inventory_image(struct jw_error *err, struct inventory *inventory,
					const struct build_image *image)
{
	struct pending *pending = &inventory->pending;
	struct record_image record = {.library = image->library, .member = image->member};
	struct buf kept = BUF_MAX(MOST_FILE);
	uint32_t kept_count = 0;
	int result = -1;

	if (!pending->open || pending->image_count == RECORD_MOST_IMAGES) {
		pending->open = false;
		return 0;
	}
	if (keep_views(err, pending, image, &kept, &kept_count))
		goto done;
	record.member_length = image->member ? strlen(image->member) : 0;
	record.views = kept_count + (uint32_t)pending->question->target_count;
	if (record_write_image(err, &pending->images, &record))
		goto done;
	for (size_t t = 0; t < pending->question->target_count; t++)
		if (write_view(err, pending, image, t))
			goto done;
	if (kept.size && buf_append(err, &pending->images, kept.data, kept.size))
		goto done;
	pending->image_count++;
	result = 0;
done:
	buf_free(&kept);
	return result;
}

/* A file that was written a moment ago may be written again within its time stamp's grain. */
static bool is_settled(const struct os_stat *stat)
{
	return os_now_s() - stat->mtime_ns / INT64_C(1000000000) > 2;
}

int inventory_end(struct jw_error *err, struct inventory *inventory)
{
	struct pending *pending = &inventory->pending;
	struct buf *added = &inventory->added;
	struct record_file file = {.device = pending->stat.device,
							   .inode = pending->stat.inode,
							   .size_bytes = pending->stat.size_bytes,
							   .mtime_ns = pending->stat.mtime_ns,
							   .used_day = inventory->today,
							   .path = pending->path,
							   .images = pending->image_count};
	struct slot slot = {
		.device = file.device, .inode = file.inode, .added = true, .used_day = file.used_day};

	if (!pending->open || !is_settled(&pending->stat) || strlen(pending->path) > RECORD_MOST_PATH)
		return 0;
	pending->open = false;
	file.path_length = strlen(pending->path);
	slot.offset = added->size;
	if (record_write_file(err, added, &file) ||
		(pending->images.size &&
		 buf_append(err, added, pending->images.data, pending->images.size))) {
		added->size = slot.offset;
		return -1;
	}
	slot.size = added->size - slot.offset;
	if (pending->known != SET_NONE)
		inventory->slots[pending->known].gone = true;
	inventory->changed = true;
	return add_slot(err, inventory, &slot);
}

/* Records that were used today first, so that they are the ones that stay when space runs out. */
static int write_records(struct jw_error *err, const struct inventory *inventory, bool today,
						 struct buf *file)
{
	for (size_t i = 0; i < inventory->count; i++) {
		const struct slot *slot = &inventory->slots[i];
		const uint8_t *body = body_of(inventory, slot);
		uint8_t bytes[RECORD_HEAD_SIZE];

		if (slot->gone || (slot->used_day == inventory->today) != today)
			continue;
		if (file->size + slot->size > KEEP_FILE)
			continue;
		store_u32(bytes, (uint32_t)slot->size);
		store_u64(bytes + 4, slot->added ? fnv_update(FNV_START, body, slot->size)
										 : load_u64(body - sizeof(uint64_t)));
		if (buf_append(err, file, bytes, sizeof bytes) || buf_append(err, file, body, slot->size))
			return -1;
	}
	return 0;
}

static void remove_others(const struct inventory *inventory)
{
	struct os_names names;

	if (os_list(NULL, inventory->state_dir, &names))
		return;
	for (size_t i = 0; i < names.count; i++) {
		char *path = text_starts(names.items[i], file_start) && strcmp(names.items[i], file_name)
						 ? os_join(NULL, inventory->state_dir, names.items[i])
						 : NULL;
		struct os_stat stat;

		if (path && !os_stat(NULL, path, &stat) && stat.kind == OS_REGULAR &&
			stat.mtime_ns / 1000000000 / 86400 + OTHERS_DAYS < inventory->today)
			(void)os_remove(NULL, path);
		mem_free(path);
	}
	os_names_free(&names);
}

int inventory_save(struct jw_error *err, struct inventory *inventory)
{
	struct buf file = BUF_MAX(MOST_FILE);
	int result = -1;

	if (!inventory->changed || !inventory->path)
		return 0;
	if (!buf_append(err, &file, head, sizeof head) && !write_records(err, inventory, true, &file) &&
		!write_records(err, inventory, false, &file) &&
		!os_make_dirs(err, inventory->state_dir, 0700))
		result = os_write_atomic(err, inventory->path, file.data, file.size);
	if (!result) {
		inventory->changed = false;
		remove_others(inventory);
	}
	buf_free(&file);
	return result;
}
