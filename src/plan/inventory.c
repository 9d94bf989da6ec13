#include "plan/inventory.h"

#include <string.h>

#include "base/mem.h"
#include "plan/inventory_state.h"

enum {
	USED_DAY_AT = 32, /* in a record's body */
	USED_DAYS = 7,    /* precision of the day of last use: not every check rewrites the file */
};

static bool is_sound_slot(struct inventory *inventory, struct inventory_slot *slot)
{
	const uint8_t *body = inventory_body(inventory, slot);

	if (!slot->verified && !slot->added &&
		fnv_update(FNV_START, body, slot->size) != load_u64(body - sizeof(uint64_t))) {
		slot->gone = true;
		inventory->changed = true;
	}
	slot->verified = true;
	return !slot->gone;
}

struct inventory_slot *inventory_find(struct inventory *inventory, const struct jw_found_file *from,
									  struct cursor *ret_cursor, struct record_file *ret_file)
{
	size_t cursor = 0, index;

	while ((index = set_find(&inventory->index, from->inode, &cursor)) != SET_NONE) {
		struct inventory_slot *slot = &inventory->slots[index];

		if (slot->gone || slot->device != from->device || slot->inode != from->inode)
			continue;
		*ret_cursor = cursor_of(inventory_body(inventory, slot), slot->size);
		if (!record_read_file(ret_cursor, ret_file) || ret_file->size_bytes != from->size_bytes ||
			ret_file->mtime_ns != from->mtime_ns || ret_file->changed_ns != from->changed_ns ||
			ret_file->path_length != strlen(from->path) ||
			memcmp(ret_file->path, from->path, ret_file->path_length) != 0)
			continue;
		return is_sound_slot(inventory, slot) ? slot : NULL;
	}
	return NULL;
}

/* The views of one image that answer the question; false if one is missing or damaged. */
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

/* Updates the day of last use from time to time. */
static void mark_used(struct inventory *inventory, struct inventory_slot *slot)
{
	uint8_t *body = (slot->added ? inventory->added.data : inventory->old.data) + slot->offset;

	if (!slot->added && inventory->today >= slot->used_day + USED_DAYS) {
		store_u32(body + USED_DAY_AT, inventory->today);
		store_u64(body - sizeof(uint64_t), fnv_update(FNV_START, body, slot->size));
		inventory->changed = true;
	}
	slot->used_day = inventory->today;
}

int inventory_replay(struct jw_error *err, struct inventory *inventory,
					 const struct jw_found_file *from, const struct analyse_question *question,
					 inventory_image_fn take, void *context, bool *ret_known)
{
	struct record_view views[ANALYSE_MOST_TARGETS];
	struct record_file file;
	struct cursor cursor;
	struct inventory_slot *slot = inventory_find(inventory, from, &cursor, &file);

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
		if (replay_image(err, &image, from->path, views, question->target_count, take, context))
			return -1;
	}
	return 0;
}
