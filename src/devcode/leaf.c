#include "devcode/leaf.h"

#include <string.h>

#include "base/cursor.h"
#include "devcode/container.h"
#include "devcode/cubin.h"
#include "devcode/elf64.h"
#include "devcode/ptx.h"
#include "devcode/search.h"
#include "devcode/sections.h"
#include "devcode/walk.h"

enum { TAR_MAGIC_AT = 257 };

static const struct {
	size_t at;
	const char *magic;
	size_t size;
	enum kind kind;
} magics[] = {
	{0,
	 "\x7f"
	 "ELF",
	 4, KIND_ELF},
	{0, "!<arch>\n", 8, KIND_AR},
	{0, "PK\3\4", 4, KIND_ZIP},
	{0, "\x28\xb5\x2f\xfd", 4, KIND_ZSTD},
	{TAR_MAGIC_AT, "ustar", 5, KIND_TAR},
};

enum kind kind_of(const uint8_t *head, size_t size)
{
	if (cubin_is(head, size))
		return KIND_CUBIN;
	if (size >= CONTAINER_HEADER && load_u64(head) == CONTAINER_START)
		return KIND_FATBIN;
	for (size_t i = 0; i < sizeof magics / sizeof *magics; i++)
		if (range_fits(magics[i].at, magics[i].size, size) &&
			!memcmp(head + magics[i].at, magics[i].magic, magics[i].size))
			return magics[i].kind;
	if (pe_is(head, size))
		return KIND_PE;
	if (ptx_is(head, size))
		return KIND_PTX;
	return pe_is_object(head, size) ? KIND_OBJECT : KIND_NONE;
}

enum {
	MOST_OBJECT = 1 << 28, /* bytes of a COFF object inside an archive inside a wheel */
	/* Bytes that are kept before an ELF's section headers: its symbols, and the section names
	 * before them. A mebibyte is left for the headers. */
	TAIL = CAPTURE_MOST_TAIL - (1 << 20),
};

static const enum devcode_format formats[] = {
	[KIND_ELF] = DEVCODE_ELF,       [KIND_PE] = DEVCODE_PE,       [KIND_OBJECT] = DEVCODE_PE,
	[KIND_FATBIN] = DEVCODE_FATBIN, [KIND_CUBIN] = DEVCODE_CUBIN, [KIND_PTX] = DEVCODE_PTX,
};

static int read_leaf_sections(struct jw_error *err, enum devcode_format format,
							  const struct bytes *bytes, struct section_table *ret_table)
{
	if (format == DEVCODE_ELF)
		return elf_sections(err, bytes, ret_table);
	if (format == DEVCODE_PE)
		return pe_sections(err, bytes, ret_table);
	*ret_table = (struct section_table){.absent = true};
	return 0;
}

static int memory_get(struct jw_error *err, void *context, uint64_t offset, uint64_t size,
					  const uint8_t **ret_data)
{
	const struct stream *stream = context;

	if (!range_fits(offset, size, stream->size_bytes))
		return error_set(err, JW_ERR_FORMAT,
						 "headers point past the end of the file, which is cut off");
	*ret_data = stream->memory + offset;
	return 0;
}

static int memory_each(struct jw_error *err, void *context, uint64_t offset, uint64_t size,
					   int (*piece)(struct jw_error *err, void *of_piece, size_t part,
									const uint8_t *data, size_t size),
					   void *of_piece)
{
	const uint8_t *data;

	return memory_get(err, context, offset, size, &data) ||
				   piece(err, of_piece, 0, data, (size_t)size)
			   ? -1
			   : 0;
}

static int read_leaf_memory(struct jw_error *err, struct image *image, struct stream *stream)
{
	struct bytes bytes = {memory_get, memory_each, stream, stream->size_bytes, stream->size_bytes};
	struct section_table table;
	int result = 0;

	if (read_leaf_sections(err, image->format, &bytes, &table)) {
		/* Environments contain many old and foreign files: they are reported only if they seem to
		 * contain something. */
		image->damaged_count = find_word(stream->memory, (size_t)stream->size_bytes,
										 CONTAINER_START) < stream->size_bytes;
		return -1;
	}
	if (table.absent)
		result = search_range(
			err, image, stream,
			&(struct search){.end = stream->size_bytes, .texts = image->format != DEVCODE_FATBIN});
	for (size_t i = 0; !result && !table.absent && i < table.count; i++) {
		const struct section *section = &table.items[i];
		/* Linkers align containers to multiples of eight in the file. A COFF object's sections
		 * begin anywhere, and its containers are aligned within their section. */
		const bool anywhere = table.object && image->format == DEVCODE_PE;
		const uint64_t skip = anywhere ? 0 : -section->offset % CONTAINER_ALIGN;

		if (skip < section->size_bytes)
			result = search_range(err, image, stream,
								  &(struct search){.begin = section->offset,
												   .from = section->offset + skip,
												   .end = section->offset + section->size_bytes,
												   .texts = section->role == DEVCODE_LOOSE});
		if (!result && section->wrappers)
			result = search_wrappers(err, image, stream, section);
	}
	if (!result)
		result = image_finish(err, image, &table, &bytes);
	sections_free(&table);
	return result;
}

struct streamed {
	struct image *image;
	struct capture capture;
	struct buf again; /* ranges that were read a second time */
};

static bool in_buf(const struct buf *buf, uint64_t start, uint64_t offset, uint64_t size,
				   const uint8_t **ret_data)
{
	if (offset < start || !range_fits(offset - start, size, buf->size))
		return false;
	*ret_data = buf->data + (offset - start);
	return true;
}

static bool is_captured(const struct streamed *streamed, uint64_t offset, uint64_t size,
						const uint8_t **ret_data)
{
	const struct capture *capture = &streamed->capture;

	return in_buf(&capture->head, 0, offset, size, ret_data) ||
		   in_buf(&capture->tail, capture->tail_from, offset, size, ret_data);
}

static int streamed_get(struct jw_error *err, void *context, uint64_t offset, uint64_t size,
						const uint8_t **ret_data)
{
	struct streamed *streamed = context;
	const struct image *image = streamed->image;
	struct devcode_part part = {.member = image->member, .offset = offset, .size_bytes = size};

	if (is_captured(streamed, offset, size, ret_data))
		return 0;
	buf_free(&streamed->again);
	if (devcode_reread(err, image->reading->path, &part, &image->reading->sink->cancel,
					   &image->reading->again_bytes, &streamed->again))
		return -1;
	*ret_data = streamed->again.data;
	return 0;
}

/* Relocations have tens of megabytes, for which the member is decompressed a second time. */
static int streamed_each(struct jw_error *err, void *context, uint64_t offset, uint64_t size,
						 int (*piece)(struct jw_error *err, void *of_piece, size_t part,
									  const uint8_t *data, size_t size),
						 void *of_piece)
{
	struct streamed *streamed = context;
	const struct image *image = streamed->image;
	struct devcode_part part = {.member = image->member, .offset = offset, .size_bytes = size};
	const uint8_t *data;

	if (is_captured(streamed, offset, size, &data))
		return piece(err, of_piece, 0, data, (size_t)size);
	return devcode_copy(err, image->reading->path, &part, 1, piece, of_piece,
						&image->reading->sink->cancel, &image->reading->again_bytes);
}

static int finish_stream(struct jw_error *err, struct streamed *streamed, uint64_t size_bytes)
{
	struct bytes bytes = {streamed_get, streamed_each, streamed, size_bytes,
						  streamed->capture.head.size};
	struct section_table table;
	int result;

	if (read_leaf_sections(err, streamed->image->format, &bytes, &table))
		return -1;
	result = image_finish(err, streamed->image, &table, &bytes);
	sections_free(&table);
	return result;
}

/* The start of the part of an ELF's tail that is worth keeping. */
static uint64_t tail_of(const uint8_t *head, size_t size)
{
	struct elf64_header elf;

	if (!elf64_header_read(head, size, &elf) || elf.class != ELF64_CLASS ||
		elf.order != ELF64_LITTLE || !elf.shoff)
		return UINT64_MAX;
	return elf.shoff > TAIL ? elf.shoff - TAIL : 0;
}

static int read_stream(struct jw_error *err, struct image *image, struct stream *stream)
{
	struct streamed streamed = {.image = image, .capture = {.tail_from = UINT64_MAX}};
	const uint8_t *head;
	size_t size;
	int result = -1;

	if (stream_peek(err, stream, ELF64_EHDR_SIZE, &head, &size))
		return -1;
	streamed.capture.tail_from = tail_of(head, size);
	if (!search_stream(err, image, stream, &streamed.capture)) {
		/* Sections and relocations may require decompressing once more. */
		stream_release(stream);
		/* If nothing was found, no sections are needed. */
		result = image->count || image->damaged_count
					 ? finish_stream(err, &streamed, stream->offset)
					 : 0;
	}
	buf_free(&streamed.capture.head);
	buf_free(&streamed.capture.tail);
	buf_free(&streamed.again);
	return result;
}

/* Reads a cubin or a text, which is needed as a whole. */
static int read_single(struct jw_error *err, struct image *image, struct stream *stream)
{
	struct section_table table = {.absent = true};
	struct bytes bytes = {memory_get, memory_each, stream, stream->size_bytes, 0};
	const uint8_t *data;
	size_t size;

	if (stream_peek(err, stream, DEVCODE_MOST_STREAMED, &data, &size))
		return -1;
	bytes.size_bytes = size;
	if (image_single(err, image, data, size))
		return -1;
	return image_finish(err, image, &table, &bytes);
}

/* An object from an archive is held in memory, since its containers may be anywhere. */
static int read_object(struct jw_error *err, struct image *image, struct stream *stream)
{
	struct stream whole;
	const uint8_t *data;
	size_t size;

	if (stream_peek(err, stream, MOST_OBJECT, &data, &size))
		return -1;
	if (size >= MOST_OBJECT)
		return error_set(err, JW_ERR_LIMIT, "an object of more than %d bytes", MOST_OBJECT);
	stream_of_memory(&whole, data, size, NULL);
	return read_leaf_memory(err, image, &whole);
}

static bool is_trouble(const struct image *image, enum kind kind, const struct jw_error *why)
{
	if (why->code == JW_ERR_IO)
		return true;
	if (kind == KIND_OBJECT || why->code == JW_ERR_UNSUPPORTED)
		return image->count || image->damaged_count;
	return true;
}

int leaf_read(struct jw_error *err, void *context, const char *member, enum kind kind,
			  struct stream *stream)
{
	struct reading *reading = context;
	struct image image = {.reading = reading, .member = member, .format = formats[kind]};
	struct jw_error why = {0};
	int result;

	if (kind == KIND_CUBIN || kind == KIND_PTX)
		result = read_single(&why, &image, stream);
	else
		result = stream->memory        ? read_leaf_memory(&why, &image, stream)
				 : kind == KIND_OBJECT ? read_object(&why, &image, stream)
									   : read_stream(&why, &image, stream);
	if (result && walk_cancelled(&why, &reading->sink->cancel))
		reading->stopped = true;
	if (result && !reading->stopped) {
		if (reading->sink->trouble && is_trouble(&image, kind, &why))
			reading->sink->trouble(reading->sink->context, reading->path, member, &why);
		result = 0;
	} else if (result && err) {
		*err = why;
	}
	image_free(&image);
	return result;
}
