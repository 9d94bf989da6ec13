/* Decompresses an entry, or only its beginning. */
#include "code/container.h"

#include <lz4.h>
#include <stdatomic.h>
#include <string.h>

#include <zstd.h>

#include "base/cursor.h"
#include "base/mem.h"
#include "base/smaller.h"
#include "code/cubin.h"
#include "code/devcode.h"
#include "code/ptx.h"
#include "code/release.h"

enum {
	PTX_HEAD = 1024,       /* contains .version and .target in all PTX seen */
	PTX_LONG_HEAD = 65536, /* the second attempt, for PTX with a long comment before them */
	LZ4_MAX_RATIO = 255,   /* the format's bound: one byte expands to at most this many */
	WINDOW_LOG = 27,       /* largest zstd window that is allocated */
	LZ4_AHEAD = 64,        /* more packed bytes than the decoder looks ahead */
	PACKED_PIECE = 1 << 13,
};

/* Finds the stored bytes, and checks the bounds that all code below relies on. */
int devcode_stored(struct jw_error *err, const struct devcode_container *container,
				   const struct devcode_entry *entry, struct devcode_view *ret_view)
{
	const uint64_t held = container->held_bytes ? container->held_bytes : container->size_bytes;

	if (entry->damaged)
		return error_set(err, JW_ERR_FORMAT, "the entry's header contradicts itself");
	if (entry->payload_offset == DEVCODE_NOT_HELD)
		return error_set(err, JW_ERR_UNSUPPORTED, "the payload was not kept");
	if (!range_fits(entry->payload_offset, entry->stored_bytes, held))
		return error_set(err, JW_ERR_FORMAT, "the payload is outside of its container");
	if (entry->compression == DEVCODE_FOREIGN)
		return error_set(err, JW_ERR_UNSUPPORTED,
						 "compressed or obfuscated in an unknown way (flags 0x%llx)",
						 (unsigned long long)entry->flags);
	if (entry->compression == DEVCODE_RAW && entry->size_bytes > entry->stored_bytes)
		return error_set(err, JW_ERR_FORMAT, "a raw payload larger than its stored bytes");
	ret_view->data = container->bytes + entry->payload_offset;
	ret_view->size = (size_t)entry->stored_bytes;
	return 0;
}

/* A decoder kept between calls. It takes some 160 KB; mapping and touching these for each of
 * thousands of small modules would take as long as decompressing the modules. A second thread at
 * the same time makes another decoder. */
static _Atomic(ZSTD_DCtx *) idle_decoder;

static ZSTD_DCtx *take_decoder(void)
{
	ZSTD_DCtx *decoder = atomic_exchange(&idle_decoder, NULL);

	if (!decoder)
		decoder = ZSTD_createDCtx();
	if (!decoder)
		mem_ended(0);
	(void)ZSTD_DCtx_reset(decoder, ZSTD_reset_session_and_parameters);
	(void)ZSTD_DCtx_setParameter(decoder, ZSTD_d_windowLogMax, WINDOW_LOG);
	return decoder;
}

static void release_decoder(ZSTD_DCtx *decoder)
{
	(void)ZSTD_freeDCtx(atomic_exchange(&idle_decoder, decoder));
}

/* Returns whether the payload can expand to its size at all, checked before that size is allocated.
 */
static bool can_unpack(const struct devcode_entry *entry, struct devcode_view from)
{
	unsigned long long content;

	if (entry->size_bytes > DEVCODE_MAX_PAYLOAD || from.size > LZ4_MAX_INPUT_SIZE)
		return false;
	if (entry->compression == DEVCODE_LZ4)
		return entry->size_bytes / LZ4_MAX_RATIO <= from.size;
	content = ZSTD_getFrameContentSize(from.data, from.size);
	return content == entry->size_bytes || content == ZSTD_CONTENTSIZE_UNKNOWN;
}

/* Decompresses a payload into `scratch`, which is empty. */
static int unpack(struct jw_error *err, const struct devcode_entry *entry, struct devcode_view from,
				  struct buf *scratch)
{
	const size_t size = (size_t)entry->size_bytes;

	if (!can_unpack(entry, from))
		return error_set(err, JW_ERR_FORMAT, "the payload cannot unpack to %llu bytes",
						 (unsigned long long)entry->size_bytes);
	if (buf_reserve(err, scratch, size))
		return -1;
	if (entry->compression == DEVCODE_LZ4) {
		const int got = LZ4_decompress_safe((const char *)from.data, (char *)scratch->data,
											(int)from.size, (int)size);

		if (got < 0 || (size_t)got != size)
			return error_set(err, JW_ERR_FORMAT, "LZ4 payload is damaged");
	} else {
		ZSTD_DCtx *decoder = take_decoder();
		const size_t got = ZSTD_decompressDCtx(decoder, scratch->data, size, from.data, from.size);

		release_decoder(decoder);
		if (ZSTD_isError(got))
			return error_set(err, JW_ERR_FORMAT, "zstd payload is damaged: %s",
							 ZSTD_getErrorName(got));
		if (got != size)
			return error_set(err, JW_ERR_FORMAT, "zstd payload has %zu bytes instead of %zu", got,
							 size);
	}
	scratch->size = size;
	scratch->data[size] = 0;
	return 0;
}

int devcode_payload(struct jw_error *err, const struct devcode_container *container,
					const struct devcode_entry *entry, struct buf *scratch,
					struct devcode_view *ret_view)
{
	const size_t size = (size_t)entry->size_bytes;
	struct devcode_view from;
	uint8_t *packed = NULL;
	int result;

	if (devcode_stored(err, container, entry, &from))
		return -1;
	if (entry->compression == DEVCODE_RAW && !container->mapped) {
		*ret_view = (struct devcode_view){from.data, size};
		return 0;
	}
	buf_clear(scratch);
	if (entry->compression == DEVCODE_RAW) {
		if (buf_append(err, scratch, from.data, size))
			return -1;
		*ret_view = (struct devcode_view){scratch->data, size};
		return 0;
	}
	/* A mapped file may change while it is decompressed; unpack refuses larger payloads. */
	if (container->mapped && from.size <= LZ4_MAX_INPUT_SIZE) {
		packed = mem_resize(NULL, from.size + 1);
		memcpy(packed, from.data, from.size);
		from.data = packed;
	}
	result = unpack(err, entry, from, scratch);
	mem_free(packed);
	if (result)
		return -1;
	*ret_view = (struct devcode_view){scratch->data, size};
	return 0;
}

/* These two decompress the first bytes, at most `size`, and return their number. The packed bytes
 * may change, so the decoders get copies. */

static size_t zstd_head(struct devcode_view from, uint8_t *to, size_t size)
{
	uint8_t packed[PACKED_PIECE];
	ZSTD_DCtx *decoder = take_decoder();
	ZSTD_outBuffer out = {to, size, 0};
	size_t left = 1;

	for (size_t at = 0; left && !ZSTD_isError(left) && out.pos < size && at < from.size;) {
		ZSTD_inBuffer in = {packed, smaller(from.size - at, sizeof packed), 0};
		const size_t before = out.pos;

		memcpy(packed, from.data + at, in.size);
		left = ZSTD_decompressStream(decoder, &out, &in);
		at += in.pos;
		if (!in.pos && out.pos == before)
			break;
	}
	release_decoder(decoder);
	return out.pos;
}

/* No LZ4 sequence is longer than the bytes that it stands for: a prefix of the packed bytes, hardly
 * longer than the first unpacked ones, has these. */
static size_t lz4_head(struct devcode_view from, uint8_t *to, size_t size)
{
	const size_t packed_size = smaller(from.size, size + LZ4_AHEAD);
	uint8_t small[PTX_HEAD + LZ4_AHEAD];
	uint8_t *packed = packed_size > sizeof small ? mem_alloc(packed_size) : small;
	int got;

	memcpy(packed, from.data, packed_size);
	got = LZ4_decompress_safe_partial((const char *)packed, (char *)to, (int)packed_size, (int)size,
									  (int)size);
	if (packed != small)
		mem_free(packed);
	return got > 0 ? (size_t)got : 0;
}

/* Finds the first bytes of a payload, decompressed into `to`, which has room for `size`, or in
 * their place. There are fewer if the payload is shorter or damaged. */
static int head(struct jw_error *err, const struct devcode_container *container,
				const struct devcode_entry *entry, uint8_t *to, size_t size,
				struct devcode_view *ret_view)
{
	struct devcode_view from;

	if (devcode_stored(err, container, entry, &from))
		return -1;
	if (entry->compression == DEVCODE_RAW) {
		*ret_view = from;
		return 0;
	}
	*ret_view =
		(struct devcode_view){to, entry->compression == DEVCODE_ZSTD ? zstd_head(from, to, size)
																	 : lz4_head(from, to, size)};
	return 0;
}

int devcode_ptx_header(struct jw_error *err, const struct devcode_container *container,
					   const struct devcode_entry *entry, struct devcode_ptx_header *ret_header)
{
	uint8_t small[PTX_HEAD];
	struct buf large = BUF_MAX(PTX_LONG_HEAD);
	struct devcode_view view;
	int result = -1;

	if (head(err, container, entry, small, sizeof small, &view))
		return -1;
	if (!ptx_header_read(NULL, view.data, view.size, ret_header))
		return 0;
	(void)buf_reserve(NULL, &large, PTX_LONG_HEAD);
	if (!head(err, container, entry, large.data, PTX_LONG_HEAD, &view))
		result = ptx_header_read(err, view.data, view.size, ret_header);
	buf_free(&large);
	return result;
}

void container_cubin(struct devcode_entry *entry, const uint8_t *stored, uint64_t size)
{
	const struct devcode_view from = {stored, (size_t)smaller(size, entry->stored_bytes)};
	uint8_t room[CUBIN_HEAD];
	struct devcode_view view = {room, 0};

	if (entry->compression == DEVCODE_RAW) {
		view.size = smaller(from.size, CUBIN_HEAD);
		memcpy(room, stored, view.size);
	} else if (entry->compression == DEVCODE_LZ4) {
		view.size = lz4_head(from, room, CUBIN_HEAD);
	}
	entry->first_cuda = entry->cuda_13
							? 13000
							: cubin_cuda(view.data, view.size, entry->isa_minor, entry->target.sm);
	entry->compiler_cuda = cubin_compiler(view, entry->target.sm);
	if (entry->compiler_cuda < entry->first_cuda)
		entry->compiler_cuda = entry->first_cuda;
}

uint32_t devcode_compiler(const struct devcode_entry *entry)
{
	if (entry->kind == DEVCODE_KIND_CUBIN)
		return entry->compiler_cuda;
	return devcode_kind_is_ptx(entry->kind)
			   ? gpu_isa_driver((struct gpu_isa){entry->isa_major, entry->isa_minor}).cuda
			   : 0;
}

enum { ENTRY_MARK = 0x0101 };

/* A copy of an entry's header. */
struct entry_header {
	uint16_t kind, mark, isa_minor, isa_major;
	uint32_t header_bytes, compressed_bytes, options_at, arch, name_at;
	uint64_t payload_bytes, flags, size_bytes;
};

static struct entry_header read_entry_header(const uint8_t *bytes)
{
	struct cursor cursor = cursor_of(bytes, CONTAINER_ENTRY);
	struct entry_header header;

	header.kind = cursor_u16(&cursor);
	header.mark = cursor_u16(&cursor);
	header.header_bytes = cursor_u32(&cursor);
	header.payload_bytes = cursor_u64(&cursor);
	header.compressed_bytes = cursor_u32(&cursor);
	header.options_at = cursor_u32(&cursor);
	header.isa_minor = cursor_u16(&cursor);
	header.isa_major = cursor_u16(&cursor);
	header.arch = cursor_u32(&cursor);
	header.name_at = cursor_u32(&cursor); /* the source file's name; its length follows */
	(void)cursor_u32(&cursor);
	header.flags = cursor_u64(&cursor);
	(void)cursor_u64(&cursor);
	header.size_bytes = cursor_u64(&cursor);
	return header;
}

/* Returns whether an entry has this header, which is in the next `left` bytes. All sizes are
 * multiples of eight, since the format pads them. */
static bool is_entry_header(const struct entry_header *header, uint64_t left)
{
	return header->mark == ENTRY_MARK && header->header_bytes >= CONTAINER_ENTRY &&
		   header->header_bytes <= CONTAINER_MAX_ENTRY_HEADER && header->header_bytes <= left &&
		   header->header_bytes % CONTAINER_ALIGN == 0 &&
		   header->payload_bytes % CONTAINER_ALIGN == 0;
}

bool container_step(struct container_walk *walk, const uint8_t *entry, uint32_t *ret_header)
{
	const struct entry_header header = read_entry_header(entry);
	const uint64_t left = walk->size_bytes - walk->at;

	if (!is_entry_header(&header, left) || header.payload_bytes > left - header.header_bytes)
		return false;
	walk->at += header.header_bytes + header.payload_bytes;
	walk->entries++;
	*ret_header = header.header_bytes;
	return true;
}

enum container_state container_check(struct container_walk *walk, const uint8_t *bytes,
									 uint64_t have, uint64_t most)
{
	if (!walk->at) {
		uint64_t size;

		if (most < CONTAINER_HEADER)
			return CONTAINER_BROKEN;
		walk->needed = CONTAINER_HEADER;
		if (have < walk->needed)
			return CONTAINER_MORE;
		size = load_u64(bytes + 8);
		if (load_u64(bytes) != CONTAINER_START || size % CONTAINER_ALIGN ||
			size > most - CONTAINER_HEADER)
			return CONTAINER_BROKEN;
		walk->at = CONTAINER_HEADER;
		walk->size_bytes = CONTAINER_HEADER + size;
	}
	while (walk->at < walk->size_bytes) {
		uint32_t header;

		if (walk->size_bytes - walk->at < CONTAINER_ENTRY)
			return CONTAINER_BROKEN;
		walk->needed = walk->at + CONTAINER_ENTRY;
		if (have < walk->needed)
			return CONTAINER_MORE;
		if (!container_step(walk, bytes + walk->at, &header))
			return CONTAINER_BROKEN;
	}
	walk->needed = walk->size_bytes;
	return have < walk->needed ? CONTAINER_MORE : CONTAINER_SOUND;
}

static enum devcode_compression read_compression(uint64_t flags, uint32_t compressed_bytes)
{
	if (flags & CONTAINER_OBFUSCATED)
		return DEVCODE_FOREIGN;
	if (!compressed_bytes)
		return DEVCODE_RAW;
	if (flags & CONTAINER_OLD_COMPRESSION)
		return DEVCODE_FOREIGN;
	if ((flags & CONTAINER_LZ4) && !(flags & CONTAINER_ZSTD))
		return DEVCODE_LZ4;
	return (flags & CONTAINER_ZSTD) && !(flags & CONTAINER_LZ4) ? DEVCODE_ZSTD : DEVCODE_FOREIGN;
}

/* Reads a cubin's .nv.compat, which follows the NUL of an empty option string. nvcc 13.5 flags the
 * entry of a tile kernel for sm_120 without `a`, although its cubin is for sm_120a. */
static void read_entry_compat(struct devcode_entry *entry, const uint8_t *header,
							  uint32_t header_size, uint32_t options_off)
{
	enum cubin_scope scope;
	uint32_t text, length;

	if (!(entry->flags & CONTAINER_COMPAT) || !range_fits(options_off, 8, header_size))
		return;
	text = load_u32(header + options_off);
	length = load_u32(header + options_off + 4);
	if (!range_fits((uint64_t)text + 1, length, header_size))
		return;
	scope = cubin_scope((struct devcode_view){header + text + 1, length});
	entry->cuda_13 = scope != CUBIN_SCOPE_UNSTATED;
	if (scope == CUBIN_SCOPE_ONE)
		entry->target.suffix = 'a';
}

/* Reads the options as libcuda does, which reads the string up to its NUL and ignores the length
 * beside its offset (measured). */
static void read_entry_options(struct devcode_entry *entry, const uint8_t *header,
							   uint32_t header_size, uint32_t header_offset, uint32_t options_off)
{
	const uint32_t text = options_off && range_fits(options_off, 8, header_size)
							  ? load_u32(header + options_off)
							  : header_size;
	const uint8_t *end = NULL;

	/* Offset 0 would be the entry's own first bytes: the field exists but is empty (measured on
	 * 550). PTX needs the field: without one, libcuda takes a text 16 MiB behind the entry as
	 * options, also that of another entry, or crashes (measured on 470 to 555; not for other
	 * kinds). */
	if (!text || (!options_off && entry->kind != DEVCODE_KIND_PTX))
		return;
	if (text < header_size)
		end = memchr(header + text, 0, header_size - text);
	/* libcuda would read on, into the payload (measured on 535). */
	if (!end) {
		entry->damaged = entry->options_lost = true;
		return;
	}
	entry->options_offset = header_offset + text;
	entry->options_length = (uint32_t)(end - (header + text));
}

uint64_t container_entry(const uint8_t *bytes, uint64_t size_bytes, uint64_t at, uint64_t offset,
						 struct devcode_entry *entry)
{
	const uint64_t left = size_bytes - at;
	const struct entry_header header =
		left < CONTAINER_ENTRY ? (struct entry_header){0} : read_entry_header(bytes + at);
	const uint32_t header_bytes = header.header_bytes;

	*entry = (struct devcode_entry){.offset = offset + at, .kind = header.kind};
	if (!is_entry_header(&header, left)) {
		entry->damaged = true;
		return 0;
	}
	entry->isa_minor = header.isa_minor;
	entry->isa_major = header.isa_major;
	entry->flags = header.flags;
	entry->damaged = header.arch > UINT16_MAX;
	entry->target = (struct jw_target){
		.sm = header.arch < UINT16_MAX ? (uint16_t)header.arch : UINT16_MAX,
		.suffix = (char)(entry->flags & CONTAINER_SUFFIX_A   ? 'a'
						 : entry->flags & CONTAINER_SUFFIX_F ? 'f'
															 : 0),
	};
	entry->payload_offset = at + header_bytes;
	entry->compression = read_compression(entry->flags, header.compressed_bytes);
	entry->stored_bytes = header.compressed_bytes ? header.compressed_bytes : header.payload_bytes;
	entry->size_bytes = entry->compression != DEVCODE_RAW && header.size_bytes
							? header.size_bytes
							: entry->stored_bytes;
	entry->damaged = entry->damaged || entry->stored_bytes > header.payload_bytes ||
					 ((entry->compression == DEVCODE_LZ4 || entry->compression == DEVCODE_ZSTD) &&
					  (!header.size_bytes || header.size_bytes > DEVCODE_MAX_PAYLOAD));
	/* The driver's key contains the decompressed payload and a NUL, but a raw payload with its
	 * padding as stored (measured on 535 and 550). The last byte of a raw payload's padding
	 * therefore counts as that NUL, and the payload ends before it. */
	if (entry->compression == DEVCODE_RAW && entry->size_bytes &&
		devcode_kind_is_ptx(entry->kind) && entry->size_bytes <= left - header_bytes &&
		!bytes[entry->payload_offset + entry->size_bytes - 1])
		entry->size_bytes--;
	/* Options after the first 4 GB of a container have no valid offset; real option strings are
	 * smaller. */
	if (at + header_bytes > UINT32_MAX)
		entry->damaged = true;
	else if (entry->kind == DEVCODE_KIND_CUBIN)
		read_entry_compat(entry, bytes + at, header_bytes, header.options_at);
	else
		read_entry_options(entry, bytes + at, header_bytes, (uint32_t)at, header.options_at);
	if (entry->kind == DEVCODE_KIND_CUBIN && !entry->damaged)
		container_cubin(entry, bytes + at + header_bytes, left - header_bytes);
	return header_bytes + header.payload_bytes;
}

void container_entries(const uint8_t *bytes, uint64_t size_bytes, uint64_t offset,
					   struct devcode_entry *entries, size_t count)
{
	uint64_t at = CONTAINER_HEADER;

	for (size_t i = 0; i < count; i++) {
		const uint64_t size = container_entry(bytes, size_bytes, at, offset, &entries[i]);

		/* Behind an entry that does not fit there is none. */
		if (size > size_bytes - at)
			entries[i].damaged = true;
		at = !size || size > size_bytes - at ? size_bytes : at + size;
	}
}
