#include "bake/baked_copy.h"

#include <string.h>

#include "base/cursor.h"
#include "base/mem.h"

/* How many bytes are compared at once, and are copied at once. */
enum { STRIDE = 256, PIECE = 4 << 20, SETTLE = 8 << 20 };

static int check_unchanged(struct jw_error *err, const char *path, const struct os_stat *before,
						   const struct os_stat *now)
{
	if (now->device == before->device && now->inode == before->inode &&
		now->size_bytes == before->size_bytes && now->mtime_ns == before->mtime_ns &&
		now->changed_ns == before->changed_ns)
		return 0;
	return error_set(err, JW_ERR_IO, "%s: was changed while it was baked: try again", path);
}

int baked_copy_check(struct jw_error *err, const struct baked_copy *copy,
					 const struct os_stat *before)
{
	struct os_stat now;

	return os_stat(err, copy->path, &now) ? -1 : check_unchanged(err, copy->path, before, &now);
}

/* Either it shares the original's blocks, or it is empty: which bytes of the original stay is known
 * at the end, and only these are copied then. */
static int begin_bytes(struct jw_error *err, struct baked_copy *copy)
{
	const struct os_map *map = copy->from;
	struct os_file *from;
	struct os_stat now;
	int result;

	if (os_file_open(err, copy->path, OS_OPEN_READ, &from))
		return -1;
	result = os_file_stat(err, from, &now) || check_unchanged(err, copy->path, &map->stat, &now);
	copy->whole = !result && os_file_clone(from, copy->file);
	if (!result && !copy->whole)
		result = os_file_truncate(err, copy->file, map->size);
	os_file_close(from);
	return result ? -1 : 0;
}

/* Compares paths if the system does not identify files. */
static bool is_same_file(const char *path, const char *output)
{
	const uint64_t identity = os_identity(output);
	char *real = NULL, *real_output = NULL;
	bool same;

	if (identity != OS_UNIDENTIFIED)
		return identity && identity == os_identity(path);
	same = !os_real_path(NULL, path, &real) && !os_real_path(NULL, output, &real_output) &&
		   !strcmp(real, real_output);
	mem_free(real);
	mem_free(real_output);
	return same;
}

/* Only this account may read it before it has its rights: the original may be secret. */
static int begin_part(struct jw_error *err, const char *prefix, struct baked_copy *copy)
{
	if (!os_file_make(err, prefix, &copy->file, &copy->part) &&
		(!copy->from || !begin_bytes(err, copy)))
		return 0;
	baked_copy_drop(copy);
	return -1;
}

static struct baked_copy new_copy(const char *path, const struct os_map *from)
{
	const uint64_t size = from ? from->size : 0;

	return (struct baked_copy){
		.path = path,
		.from = from,
		.changes = {.size_before_bytes = size, .size_after_bytes = size},
	};
}

int baked_copy_begin(struct jw_error *err, const char *path, const struct os_map *from,
					 const char *output, struct baked_copy *ret_copy)
{
	*ret_copy = new_copy(path, from);
	if (is_same_file(path, output))
		return error_set(err, JW_ERR_USAGE,
						 "%s: the copy would take the library's own place: name another folder",
						 output);
	if (os_make_parent(err, output, 0755) || os_replaceable(err, output, &ret_copy->output))
		return -1;
	return begin_part(err, ret_copy->output, ret_copy);
}

int baked_copy_begin_beside(struct jw_error *err, const char *prefix, const struct os_map *from,
							const char *output, struct baked_copy *ret_copy)
{
	*ret_copy = new_copy(output, from);
	ret_copy->output = mem_string(err, output);
	return ret_copy->output ? begin_part(err, prefix, ret_copy) : -1;
}

static size_t same_at_start(const uint8_t *a, const uint8_t *b, size_t size)
{
	size_t same = 0;

	while (size - same >= STRIDE && !memcmp(a + same, b + same, STRIDE))
		same += STRIDE;
	while (same < size && a[same] == b[same])
		same++;
	return same;
}

/* How many of the bytes are left without those at the end that are the same. */
static size_t without_same_end(const uint8_t *a, const uint8_t *b, size_t size)
{
	while (size >= STRIDE && !memcmp(a + size - STRIDE, b + size - STRIDE, STRIDE))
		size -= STRIDE;
	while (size && a[size - 1] == b[size - 1])
		size--;
	return size;
}

static size_t without_zeros(const uint8_t *bytes, size_t size)
{
	static const uint8_t zeros[STRIDE];

	while (size >= STRIDE && !memcmp(bytes + size - STRIDE, zeros, STRIDE))
		size -= STRIDE;
	while (size && !bytes[size - 1])
		size--;
	return size;
}

/* Notes only what differs: most of a container often stays as it was. Zeros are not written where
 * nothing was: the file has none but zeros there. */
int baked_copy_write(struct jw_error *err, struct baked_copy *copy, uint64_t offset,
					 const void *data, size_t size)
{
	const uint8_t *bytes = data;
	/* What is there is the original's only where nothing was written before. */
	const uint8_t *old = !copy->complete && range_fits(offset, size, copy->from->size)
							 ? copy->from->data + offset
							 : NULL;
	const size_t first = old ? same_at_start(old, bytes, size) : 0;
	size_t put;

	if (old)
		size = first + without_same_end(old + first, bytes + first, size - first);
	if (first == size)
		return 0;
	if (baked_changes_note(err, &copy->changes, offset + first, size - first))
		return -1;
	put = size - first;
	if (old && !copy->whole && offset + first >= copy->written_end)
		put = without_zeros(bytes + first, put);
	if (offset < copy->from->size && offset + size > copy->written_end)
		copy->written_end = offset + size;
	return os_file_write(err, copy->file, offset + first, bytes + first, put);
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

static int copy_range(struct jw_error *err, const struct baked_copy *copy, uint64_t from,
					  uint64_t until)
{
	while (from < until) {
		const size_t size = until - from < PIECE ? (size_t)(until - from) : PIECE;

		if (os_file_write(err, copy->file, from, copy->from->data + from, size))
			return -1;
		os_map_forget(copy->from, (size_t)from, size);
		from += size;
	}
	return 0;
}

/* Copies the original's bytes of [copy->settled, until) that no range covers. */
static int fill_gaps(struct jw_error *err, struct baked_copy *copy, uint64_t until)
{
	uint64_t at = copy->settled;

	baked_changes_end(&copy->changes);
	for (size_t i = 0; i < copy->changes.count && at < until; i++) {
		const struct baked_range *range = &copy->changes.ranges[i];

		if (copy_range(err, copy, at, range->offset < until ? range->offset : until))
			return -1;
		if (range->offset + range->size_bytes > at)
			at = range->offset + range->size_bytes;
	}
	if (at < until && copy_range(err, copy, at, until))
		return -1;
	copy->settled = until;
	return 0;
}

int baked_copy_settle(struct jw_error *err, struct baked_copy *copy, uint64_t until)
{
	const uint64_t from = copy->settled;

	if (copy->whole || until > copy->from->size || until < from + SETTLE)
		return 0;
	if (fill_gaps(err, copy, until))
		return -1;
	/* Zeros are no longer what is there anyway. */
	if (copy->written_end < until)
		copy->written_end = until;
	os_file_write_back(copy->file, from, until - from);
	return 0;
}

int baked_copy_complete(struct jw_error *err, struct baked_copy *copy)
{
	if (!copy->whole && fill_gaps(err, copy, copy->from->size))
		return -1;
	copy->whole = copy->complete = true;
	return 0;
}

int baked_copy_finish(struct jw_error *err, struct baked_copy *copy, uint32_t mode)
{
	int result = baked_copy_complete(err, copy) || baked_copy_check(err, copy, &copy->from->stat) ||
				 os_file_sync(err, copy->file);

	baked_changes_end(&copy->changes);
	os_file_close(copy->file);
	copy->file = NULL;
	result = result || os_set_mode(err, copy->part, mode & 0777) ||
			 os_rename(err, copy->part, copy->output);
	if (!result) {
		os_sync_names(copy->output);
		mem_free(copy->part);
		copy->part = NULL;
	}
	baked_copy_drop(copy);
	return result ? -1 : 0;
}

void baked_copy_drop(struct baked_copy *copy)
{
	os_file_close(copy->file);
	if (copy->part)
		(void)os_remove(NULL, copy->part);
	mem_free(copy->part);
	mem_free(copy->output);
	baked_changes_free(&copy->changes);
	*copy = (struct baked_copy){0};
}
