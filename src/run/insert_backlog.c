#include "run/insert_backlog.h"

#include "base/mem.h"
#include "os/clock.h"
#include "os/file.h"

int insert_backlog_open(struct jw_error *err, const char *folder, struct insert_backlog *ret_later)
{
	*ret_later = (struct insert_backlog){.folder = os_join(err, folder, "later")};
	return ret_later->folder ? 0 : -1;
}

void insert_backlog_close(struct insert_backlog *later)
{
	mem_free(later->folder);
	mem_free(later->modules);
	*later = (struct insert_backlog){0};
}

static char *path_of(struct jw_error *err, const struct insert_backlog *later, uint64_t key)
{
	return mem_printf(err, "%s/%016llx", later->folder, (unsigned long long)key);
}

int insert_backlog_add(struct jw_error *err, struct insert_backlog *later, const struct plan *plan,
					   size_t module, const char *path, const struct jw_error *why)
{
	char *waiting = path_of(err, later, plan->modules[module].key);
	int result = -1;

	if (waiting && !os_make_dirs(err, later->folder, 0700) &&
		!VEC_ROOM(err, later->modules, later->capacity, later->count, plan->module_count) &&
		!os_rename(err, path, waiting)) {
		later->modules[later->count++] = module;
		later->tried_ns = os_monotonic_ns();
		later->why = *why;
		result = 0;
	}
	mem_free(waiting);
	return result;
}

int insert_backlog_try(struct jw_error *err, struct insert_backlog *later, struct cache_live *live,
					   const struct plan *plan,
					   void (*done)(void *context, size_t module, int64_t grown_bytes,
									const struct jw_error *why),
					   void *context)
{
	while (later->count) {
		size_t module = later->modules[later->count - 1];
		const uint64_t key = plan->modules[module].key;
		struct collected entry = {COLLECTED, path_of(err, later, key), key};
		struct jw_error why = {0};
		int64_t grown_bytes = 0;
		int failed;

		if (!entry.path)
			return -1;
		failed = collect_insert(&why, live, &entry, plan, &plan->modules[module], &grown_bytes);
		later->tried_ns = os_monotonic_ns();
		if (failed && why.code == JW_ERR_BUSY) {
			later->why = why;
			mem_free(entry.path);
			return 0;
		}
		if (failed)
			(void)os_remove(NULL, entry.path);
		mem_free(entry.path);
		if (failed && why.code != JW_ERR_FORMAT)
			return error_copy(err, &why);
		later->count--;
		later->progress_ns = later->tried_ns;
		done(context, module, grown_bytes, failed ? &why : NULL);
	}
	return 0;
}
