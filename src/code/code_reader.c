#include "code/code_reader.h"

#include <string.h>

#include "base/cursor.h"
#include "base/mem.h"
#include "base/text.h"
#include "code/elf64.h"

enum {
	MAX_OBJECT = 1 << 28, /* bytes of a COFF object inside an archive inside a wheel */
	/* The bytes to keep before an ELF's section headers: its symbols, and the section names before
	 * them. A mebibyte is left for the headers. */
	TAIL = SEARCH_MAX_TAIL - (1 << 20),
};

static const enum devcode_format formats[] = {
	[KIND_ELF] = DEVCODE_ELF,       [KIND_PE] = DEVCODE_PE,       [KIND_OBJECT] = DEVCODE_PE,
	[KIND_FATBIN] = DEVCODE_FATBIN, [KIND_CUBIN] = DEVCODE_CUBIN, [KIND_PTX] = DEVCODE_PTX,
};

void leaf_open(struct leaf *leaf, struct origin origin, enum kind kind, struct stream *stream)
{
	*leaf = (struct leaf){.origin = origin, .kind = kind, .stream = stream};
	leaf->image.format = formats[kind];
	leaf->image.mapped = stream->map != NULL;
}

void leaf_close(struct leaf *leaf)
{
	image_free(&leaf->image);
	sections_free(&leaf->table);
	search_stream_free(&leaf->search);
	buf_free(&leaf->bytes.again);
	buf_free(&leaf->text);
	*leaf = (struct leaf){0};
}

static int read_sections(struct jw_error *err, struct leaf *leaf)
{
	if (leaf->image.format == DEVCODE_ELF)
		return elf_sections(err, &leaf->bytes, &leaf->table);
	if (leaf->image.format == DEVCODE_PE)
		return pe_sections(err, &leaf->bytes, &leaf->table);
	leaf->table = (struct section_table){.absent = true};
	return 0;
}

static int refuse_large(struct jw_error *err, size_t most)
{
	return error_set(err, JW_ERR_LIMIT, "more than %zu MiB; a module is not that large",
					 most >> 20);
}

/* Copies a mapped PTX file, and releases its pages meanwhile. The text is needed as a whole several
 * times, and while it is mapped each use would need a copy of its own. */
static int hold_text(struct jw_error *err, struct leaf *leaf)
{
	const size_t size = (size_t)leaf->stream->size_bytes;
	uint64_t forgotten = 0;

	leaf->text = BUF_MAX(DEVCODE_MAX_TEXT);
	if (buf_reserve(err, &leaf->text, size))
		return -1;
	for (size_t at = 0; at < size; at += STREAM_STEP) {
		const size_t left = size - at;

		(void)buf_append(NULL, &leaf->text, leaf->stream->memory + at,
						 left < STREAM_STEP ? left : STREAM_STEP);
		stream_forget(leaf->stream, leaf->text.size, &forgotten);
	}
	stream_of_memory(&leaf->whole, leaf->text.data, size, NULL);
	leaf->stream = &leaf->whole;
	leaf->image.mapped = false;
	return 0;
}

/* Reads a cubin or a PTX text: one container, which is needed as a whole. */
static int read_single(struct jw_error *err, struct leaf *leaf)
{
	const size_t most = leaf->kind == KIND_PTX ? DEVCODE_MAX_TEXT : DEVCODE_MAX_STREAMED;
	const uint8_t *data;
	size_t size;

	if (leaf->stream->memory && leaf->stream->size_bytes > most)
		return refuse_large(err, most);
	if (leaf->kind == KIND_PTX && leaf->stream->map && hold_text(err, leaf))
		return -1;
	if (stream_peek(err, leaf->stream, leaf->kind == KIND_PTX ? most + 1 : most, &data, &size))
		return -1;
	if (size > most)
		return refuse_large(err, most);
	if (image_single(err, &leaf->image, leaf->image.format, data, size, 0))
		return -1;
	leaf->table.absent = true;
	leaf->bytes = (struct bytes){.size_bytes = size, .memory = data};
	return 0;
}

/* Fails for a library that UPX packed: its code is compressed, and its section headers are gone. A
 * packed program is no library, and has no dynamic segment. Source: UPX, src/packhead.cpp. */
static int refuse_packed(struct jw_error *err, struct leaf *leaf, const uint8_t *head,
						 size_t head_size, const uint8_t *end, size_t end_size)
{
	enum { TRAILER = 36 };
	struct elf64_segment segment = {0};
	struct elf64_header elf;

	if (leaf->image.count || end_size < TRAILER || memcmp(end + end_size - TRAILER, "UPX!", 4) ||
		!elf64_header_read(head, head_size, &elf) || elf.class != ELF64_CLASS ||
		elf.order != ELF64_LITTLE || elf.shoff || elf.phentsize != ELF64_PHDR_SIZE)
		return 0;
	for (size_t i = 0; i < elf.phnum && segment.type != ELF64_PT_DYNAMIC; i++) {
		if (!range_fits(elf.phoff, (i + 1) * ELF64_PHDR_SIZE, head_size))
			return 0;
		elf64_segment_read(head + elf.phoff + i * ELF64_PHDR_SIZE, &segment);
	}
	if (segment.type != ELF64_PT_DYNAMIC)
		return 0;
	leaf->may_hold_code = true;
	return error_set(err, JW_ERR_UNSUPPORTED,
					 "packed with UPX, so jitwarm cannot tell what it contains; unpack a copy "
					 "with “upx -d”");
}

/* Begins to search a file that is in memory as a whole. */
static int begin_memory(struct jw_error *err, struct leaf *leaf)
{
	const struct stream *stream = leaf->stream;

	leaf->bytes = (struct bytes){.size_bytes = stream->size_bytes, .memory = stream->memory};
	if (read_sections(err, leaf)) {
		const size_t size = (size_t)stream->size_bytes;

		/* Environments contain many old and foreign files, which are reported only if they seem to
		 * contain something. */
		leaf->may_hold_code = search_container(stream->memory, size, size) < size;
		return -1;
	}
	/* A file without sections is searched as a whole. */
	leaf->range = search_range(0, leaf->table.absent ? stream->size_bytes : 0,
							   leaf->image.format != DEVCODE_FATBIN);
	leaf->state = LEAF_MEMORY;
	return 0;
}

/* Prepares a stream: chooses from where on an ELF's end is kept. An object from an archive is held
 * in memory, since its containers may be anywhere. */
static int begin_stream(struct jw_error *err, struct leaf *leaf)
{
	struct elf64_header elf;
	const uint8_t *data;
	size_t size;

	if (leaf->kind == KIND_OBJECT) {
		if (stream_peek(err, leaf->stream, MAX_OBJECT, &data, &size))
			return -1;
		if (size >= MAX_OBJECT)
			return error_set(err, JW_ERR_LIMIT, "an object of more than %d bytes", MAX_OBJECT);
		stream_of_memory(&leaf->whole, data, size, NULL);
		leaf->stream = &leaf->whole;
		return begin_memory(err, leaf);
	}
	if (stream_peek(err, leaf->stream, ELF64_EHDR_SIZE, &data, &size))
		return -1;
	leaf->search = (struct stream_search){
		.image = &leaf->image, .stream = leaf->stream, .tail_from = UINT64_MAX};
	if (elf64_header_read(data, size, &elf) && elf.class == ELF64_CLASS &&
		elf.order == ELF64_LITTLE && elf.shoff)
		leaf->search.tail_from = elf.shoff > TAIL ? elf.shoff - TAIL : 0;
	leaf->state = LEAF_STREAM;
	return 0;
}

/* Returns 1 for a container, 0 at the end. */
static int search_memory(struct jw_error *err, struct leaf *leaf)
{
	const struct section_table *table = &leaf->table;
	struct image *image = &leaf->image;
	int more = search_range_next(err, image, leaf->stream, &leaf->range, leaf->origin.cancel);

	while (!more && leaf->section < table->count) {
		const struct section *section = &table->items[leaf->section++];

		if (section->wrappers && search_wrappers(err, image, leaf->stream, section))
			return -1;
		leaf->range = search_range(section->offset, section->offset + section->size_bytes,
								   section->role == DEVCODE_LOOSE);
		more = search_range_next(err, image, leaf->stream, &leaf->range, leaf->origin.cancel);
	}
	if (!more && image->format == DEVCODE_ELF) {
		const struct stream *stream = leaf->stream;
		const size_t size = (size_t)stream->size_bytes;

		return refuse_packed(err, leaf, stream->memory, size, stream->memory, size);
	}
	return more;
}

/* Completes the image; reading sections and relocations may require decompressing once more. */
static int end_stream(struct jw_error *err, struct leaf *leaf)
{
	const struct stream_search *search = &leaf->search;

	stream_release(leaf->stream);
	leaf->bytes = (struct bytes){.size_bytes = leaf->stream->offset,
								 .origin = &leaf->origin,
								 .head = &search->head,
								 .tail = &search->tail,
								 .names = &search->names,
								 .tail_from = search->tail_from,
								 .names_from = search->names_from};
	if (leaf->image.format == DEVCODE_ELF &&
		refuse_packed(err, leaf, search->head.data, search->head.size, search->before,
					  search->before_size))
		return -1;
	if (leaf->image.count || leaf->image.damaged_count)
		return read_sections(err, leaf);
	/* If nothing was found, the sections only tell whether the library needs a CUDA runtime. */
	if (leaf->hosts && read_sections(NULL, leaf))
		sections_free(&leaf->table);
	return 0;
}

static int begin_leaf(struct jw_error *err, struct leaf *leaf)
{
	if (leaf->kind == KIND_CUBIN || leaf->kind == KIND_PTX) {
		leaf->state = LEAF_SINGLE;
		return 0;
	}
	return leaf->stream->memory ? begin_memory(err, leaf) : begin_stream(err, leaf);
}

enum code_step leaf_next(struct jw_error *err, struct leaf *leaf, struct code_found *found)
{
	int more = 0; /* 1 for a container, 0 at the end */

	if (leaf->state == LEAF_NEW && begin_leaf(err, leaf))
		return CODE_FAILED;
	switch (leaf->state) {
	case LEAF_SINGLE:
		more = read_single(err, leaf) ? -1 : 1;
		leaf->state = LEAF_SEARCHED;
		break;
	case LEAF_MEMORY: more = search_memory(err, leaf); break;
	case LEAF_STREAM:
		more = search_stream_next(err, &leaf->search);
		if (!more)
			more = end_stream(err, leaf);
		break;
	case LEAF_NEW:
	case LEAF_SEARCHED: break;
	case LEAF_COMPLETE: return CODE_END;
	}
	if (more < 0)
		return CODE_FAILED;
	if (more) {
		found->container = &leaf->image.found;
		return CODE_CONTAINER;
	}
	leaf->state = LEAF_COMPLETE;
	leaf->full = image_finish(&leaf->image, &leaf->table, &leaf->bytes);
	search_stream_free(&leaf->search);
	leaf->full.path = leaf->origin.path;
	leaf->full.member = leaf->origin.member;
	found->image = &leaf->full;
	return leaf->full.container_count || leaf->full.damaged ||
				   (leaf->hosts && leaf->full.runtime_cuda)
			   ? CODE_IMAGE
			   : CODE_END;
}

struct code_reader {
	const char *path;
	const struct jw_cancel *cancel;
	/* See walk_again; a part uses the counter of the whole file. */
	atomic_uint_least64_t again_bytes, *again;
	struct walk *walk;
	const char *platform; /* NULL: libraries for every platform are read */
	bool hosts;           /* see code_take_hosts */
	struct leaf leaf;
	bool in_leaf;
};

struct code_reader *code_of_walk(const char *path, struct walk *walk,
								 const struct jw_cancel *cancel)
{
	struct code_reader *reader = mem_alloc(sizeof *reader);

	reader->path = path;
	reader->walk = walk;
	reader->cancel = cancel;
	reader->again = &reader->again_bytes;
	return reader;
}

size_t code_parts(struct code_reader *reader)
{
	return walk_parts(reader->walk);
}

void code_leave_foreign(struct code_reader *reader, const char *platform)
{
	if (text_ends(reader->path, "-any.whl") && walk_has_library(reader->walk, platform))
		reader->platform = platform;
}

void code_take_hosts(struct code_reader *reader)
{
	reader->hosts = true;
}

struct code_reader *code_part(struct code_reader *reader, size_t part)
{
	struct code_reader *made =
		code_of_walk(reader->path, walk_part(reader->walk, part), reader->cancel);

	made->again = &reader->again_bytes;
	made->platform = reader->platform;
	made->hosts = reader->hosts;
	return made;
}

int code_open(struct jw_error *err, const char *path, const struct jw_cancel *cancel,
			  struct code_reader **ret_reader)
{
	struct walk *walk;

	if (walk_open(err, path, cancel, NULL, &walk))
		return -1;
	*ret_reader = code_of_walk(path, walk, cancel);
	return 0;
}

/* Returns whether the failure of a file is worth a line. */
static bool is_trouble(const struct leaf *leaf, const struct jw_error *why)
{
	if (why->code == JW_ERR_UNSUPPORTED || (leaf->kind == KIND_OBJECT && why->code != JW_ERR_IO))
		return leaf->image.count || leaf->image.damaged_count || leaf->may_hold_code;
	return true;
}

/* Returns the size of all compressed payloads. devcode_payload unpacks no other size. */
static uint64_t unpacked_bytes(const struct devcode_container *container)
{
	uint64_t bytes = 0;

	for (size_t i = 0; i < container->entry_count; i++) {
		const struct devcode_entry *entry = &container->entries[i];

		if (!entry->damaged &&
			(entry->compression == DEVCODE_LZ4 || entry->compression == DEVCODE_ZSTD))
			bytes += entry->size_bytes;
	}
	return bytes;
}

int code_next(struct jw_error *err, struct code_reader *reader, struct code_found *ret_found)
{
	struct leaf *leaf = &reader->leaf;

	for (;;) {
		struct code_found found = {0};
		enum code_step step;

		if (!reader->in_leaf) {
			struct walk_found at;
			bool either;

			switch (walk_next(err, reader->walk, &at)) {
			case WALK_LEAF: break;
			case WALK_TROUBLE:
				*ret_found = (struct code_found){.member = at.member, .why = at.why};
				return CODE_TROUBLE;
			case WALK_END: return CODE_END;
			default: return CODE_FAILED;
			}
			if (reader->platform && !code_file_is_for(at.member, reader->platform, &either))
				continue;
			leaf_open(leaf, (struct origin){reader->path, at.member, reader->cancel, reader->again},
					  at.kind, at.stream);
			leaf->hosts = reader->hosts;
			reader->in_leaf = true;
		}
		step = leaf_next(&found.why, leaf, &found);
		if (cancel_check_reading(err, reader->cancel))
			return CODE_FAILED;
		/* If the file unpacks to too much, walk_next reports it. */
		if (walk_unpacks(NULL, reader->walk,
						 step == CODE_CONTAINER ? unpacked_bytes(found.container) : 0))
			step = CODE_END;
		found.member = leaf->origin.member;
		if (step == CODE_FAILED) {
			step = is_trouble(leaf, &found.why) ? CODE_TROUBLE : CODE_END;
			leaf->state = LEAF_COMPLETE;
		}
		if (step != CODE_END) {
			*ret_found = found;
			return step;
		}
		leaf_close(leaf);
		reader->in_leaf = false;
	}
}

void code_close(struct code_reader *reader)
{
	if (!reader)
		return;
	leaf_close(&reader->leaf);
	walk_close(reader->walk);
	mem_free(reader);
}
