/* Changing the marks of a ledger's file. */
#include "base/mem.h"
#include "history/ledger.h"
#include "os/file.h"

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
