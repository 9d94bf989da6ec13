#include "history/ledger.h"

#include <string.h>

#include "base/hash.h"
#include "base/mem.h"
#include "cache/presence.h"
#include "cache/stamp.h"
#include "os/file.h"
#include "state/run_folder.h"

static const uint8_t magic[8] = {'J', 'W', 'L', 'E', 'D', 0, 2, 0};

enum {
	HEAD = sizeof magic + 12 + LEDGER_MOST_EPOCHS + 8 * (3 + CACHE_PARTS),
	RECORD = 24,
	SUM = 8,
};

static uint64_t hash_file(const struct plan_file *file)
{
	char *real = NULL;
	const char *path = os_real_path(NULL, file->path, &real) ? file->path : real;
	uint64_t state = fnv_update(FNV_START, path, strlen(path) + 1);

	if (file->member)
		state = fnv_update(state, file->member, strlen(file->member) + 1);
	mem_free(real);
	return state;
}

int ledger_begin(struct jw_error *err, struct ledger *ledger, const struct plan *plan)
{
	uint64_t *files = mem_array(err, plan->file_count, sizeof *files);

	if (!files)
		return -1;
	for (size_t i = 0; i < plan->file_count; i++)
		files[i] = hash_file(&plan->files[i]);
	mem_free(ledger->files);
	ledger->files = files;
	ledger->plan = plan;
	return 0;
}

static uint64_t place_of(const struct ledger *ledger, const struct plan_module *module)
{
	uint8_t rest[8 + 2 + 1];

	store_u64(rest, module->container_offset);
	store_u16(rest + 8, ledger->plan->targets[module->target].device.sm);
	rest[10] = (uint8_t)module->form;
	return fnv_update(ledger->files[module->file], rest, sizeof rest);
}

/* ---- records */

static int add_record(struct jw_error *err, struct ledger *ledger,
					  const struct ledger_record *record)
{
	if (VEC_ROOM(err, ledger->records, ledger->capacity, ledger->count, LEDGER_MOST_RECORDS) ||
		set_add(err, &ledger->by_place, record->place, ledger->count))
		return -1;
	ledger->records[ledger->count++] = *record;
	return 0;
}

static struct ledger_record *find(const struct ledger *ledger, uint64_t place)
{
	size_t cursor = 0, at = set_find(&ledger->by_place, place, &cursor);

	return at == SET_NONE ? NULL : &ledger->records[at];
}

const struct ledger_record *ledger_find(const struct ledger *ledger,
										const struct plan_module *module)
{
	return find(ledger, place_of(ledger, module));
}

size_t ledger_count(const struct ledger *ledger, enum ledger_kind kind)
{
	size_t count = 0;

	for (size_t i = 0; i < ledger->plan->module_count; i++) {
		const struct plan_module *module = &ledger->plan->modules[i];

		count += module->state == PLAN_WARM &&
				 ledger_marked(ledger, kind, ledger->plan->cache_dir, module->key) != NULL;
	}
	return count;
}

/* LEDGER_MOST_STAMPS where there is no room for another: nobody changes drivers so often. */
uint32_t ledger_stamp_number(struct ledger *ledger, const char *stamp)
{
	size_t i = 0;

	while (i < ledger->stamp_count && strcmp(ledger->stamps[i], stamp) != 0)
		i++;
	if (i == ledger->stamp_count && i < LEDGER_MOST_STAMPS) {
		memcpy(ledger->stamps[i], stamp, CACHE_STAMP_SIZE);
		ledger->stamp_count++;
	}
	return (uint32_t)i;
}

/* The older half goes, so that this is seldom done. */
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

static void note(struct ledger *ledger, uint64_t place, uint64_t key, uint8_t stamp)
{
	struct ledger_record *known = find(ledger, place);
	const struct ledger_record record = {place, key, ledger->epoch, stamp};

	if (known && known->key == key && known->stamp == stamp && known->epoch == record.epoch)
		return;
	if (known)
		*known = record;
	else {
		if (ledger->count == LEDGER_MOST_RECORDS)
			forget_old(ledger);
		(void)add_record(NULL, ledger, &record);
	}
	ledger->changed = true;
}

/* ---- epochs */

static bool ends_an_epoch(enum cache_loss loss)
{
	return loss != CACHE_LOSS_NONE && loss != CACHE_LOSS_UNKNOWN;
}

static void note_shape(struct ledger *ledger, const struct cache_shape *now)
{
	const enum cache_loss loss = cache_shape_compare(&ledger->shape, now);

	if (ends_an_epoch(loss)) {
		ledger->losses[ledger->epoch % LEDGER_MOST_EPOCHS] = (uint8_t)loss;
		ledger->epoch = ledger->epoch < LEDGER_TAKEN_OUT - 1 ? ledger->epoch + 1 : 0;
	}
	if (memcmp(&ledger->shape, now, sizeof *now) != 0) {
		ledger->shape = *now;
		ledger->changed = true;
	}
}

enum cache_loss ledger_loss(const struct ledger *ledger, const struct ledger_record *record,
							const struct cache_shape *now)
{
	if (record->epoch == ledger->epoch)
		return cache_shape_compare(&ledger->shape, now);
	if (record->epoch > ledger->epoch || ledger->epoch - record->epoch > LEDGER_MOST_EPOCHS)
		return CACHE_LOSS_UNSURE;
	return (enum cache_loss)ledger->losses[record->epoch % LEDGER_MOST_EPOCHS];
}

/* ---- the file */

static bool parse_records(struct ledger *ledger, struct cursor *at, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		const uint64_t place = cursor_u64(at), key = cursor_u64(at);
		const uint32_t rest = cursor_u32(at), epoch = cursor_u32(at);
		const struct ledger_record record = {place, key, epoch, (uint8_t)rest};

		if (at->overrun || rest >= ledger->stamp_count || find(ledger, place) ||
			add_record(NULL, ledger, &record))
			return false;
	}
	return true;
}

static bool parse_epochs(struct ledger *ledger, struct cursor *at)
{
	const uint32_t epoch = cursor_u32(at);
	const uint8_t *losses = cursor_take(at, LEDGER_MOST_EPOCHS);
	struct cache_shape shape;

	shape.folder = cursor_u64(at);
	shape.index = cursor_u64(at);
	shape.witness = cursor_u64(at);
	for (unsigned i = 0; i < CACHE_PARTS; i++)
		shape.parts[i] = cursor_u64(at);
	if (at->overrun || epoch == LEDGER_TAKEN_OUT)
		return false;
	for (unsigned i = 0; i < LEDGER_MOST_EPOCHS; i++)
		if (losses[i] > CACHE_LOSS_UNSURE)
			return false;
	memcpy(ledger->losses, losses, sizeof ledger->losses);
	ledger->epoch = epoch;
	ledger->shape = shape;
	return true;
}

void ledger_parse(struct ledger *ledger, const void *data, size_t size)
{
	struct cursor at = cursor_of(data, size);
	const uint8_t *start = cursor_take(&at, sizeof magic);
	uint32_t stamps = cursor_u32(&at), records = cursor_u32(&at);

	if (at.overrun || size < HEAD + SUM || memcmp(start, magic, sizeof magic) != 0 ||
		stamps > LEDGER_MOST_STAMPS || records > LEDGER_MOST_RECORDS ||
		fnv_update(FNV_START, data, size - SUM) != load_u64(at.end - SUM))
		return;
	at.end -= SUM;
	if (!parse_epochs(ledger, &at))
		return;
	for (uint32_t i = 0; i < stamps; i++) {
		const uint8_t *stamp = cursor_take(&at, CACHE_STAMP_SIZE);

		if (!stamp)
			return;
		memcpy(ledger->stamps[ledger->stamp_count], stamp, CACHE_STAMP_SIZE);
		if (!stamp_is(ledger->stamps[ledger->stamp_count++]))
			return;
	}
	if (!parse_records(ledger, &at, records))
		return;
	for (unsigned kind = 0; kind < LEDGER_KINDS && cursor_left(&at); kind++)
		if (!ledger_parse_marks(ledger, (enum ledger_kind)kind, &at))
			return;
}

static void format_head(const struct ledger *ledger, uint8_t head[HEAD])
{
	const struct cache_shape *shape = &ledger->shape;
	uint8_t *at = head + sizeof magic;

	memcpy(head, magic, sizeof magic);
	store_u32(at, (uint32_t)ledger->stamp_count);
	store_u32(at + 4, (uint32_t)ledger->count);
	store_u32(at + 8, ledger->epoch);
	memcpy(at + 12, ledger->losses, LEDGER_MOST_EPOCHS);
	at += 12 + LEDGER_MOST_EPOCHS;
	store_u64(at, shape->folder);
	store_u64(at + 8, shape->index);
	store_u64(at + 16, shape->witness);
	for (unsigned i = 0; i < CACHE_PARTS; i++)
		store_u64(at + 24 + 8 * (size_t)i, shape->parts[i]);
}

int ledger_format(struct jw_error *err, const struct ledger *ledger, struct buf *bytes)
{
	uint8_t head[HEAD], number[RECORD];

	format_head(ledger, head);
	if (buf_append(err, bytes, head, sizeof head))
		return -1;
	for (size_t i = 0; i < ledger->stamp_count; i++)
		if (buf_append(err, bytes, ledger->stamps[i], CACHE_STAMP_SIZE))
			return -1;
	for (size_t i = 0; i < ledger->count; i++) {
		store_u64(number, ledger->records[i].place);
		store_u64(number + 8, ledger->records[i].key);
		store_u32(number + 16, ledger->records[i].stamp);
		store_u32(number + 20, ledger->records[i].epoch);
		if (buf_append(err, bytes, number, RECORD))
			return -1;
	}
	if (ledger_format_marks(err, ledger, bytes))
		return -1;
	store_u64(number, fnv_update(FNV_START, bytes->data, bytes->size));
	return buf_append(err, bytes, number, SUM);
}

const char *ledger_home(const struct jw_system *system)
{
	return system->scratch ? system->scratch->path : system->state_dir;
}

char *ledger_file(const char *state_dir, const char *cache_dir)
{
	if (!state_dir || !cache_dir)
		return NULL;
	return mem_printf(NULL, "%s/ledger-%016llx", state_dir,
					  (unsigned long long)fnv_update(FNV_START, cache_dir, strlen(cache_dir)));
}

void ledger_open(struct ledger *ledger, const char *state_dir, const char *cache_dir)
{
	char *path = ledger_file(state_dir, cache_dir);
	struct buf bytes = {0};

	*ledger = (struct ledger){0};
	if (path && !os_read_file(NULL, path, LEDGER_MOST_BYTES, &bytes))
		ledger_parse(ledger, bytes.data, bytes.size);
	buf_free(&bytes);
	mem_free(path);
}

void ledger_close(struct ledger *ledger)
{
	mem_free(ledger->files);
	mem_free(ledger->records);
	ledger_free_marks(ledger);
	set_free(&ledger->by_place);
	*ledger = (struct ledger){0};
}

int ledger_write(struct jw_error *err, const struct ledger *ledger, const char *path)
{
	struct buf bytes = BUF_MAX(LEDGER_MOST_BYTES);
	int result =
		ledger_format(err, ledger, &bytes) || os_write_atomic(err, path, bytes.data, bytes.size)
			? -1
			: 0;

	buf_free(&bytes);
	return result;
}

static void save(struct ledger *ledger, const char *state_dir, const char *cache_dir)
{
	char *path = ledger_file(state_dir, cache_dir);
	struct os_file *lock = NULL;

	if (path && !os_make_dirs(NULL, state_dir, 0700)) {
		lock = ledger_lock(state_dir);
		ledger_reread_marks(ledger, path);
		(void)ledger_write(NULL, ledger, path);
	}
	os_file_close(lock);
	mem_free(path);
}

static bool is_made(const struct plan *plan, const struct plan_module *module)
{
	return module->state == PLAN_COLD && module->key &&
		   cache_presence(plan->cache_dir, module->key, module->key_bytes, NULL) == CACHE_PRESENT;
}

void ledger_note(struct ledger *ledger, const char *state_dir, bool look_again)
{
	const struct plan *plan = ledger->plan;
	struct cache_shape now;
	uint32_t stamp;

	if (!state_dir || !plan->cache_dir || !plan->profile.stamp[0])
		return;
	cache_shape_take(plan->cache_dir, &now);
	note_shape(ledger, &now);
	stamp = ledger_stamp_number(ledger, plan->profile.stamp);
	for (size_t i = 0; stamp < LEDGER_MOST_STAMPS && i < plan->module_count; i++) {
		const struct plan_module *module = &plan->modules[i];

		if (module->state == PLAN_WARM || (look_again && is_made(plan, module)))
			note(ledger, place_of(ledger, module), module->key, (uint8_t)stamp);
	}
	if (ledger->changed)
		save(ledger, state_dir, plan->cache_dir);
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
		ledger.records[i].epoch = LEDGER_TAKEN_OUT;
		ledger.changed = true;
	}
	if (ledger.changed)
		save(&ledger, state_dir, cache_dir);
	ledger_close(&ledger);
}
