#include "bake/container_edit.h"

#include <string.h>

#include "base/cursor.h"
#include "base/mem.h"
#include "code/container.h"

/* The flags of an entry whose header is understood: with other flags the header may have another
 * form, and is copied unchanged. */
static const uint64_t known_flags =
	CONTAINER_SYSTEM | CONTAINER_DEBUG | CONTAINER_SUFFIX_A | CONTAINER_SUFFIX_F | CONTAINER_COMPAT;

static bool may_pack(const struct devcode_entry *entry)
{
	return !entry->damaged && entry->size_bytes && entry->compression == DEVCODE_RAW &&
		   (entry->kind == DEVCODE_KIND_CUBIN || entry->kind == DEVCODE_KIND_PTX) &&
		   !(entry->flags & ~known_flags);
}

/* Packs a part, and keeps the packed form if it is smaller. */
static int pack_part(struct jw_error *err, const struct devcode_container *container,
					 const struct devcode_entry *entry, uint32_t header_bytes,
					 struct container_form *form, struct container_part *part)
{
	struct buf packed = BUF_MAX(DEVCODE_MAX_PAYLOAD), scratch = BUF_MAX(DEVCODE_MAX_PAYLOAD + 1);
	struct devcode_view payload;
	int result = 0;

	if (!devcode_payload(NULL, container, entry, &scratch, &payload))
		result = write_packed_entry(err, part->bytes, header_bytes, payload, &packed);
	buf_free(&scratch);
	if (!result && packed.size && packed.size < part->size_bytes) {
		form->size_bytes = form->size_bytes - part->size_bytes + packed.size;
		*part = (struct container_part){packed.data, packed.size, packed};
		return 0;
	}
	buf_free(&packed);
	return result;
}

/* Makes the new form: the old entries as they are, the new ones, and, as long as they do not fit,
 * packed parts. */
static int make_form(struct jw_error *err, const struct devcode_container *container,
					 const struct write_cubin *cubins, size_t cubin_count, uint32_t *header_bytes,
					 struct container_form *form)
{
	struct container_walk walk = {.at = CONTAINER_HEADER, .size_bytes = container->size_bytes};

	for (; form->count < container->entry_count; form->count++) {
		const uint64_t at = walk.at;

		if (!range_fits(at, CONTAINER_ENTRY, container->size_bytes) ||
			!container_step(&walk, container->bytes + at, &header_bytes[form->count]))
			return error_set(err, JW_ERR_FORMAT, "the container is damaged");
		form->parts[form->count] = (struct container_part){.bytes = container->bytes + at,
														   .size_bytes = (size_t)(walk.at - at)};
	}
	form->size_bytes = walk.at;
	for (size_t i = 0; i < cubin_count; i++) {
		struct write_cubin cubin = cubins[i];
		struct buf packed = BUF_MAX(DEVCODE_MAX_PAYLOAD);

		cubin.compression = DEVCODE_LZ4;
		if (write_cubin_entry(err, &cubin, &packed)) {
			buf_free(&packed);
			return -1;
		}
		form->parts[form->count++] = (struct container_part){packed.data, packed.size, packed};
		form->size_bytes += packed.size;
	}
	for (size_t i = 0; i < container->entry_count && form->size_bytes > container->size_bytes; i++)
		if (may_pack(&container->entries[i]) && pack_part(err, container, &container->entries[i],
														  header_bytes[i], form, &form->parts[i]))
			return -1;
	memcpy(form->header, container->bytes, CONTAINER_HEADER);
	store_u64(form->header + 8, form->size_bytes - CONTAINER_HEADER);
	return 0;
}

int container_edit(struct jw_error *err, const struct devcode_container *container,
				   const struct write_cubin *cubins, size_t cubin_count,
				   struct container_form *ret_form)
{
	const size_t most = container->entry_count + cubin_count;
	struct container_form form = {.parts = mem_array(most, sizeof *form.parts)};
	uint32_t *header_bytes = mem_array(most, sizeof *header_bytes);
	int result = make_form(err, container, cubins, cubin_count, header_bytes, &form);

	mem_free(header_bytes);
	if (result)
		container_form_free(&form);
	else
		*ret_form = form;
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
	for (size_t i = 0; form->parts && i < form->count; i++)
		buf_free(&form->parts[i].packed);
	mem_free(form->parts);
	*form = (struct container_form){0};
}
