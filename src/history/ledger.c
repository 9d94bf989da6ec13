#include "history/ledger.h"

#include <string.h>

#include <jitwarm/marks.h>

#include "base/hash.h"
#include "base/mem.h"
#include "cache/entry.h"
#include "os/file.h"

static int hash_file(struct jw_error *err, const struct plan_file *file, uint64_t *ret_hash)
{
	struct jw_error why = {0};
	char *real = NULL;
	const char *path = os_real_path(&why, file->path, &real) ? file->path : real;
	uint64_t state = fnv_update(FNV_START, path, strlen(path) + 1);

	if (file->member)
		state = fnv_update(state, file->member, strlen(file->member) + 1);
	mem_free(real);
	*ret_hash = state;
	return error_if_memory(err, &why);
}

int ledger_begin(struct jw_error *err, struct ledger *ledger, const struct plan *plan)
{
	uint64_t *files = mem_array(err, plan->file_count, sizeof *files);

	if (!files)
		return -1;
	for (size_t i = 0; i < plan->file_count; i++)
		if (hash_file(err, &plan->files[i], &files[i])) {
			mem_free(files);
			return -1;
		}
	mem_free(ledger->files);
	ledger->files = files;
	ledger->plan = plan;
	return 0;
}

static uint64_t ledger_place_of(const struct ledger *ledger, const struct plan_module *module)
{
	uint8_t rest[8 + 2 + 1];

	store_u64(rest, module->container_offset);
	store_u16(rest + 8, ledger->plan->targets[module->target].device.sm);
	rest[10] = (uint8_t)module->form;
	return fnv_update(ledger->files[module->file], rest, sizeof rest);
}

const struct ledger_record *ledger_find(const struct ledger *ledger,
										const struct plan_module *module)
{
	return ledger_at(ledger, ledger_place_of(ledger, module));
}

/* Drops the older half, so that this happens seldom. */
static void forget_old(struct ledger *ledger)
{
	const size_t half = ledger->count / 2;
	struct set fresh = {0};

	memmove(ledger->records, ledger->records + half,
			(ledger->count - half) * sizeof *ledger->records);
	ledger->count -= half;
	for (size_t i = 0; i < ledger->count; i++)
		(void)set_add(NULL, &fresh, ledger->records[i].place, i);
	set_free(&ledger->by_place);
	ledger->by_place = fresh;
}

static void note_record(struct ledger *ledger, uint64_t place, uint64_t key, uint8_t stamp)
{
	struct ledger_record *known = ledger_at(ledger, place);
	const struct ledger_record record = {.place = place, .key = key, .stamp = stamp};

	if (known && known->key == key && known->stamp == stamp && !known->taken_out)
		return;
	if (known)
		*known = record;
	else {
		if (ledger->count == LEDGER_MOST_RECORDS)
			forget_old(ledger);
		(void)ledger_add(NULL, ledger, &record);
	}
	ledger->changed = true;
}

static void save_ledger(struct ledger *ledger, const char *state_dir, const char *cache_dir)
{
	char *path = ledger_file(NULL, state_dir, cache_dir);
	struct os_file *lock = NULL;

	if (path && !os_make_dirs(NULL, state_dir, 0700) && !ledger_lock(NULL, state_dir, &lock)) {
		ledger_reread_marks(ledger, path);
		(void)ledger_write(NULL, ledger, path);
	}
	os_file_close(lock);
	mem_free(path);
}

/* A driver that was once seen here is no other machine's alone. */
static uint32_t note_stamp(struct ledger *ledger, const char *stamp)
{
	const size_t known = ledger->stamp_count;
	const uint32_t number = ledger_stamp_number(ledger, stamp);

	if (number < LEDGER_MOST_STAMPS && ledger->ahead[number] != ledger->elsewhere &&
		(number == known || !ledger->elsewhere)) {
		ledger->ahead[number] = ledger->elsewhere;
		ledger->changed = true;
	}
	return number;
}

static bool is_made(const struct plan *plan, const struct plan_module *module)
{
	return module->state == PLAN_COLD && module->key &&
		   cache_presence(plan->cache_dir, module->key, module->key_bytes, NULL) == CACHE_PRESENT;
}

void ledger_note(struct ledger *ledger, const char *state_dir, bool look_again)
{
	const struct plan *plan = ledger->plan;
	uint32_t stamp;

	if (!state_dir || !plan->cache_dir || !plan->profile.stamp[0])
		return;
	stamp = note_stamp(ledger, plan->profile.stamp);
	for (size_t i = 0; stamp < LEDGER_MOST_STAMPS && i < plan->module_count; i++) {
		const struct plan_module *module = &plan->modules[i];

		if (module->state == PLAN_WARM || (look_again && is_made(plan, module)))
			note_record(ledger, ledger_place_of(ledger, module), module->key, (uint8_t)stamp);
	}
	if (ledger->changed)
		save_ledger(ledger, state_dir, plan->cache_dir);
	ledger->changed = false;
}

void ledger_note_taken_out(const char *state_dir, const char *cache_dir, const struct set *keys)
{
	struct ledger ledger;

	ledger_open(&ledger, state_dir, cache_dir);
	for (size_t i = 0; i < ledger.count; i++) {
		size_t cursor = 0;

		if (set_find(keys, ledger.records[i].key, &cursor) == SET_NONE)
			continue;
		ledger.records[i].taken_out = true;
		ledger.changed = true;
	}
	if (ledger.changed)
		save_ledger(&ledger, state_dir, cache_dir);
	ledger_close(&ledger);
}

/* Changing the marks of a ledger's file. */

/* Drops the marks of `gone`, and of the others all but the newest `most`. */
static int keep_marks(struct jw_error *err, struct ledger_marks *marks, const struct set *gone,
					  size_t most)
{
	struct ledger_mark *items = marks->items;
	const size_t count = marks->count;
	size_t left = 0, cursor;
	int result = 0;

	for (size_t i = 0; i < count; i++) {
		cursor = 0;
		if (set_find(gone, items[i].key, &cursor) == SET_NONE)
			items[left++] = items[i];
	}
	set_free(&marks->by_key);
	*marks = (struct ledger_marks){0};
	for (size_t i = left > most ? left - most : 0; !result && i < left; i++)
		result = ledger_mark_add(err, marks, &items[i]);
	mem_free(items);
	return result;
}

/* Whether there is anything to write. */
static bool is_news(const struct ledger *ledger, const struct ledger_change *change)
{
	bool news = change->mark_count > 0;

	for (size_t i = 0; !news && i < change->cleared_count; i++)
		news = ledger_mark_find(&ledger->marks, change->cleared[i]) != NULL;
	return news;
}

/* Drops the cleared marks, and the oldest ones if the new ones do not fit beside them. */
static int drop_marks_for(struct jw_error *err, struct ledger *ledger,
						  const struct ledger_change *change)
{
	const size_t most = LEDGER_MOST_MARKS, coming = change->mark_count;
	struct set gone = {0};
	int result = 0;

	for (size_t i = 0; !result && i < change->cleared_count; i++)
		result = set_add(err, &gone, change->cleared[i], i);
	if (!result)
		result = keep_marks(err, &ledger->marks, &gone, coming < most ? most - coming : 0);
	set_free(&gone);
	return result;
}

static int apply_change(struct jw_error *err, struct ledger *ledger,
						const struct ledger_change *change)
{
	if (drop_marks_for(err, ledger, change))
		return -1;
	for (size_t i = 0; i < change->mark_count; i++) {
		const struct ledger_new_mark *one = &change->marks[i];
		const struct ledger_mark mark = {one->key, one->checksum,
										 ledger_mark_number(ledger, one->stamp)};

		if (ledger_mark_put(err, &ledger->marks, &mark))
			return -1;
	}
	return 0;
}

int ledger_change_marks(struct jw_error *err, const char *state_dir, const char *cache_dir,
						const struct ledger_change *change)
{
	char *path = ledger_file(err, state_dir, cache_dir);
	struct os_file *lock = NULL;
	struct ledger ledger;
	int result = -1;

	if (!path)
		return -1;
	if (os_make_dirs(err, state_dir, 0700) || ledger_lock(err, state_dir, &lock)) {
		mem_free(path);
		return -1;
	}
	ledger_read(&ledger, path);
	result = is_news(&ledger, change)
				 ? apply_change(err, &ledger, change) || ledger_write(err, &ledger, path) ? -1 : 0
				 : 0;
	ledger_close(&ledger);
	os_file_close(lock);
	mem_free(path);
	return result;
}

/* Marks of entries whose bytes are not the driver's own, in memory and in a ledger's bytes. */

enum { MARK = 20 };

int ledger_mark_add(struct jw_error *err, struct ledger_marks *marks,
					const struct ledger_mark *mark)
{
	if (VEC_ROOM(err, marks->items, marks->capacity, marks->count, LEDGER_MOST_MARKS) ||
		set_add(err, &marks->by_key, mark->key, marks->count))
		return -1;
	marks->items[marks->count++] = *mark;
	return 0;
}

struct ledger_mark *ledger_mark_find(const struct ledger_marks *marks, uint64_t key)
{
	size_t cursor = 0, at = set_find(&marks->by_key, key, &cursor);

	return at == SET_NONE ? NULL : &marks->items[at];
}

void ledger_free_marks(struct ledger *ledger)
{
	mem_free(ledger->marks.items);
	set_free(&ledger->marks.by_key);
	ledger->marks = (struct ledger_marks){0};
}

const struct ledger_mark *ledger_marked(const struct ledger *ledger, const char *cache_dir,
										uint64_t key)
{
	const struct ledger_mark *mark = ledger_mark_find(&ledger->marks, key);
	struct cache_probed probed;

	if (!mark || !cache_dir || cache_presence(cache_dir, key, 0, &probed) != CACHE_PRESENT ||
		probed.checksum != mark->checksum)
		return NULL;
	return mark;
}

const char *ledger_mark_stamp(const struct ledger *ledger, const struct ledger_mark *mark)
{
	return mark->stamp < ledger->stamp_count ? ledger->stamps[mark->stamp] : "";
}

size_t ledger_count_marked(const struct ledger *ledger, const char *cache_dir)
{
	const struct ledger_marks *marks = &ledger->marks;
	size_t count = 0;

	for (size_t i = 0; i < marks->count; i++)
		count += ledger_marked(ledger, cache_dir, marks->items[i].key) != NULL;
	return count;
}

int ledger_mark_put(struct jw_error *err, struct ledger_marks *marks,
					const struct ledger_mark *mark)
{
	struct ledger_mark *known = ledger_mark_find(marks, mark->key);

	if (!known)
		return ledger_mark_add(err, marks, mark);
	*known = *mark;
	return 0;
}

void ledger_parse_marks(struct ledger *ledger, struct cursor *at)
{
	struct ledger_marks *marks = &ledger->marks;
	uint32_t count = cursor_u32(at);

	if (at->overrun || count > LEDGER_MOST_MARKS)
		return;
	for (uint32_t i = 0; i < count; i++) {
		struct ledger_mark mark;

		mark.key = cursor_u64(at);
		mark.checksum = cursor_u64(at);
		mark.stamp = cursor_u32(at);
		if (at->overrun || (mark.stamp >= ledger->stamp_count && mark.stamp != LEDGER_NO_STAMP) ||
			ledger_mark_find(marks, mark.key))
			return;
		ledger->partial = ledger_mark_add(NULL, marks, &mark) != 0;
		if (ledger->partial)
			return;
	}
}

int ledger_format_marks(struct jw_error *err, const struct ledger *ledger, struct buf *bytes)
{
	const struct ledger_marks *marks = &ledger->marks;
	uint8_t number[MARK];

	if (!marks->count)
		return 0;
	store_u32(number, (uint32_t)marks->count);
	if (buf_append(err, bytes, number, 4))
		return -1;
	for (size_t i = 0; i < marks->count; i++) {
		store_u64(number, marks->items[i].key);
		store_u64(number + 8, marks->items[i].checksum);
		store_u32(number + 16, marks->items[i].stamp);
		if (buf_append(err, bytes, number, MARK))
			return -1;
	}
	return 0;
}

struct jw_marks {
	struct ledger ledger;
	char *cache_dir;
};

int jw_marks_open(struct jw_error *err, const char *state_dir, const char *cache_dir,
				  struct jw_marks **ret_marks)
{
	struct jw_marks *marks = mem_alloc(err, sizeof *marks);

	if (!marks)
		return -1;
	marks->cache_dir = mem_string(err, cache_dir);
	if (!marks->cache_dir) {
		mem_free(marks);
		return -1;
	}
	ledger_open(&marks->ledger, state_dir, cache_dir);
	*ret_marks = marks;
	return 0;
}

void jw_marks_close(struct jw_marks *marks)
{
	if (!marks)
		return;
	ledger_close(&marks->ledger);
	mem_free(marks->cache_dir);
	mem_free(marks);
}

bool jw_marks_has(const struct jw_marks *marks, uint64_t key)
{
	return ledger_marked(&marks->ledger, marks->cache_dir, key) != NULL;
}

size_t jw_marks_count(const struct jw_marks *marks)
{
	return ledger_count_marked(&marks->ledger, marks->cache_dir);
}
