/* Marks of entries whose bytes are not the driver's own, in memory and in a ledger's bytes. */
#include "base/mem.h"
#include "cache/presence.h"
#include "history/ledger.h"

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
