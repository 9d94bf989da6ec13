#include "devcode/container.h"

#include <string.h>

#include "base/cursor.h"

enum { ENTRY_MARK = 0x0101 };

static enum container_state need_more(struct container_walk *walk, uint64_t needed)
{
	walk->needed = needed;
	return CONTAINER_MORE;
}

static enum container_state check_header(struct container_walk *walk, const uint8_t *bytes,
										 uint64_t have, uint64_t most)
{
	uint64_t size;

	if (most < CONTAINER_HEADER)
		return CONTAINER_BROKEN;
	if (have < CONTAINER_HEADER)
		return need_more(walk, CONTAINER_HEADER);
	size = load_u64(bytes + 8);
	if (load_u64(bytes) != CONTAINER_START || size % CONTAINER_ALIGN ||
		size > most - CONTAINER_HEADER)
		return CONTAINER_BROKEN;
	walk->at = CONTAINER_HEADER;
	walk->size_bytes = CONTAINER_HEADER + size;
	return CONTAINER_SOUND;
}

/* One step of the walk. All sizes are multiples of eight, since the format pads them. */
bool container_step(struct container_walk *walk, const uint8_t *entry, uint32_t *ret_header)
{
	uint64_t header = load_u32(entry + 4), payload = load_u64(entry + 8),
			 left = walk->size_bytes - walk->at;

	if (load_u32(entry) >> 16 != ENTRY_MARK || header < CONTAINER_ENTRY ||
		header > CONTAINER_MOST_ENTRY_HEADER || header > left || payload > left - header ||
		header % CONTAINER_ALIGN || payload % CONTAINER_ALIGN)
		return false;
	walk->at += header + payload;
	walk->entries++;
	*ret_header = (uint32_t)header;
	return true;
}

enum container_state container_check(struct container_walk *walk, const uint8_t *bytes,
									 uint64_t have, uint64_t most)
{
	if (!walk->at) {
		enum container_state state = check_header(walk, bytes, have, most);

		if (state != CONTAINER_SOUND)
			return state;
	}
	while (walk->at < walk->size_bytes) {
		uint32_t header;

		if (walk->size_bytes - walk->at < CONTAINER_ENTRY)
			return CONTAINER_BROKEN;
		if (have < walk->at + CONTAINER_ENTRY)
			return need_more(walk, walk->at + CONTAINER_ENTRY);
		if (!container_step(walk, bytes + walk->at, &header))
			return CONTAINER_BROKEN;
	}
	return have < walk->size_bytes ? need_more(walk, walk->size_bytes) : CONTAINER_SOUND;
}

static struct jw_target read_entry_target(uint32_t arch, uint64_t flags)
{
	return (struct jw_target){
		.sm = arch < UINT16_MAX ? (uint16_t)arch : UINT16_MAX,
		.suffix = (char)(flags & CONTAINER_SUFFIX_A   ? 'a'
						 : flags & CONTAINER_SUFFIX_F ? 'f'
													  : 0),
	};
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

/* libcuda reads the string up to its NUL and ignores the length beside its offset (measured). */
static void read_entry_options(struct devcode_entry *entry, const uint8_t *header,
							   uint32_t header_size, uint32_t header_offset, uint32_t options_off)
{
	uint32_t text;
	const uint8_t *end;

	if (!options_off || entry->kind == DEVCODE_KIND_CUBIN)
		return;
	if (!range_fits(options_off, 8, header_size) ||
		(text = load_u32(header + options_off)) > header_size) {
		entry->damaged = true;
		return;
	}
	/* Offset 0 would be the entry's own first bytes: the field is there and empty (measured on
	 * 550). */
	if (!text)
		return;
	end = memchr(header + text, 0, header_size - text);
	entry->options_offset = header_offset + text;
	entry->options_length = (uint32_t)(end ? end - (header + text) : header_size - text);
}

static void read_sizes(struct devcode_entry *entry, uint64_t payload, uint32_t compressed,
					   uint64_t uncompressed)
{
	entry->stored_bytes = compressed ? compressed : payload;
	entry->size_bytes = entry->stored_bytes;
	if (entry->compression != DEVCODE_RAW && uncompressed)
		entry->size_bytes = uncompressed;
	if (entry->stored_bytes > payload)
		entry->damaged = true;
	if ((entry->compression == DEVCODE_LZ4 || entry->compression == DEVCODE_ZSTD) &&
		(!uncompressed || uncompressed > DEVCODE_MOST_PAYLOAD))
		entry->damaged = true;
}

uint64_t container_entry(const uint8_t *bytes, uint64_t size_bytes, uint64_t at, uint64_t offset,
						 struct devcode_entry *entry)
{
	struct cursor cursor = cursor_of(bytes + at, (size_t)(size_bytes - at));
	uint32_t header_size, compressed, options_off, arch;
	uint64_t payload, uncompressed;

	*entry = (struct devcode_entry){.offset = offset + at};
	entry->kind = cursor_u16(&cursor);
	(void)cursor_u16(&cursor);
	header_size = cursor_u32(&cursor);
	payload = cursor_u64(&cursor);
	compressed = cursor_u32(&cursor);
	options_off = cursor_u32(&cursor);
	entry->isa_minor = cursor_u16(&cursor);
	entry->isa_major = cursor_u16(&cursor);
	arch = cursor_u32(&cursor);
	(void)cursor_u64(&cursor); /* offset and length of the source file's name */
	entry->flags = cursor_u64(&cursor);
	(void)cursor_u64(&cursor);
	uncompressed = cursor_u64(&cursor);
	entry->damaged = arch > UINT16_MAX;
	entry->target = read_entry_target(arch, entry->flags);
	entry->payload_offset = at + header_size;
	entry->compression = read_compression(entry->flags, compressed);
	read_sizes(entry, payload, compressed, uncompressed);
	/* The driver's key contains the decompressed payload and a NUL, but a raw payload with its
	 * padding as stored (measured on 535 and 550). The last byte of a raw payload's padding
	 * therefore counts as that NUL, and the payload ends before it. */
	if (entry->compression == DEVCODE_RAW && entry->size_bytes &&
		devcode_kind_is_ptx(entry->kind) && !bytes[entry->payload_offset + entry->size_bytes - 1])
		entry->size_bytes--;
	/* Options behind the first 4 GB of a container have no valid offset; real containers are
	 * smaller. */
	if (at + header_size <= UINT32_MAX)
		read_entry_options(entry, bytes + at, header_size, (uint32_t)at, options_off);
	else
		entry->damaged = true;
	return header_size + payload;
}

void container_entries(const uint8_t *bytes, uint64_t size_bytes, uint64_t offset,
					   struct devcode_entry *entries, size_t count)
{
	uint64_t at = CONTAINER_HEADER;

	for (size_t i = 0; i < count; i++)
		at += container_entry(bytes, size_bytes, at, offset, &entries[i]);
}
