/* The part of ledger.h that is about what was carried over. */
#include <string.h>

#include <uv.h>

#include "base/mem.h"
#include "cache/probe.h"
#include "os/file.h"
#include "prime/ledger.h"

enum { MARK = 20 };
/* Whoever has the lock writes some megabytes. */
enum { LOCK_TRIES = 100, LOCK_EVERY_MS = 20 };

/* ---- in memory */

static int add_mark(struct jw_error *err, struct ledger *ledger, const struct ledger_mark *mark)
{
	if (VEC_ROOM(err, ledger->marks, ledger->mark_capacity, ledger->mark_count,
				 LEDGER_MOST_MARKS) ||
		set_add(err, &ledger->by_key, mark->key, ledger->mark_count))
		return -1;
	ledger->marks[ledger->mark_count++] = *mark;
	return 0;
}

static struct ledger_mark *find(const struct ledger *ledger, uint64_t key)
{
	size_t cursor = 0, at = set_find(&ledger->by_key, key, &cursor);

	return at == SET_NONE ? NULL : &ledger->marks[at];
}

/* Drops those of `gone`, and of the others all but the newest `most`. */
static int keep_marks(struct jw_error *err, struct ledger *ledger, const struct set *gone,
					  size_t most)
{
	struct ledger_mark *marks = ledger->marks;
	const size_t count = ledger->mark_count;
	size_t left = 0, cursor;
	int result = 0;

	for (size_t i = 0; i < count; i++) {
		cursor = 0;
		if (set_find(gone, marks[i].key, &cursor) == SET_NONE)
			marks[left++] = marks[i];
	}
	set_free(&ledger->by_key);
	ledger->by_key = (struct set){0};
	ledger->marks = NULL;
	ledger->mark_count = ledger->mark_capacity = 0;
	for (size_t i = left > most ? left - most : 0; !result && i < left; i++)
		result = add_mark(err, ledger, &marks[i]);
	mem_free(marks);
	return result;
}

const struct ledger_mark *ledger_marked(const struct ledger *ledger, const char *cache_dir,
										uint64_t key)
{
	const struct ledger_mark *mark = find(ledger, key);
	struct cache_probed probed;

	if (!mark || !cache_dir || cache_probe(cache_dir, key, 0, &probed) != CACHE_PRESENT ||
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
	size_t count = 0;

	for (size_t i = 0; i < ledger->mark_count; i++)
		count += ledger_marked(ledger, cache_dir, ledger->marks[i].key) != NULL;
	return count;
}

/* ---- in the file */

void ledger_parse_marks(struct ledger *ledger, struct cursor *at)
{
	uint32_t count = cursor_u32(at);

	if (at->overrun || count > LEDGER_MOST_MARKS)
		return;
	for (uint32_t i = 0; i < count; i++) {
		struct ledger_mark mark;

		mark.key = cursor_u64(at);
		mark.checksum = cursor_u64(at);
		mark.stamp = cursor_u32(at);
		if (at->overrun || (mark.stamp >= ledger->stamp_count && mark.stamp != LEDGER_NO_STAMP) ||
			find(ledger, mark.key) || add_mark(NULL, ledger, &mark))
			return;
	}
}

int ledger_format_marks(struct jw_error *err, const struct ledger *ledger, struct buf *bytes)
{
	uint8_t number[MARK];

	store_u32(number, (uint32_t)ledger->mark_count);
	if (buf_append(err, bytes, number, 4))
		return -1;
	for (size_t i = 0; i < ledger->mark_count; i++) {
		store_u64(number, ledger->marks[i].key);
		store_u64(number + 8, ledger->marks[i].checksum);
		store_u32(number + 16, ledger->marks[i].stamp);
		if (buf_append(err, bytes, number, MARK))
			return -1;
	}
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

static void replace_mark(struct ledger *ledger, const struct ledger_mark *mark)
{
	struct ledger_mark *known = find(ledger, mark->key);

	if (known)
		*known = *mark;
	else
		(void)add_mark(NULL, ledger, mark);
}

void ledger_reread_marks(struct ledger *ledger, const char *path)
{
	struct ledger file;

	read_file(&file, path);
	mem_free(ledger->marks);
	set_free(&ledger->by_key);
	ledger->by_key = (struct set){0};
	ledger->marks = NULL;
	ledger->mark_count = ledger->mark_capacity = 0;
	for (size_t i = 0; i < file.mark_count; i++) {
		struct ledger_mark mark = file.marks[i];
		const char *stamp = ledger_mark_stamp(&file, &mark);

		mark.stamp = *stamp ? ledger_stamp_number(ledger, stamp) : LEDGER_NO_STAMP;
		if (mark.stamp >= LEDGER_MOST_STAMPS)
			mark.stamp = LEDGER_NO_STAMP;
		replace_mark(ledger, &mark);
	}
	ledger_close(&file);
}

/* Whether there is anything to write. */
static bool is_news(const struct ledger *ledger, const struct ledger_change *change)
{
	bool news = change->carried_count > 0;

	for (size_t i = 0; !news && ledger->mark_count && i < change->cleared_count; i++)
		news = find(ledger, change->cleared[i]) != NULL;
	return news;
}

static int apply(struct jw_error *err, struct ledger *ledger, const struct ledger_change *change)
{
	size_t most = LEDGER_MOST_MARKS, coming = change->carried_count;
	struct set gone = {0};
	int result = 0;

	for (size_t i = 0; !result && i < change->cleared_count; i++)
		result = set_add(err, &gone, change->cleared[i], i);
	if (!result)
		result = keep_marks(err, ledger, &gone, coming < most ? most - coming : 0);
	set_free(&gone);
	for (size_t i = 0; !result && i < coming; i++) {
		const struct ledger_carried *one = &change->carried[i];
		struct ledger_mark mark = {one->key, one->checksum,
								   ledger_stamp_number(ledger, one->stamp)};

		if (mark.stamp >= LEDGER_MOST_STAMPS)
			mark.stamp = LEDGER_NO_STAMP;
		replace_mark(ledger, &mark);
	}
	return result;
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
