/* Records a file while it is read. */
#include <string.h>

#include "base/mem.h"
#include "os/clock.h"
#include "plan/inventory_state.h"

int inventory_begin(struct jw_error *err, struct inventory *inventory,
					const struct jw_found_file *from, const struct analyse_question *question)
{
	struct inventory_pending *pending = &inventory->pending;
	struct record_file file;
	struct inventory_slot *slot = inventory_find(inventory, from, &pending->earlier, &file);

	mem_free(pending->from.path);
	pending->open = false;
	pending->from = *from;
	pending->from.path = mem_string(err, from->path);
	if (!pending->from.path)
		return -1;
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

/* Copies the earlier views of this image for other drivers and GPUs to `kept`. */
static int keep_views(struct jw_error *err, struct inventory_pending *pending,
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

static int write_view(struct jw_error *err, struct inventory_pending *pending,
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
	struct inventory_pending *pending = &inventory->pending;
	struct record_image record = {.library = image->library, .member = image->member};
	struct buf kept = BUF_MAX(INVENTORY_MOST_FILE);
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

/* A file that was written a moment ago may change again within its time stamps' resolution. Its
 * mtime may have been set since. */
static bool is_old_enough(const struct jw_found_file *file)
{
	const int64_t newest_ns = file->changed_ns > file->mtime_ns ? file->changed_ns : file->mtime_ns;

	return os_now_s() - newest_ns / INT64_C(1000000000) > 2;
}

int inventory_end(struct jw_error *err, struct inventory *inventory)
{
	struct inventory_pending *pending = &inventory->pending;
	struct buf *added = &inventory->added;
	struct record_file file = {.device = pending->from.device,
							   .inode = pending->from.inode,
							   .size_bytes = pending->from.size_bytes,
							   .mtime_ns = pending->from.mtime_ns,
							   .changed_ns = pending->from.changed_ns,
							   .used_day = inventory->today,
							   .path = pending->from.path,
							   .images = pending->image_count};
	struct inventory_slot slot = {
		.device = file.device, .inode = file.inode, .added = true, .used_day = file.used_day};

	if (!pending->open || !is_old_enough(&pending->from) ||
		strlen(pending->from.path) > RECORD_MOST_PATH)
		return 0;
	pending->open = false;
	file.path_length = strlen(pending->from.path);
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
	return inventory_add_slot(err, inventory, &slot);
}
