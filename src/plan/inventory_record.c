#include "plan/inventory_record.h"

#include <string.h>

enum {
	NO_TEXT = 0xffff,
	SUMS = 6,
	LINE_INFO = 0x80,
	SUPERSEDED = 0x40,
	NEED_BITS = 3,
	FATE_SHIFT = 2
};

bool record_question_equal(const struct record_question *a, const struct record_question *b)
{
	return a->sm == b->sm && a->driver.cuda == b->driver.cuda &&
		   !memcmp(a->driver.release, b->driver.release, sizeof a->driver.release) &&
		   !memcmp(a->stamp, b->stamp, sizeof a->stamp);
}

struct record_question record_question_of(const struct analyse_question *question, size_t target)
{
	struct record_question made = {.driver = question->driver, .sm = question->targets[target].sm};

	if (question->profile && question->profile->stamp[0])
		memcpy(made.stamp, question->profile->stamp, sizeof made.stamp);
	return made;
}

static bool read_record_text(struct cursor *cursor, const char **ret_text, size_t *ret_length)
{
	size_t length = cursor_u16(cursor);

	*ret_text = NULL;
	*ret_length = 0;
	if (length == NO_TEXT)
		return !cursor->overrun;
	*ret_text = (const char *)cursor_take(cursor, length);
	*ret_length = length;
	return !cursor->overrun && !memchr(*ret_text, 0, length);
}

bool record_read_file(struct cursor *cursor, struct record_file *ret_file)
{
	struct record_file file = {0};

	file.device = cursor_u64(cursor);
	file.inode = cursor_u64(cursor);
	file.size_bytes = cursor_u64(cursor);
	file.mtime_ns = (int64_t)cursor_u64(cursor);
	file.changed_ns = (int64_t)cursor_u64(cursor);
	file.used_day = cursor_u32(cursor);
	if (!read_record_text(cursor, &file.path, &file.path_length) || !file.path)
		return false;
	file.images = cursor_u32(cursor);
	*ret_file = file;
	return !cursor->overrun && file.images <= RECORD_MOST_IMAGES;
}

bool record_read_image(struct cursor *cursor, struct record_image *ret_image)
{
	struct record_image image = {.library = cursor_u8(cursor) == 1};

	if (!read_record_text(cursor, &image.member, &image.member_length))
		return false;
	image.views = cursor_u32(cursor);
	*ret_image = image;
	return !cursor->overrun && image.views <= RECORD_MOST_VIEWS;
}

static bool read_verdicts(struct cursor *cursor, struct analyse_target *target)
{
	uint8_t need;

	for (size_t i = 0; i < VERDICT_COUNT; i++)
		target->verdicts[i] = cursor_u64(cursor);
	for (size_t i = 0; i < REASON_COUNT; i++)
		target->reasons[i] = cursor_u64(cursor);
	target->isa.major = cursor_u16(cursor);
	target->isa.minor = cursor_u16(cursor);
	target->jit_modules = cursor_u64(cursor);
	target->jit_bytes = cursor_u64(cursor);
	target->link_modules = cursor_u64(cursor);
	target->link_bytes = cursor_u64(cursor);
	target->loose_bytes = cursor_u64(cursor);
	target->unreadable = cursor_u64(cursor);
	need = cursor_u8(cursor);
	if ((need & NEED_BITS) > NEED_UNKNOWN || need >> FATE_SHIFT > ANALYSE_REFUSED)
		return false;
	target->link_needed = (enum analyse_need)(need & NEED_BITS);
	target->fate = (enum analyse_fate)(need >> FATE_SHIFT);
	return !cursor->overrun;
}

bool record_read_view(struct cursor *cursor, struct record_view *ret_view)
{
	struct record_view view = {0};
	const uint8_t *stamp, *modules;

	view.question.driver.cuda = cursor_u32(cursor);
	for (size_t i = 0; i < 3; i++)
		view.question.driver.release[i] = cursor_u32(cursor);
	view.question.sm = cursor_u16(cursor);
	stamp = cursor_take(cursor, CACHE_STAMP_SIZE);
	if (!stamp)
		return false;
	memcpy(view.question.stamp, stamp, CACHE_STAMP_SIZE);
	if (!read_verdicts(cursor, &view.target))
		return false;
	view.modules = cursor_u32(cursor);
	if (view.modules > RECORD_MOST_MODULES)
		return false;
	modules = cursor_take(cursor, (uint64_t)view.modules * RECORD_MODULE_SIZE);
	if (!modules)
		return false;
	view.at = cursor_of(modules, (size_t)view.modules * RECORD_MODULE_SIZE);
	*ret_view = view;
	return true;
}

bool record_read_module(struct cursor *cursor, struct analyse_module *ret_module)
{
	uint8_t role = cursor_u8(cursor), form = cursor_u8(cursor);
	struct analyse_module module = {.features.line_info = form & LINE_INFO,
									.superseded = form & SUPERSEDED};

	form &= SUPERSEDED - 1;
	if (role > DEVCODE_LOOSE || form > CACHE_KEY_TEXT)
		return false;
	module.role = (enum devcode_role)role;
	module.form = (enum cache_key_form)form;
	module.features.statements = cursor_u32(cursor);
	module.features.divisions = cursor_u32(cursor);
	module.features.entries = cursor_u32(cursor);
	module.container_offset = cursor_u64(cursor);
	module.container_bytes = cursor_u64(cursor);
	module.entry_offset = cursor_u64(cursor);
	module.payload_bytes = cursor_u64(cursor);
	module.key = cursor_u64(cursor);
	module.key_bytes = cursor_u64(cursor);
	module.identity = cursor_u64(cursor);
	*ret_module = module;
	return !cursor->overrun;
}

static int write_number(struct jw_error *err, struct buf *buf, uint64_t value, size_t size)
{
	uint8_t bytes[8];

	store_u64(bytes, value);
	return buf_append(err, buf, bytes, size);
}

static int write_record_text(struct jw_error *err, struct buf *buf, const char *text, size_t length)
{
	if (!text)
		return write_number(err, buf, NO_TEXT, 2);
	if (length > RECORD_MOST_PATH)
		return error_set(err, JW_ERR_LIMIT, "a name of more than %d bytes", RECORD_MOST_PATH);
	return write_number(err, buf, length, 2) || buf_append(err, buf, text, length) ? -1 : 0;
}

int record_write_file(struct jw_error *err, struct buf *buf, const struct record_file *file)
{
	if (write_number(err, buf, file->device, 8) || write_number(err, buf, file->inode, 8) ||
		write_number(err, buf, file->size_bytes, 8) ||
		write_number(err, buf, (uint64_t)file->mtime_ns, 8) ||
		write_number(err, buf, (uint64_t)file->changed_ns, 8) ||
		write_number(err, buf, file->used_day, 4) ||
		write_record_text(err, buf, file->path, file->path_length))
		return -1;
	return write_number(err, buf, file->images, 4);
}

int record_write_image(struct jw_error *err, struct buf *buf, const struct record_image *image)
{
	if (write_number(err, buf, image->library, 1) ||
		write_record_text(err, buf, image->member, image->member_length))
		return -1;
	return write_number(err, buf, image->views, 4);
}

int record_write_view(struct jw_error *err, struct buf *buf, const struct record_question *question,
					  const struct analyse_target *target, uint32_t modules)
{
	const uint64_t sums[SUMS] = {target->jit_modules, target->jit_bytes,   target->link_modules,
								 target->link_bytes,  target->loose_bytes, target->unreadable};

	if (write_number(err, buf, question->driver.cuda, 4))
		return -1;
	for (size_t i = 0; i < 3; i++)
		if (write_number(err, buf, question->driver.release[i], 4))
			return -1;
	if (write_number(err, buf, question->sm, 2) ||
		buf_append(err, buf, question->stamp, sizeof question->stamp))
		return -1;
	for (size_t i = 0; i < VERDICT_COUNT; i++)
		if (write_number(err, buf, target->verdicts[i], 8))
			return -1;
	for (size_t i = 0; i < REASON_COUNT; i++)
		if (write_number(err, buf, target->reasons[i], 8))
			return -1;
	if (write_number(err, buf, target->isa.major, 2) ||
		write_number(err, buf, target->isa.minor, 2))
		return -1;
	for (size_t i = 0; i < SUMS; i++)
		if (write_number(err, buf, sums[i], 8))
			return -1;
	return write_number(err, buf,
						(uint64_t)target->link_needed | (uint64_t)target->fate << FATE_SHIFT, 1) ||
				   write_number(err, buf, modules, 4)
			   ? -1
			   : 0;
}

int record_write_module(struct jw_error *err, struct buf *buf, const struct analyse_module *module)
{
	uint8_t bytes[RECORD_MODULE_SIZE];

	bytes[0] = (uint8_t)module->role;
	bytes[1] = (uint8_t)((unsigned)module->form | (module->features.line_info ? LINE_INFO : 0) |
						 (module->superseded ? SUPERSEDED : 0U));
	store_u32(bytes + 2, module->features.statements);
	store_u32(bytes + 6, module->features.divisions);
	store_u32(bytes + 10, module->features.entries);
	store_u64(bytes + 14, module->container_offset);
	store_u64(bytes + 22, module->container_bytes);
	store_u64(bytes + 30, module->entry_offset);
	store_u64(bytes + 38, module->payload_bytes);
	store_u64(bytes + 46, module->key);
	store_u64(bytes + 54, module->key_bytes);
	store_u64(bytes + 62, module->identity);
	return buf_append(err, buf, bytes, sizeof bytes);
}
