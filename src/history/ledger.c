#include "history/ledger.h"

#include <string.h>

#include "base/hash.h"
#include "base/mem.h"
#include "cache/presence.h"
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
	const struct ledger_record record = {place, key, ledger->epoch, stamp};

	if (known && known->key == key && known->stamp == stamp && known->epoch == record.epoch)
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

static void note_shape(struct ledger *ledger, const struct cache_shape *now)
{
	const enum cache_loss loss = cache_shape_compare(&ledger->shape, now);

	if (loss != CACHE_LOSS_NONE && loss != CACHE_LOSS_UNKNOWN) {
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
	struct cache_shape now;
	uint32_t stamp;

	if (!state_dir || !plan->cache_dir || !plan->profile.stamp[0])
		return;
	cache_shape_take(plan->cache_dir, &now);
	note_shape(ledger, &now);
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
		ledger.records[i].epoch = LEDGER_TAKEN_OUT;
		ledger.changed = true;
	}
	if (ledger.changed)
		save_ledger(&ledger, state_dir, cache_dir);
	ledger_close(&ledger);
}
