#include "pack/ledger.h"

#include <string.h>

#include "base/cursor.h"
#include "base/hash.h"
#include "base/mem.h"
#include "cache/entry.h"
#include "driver/run_folder.h"
#include "os/file.h"

/* The wait for the lock, whose holder writes some megabytes. */
enum { LOCK_MS = 2000 };

static const uint8_t magic[8] = {'J', 'W', 'L', 'E', 'D', 0, 3, 0};

enum {
	HEAD = sizeof magic + 4,
	MARK = 20,
	SUM = 8,
};

static int append_item(struct jw_error *err, struct ledger_list *list, size_t most,
					   const struct ledger_item *item)
{
	if (VEC_ROOM(err, list->items, list->capacity, list->count, most))
		return -1;
	set_add(&list->by_name, item->name, list->count);
	list->items[list->count++] = *item;
	return 0;
}

struct ledger_item *ledger_item(const struct ledger_list *list, uint64_t name)
{
	size_t cursor = 0, at = set_find(&list->by_name, name, &cursor);

	return at == SET_NONE ? NULL : &list->items[at];
}

static void free_list(struct ledger_list *list)
{
	mem_free(list->items);
	set_free(&list->by_name);
	*list = (struct ledger_list){0};
}

/* Drops the items in `gone`, and all but the newest `most` of the others. */
static void keep_items(struct ledger_list *list, const struct set *gone, size_t most)
{
	struct ledger_list kept = {0};
	size_t left = 0;

	if (!list->items)
		return;
	for (size_t i = 0; i < list->count; i++)
		left += !set_has(gone, list->items[i].name);
	for (size_t i = 0; i < list->count; i++)
		if (!set_has(gone, list->items[i].name) && left-- <= most)
			(void)append_item(NULL, &kept, most, &list->items[i]);
	free_list(list);
	*list = kept;
}

int ledger_put(struct jw_error *err, struct ledger_list *list, size_t most,
			   const struct ledger_item *item)
{
	struct ledger_item *known = ledger_item(list, item->name);

	if (!known)
		return append_item(err, list, most, item);
	*known = *item;
	return 0;
}

void ledger_parse(struct ledger *ledger, const void *data, size_t size)
{
	struct cursor at = cursor_of(data, size);
	const uint8_t *start = cursor_take(&at, sizeof magic);
	const uint32_t count = cursor_u32(&at);

	if (size < HEAD + SUM || memcmp(start, magic, sizeof magic) != 0 || count > LEDGER_MAX_MARKS ||
		size != HEAD + (size_t)count * MARK + SUM ||
		fnv_update(FNV_START, data, size - SUM) != load_u64(at.end - SUM))
		return;
	for (uint32_t i = 0; i < count; i++) {
		struct ledger_item mark = {.name = cursor_u64(&at)};

		mark.value = cursor_u64(&at);
		mark.kind = cursor_u32(&at);
		if (mark.kind != LEDGER_REFUSED && mark.kind != LEDGER_USED)
			continue;
		if (ledger_item(&ledger->marks, mark.name))
			return;
		(void)append_item(NULL, &ledger->marks, LEDGER_MAX_MARKS, &mark);
	}
}

int ledger_format(struct jw_error *err, const struct ledger *ledger, struct buf *bytes)
{
	uint8_t number[MARK];

	store_u32(number, (uint32_t)ledger->marks.count);
	if (buf_append(err, bytes, magic, sizeof magic) || buf_append(err, bytes, number, 4))
		return -1;
	for (size_t i = 0; i < ledger->marks.count; i++) {
		const struct ledger_item *mark = &ledger->marks.items[i];

		store_u64(number, mark->name);
		store_u64(number + 8, mark->value);
		store_u32(number + 16, mark->kind);
		if (buf_append(err, bytes, number, MARK))
			return -1;
	}
	store_u64(number, fnv_update(FNV_START, bytes->data, bytes->size));
	return buf_append(err, bytes, number, SUM);
}

const char *ledger_home(const struct jw_system *system)
{
	return system->scratch ? system->scratch->path : system->state_dir;
}

char *ledger_file(struct jw_error *err, const char *state_dir, const char *cache_dir)
{
	if (!state_dir || !cache_dir) {
		error_set(err, JW_ERR_NOT_FOUND,
				  "this account has no state directory: set JITWARM_STATE=DIR");
		return NULL;
	}
	return mem_printf("%s/ledger-%016llx", state_dir,
					  (unsigned long long)fnv_update(FNV_START, cache_dir, strlen(cache_dir)));
}

void ledger_read(struct ledger *ledger, const char *path)
{
	struct jw_error why = {0};
	struct buf bytes = {0};

	*ledger = (struct ledger){0};
	if (!os_read_file(&why, path, LEDGER_MAX_BYTES, &bytes))
		ledger_parse(ledger, bytes.data, bytes.size);
	else
		ledger->partial = os_ignore_unreadable(NULL, path, &why) != 0;
	buf_free(&bytes);
}

void ledger_open(struct ledger *ledger, const char *state_dir, const char *cache_dir)
{
	char *path = ledger_file(NULL, state_dir, cache_dir);

	*ledger = (struct ledger){0};
	if (path)
		ledger_read(ledger, path);
	mem_free(path);
}

void ledger_close(struct ledger *ledger)
{
	mem_free(ledger->files);
	free_list(&ledger->marks);
	*ledger = (struct ledger){0};
}

int ledger_write(struct jw_error *err, const struct ledger *ledger, const char *path)
{
	struct buf bytes = BUF_MAX(LEDGER_MAX_BYTES);
	int result;

	if (ledger->partial)
		return error_set(err, JW_ERR_IO, "%s: cannot be read, and stays as it is", path);
	result = ledger_format(err, ledger, &bytes);
	if (!result)
		result = os_write_atomic(err, path, bytes.data, bytes.size);
	buf_free(&bytes);
	return result;
}

int ledger_lock(struct jw_error *err, const char *state_dir, struct os_file **ret_lock)
{
	char *path = os_join(state_dir, "ledger-lock");
	const int result = os_lock_file(err, path, LOCK_MS, ret_lock);

	mem_free(path);
	return result;
}

/* Takes the lock and reads the file; the caller then calls close_locked, which writes the file if
 * it has changed. */
struct locked_ledger {
	struct ledger ledger;
	char *path;
	struct os_file *lock;
};

static int open_locked(struct jw_error *err, const char *state_dir, const char *cache_dir,
					   struct locked_ledger *ret_locked)
{
	*ret_locked = (struct locked_ledger){.path = ledger_file(err, state_dir, cache_dir)};
	if (!ret_locked->path || os_make_dirs(err, state_dir, 0700) ||
		ledger_lock(err, state_dir, &ret_locked->lock))
		return -1;
	ledger_read(&ret_locked->ledger, ret_locked->path);
	return 0;
}

static int close_locked(struct jw_error *err, struct locked_ledger *locked, int result)
{
	if (!result && locked->ledger.changed)
		result = ledger_write(err, &locked->ledger, locked->path);
	ledger_close(&locked->ledger);
	os_file_close(locked->lock);
	mem_free(locked->path);
	return result;
}

void ledger_begin(struct ledger *ledger, const struct plan *plan)
{
	uint64_t *files = mem_array(plan->file_count, sizeof *files);

	for (size_t i = 0; i < plan->file_count; i++) {
		const struct plan_file *file = &plan->files[i];
		char *real = NULL;
		const char *path = os_real_path(NULL, file->path, &real) ? file->path : real;

		files[i] = fnv_update(FNV_START, path, strlen(path) + 1);
		if (file->member)
			files[i] = fnv_update(files[i], file->member, strlen(file->member) + 1);
		mem_free(real);
	}
	mem_free(ledger->files);
	ledger->files = files;
	ledger->plan = plan;
}

static uint64_t ledger_place_of(const struct ledger *ledger, const struct plan_module *module)
{
	uint8_t rest[8 + 2 + 1];

	store_u64(rest, module->container_offset);
	store_u16(rest + 8, ledger->plan->targets[module->target].device.sm);
	rest[10] = (uint8_t)module->form;
	return fnv_update(ledger->files[module->file], rest, sizeof rest);
}

void ledger_note_used(const struct ledger *ledger, const char *state_dir)
{
	static const struct set none;
	const struct plan *plan = ledger->plan;
	struct locked_ledger file;
	struct ledger_list *marks = &file.ledger.marks;
	const int result = open_locked(NULL, state_dir, plan->cache_dir, &file);

	for (size_t i = 0; !result && i < plan->module_count; i++) {
		const struct plan_module *module = &plan->modules[i];
		const struct ledger_item mark = {
			.name = ledger_place_of(ledger, module), .value = module->key, .kind = LEDGER_USED};

		if (!module->used || ledger_item(marks, mark.name))
			continue;
		if (marks->count == LEDGER_MAX_MARKS)
			keep_items(marks, &none, LEDGER_MAX_MARKS / 2);
		(void)ledger_put(NULL, marks, LEDGER_MAX_MARKS, &mark);
		file.ledger.changed = true;
	}
	(void)close_locked(NULL, &file, result);
}

size_t ledger_find_used(const struct ledger *ledger, struct plan *plan)
{
	size_t count = 0;

	for (size_t i = 0; ledger->marks.count && i < plan->module_count; i++) {
		const struct ledger_item *mark =
			ledger_item(&ledger->marks, ledger_place_of(ledger, &plan->modules[i]));

		plan->modules[i].used = mark && mark->kind == LEDGER_USED;
		count += plan->modules[i].used;
	}
	return count;
}

int ledger_change_marks(struct jw_error *err, const char *state_dir, const char *cache_dir,
						const struct ledger_change *change)
{
	const size_t most = LEDGER_MAX_MARKS, coming = change->mark_count;
	struct set gone = {0};
	struct locked_ledger file;
	struct ledger *ledger = &file.ledger;
	int result = open_locked(err, state_dir, cache_dir, &file);

	if (result)
		return close_locked(err, &file, result);
	/* The file is written only if something is new. */
	ledger->changed = coming > 0;
	for (size_t i = 0; i < change->cleared_count; i++) {
		set_add(&gone, change->cleared[i], i);
		if (ledger_item(&ledger->marks, change->cleared[i]))
			ledger->changed = true;
	}
	/* The oldest marks are dropped if the new ones do not fit beside them. */
	if (ledger->changed)
		keep_items(&ledger->marks, &gone, coming < most ? most - coming : 0);
	for (size_t i = 0; !result && i < coming; i++) {
		const struct ledger_new_mark *one = &change->marks[i];
		const struct ledger_item mark = {
			.name = one->module, .value = one->result, .kind = LEDGER_REFUSED};

		result = ledger_put(err, &ledger->marks, most, &mark);
	}
	set_free(&gone);
	return close_locked(err, &file, result);
}

uint64_t ledger_module(const struct plan_module *module)
{
	return module->key ? module->key ^ cache_identity_hash(&module->identity) : 0;
}

unsigned ledger_refused(const struct ledger *ledger, uint64_t module)
{
	const struct ledger_item *mark = module ? ledger_item(&ledger->marks, module) : NULL;

	return mark && mark->kind == LEDGER_REFUSED && mark->value <= UINT16_MAX &&
				   refusal_name((unsigned)mark->value)
			   ? (unsigned)mark->value
			   : 0;
}
