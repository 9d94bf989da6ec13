#include "bake/container_edit.h"

#include <string.h>

#include "base/cursor.h"
#include "devcode/container.h"
#include "gpu/rules.h"

/* The flags of an entry whose header is understood: other flags may belong to another form of
 * header, which is copied unchanged. */
static const uint64_t known_flags =
	CONTAINER_SYSTEM | CONTAINER_DEBUG | CONTAINER_SUFFIX_A | CONTAINER_SUFFIX_F;

static bool runs_on_any(const struct container_edit *edit, struct jw_target code)
{
	for (size_t i = 0; i < edit->gpu_count; i++)
		if (gpu_sass_fit(code, edit->gpus[i]) != GPU_FIT_NONE)
			return true;
	return false;
}

/* Whether the entry is dropped if room is missing. */
static bool is_dropped(const struct container_edit *edit, const struct devcode_entry *entry,
					   enum container_edit_room room)
{
	if (entry->kind == DEVCODE_KIND_CUBIN)
		return room >= CONTAINER_EDIT_DROPPED && !runs_on_any(edit, entry->target);
	return room >= CONTAINER_EDIT_WITHOUT_PTX && devcode_kind_is_ptx(entry->kind);
}

/* Compressed payloads are compressed again: nvcc uses the fast LZ4. */
static bool may_compress(const struct devcode_entry *entry, enum devcode_compression compression)
{
	const uint64_t packed = entry->compression == DEVCODE_RAW   ? 0
							: entry->compression == DEVCODE_LZ4 ? CONTAINER_LZ4
																: CONTAINER_ZSTD;

	return !entry->damaged && entry->size_bytes && entry->compression != DEVCODE_FOREIGN &&
		   (entry->compression != DEVCODE_ZSTD || compression == DEVCODE_ZSTD) &&
		   (entry->kind == DEVCODE_KIND_CUBIN || entry->kind == DEVCODE_KIND_PTX) &&
		   !(entry->flags & ~(known_flags | packed));
}

/* An entry to be appended to the new container. */
struct moved {
	const struct devcode_entry *entry;
	const uint8_t *bytes;
	size_t header_bytes, size_bytes; /* with the header */
};

/* Appends it unchanged or compressed, whichever is smaller. */
static int append_compressed(struct jw_error *err, const struct container_edit *edit,
							 const struct moved *moved, enum devcode_compression compression,
							 struct buf *out)
{
	struct buf scratch = BUF_MAX(DEVCODE_MOST_PAYLOAD + 1);
	const size_t before = out->size;
	struct devcode_view payload;
	int result = 0;

	if (!devcode_payload(NULL, edit->container, moved->entry, &scratch, &payload))
		result = write_compressed_entry(err, moved->bytes, moved->header_bytes, payload,
										compression, out);
	buf_free(&scratch);
	if (result || (out->size > before && out->size - before < moved->size_bytes))
		return result;
	out->size = before;
	return buf_append(err, out, moved->bytes, moved->size_bytes);
}

/* One container, written in one of the ways. */
struct container_writing {
	const struct container_edit *edit;
	enum container_edit_room room;
	enum devcode_compression compression;
	struct buf *out;
	size_t most, dropped; /* most: that `out` may have before the cubins */
};

/* Copies the remaining entries unchanged as soon as everything fits. */
static int append_entry(struct jw_error *err, struct container_writing *writing,
						const struct moved *moved, size_t left)
{
	struct buf *out = writing->out;

	if (out->size + left <= writing->most)
		return buf_append(err, out, moved->bytes, moved->size_bytes);
	if (is_dropped(writing->edit, moved->entry, writing->room)) {
		writing->dropped += moved->entry->kind == DEVCODE_KIND_CUBIN;
		return 0;
	}
	return may_compress(moved->entry, writing->compression)
			   ? append_compressed(err, writing->edit, moved, writing->compression, out)
			   : buf_append(err, out, moved->bytes, moved->size_bytes);
}

static int append_entries(struct jw_error *err, struct container_writing *writing)
{
	const struct devcode_container *container = writing->edit->container;
	struct container_walk walk = {.at = CONTAINER_HEADER, .size_bytes = container->size_bytes};

	for (size_t i = 0; i < container->entry_count; i++) {
		const uint64_t at = walk.at;
		struct moved moved = {.entry = &container->entries[i], .bytes = container->bytes + at};
		uint32_t header_size;

		if (!range_fits(at, CONTAINER_ENTRY, container->size_bytes) ||
			!container_step(&walk, moved.bytes, &header_size))
			return error_set(err, JW_ERR_FORMAT, "the container is damaged");
		moved.header_bytes = header_size;
		moved.size_bytes = (size_t)(walk.at - at);
		if (append_entry(err, writing, &moved, (size_t)(container->size_bytes - at)))
			return -1;
	}
	return 0;
}

static int pack_cubins(struct jw_error *err, const struct container_edit *edit,
					   enum devcode_compression compression, struct buf *out)
{
	for (size_t i = 0; i < edit->cubin_count; i++) {
		struct write_cubin cubin = edit->cubins[i];

		cubin.compression = compression;
		if (write_cubin_entry(err, &cubin, out))
			return -1;
	}
	return 0;
}

/* Only zeros follow the shortened container, as between any two. */
static int end_container(struct jw_error *err, struct buf *out, const struct buf *cubins,
						 size_t whole)
{
	size_t used;

	if (buf_append(err, out, cubins->data, cubins->size) ||
		buf_reserve(err, out, whole - out->size))
		return -1;
	used = out->size;
	memset(out->data + used, 0, whole - used);
	out->size = whole;
	store_u64(out->data + 8, used - CONTAINER_HEADER);
	return 0;
}

/* Tries one compression in all ways. */
static int write_with(struct jw_error *err, const struct container_edit *edit,
					  enum devcode_compression compression, struct buf *out,
					  enum container_edit_room *ret_room, size_t *ret_dropped)
{
	const int last = edit->drop_ptx ? CONTAINER_EDIT_WITHOUT_PTX : CONTAINER_EDIT_DROPPED;
	const size_t whole = (size_t)edit->container->size_bytes;
	struct buf cubins = BUF_MAX(DEVCODE_MOST_PAYLOAD);
	struct container_writing writing = {.edit = edit, .compression = compression, .out = out};
	int result = pack_cubins(err, edit, compression, &cubins);

	*ret_room = CONTAINER_EDIT_NO_ROOM;
	if (!result && cubins.size <= whole - CONTAINER_HEADER) {
		writing.most = whole - cubins.size;
		for (int room = 0; !result && room <= last; room++) {
			writing.room = (enum container_edit_room)room;
			writing.dropped = 0;
			buf_clear(out);
			result = buf_append(err, out, edit->container->bytes, CONTAINER_HEADER) ||
					 append_entries(err, &writing);
			if (result || out->size > writing.most)
				continue;
			*ret_room = writing.room;
			*ret_dropped = writing.dropped;
			result = end_container(err, out, &cubins, whole);
			break;
		}
	}
	buf_free(&cubins);
	return result ? -1 : 0;
}

int container_edit(struct jw_error *err, const struct container_edit *edit, struct buf *out,
				   enum container_edit_room *ret_room, size_t *ret_dropped)
{
	*ret_dropped = 0;
	if (write_with(err, edit, DEVCODE_LZ4, out, ret_room, ret_dropped) ||
		(*ret_room == CONTAINER_EDIT_NO_ROOM && edit->zstd &&
		 write_with(err, edit, DEVCODE_ZSTD, out, ret_room, ret_dropped)))
		return -1;
	if (*ret_room == CONTAINER_EDIT_NO_ROOM)
		buf_clear(out);
	return 0;
}
