/* A ledger's file: its bytes, and a lock that admits one writer at a time. */
#include <string.h>

#include <uv.h>

#include "base/hash.h"
#include "base/mem.h"
#include "cache/stamp.h"
#include "history/ledger.h"
#include "os/file.h"
#include "state/run_folder.h"

/* The holder of the lock writes some megabytes. */
enum { LOCK_TRIES = 100, LOCK_EVERY_MS = 20 };

static const uint8_t magic[8] = {'J', 'W', 'L', 'E', 'D', 0, 2, 0};

enum {
	RESERVED = 172,
	HEAD = sizeof magic + 8 + RESERVED,
	RECORD = 24,
	SUM = 8,
	AHEAD = 0x80,
};

int ledger_add(struct jw_error *err, struct ledger *ledger, const struct ledger_record *record)
{
	if (VEC_ROOM(err, ledger->records, ledger->capacity, ledger->count, LEDGER_MOST_RECORDS) ||
		set_add(err, &ledger->by_place, record->place, ledger->count))
		return -1;
	ledger->records[ledger->count++] = *record;
	return 0;
}

struct ledger_record *ledger_at(const struct ledger *ledger, uint64_t place)
{
	size_t cursor = 0, at = set_find(&ledger->by_place, place, &cursor);

	return at == SET_NONE ? NULL : &ledger->records[at];
}

/* LEDGER_MOST_STAMPS if there is no room for another: machines change drivers less often. */
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

uint32_t ledger_mark_number(struct ledger *ledger, const char *stamp)
{
	uint32_t number = stamp && *stamp ? ledger_stamp_number(ledger, stamp) : LEDGER_NO_STAMP;

	return number < LEDGER_MOST_STAMPS ? number : LEDGER_NO_STAMP;
}

static bool parse_ledger_records(struct ledger *ledger, struct cursor *at, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		const uint64_t place = cursor_u64(at), key = cursor_u64(at);
		const uint32_t rest = cursor_u32(at), taken_out = cursor_u32(at);
		const struct ledger_record record = {place, key, (uint8_t)rest,
											 taken_out == LEDGER_TAKEN_OUT};

		if (at->overrun || rest >= ledger->stamp_count || ledger_at(ledger, place))
			return false;
		ledger->partial = ledger_add(NULL, ledger, &record) != 0;
		if (ledger->partial)
			return false;
	}
	return true;
}

void ledger_parse(struct ledger *ledger, const void *data, size_t size)
{
	struct cursor at = cursor_of(data, size);
	const uint8_t *start = cursor_take(&at, sizeof magic);
	uint32_t stamps = cursor_u32(&at), records = cursor_u32(&at);

	if (size < HEAD + SUM || memcmp(start, magic, sizeof magic) != 0 ||
		stamps > LEDGER_MOST_STAMPS || records > LEDGER_MOST_RECORDS ||
		fnv_update(FNV_START, data, size - SUM) != load_u64(at.end - SUM))
		return;
	at.end -= SUM;
	(void)cursor_take(&at, RESERVED);
	for (uint32_t i = 0; i < stamps; i++) {
		const uint8_t *stamp = cursor_take(&at, CACHE_STAMP_SIZE);

		if (!stamp)
			return;
		memcpy(ledger->stamps[i], stamp, CACHE_STAMP_SIZE);
		ledger->ahead[i] = *stamp & AHEAD;
		ledger->stamps[i][0] = (char)(*stamp & ~AHEAD);
		ledger->stamp_count++;
		if (!stamp_is(ledger->stamps[i]))
			return;
	}
	if (parse_ledger_records(ledger, &at, records) && cursor_left(&at))
		ledger_parse_marks(ledger, &at);
}

int ledger_format(struct jw_error *err, const struct ledger *ledger, struct buf *bytes)
{
	uint8_t head[HEAD] = {0}, number[RECORD];

	memcpy(head, magic, sizeof magic);
	store_u32(head + sizeof magic, (uint32_t)ledger->stamp_count);
	store_u32(head + sizeof magic + 4, (uint32_t)ledger->count);
	if (buf_append(err, bytes, head, sizeof head))
		return -1;
	for (size_t i = 0; i < ledger->stamp_count; i++) {
		memcpy(number, ledger->stamps[i], CACHE_STAMP_SIZE);
		number[0] |= ledger->ahead[i] ? AHEAD : 0;
		if (buf_append(err, bytes, number, CACHE_STAMP_SIZE))
			return -1;
	}
	for (size_t i = 0; i < ledger->count; i++) {
		store_u64(number, ledger->records[i].place);
		store_u64(number + 8, ledger->records[i].key);
		store_u32(number + 16, ledger->records[i].stamp);
		store_u32(number + 20, ledger->records[i].taken_out ? LEDGER_TAKEN_OUT : 0);
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

char *ledger_file(struct jw_error *err, const char *state_dir, const char *cache_dir)
{
	if (!state_dir || !cache_dir) {
		error_set(err, JW_ERR_NOT_FOUND,
				  "this account has no folder in which to remember it (JITWARM_STATE)");
		return NULL;
	}
	return mem_printf(err, "%s/ledger-%016llx", state_dir,
					  (unsigned long long)fnv_update(FNV_START, cache_dir, strlen(cache_dir)));
}

void ledger_read(struct ledger *ledger, const char *path)
{
	struct jw_error why = {0};
	struct buf bytes = {0};

	*ledger = (struct ledger){0};
	if (!os_read_file(&why, path, LEDGER_MOST_BYTES, &bytes))
		ledger_parse(ledger, bytes.data, bytes.size);
	else
		ledger->partial = os_holds_nothing(NULL, path, &why) != 0;
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
	mem_free(ledger->records);
	ledger_free_marks(ledger);
	set_free(&ledger->by_place);
	*ledger = (struct ledger){0};
}

int ledger_write(struct jw_error *err, const struct ledger *ledger, const char *path)
{
	struct buf bytes = BUF_MAX(LEDGER_MOST_BYTES);
	int result;

	if (ledger->partial)
		return error_set(err, JW_ERR_IO, "%s: cannot be read, and stays as it is", path);
	result =
		ledger_format(err, ledger, &bytes) || os_write_atomic(err, path, bytes.data, bytes.size)
			? -1
			: 0;

	buf_free(&bytes);
	return result;
}

int ledger_lock(struct jw_error *err, const char *state_dir, struct os_file **ret_lock)
{
	char *path = os_join(err, state_dir, "ledger-lock");
	struct os_file *file = NULL;
	bool held = false, works = true;
	int result = -1;

	if (!path || os_file_open(err, path, OS_OPEN_CREATE, &file))
		goto done;
	for (int tries = 0; works && !held && tries < LOCK_TRIES; tries++) {
		if (tries)
			uv_sleep(LOCK_EVERY_MS);
		works = !os_file_lock(NULL, file, true, &held);
	}
	if (works && !held) {
		error_set(err, JW_ERR_BUSY, "%s: another jitwarm holds it", path);
	} else {
		*ret_lock = held ? file : NULL;
		result = 0;
	}
done:
	if (result || !held)
		os_file_close(file);
	mem_free(path);
	return result;
}

void ledger_reread_marks(struct ledger *ledger, const char *path)
{
	struct ledger file;

	ledger_read(&file, path);
	ledger_free_marks(ledger);
	for (size_t i = 0; i < file.marks.count; i++) {
		struct ledger_mark mark = file.marks.items[i];

		mark.stamp = ledger_mark_number(ledger, ledger_mark_stamp(&file, &mark));
		(void)ledger_mark_put(NULL, &ledger->marks, &mark);
	}
	ledger->partial = ledger->partial || file.partial || ledger->marks.count != file.marks.count;
	ledger_close(&file);
}
