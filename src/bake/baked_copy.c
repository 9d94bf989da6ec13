#include "bake/baked_copy.h"

#include <string.h>

#include "base/hash.h"
#include "base/mem.h"

static bool is_unchanged(const struct os_stat *before, const struct os_stat *now)
{
	return now->device == before->device && now->inode == before->inode &&
		   now->size_bytes == before->size_bytes && now->mtime_ns == before->mtime_ns &&
		   now->changed_ns == before->changed_ns;
}

int baked_copy_check(struct jw_error *err, const char *path, const struct os_stat *before)
{
	struct os_stat now;

	if (os_stat(err, path, &now))
		return -1;
	return is_unchanged(before, &now)
			   ? 0
			   : error_set(err, JW_ERR_IO, "was changed while it was baked: try again");
}

uint64_t baked_copy_identity(const char *path)
{
	uint64_t identity = os_identity(path);
	char *real = NULL;

	if (identity == OS_UNIDENTIFIED)
		identity = os_real_path(NULL, path, &real) ? 0 : fnv_update(FNV_START, real, strlen(real));
	mem_free(real);
	return identity;
}

/* Copies the original's bytes, unless it has changed since it was mapped. */
static int begin_bytes(struct jw_error *err, struct baked_copy *copy,
					   const struct jw_cancel *cancel)
{
	const struct os_map *map = copy->from;
	struct os_file *from;
	struct os_stat now;
	int result;

	if (os_file_open(err, copy->path, OS_OPEN_READ, &from))
		return -1;
	result = os_file_stat(err, from, &now);
	if (!result && !is_unchanged(&map->stat, &now))
		result = error_set(err, JW_ERR_IO, "was changed while it was baked: try again");
	if (!result)
		result = os_file_copy(err, from, copy->file, map->size, cancel);
	os_file_close(from);
	return result;
}

int baked_copy_begin(struct jw_error *err, const char *path, const struct os_map *from,
					 const char *output, const struct jw_cancel *cancel,
					 struct baked_copy *ret_copy)
{
	const uint64_t identity = baked_copy_identity(output);
	char *start;
	int result;

	*ret_copy = (struct baked_copy){.path = path, .from = from, .size_bytes = from->size};
	if (identity && identity == baked_copy_identity(path))
		return error_set(err, JW_ERR_USAGE,
						 "%s: the copy would overwrite the library itself: name another folder",
						 output);
	if (os_make_parent(err, output, 0755) || os_replaceable(err, output, &ret_copy->output))
		return -1;
	os_sweep_beside(ret_copy->output, OS_LEFT_S);
	/* Only this account may read the copy before it has its rights, since the original may be
	 * secret. */
	start = os_beside_start(ret_copy->output);
	result = os_file_make(err, start, &ret_copy->file, &ret_copy->part);
	if (!result)
		result = begin_bytes(err, ret_copy, cancel);
	mem_free(start);
	if (result)
		baked_copy_drop(ret_copy);
	return result;
}

int baked_copy_write(struct jw_error *err, struct baked_copy *copy, uint64_t offset,
					 const void *data, size_t size)
{
	if (size && offset + size > copy->size_bytes)
		copy->size_bytes = offset + size;
	return os_file_write(err, copy->file, offset, data, size);
}

int baked_copy_clear(struct jw_error *err, struct baked_copy *copy, uint64_t offset, uint64_t size)
{
	static const uint8_t zeros[1 << 16];

	for (uint64_t done = 0; done < size; done += sizeof zeros)
		if (baked_copy_write(err, copy, offset + done, zeros,
							 size - done < sizeof zeros ? (size_t)(size - done) : sizeof zeros))
			return -1;
	return 0;
}

int baked_copy_finish(struct jw_error *err, struct baked_copy *copy, uint32_t mode)
{
	int result = baked_copy_check(err, copy->path, &copy->from->stat);

	if (!result)
		result = os_file_sync(err, copy->file);
	os_file_close(copy->file);
	copy->file = NULL;
	if (!result)
		result = os_set_mode(err, copy->part, mode & 0777 & ~os_creation_mask());
	if (!result)
		result = os_rename(err, copy->part, copy->output);
	if (!result) {
		os_sync_names(copy->output);
		mem_free(copy->part);
		copy->part = NULL;
	}
	baked_copy_drop(copy);
	return result;
}

void baked_copy_drop(struct baked_copy *copy)
{
	os_file_close(copy->file);
	if (copy->part)
		(void)os_remove(NULL, copy->part);
	mem_free(copy->part);
	mem_free(copy->output);
	*copy = (struct baked_copy){0};
}
