#include "cache/shape.h"

#include <stdbool.h>

#include <jitwarm/cache.h>

#include "base/mem.h"
#include "os/file.h"

static uint64_t identity_of_directory(const char *dir, const char *name)
{
	char *path = os_join(NULL, dir, name);
	uint64_t identity = path ? os_identity(path) : OS_UNIDENTIFIED;

	mem_free(path);
	return identity;
}

void cache_shape_take(const char *dir, struct cache_shape *ret_shape)
{
	struct cache_shape shape = {
		.folder = os_identity(dir),
		.index = identity_of_directory(dir, "index"),
		.witness = identity_of_directory(dir, CACHE_WITNESS),
	};

	for (unsigned i = 0; i < CACHE_PARTS; i++)
		shape.parts[i] = identity_of_directory(dir, (const char[]){"0123456789abcdef"[i], '\0'});
	*ret_shape = shape;
}

void cache_shape_leave_witness(const char *dir, uint32_t shared)
{
	char *path = os_join(NULL, dir, CACHE_WITNESS);

	if (path && !os_exists(path) && os_exists(dir) && !os_make_dirs(NULL, path, 0700) && shared)
		(void)os_set_mode(NULL, path, 0700 | shared);
	mem_free(path);
}

int jw_cache_forget(struct jw_error *err, const char *dir, char **ret_path)
{
	struct os_names names = {0};
	struct jw_error why = {0};
	char *path = os_join(err, dir, CACHE_WITNESS);
	int result = -1;

	*ret_path = NULL;
	if (!path)
		return -1;
	if (os_list(&why, path, &names)) {
		result = why.code == JW_ERR_NOT_FOUND ? 0 : error_copy(err, &why);
	} else if (names.count) {
		result = 0;
	} else if (!os_remove_empty_dir(err, path)) {
		*ret_path = path;
		path = NULL;
		result = 0;
	}
	os_names_free(&names);
	mem_free(path);
	return result;
}

enum cache_loss cache_shape_compare(const struct cache_shape *before, const struct cache_shape *now)
{
	bool had_parts = false;

	if (!before->folder)
		return CACHE_LOSS_NONE;
	if (before->folder == OS_UNIDENTIFIED || now->folder == OS_UNIDENTIFIED)
		return CACHE_LOSS_UNKNOWN;
	if (before->folder != now->folder)
		return CACHE_LOSS_REPLACED;
	for (unsigned i = 0; i < CACHE_PARTS; i++) {
		had_parts = had_parts || before->parts[i];
		/* A wipe keeps none of them, and users rarely delete only some of them. */
		if (before->parts[i] && before->parts[i] == now->parts[i])
			return CACHE_LOSS_NONE;
	}
	if (!had_parts)
		return CACHE_LOSS_NONE;
	if (before->index == now->index && now->index && now->index != OS_UNIDENTIFIED)
		return CACHE_LOSS_INDEX;
	if (before->index == now->index || !before->witness || before->witness == OS_UNIDENTIFIED)
		return CACHE_LOSS_UNSURE;
	if (before->witness != now->witness)
		return CACHE_LOSS_EMPTIED;
	return before->index ? CACHE_LOSS_WIPED : CACHE_LOSS_INDEX;
}
