/* The part of ledger.h that is about entries with other bytes than the driver's own. */
#include <string.h>

#include <uv.h>

#include "base/mem.h"
#include "cache/presence.h"
#include "history/ledger.h"
#include "os/file.h"

enum { MARK = 20 };
/* Whoever has the lock writes some megabytes. */
enum { LOCK_TRIES = 100, LOCK_EVERY_MS = 20 };

/* ---- in memory */

static int add_mark(struct jw_error *err, struct ledger_marks *marks,
					const struct ledger_mark *mark)
{
	if (VEC_ROOM(err, marks->items, marks->capacity, marks->count, LEDGER_MOST_MARKS) ||
		set_add(err, &marks->by_key, mark->key, marks->count))
		return -1;
	marks->items[marks->count++] = *mark;
	return 0;
}

static struct ledger_mark *find(const struct ledger_marks *marks, uint64_t key)
{
	size_t cursor = 0, at = set_find(&marks->by_key, key, &cursor);

	return at == SET_NONE ? NULL : &marks->items[at];
}

static void free_marks(struct ledger_marks *marks)
{
	mem_free(marks->items);
	set_free(&marks->by_key);
	*marks = (struct ledger_marks){0};
}

void ledger_free_marks(struct ledger *ledger)
{
	for (unsigned kind = 0; kind < LEDGER_KINDS; kind++)
		free_marks(&ledger->marks[kind]);
}

/* Drops those of `gone`, and of the others all but the newest `most`. */
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
		result = add_mark(err, marks, &items[i]);
	mem_free(items);
	return result;
}

const struct ledger_mark *ledger_marked(const struct ledger *ledger, enum ledger_kind kind,
										const char *cache_dir, uint64_t key)
{
	const struct ledger_mark *mark = find(&ledger->marks[kind], key);
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

size_t ledger_count_marked(const struct ledger *ledger, enum ledger_kind kind,
						   const char *cache_dir)
{
	const struct ledger_marks *marks = &ledger->marks[kind];
	size_t count = 0;

	for (size_t i = 0; i < marks->count; i++)
		count += ledger_marked(ledger, kind, cache_dir, marks->items[i].key) != NULL;
	return count;
}

/* ---- in the file */

bool ledger_parse_marks(struct ledger *ledger, enum ledger_kind kind, struct cursor *at)
{
	struct ledger_marks *marks = &ledger->marks[kind];
	uint32_t count = cursor_u32(at);

	if (at->overrun || count > LEDGER_MOST_MARKS)
		return false;
	for (uint32_t i = 0; i < count; i++) {
		struct ledger_mark mark;

		mark.key = cursor_u64(at);
		mark.checksum = cursor_u64(at);
		mark.stamp = cursor_u32(at);
		if (at->overrun || (mark.stamp >= ledger->stamp_count && mark.stamp != LEDGER_NO_STAMP) ||
			find(marks, mark.key) || add_mark(NULL, marks, &mark))
			return false;
	}
	return true;
}

static int format_marks(struct jw_error *err, const struct ledger_marks *marks, struct buf *bytes)
{
	uint8_t number[MARK];

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

/* None behind the last kind of which there are any. */
int ledger_format_marks(struct jw_error *err, const struct ledger *ledger, struct buf *bytes)
{
	unsigned kinds = LEDGER_KINDS;

	while (kinds && !ledger->marks[kinds - 1].count)
		kinds--;
	for (unsigned kind = 0; kind < kinds; kind++)
		if (format_marks(err, &ledger->marks[kind], bytes))
			return -1;
	return 0;
}

struct os_file *ledger_lock(const char *state_dir)
{
	char *path = os_join(NULL, state_dir, "ledger-lock");
	struct os_file *file = NULL;
	bool held = false;

	if (!path || os_file_open(NULL, path, OS_OPEN_CREATE, &file)) {
		mem_free(path);
		return NULL;
	}
	mem_free(path);
	for (int tries = 0; !held && tries < LOCK_TRIES; tries++) {
		if (os_file_lock(NULL, file, true, &held))
			break;
		if (!held)
			uv_sleep(LOCK_EVERY_MS);
	}
	if (held)
		return file;
	os_file_close(file);
	return NULL;
}

static void read_file(struct ledger *ledger, const char *path)
{
	struct buf bytes = {0};

	*ledger = (struct ledger){0};
	if (!os_read_file(NULL, path, LEDGER_MOST_BYTES, &bytes))
		ledger_parse(ledger, bytes.data, bytes.size);
	buf_free(&bytes);
}

static void replace_mark(struct ledger_marks *marks, const struct ledger_mark *mark)
{
	struct ledger_mark *known = find(marks, mark->key);

	if (known)
		*known = *mark;
	else
		(void)add_mark(NULL, marks, mark);
}

static uint32_t number_of(struct ledger *ledger, const char *stamp)
{
	uint32_t number = stamp && *stamp ? ledger_stamp_number(ledger, stamp) : LEDGER_NO_STAMP;

	return number < LEDGER_MOST_STAMPS ? number : LEDGER_NO_STAMP;
}

void ledger_reread_marks(struct ledger *ledger, const char *path)
{
	struct ledger file;

	read_file(&file, path);
	ledger_free_marks(ledger);
	for (unsigned kind = 0; kind < LEDGER_KINDS; kind++) {
		for (size_t i = 0; i < file.marks[kind].count; i++) {
			struct ledger_mark mark = file.marks[kind].items[i];

			mark.stamp = number_of(ledger, ledger_mark_stamp(&file, &mark));
			replace_mark(&ledger->marks[kind], &mark);
		}
	}
	ledger_close(&file);
}

/* Whether there is anything to write. */
static bool is_news(const struct ledger *ledger, const struct ledger_change *change)
{
	bool news = change->mark_count > 0;

	for (unsigned kind = 0; kind < LEDGER_KINDS; kind++)
		for (size_t i = 0; !news && i < change->cleared_count[kind]; i++)
			news = find(&ledger->marks[kind], change->cleared[kind][i]) != NULL;
	return news;
}

/* Those that are cleared go, and the oldest for which there is no room beside the new ones. */
static int make_room(struct jw_error *err, struct ledger *ledger, enum ledger_kind kind,
					 const struct ledger_change *change)
{
	const size_t most = LEDGER_MOST_MARKS;
	struct set gone = {0};
	size_t coming = 0;
	int result = 0;

	for (size_t i = 0; i < change->mark_count; i++)
		coming += change->marks[i].kind == kind;
	for (size_t i = 0; !result && i < change->cleared_count[kind]; i++)
		result = set_add(err, &gone, change->cleared[kind][i], i);
	if (!result)
		result = keep_marks(err, &ledger->marks[kind], &gone, coming < most ? most - coming : 0);
	set_free(&gone);
	return result;
}

static int apply(struct jw_error *err, struct ledger *ledger, const struct ledger_change *change)
{
	for (unsigned kind = 0; kind < LEDGER_KINDS; kind++)
		if (make_room(err, ledger, (enum ledger_kind)kind, change))
			return -1;
	for (size_t i = 0; i < change->mark_count; i++) {
		const struct ledger_new_mark *one = &change->marks[i];
		const struct ledger_mark mark = {one->key, one->checksum, number_of(ledger, one->stamp)};

		replace_mark(&ledger->marks[one->kind], &mark);
	}
	return 0;
}

int ledger_change_marks(struct jw_error *err, const char *state_dir, const char *cache_dir,
						const struct ledger_change *change)
{
	char *path = ledger_file(state_dir, cache_dir);
	struct os_file *lock = NULL;
	struct ledger ledger;
	int result = -1;

	if (!path)
		return error_set(err, JW_ERR_NOT_FOUND,
						 "this account has no folder in which to remember it (JITWARM_STATE)");
	if (os_make_dirs(err, state_dir, 0700)) {
		mem_free(path);
		return -1;
	}
	lock = ledger_lock(state_dir);
	read_file(&ledger, path);
	result = is_news(&ledger, change)
				 ? apply(err, &ledger, change) || ledger_write(err, &ledger, path) ? -1 : 0
				 : 0;
	ledger_close(&ledger);
	os_file_close(lock);
	mem_free(path);
	return result;
}
