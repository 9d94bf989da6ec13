#include <jitwarm/marks.h>

#include "base/mem.h"
#include "history/ledger.h"

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
