/* Whether a cache could be written to; writes nothing. */
#include "base/mem.h"
#include "cache/live.h"
#include "os/file.h"

/* A missing folder will be made. */
static int try_one(struct jw_error *err, const char *path, bool *ret_there)
{
	struct jw_error why = {0};

	*ret_there = !os_may_write(&why, path);
	return *ret_there || why.code == JW_ERR_NOT_FOUND ? 0 : error_copy(err, &why);
}

/* The folders 0 to f, and those in each of them. A program that ran as root may have made one that
 * belongs to root, whoever owns the cache. */
static int try_parts(struct jw_error *err, const char *folder, unsigned levels)
{
	int result = 0;

	for (unsigned i = 0; !result && i < 16; i++) {
		char *part = os_join(err, folder, (const char[]){"0123456789abcdef"[i], '\0'});
		bool there = false;

		result = part ? try_one(err, part, &there) : -1;
		if (!result && there && levels > 1)
			result = try_parts(err, part, levels - 1);
		mem_free(part);
	}
	return result;
}

int live_may_write(struct jw_error *err, struct cache_live *live)
{
	bool there;

	return os_may_make(err, live->dir) || try_one(err, live->index_path, &there) ||
				   try_parts(err, live->dir, 2)
			   ? -1
			   : 0;
}
