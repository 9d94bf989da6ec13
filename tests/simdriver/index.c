/* The cache's index: u32 version, u32 count, u64 total, then {u64 hash, u64 size} for each row. */
#include "sim.h"

#include <stdlib.h>
#include <string.h>

#define INDEX_VERSION 0x41

static bool has_header(const struct bytes *file)
{
	return file->size >= 16 && get_u32(file->data) == INDEX_VERSION;
}

bool index_lacks_rows(const struct bytes *file)
{
	return has_header(file) && (file->size - 16) / 16 < get_u32(file->data + 4);
}

bool index_parse(struct index *ret_index, const struct bytes *file)
{
	struct index index = {NULL, 0, 0};

	if (!has_header(file) || index_lacks_rows(file))
		return false;
	index.count = get_u32(file->data + 4);
	index.total = get_u64(file->data + 8);
	index.rows = sim_alloc(index.count * sizeof *index.rows);
	for (size_t i = 0; i < index.count; i++) {
		index.rows[i].hash = get_u64(file->data + 16 + 16 * i);
		index.rows[i].size = get_u64(file->data + 24 + 16 * i);
	}
	*ret_index = index;
	return true;
}

void index_format(struct bytes *ret_file, const struct index *index)
{
	struct bytes file = {NULL, 0};

	bytes_add(&file, NULL, 16 + 16 * index->count);
	put_u32(file.data, INDEX_VERSION);
	put_u32(file.data + 4, (uint32_t)index->count);
	put_u64(file.data + 8, index->total);
	for (size_t i = 0; i < index->count; i++) {
		put_u64(file.data + 16 + 16 * i, index->rows[i].hash);
		put_u64(file.data + 24 + 16 * i, index->rows[i].size);
	}
	*ret_file = file;
}

void index_append(struct index *index, uint64_t hash, uint64_t size)
{
	struct index_row *rows = sim_alloc((index->count + 1) * sizeof *rows);

	if (index->count)
		memcpy(rows, index->rows, index->count * sizeof *rows);
	rows[index->count] = (struct index_row){hash, size};
	free(index->rows);
	index->rows = rows;
	index->count++;
	index->total += size;
}

void index_remove(struct index *index, size_t at)
{
	index->total -= index->rows[at].size;
	index->count--;
	memmove(index->rows + at, index->rows + at + 1, (index->count - at) * sizeof *index->rows);
}

void index_free(struct index *index)
{
	free(index->rows);
	*index = (struct index){NULL, 0, 0};
}
