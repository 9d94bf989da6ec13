#include "bake/container_edit.h"

#include <stdlib.h>
#include <string.h>

#include "base/cursor.h"
#include "base/mem.h"
#include "devcode/container.h"
#include "gpu/rules.h"

/* The flags of an entry whose header is understood: other flags may belong to another form of
 * header, which is copied unchanged. */
static const uint64_t known_flags =
	CONTAINER_SYSTEM | CONTAINER_DEBUG | CONTAINER_SUFFIX_A | CONTAINER_SUFFIX_F | CONTAINER_COMPAT;

/* Cheap ones first. Each is applied to one entry after the other, the largest first (PTX: the one
 * for the oldest GPUs), until everything fits. */
enum measure {
	MEASURE_PACK_RAW,  /* what is stored raw, quickly */
	MEASURE_DROP_CODE, /* machine code that nobody runs */
	MEASURE_PACK_WELL, /* everything: nvcc uses the fast LZ4 */
	MEASURE_PACK_ZSTD,
	MEASURE_PACK_ZSTD_BEST,
	MEASURE_DROP_PTX,
	MEASURE_COUNT
};

/* An entry of the new container. */
struct piece {
	const struct devcode_entry *entry; /* NULL: it is added */
	const struct write_cubin *cubin;   /* then */
	const uint8_t *bytes;              /* as it is in the old container, with its header */
	size_t header_bytes;
	struct buf packed; /* instead of them, if not empty */
	size_t size_bytes; /* in the new container; 0: dropped */
	size_t place;
};

struct repacking {
	const struct container_edit *edit;
	struct piece *pieces;
	size_t count;
	uint64_t total, most; /* bytes with the header: what it has, and what it may have */
	size_t dropped;
	enum container_edit_room room;
};

/* ---- what may be done to an entry */

static bool runs_on_any(struct jw_target code, const struct jw_target *gpus, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (gpu_sass_fit(code, gpus[i]) != GPU_FIT_NONE)
			return true;
	return false;
}

static bool may_drop(const struct container_edit *edit, const struct devcode_entry *entry)
{
	return entry->kind == DEVCODE_KIND_CUBIN &&
		   !runs_on_any(entry->target, edit->gpus, edit->gpu_count) &&
		   !runs_on_any(entry->target, edit->kept, edit->kept_count);
}

static bool may_drop_ptx(const struct container_edit *edit, const struct devcode_entry *entry)
{
	return edit->drop_ptx && !edit->anywhere && devcode_kind_is_ptx(entry->kind);
}

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

/* ---- the measures */

static void resize_piece(struct repacking *repacking, struct piece *piece, size_t size_bytes)
{
	repacking->total = repacking->total - piece->size_bytes + size_bytes;
	piece->size_bytes = size_bytes;
}

static int pack_again(struct jw_error *err, const struct repacking *repacking,
					  const struct piece *piece, enum devcode_compression compression,
					  enum write_effort effort, struct buf *packed)
{
	struct buf scratch = BUF_MAX(DEVCODE_MOST_PAYLOAD + 1);
	struct devcode_view payload;
	struct jw_error why = {0};
	int result = 0;

	/* What is damaged stays as it is; without memory this would be another copy. */
	if (!devcode_payload(&why, repacking->edit->container, piece->entry, &scratch, &payload))
		result = write_compressed_entry(err, piece->bytes, piece->header_bytes, payload,
										compression, effort, packed);
	else if (why.code == JW_ERR_MEMORY)
		result = error_copy(err, &why);
	buf_free(&scratch);
	return result;
}

/* Into an empty buffer, which stays empty for what cannot be read. */
static int pack_anew(struct jw_error *err, const struct repacking *repacking,
					 const struct piece *piece, enum devcode_compression compression,
					 enum write_effort effort, struct buf *packed)
{
	struct write_cubin cubin;

	if (piece->entry)
		return pack_again(err, repacking, piece, compression, effort, packed);
	cubin = *piece->cubin;
	cubin.compression = compression;
	cubin.effort = effort;
	return write_cubin_entry(err, &cubin, packed);
}

/* Takes the compressed form if it is smaller. */
static int pack_piece(struct jw_error *err, struct repacking *repacking, struct piece *piece,
					  enum devcode_compression compression, enum write_effort effort)
{
	struct buf packed = BUF_MAX(DEVCODE_MOST_PAYLOAD);
	int result = pack_anew(err, repacking, piece, compression, effort, &packed);

	if (!result && packed.size && (!piece->size_bytes || packed.size < piece->size_bytes)) {
		const struct buf before = piece->packed;

		piece->packed = packed;
		packed = before;
		resize_piece(repacking, piece, piece->packed.size);
	}
	buf_free(&packed);
	return result;
}

static void drop_piece(struct repacking *repacking, struct piece *piece,
					   enum container_edit_room room)
{
	resize_piece(repacking, piece, 0);
	repacking->room = room;
	repacking->dropped += room == CONTAINER_EDIT_DROPPED;
}

static bool may_use_zstd(const struct container_edit *edit)
{
	return edit->zstd && (!edit->anywhere || edit->smallest);
}

static int pack_if_may(struct jw_error *err, struct repacking *repacking, struct piece *piece,
					   enum devcode_compression compression, enum write_effort effort)
{
	return piece->entry && !may_compress(piece->entry, compression)
			   ? 0
			   : pack_piece(err, repacking, piece, compression, effort);
}

static int apply_measure(struct jw_error *err, struct repacking *repacking, enum measure measure,
						 struct piece *piece)
{
	const struct container_edit *edit = repacking->edit;
	const struct devcode_entry *entry = piece->entry;

	if (!piece->size_bytes)
		return 0;
	switch (measure) {
	case MEASURE_PACK_RAW:
		if (entry && entry->compression == DEVCODE_RAW)
			return pack_if_may(err, repacking, piece, DEVCODE_LZ4, WRITE_QUICK);
		break;
	case MEASURE_PACK_WELL: return pack_if_may(err, repacking, piece, DEVCODE_LZ4, WRITE_WELL);
	case MEASURE_PACK_ZSTD:
		if (may_use_zstd(edit))
			return pack_if_may(err, repacking, piece, DEVCODE_ZSTD, WRITE_WELL);
		break;
	case MEASURE_PACK_ZSTD_BEST:
		if (may_use_zstd(edit))
			return pack_if_may(err, repacking, piece, DEVCODE_ZSTD, WRITE_BEST);
		break;
	case MEASURE_DROP_CODE:
		if (entry && !edit->anywhere && may_drop(edit, entry))
			drop_piece(repacking, piece, CONTAINER_EDIT_DROPPED);
		break;
	case MEASURE_DROP_PTX:
		if (entry && may_drop_ptx(edit, entry))
			drop_piece(repacking, piece, CONTAINER_EDIT_WITHOUT_PTX);
		break;
	case MEASURE_COUNT: break;
	}
	return 0;
}

/* What packs well takes most of bake's time, so it is not tried in vain. At best a piece becomes
 * this part (percent) of what it takes by the fast LZ4, by zstd's fast level, or by its level 9
 * (measured: docs/bake.md). */
enum guess { GUESS_LZ4, GUESS_ZSTD, GUESS_ZSTD_BEST };
static const struct {
	unsigned cubin, ptx;
} least_parts[] = {[GUESS_LZ4] = {65, 50}, [GUESS_ZSTD] = {72, 62}, [GUESS_ZSTD_BEST] = {85, 78}};

static int least_size(struct jw_error *err, const struct repacking *repacking,
					  const struct piece *piece, enum guess guess, uint64_t *total)
{
	const enum devcode_compression how = guess == GUESS_LZ4 ? DEVCODE_LZ4 : DEVCODE_ZSTD;
	const bool ptx = piece->entry && devcode_kind_is_ptx(piece->entry->kind);
	struct buf packed = BUF_MAX(DEVCODE_MOST_PAYLOAD);
	uint64_t size = piece->size_bytes;
	int result = 0;

	if (size && (!piece->entry || may_compress(piece->entry, how))) {
		if (guess == GUESS_ZSTD)
			result = pack_anew(err, repacking, piece, DEVCODE_ZSTD, WRITE_QUICK, &packed);
		size = packed.size && packed.size < size ? packed.size : size;
		size = size * (ptx ? least_parts[guess].ptx : least_parts[guess].cubin) / 100;
	}
	*total += size;
	buf_free(&packed);
	return result;
}

/* Whether the measure is in vain. What cannot get another place is not given up by a guess. */
static int is_in_vain(struct jw_error *err, const struct repacking *repacking, enum guess guess,
					  bool *ret_vain)
{
	const struct container_edit *edit = repacking->edit;
	uint64_t least = CONTAINER_HEADER;

	*ret_vain = false;
	if (edit->anywhere || edit->drop_ptx || (edit->must_fit && guess != GUESS_LZ4))
		return 0;
	for (size_t i = 0; i < repacking->count; i++)
		if (least_size(err, repacking, &repacking->pieces[i], guess, &least))
			return -1;
	*ret_vain = least > repacking->most;
	return 0;
}

/* *ret_enough: neither this measure nor one of the next ones makes enough room. */
static int shall_try(struct jw_error *err, const struct repacking *repacking, enum measure measure,
					 bool *ret_try, bool *ret_enough)
{
	const bool zstd = may_use_zstd(repacking->edit);
	bool vain = false;
	int result = 0;

	*ret_enough = false;
	if (measure == MEASURE_PACK_WELL) {
		result = is_in_vain(err, repacking, GUESS_LZ4, &vain);
		*ret_enough = vain && !zstd && !repacking->edit->must_fit;
		if (!result && vain && zstd)
			result = is_in_vain(err, repacking, GUESS_ZSTD, ret_enough);
	} else if (measure == MEASURE_PACK_ZSTD_BEST && zstd) {
		result = is_in_vain(err, repacking, GUESS_ZSTD_BEST, ret_enough);
	}
	*ret_try = !vain || (!zstd && !*ret_enough);
	return result;
}

static int by_piece_size(const void *a, const void *b)
{
	const struct piece *one = a, *two = b;

	if (one->size_bytes != two->size_bytes)
		return one->size_bytes < two->size_bytes ? 1 : -1;
	return one->place < two->place ? -1 : one->place > two->place;
}

/* The PTX for the newest GPUs is what later ones take: it leaves last. */
static int by_ptx_age(const void *a, const void *b)
{
	const struct piece *one = a, *two = b;
	const unsigned sm_one = one->entry ? one->entry->target.sm : UINT16_MAX,
				   sm_two = two->entry ? two->entry->target.sm : UINT16_MAX;

	return sm_one != sm_two ? (sm_one < sm_two ? -1 : 1) : by_piece_size(a, b);
}

static int by_place_in_container(const void *a, const void *b)
{
	const struct piece *one = a, *two = b;

	return one->place < two->place ? -1 : one->place > two->place;
}

static int make_room(struct jw_error *err, struct repacking *repacking)
{
	for (int measure = 0; measure < MEASURE_COUNT; measure++) {
		bool now, enough;

		if (repacking->total <= repacking->most)
			return 0;
		if (shall_try(err, repacking, (enum measure)measure, &now, &enough))
			return -1;
		if (enough)
			return 0;
		qsort(repacking->pieces, repacking->count, sizeof *repacking->pieces,
			  measure == MEASURE_DROP_PTX ? by_ptx_age : by_piece_size);
		for (size_t i = 0; now && i < repacking->count && repacking->total > repacking->most; i++)
			if (apply_measure(err, repacking, (enum measure)measure, &repacking->pieces[i]))
				return -1;
	}
	return 0;
}

/* ---- from one container to the other */

/* The old entries as they are, and the new ones, packed quickly. */
static int open_pieces(struct jw_error *err, struct repacking *repacking)
{
	const struct container_edit *edit = repacking->edit;
	const struct devcode_container *container = edit->container;
	struct container_walk walk = {.at = CONTAINER_HEADER, .size_bytes = container->size_bytes};

	for (size_t i = 0; i < container->entry_count; i++) {
		struct piece *piece = &repacking->pieces[repacking->count++];
		const uint64_t at = walk.at;
		uint32_t header_size;

		if (!range_fits(at, CONTAINER_ENTRY, container->size_bytes) ||
			!container_step(&walk, container->bytes + at, &header_size))
			return error_set(err, JW_ERR_FORMAT, "the container is damaged");
		*piece = (struct piece){.entry = &container->entries[i],
								.bytes = container->bytes + at,
								.header_bytes = header_size,
								.size_bytes = (size_t)(walk.at - at),
								.place = i};
	}
	repacking->total = walk.at;
	for (size_t i = 0; i < edit->cubin_count; i++) {
		struct piece *piece = &repacking->pieces[repacking->count++];

		*piece = (struct piece){.cubin = &edit->cubins[i], .place = container->entry_count + i};
		if (pack_piece(err, repacking, piece, DEVCODE_LZ4, WRITE_QUICK))
			return -1;
	}
	return 0;
}

static int make_form(struct jw_error *err, struct repacking *repacking, struct container_form *form)
{
	form->parts = mem_array(err, repacking->count, sizeof *form->parts);
	if (!form->parts)
		return -1;
	if (repacking->count)
		qsort(repacking->pieces, repacking->count, sizeof *repacking->pieces,
			  by_place_in_container);
	for (size_t i = 0; i < repacking->count; i++) {
		struct piece *piece = &repacking->pieces[i];
		struct container_part *part = &form->parts[form->count];

		if (!piece->size_bytes)
			continue;
		*part = (struct container_part){piece->packed.size ? piece->packed.data : piece->bytes,
										piece->size_bytes, piece->packed};
		piece->packed = (struct buf){0};
		form->count++;
	}
	form->size_bytes = repacking->total;
	memcpy(form->header, repacking->edit->container->bytes, CONTAINER_HEADER);
	store_u64(form->header + 8, repacking->total - CONTAINER_HEADER);
	return 0;
}

int container_edit(struct jw_error *err, const struct container_edit *edit,
				   struct container_form *ret_form)
{
	struct repacking repacking = {
		.edit = edit, .most = edit->anywhere ? CONTAINER_HEADER : edit->container->size_bytes};
	struct container_form form = {0};
	int result = -1;

	repacking.pieces =
		mem_array(err, edit->container->entry_count + edit->cubin_count, sizeof *repacking.pieces);
	if (!repacking.pieces || open_pieces(err, &repacking) || make_room(err, &repacking))
		goto done;
	if (!edit->anywhere && repacking.total > repacking.most) {
		form.room = CONTAINER_EDIT_NO_ROOM;
	} else {
		if (make_form(err, &repacking, &form))
			goto done;
		form.room = repacking.room;
		form.dropped = repacking.dropped;
	}
	*ret_form = form;
	result = 0;
done:
	for (size_t i = 0; repacking.pieces && i < repacking.count; i++)
		buf_free(&repacking.pieces[i].packed);
	mem_free(repacking.pieces);
	return result;
}

int container_form_join(struct jw_error *err, const struct container_form *form, struct buf *out)
{
	if (buf_reserve(err, out, (size_t)form->size_bytes) ||
		buf_append(err, out, form->header, sizeof form->header))
		return -1;
	for (size_t i = 0; i < form->count; i++)
		if (buf_append(err, out, form->parts[i].bytes, form->parts[i].size_bytes))
			return -1;
	return 0;
}

void container_form_free(struct container_form *form)
{
	for (size_t i = 0; i < form->count; i++)
		buf_free(&form->parts[i].packed);
	mem_free(form->parts);
	*form = (struct container_form){0};
}
