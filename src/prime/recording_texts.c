/* The texts of a recording: compressed PTX that is in no file, and the keys of the entries that
 * were made of it. */
#include "prime/recording.h"

#include <string.h>

#include <sodium.h>
#include <zstd.h>

#include "base/hash.h"
#include "base/mem.h"
#include "cache/key.h"
#include "driver/ptxas.h"

/* Level 19 compresses Dr.Jit's PTX to a tenth of what level 9 leaves, at 5 instead of 40 MB/s. */
enum { PACK_LEVEL = 19, PACK_LARGE_LEVEL = 9, PACK_LARGE_BYTES = 4 << 20 };

bool recording_may_have_text(const struct jw_recorded_module *module)
{
	return (module->kind == JW_RECORDED_LOAD || module->kind == JW_RECORDED_LINK) &&
		   module->target.sm && strlen(module->options) <= CACHE_KEY_MAX_OPTIONS &&
		   !ptxas_option_with_file(module->options, NULL);
}

size_t recording_max_packed(size_t size)
{
	return sodium_base64_ENCODED_LEN(ZSTD_compressBound(size), sodium_base64_VARIANT_ORIGINAL);
}

struct jw_recorded_text recording_pack_text(const void *payload, size_t size)
{
	const size_t room = ZSTD_compressBound(size);
	struct jw_recorded_text text = {.size_bytes = size};
	uint8_t *packed = mem_array(room, 1);
	const size_t bytes = ZSTD_compress(packed, room, payload, size,
									   size > PACK_LARGE_BYTES ? PACK_LARGE_LEVEL : PACK_LEVEL);
	size_t text_bytes;

	if (ZSTD_isError(bytes))
		mem_ended(0);
	text_bytes = sodium_base64_encoded_len(bytes, sodium_base64_VARIANT_ORIGINAL);
	text.zstd = mem_array(text_bytes, 1);
	(void)sodium_bin2base64(text.zstd, text_bytes, packed, bytes, sodium_base64_VARIANT_ORIGINAL);
	mem_free(packed);
	return text;
}

int recording_unpack_text(struct jw_error *err, const struct jw_recorded_text *text,
						  struct buf *ret_payload)
{
	const size_t length = strlen(text->zstd), size = (size_t)text->size_bytes;
	uint8_t *packed = mem_array(length + 1, 1);
	size_t bytes = 0;
	int result = -1;

	buf_clear(ret_payload);
	if (buf_reserve(err, ret_payload, size + 1))
		goto done;
	if (sodium_base642bin(packed, length, text->zstd, length, NULL, &bytes, NULL,
						  sodium_base64_VARIANT_ORIGINAL) ||
		ZSTD_decompress(ret_payload->data, size, packed, bytes) != size) {
		error_set(err, JW_ERR_FORMAT, "is not PTX of %zu bytes, packed with zstd", size);
		goto done;
	}
	ret_payload->size = size;
	result = 0;
done:
	mem_free(packed);
	return result;
}

int recording_key(struct jw_error *err, const struct jw_recording *recording,
				  const struct jw_recorded_module *module, const void *payload, size_t size,
				  struct buf *ret_key)
{
	const enum cache_key_form form =
		module->kind == JW_RECORDED_LINK ? CACHE_KEY_LINK : CACHE_KEY_LOAD;
	char start[CACHE_KEY_MAX_START + 1], tail[CACHE_KEY_MAX_TAIL];
	const size_t tail_length = cache_key_tail(tail, form, module->options, strlen(module->options));

	buf_clear(ret_key);
	if (buf_append(err, ret_key, start,
				   cache_key_write_start(start, recording->stamp, module->target)) ||
		buf_append(err, ret_key, payload, size))
		return -1;
	/* PTX that was stored raw and had no NUL contains the rest of its key (cache/key.h). */
	if (ret_key->size != module->key_bytes && buf_append(err, ret_key, tail, tail_length))
		return -1;
	if (ret_key->size != module->key_bytes ||
		fnv_update(FNV_START, ret_key->data, ret_key->size) != module->key)
		return error_set(err, JW_ERR_FORMAT, "is not the PTX of entry %016llx",
						 (unsigned long long)module->key);
	return 0;
}
