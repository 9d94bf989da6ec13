#include "bake/pe_checksum.h"

#include "bake/pe_image.h"
#include "base/cursor.h"
#include "base/mem.h"

enum { PIECE = 1 << 20 };

/* The sum of its words of 16 bits; 0xffff counts as 0 in it, as a carry is added at its other end.
 * Source: what the linkers of MinGW and LLVM write. */
static int sum_words(struct jw_error *err, struct os_file *file, uint32_t field_at,
					 uint64_t *ret_sum)
{
	uint8_t *piece = mem_alloc(err, PIECE);
	uint64_t sum = 0;
	size_t got = PIECE;
	int result = piece ? 0 : -1;

	for (uint64_t at = 0; !result && got == PIECE; at += PIECE) {
		result = os_file_read(err, file, at, piece, PIECE, &got);
		for (size_t i = got; !result && i % 4; i++)
			piece[i] = 0;
		for (size_t i = 0; !result && i < got; i += 4)
			sum += at + i == field_at ? 0 : load_u32(piece + i);
	}
	mem_free(piece);
	*ret_sum = sum;
	return result;
}

int pe_checksum_renew(struct jw_error *err, struct baked_copy *copy)
{
	struct jw_error why = {0};
	struct pe_image image;
	uint8_t value[4];
	size_t got;
	uint32_t at;
	uint64_t sum;

	if (pe_image_open(&why, copy->from, NULL, 0, &image))
		return why.code == JW_ERR_MEMORY ? error_copy(err, &why) : 0;
	at = image.headers_at + PE_CHECKSUM_AT;
	pe_image_free(&image);
	if (!load_u32(copy->from->data + at) || at % 4)
		return 0;
	/* Growing moves the headers. */
	if (os_file_read(err, copy->file, 0x3c, value, sizeof value, &got))
		return -1;
	at = load_u32(value) + PE_CHECKSUM_AT;
	if (sum_words(err, copy->file, at, &sum))
		return -1;
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	store_u32(value, (uint32_t)(sum + copy->changes.size_after_bytes));
	return baked_copy_write(err, copy, at, value, sizeof value);
}
