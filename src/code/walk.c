#include "code/walk.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <wchar.h>

#include <zstd.h>

#include "base/cancel.h"
#include "base/mem.h"
#include "base/text.h"
#include "code/devcode.h"
#include "code/zip_directory.h"
#include "os/archive.h"
#include "os/platform.h"

enum { MAX_DEPTH = 5 };  /* a .conda has three: zip, zstd, tar */
enum { MAX_LARGE = 16 }; /* libraries that are parts of their own: PyTorch has five */
#define MAX_REREAD_BYTES (UINT64_C(64) << 30)

/* The sum over all layers of a file, and over the walks of all its parts. */
struct unpacked {
	atomic_uint_least64_t bytes;
	uint64_t most;
	atomic_bool reported;
};

/* The input that libarchive reads. */
struct feed {
	struct stream *stream;
	const struct jw_cancel *cancel;
	uint64_t given;     /* the bytes of the stream's window that libarchive is using */
	uint64_t forgotten; /* the end of the released mapped pages */
	uint64_t searched;  /* the bytes that libarchive has read for the next header */
	bool seeks;         /* libarchive reads a zip by its directory */
	bool in_members;    /* it has read the header of a member, */
	bool shared;        /* and wanted to go back: members share bytes */
	struct jw_error err;
};

/* The members that are packed in a file or member, one after the other. The layer above unpacks
 * them, or the caller reads them. The lowest layer is the file itself. */
struct layer {
	enum { LAYER_FILE, LAYER_ZIP, LAYER_ARCHIVE, LAYER_ZSTD } kind;
	struct walk *walk;
	struct stream *from;  /* the packed bytes, which are the stream of the layer below */
	const char *outer;    /* the name of the packed bytes */
	struct stream stream; /* the unpacked bytes of the current member */
	const char *member;   /* the name of the current member */
	bool ended;           /* there is no further member */

	/* For LAYER_ZIP: */
	const struct zip_directory *directory; /* that of the walk, or of the whole file */
	size_t next, end;
	struct zip_reader *reader;

	/* For LAYER_ARCHIVE: */
	struct archive *archive;
	struct feed feed;
	struct os_locale *locale;
	bool nested;    /* inside a named archive, not just a zstd layer */
	char *own_name; /* the name of the current member */
	bool inside;    /* the current member, or something that is not a file, was not skipped yet */
	bool damaged;   /* damage was reported, and the members after it may be unreadable, too */
	size_t count;

	/* For LAYER_ZSTD: */
	ZSTD_DCtx *decoder;
	bool in_frame; /* a frame has begun and not ended */
};

struct walk {
	const char *path;
	const struct jw_cancel *cancel;
	atomic_uint_least64_t *again_bytes;
	struct unpacked own, *unpacked; /* the sum of a part is that of the whole file */
	struct os_map map;
	struct zip_directory directory;   /* the directory of the file itself */
	size_t bounds[2 * MAX_LARGE + 2]; /* the bounds between its parts, in the file's order */
	struct layer layers[1 + MAX_DEPTH];
	size_t depth; /* the number of open layers */
};

int cancel_check_reading(struct jw_error *err, const struct jw_cancel *cancel)
{
	return cancel_asked(cancel)
			   ? error_set(err, JW_ERR_INTERRUPTED, "interrupted while files were read")
			   : 0;
}

int walk_again(struct jw_error *err, atomic_uint_least64_t *again_bytes, uint64_t size)
{
	if (again_bytes && (*again_bytes > MAX_REREAD_BYTES ||
						atomic_fetch_add(again_bytes, size) + size > MAX_REREAD_BYTES))
		return error_set(err, JW_ERR_LIMIT, "too much would have to be unpacked once more");
	return 0;
}

uint64_t walk_most_unpacked(uint64_t packed_bytes)
{
	enum {
		SMALL = 1 << 26,
		RATIO = 250, /* zeros have 1,030 in a zip file, and more than 10,000 in zstd */
	};
	/* A sparse file may have any size. */
	static const uint64_t most = UINT64_C(1) << 37;

	if (packed_bytes < SMALL / RATIO)
		return SMALL;
	return packed_bytes < most / RATIO ? (packed_bytes + 1) * RATIO : most;
}

int walk_unpacks(struct jw_error *err, struct walk *walk, uint64_t size)
{
	struct unpacked *unpacked = walk->unpacked;

	if (atomic_fetch_add(&unpacked->bytes, size) + size <= unpacked->most)
		return 0;
	return error_set(err, JW_ERR_LIMIT,
					 "unpacks to more than %llu MiB, the limit for a file of its size: download or "
					 "build the file again",
					 (unsigned long long)(unpacked->most >> 20));
}

static enum walk_step trouble(struct walk_found *found, const char *member)
{
	found->member = member;
	return WALK_TROUBLE;
}

/* Reads tar, and the zip files that open_plain_zip does not take, with libarchive:
 * one member after the other, without writing to disk. */

enum {
	BLOCK = 1 << 20, /* bytes per read of libarchive */
	/* In a zip without a directory, libarchive searches for the next header, and a file with holes
	 * has any number of bytes. A header follows the member before it, with less than a page
	 * between. Those of tar may have names and attributes of some MiB. */
	MAX_SEARCHED = 64 << 20
};

static la_ssize_t feed_read(struct archive *archive, void *context, const void **ret_data)
{
	struct feed *feed = context;
	const uint8_t *data;
	size_t size;

	if (cancel_check_reading(&feed->err, feed->cancel) ||
		stream_skip(&feed->err, feed->stream, feed->given) ||
		stream_peek_copy(&feed->err, feed->stream, STREAM_STEP, BLOCK, &data, &size)) {
		os_archive()->set_error(archive, EIO, "%s", feed->err.message);
		return -1;
	}
	stream_forget(feed->stream, feed->stream->offset, &feed->forgotten);
	feed->given = size < BLOCK ? size : BLOCK;
	feed->searched += feed->given;
	if (feed->searched > MAX_SEARCHED) {
		os_archive()->set_error(archive, EIO, "no member follows");
		return -1;
	}
	*ret_data = data;
	return (la_ssize_t)feed->given;
}

static la_int64_t feed_skip(struct archive *archive, void *context, la_int64_t wanted)
{
	struct feed *feed = context;
	uint64_t before;

	if (wanted <= 0 || stream_skip(&feed->err, feed->stream, feed->given))
		return 0;
	(void)archive;
	feed->given = 0;
	before = feed->stream->offset;
	return stream_skip(&feed->err, feed->stream, (uint64_t)wanted)
			   ? 0
			   : (la_int64_t)(feed->stream->offset - before);
}

/* Seeks; needed only for archives in memory, because a zip's directory is at its end. */
static la_int64_t feed_seek(struct archive *archive, void *context, la_int64_t offset, int whence)
{
	struct feed *feed = context;
	la_int64_t size = (la_int64_t)feed->stream->size_bytes, base = 0;

	/* libarchive reads the members in the order of their places, and seeks only backward. */
	if (feed->in_members) {
		feed->shared = true;
		return ARCHIVE_FATAL;
	}
	if (whence == SEEK_CUR)
		base = (la_int64_t)(feed->stream->offset + feed->given);
	else if (whence == SEEK_END)
		base = size;
	if (offset < -base || offset > size - base) {
		os_archive()->set_error(archive, EIO, "the archive is cut off");
		return ARCHIVE_FATAL;
	}
	feed->seeks = true;
	feed->given = 0;
	feed->stream->offset = (uint64_t)(base + offset);
	return base + offset;
}

/* Reads the current member of a layer. */
static int read_member(struct jw_error *err, void *context, uint8_t *to, size_t size,
					   size_t *ret_got);

static int archive_damaged(struct jw_error *err, struct archive *archive)
{
	const char *why = os_archive()->error_string(archive);

	return error_set(err, JW_ERR_FORMAT, "damaged or incomplete: download it again (%s)",
					 why ? why : "the archive cannot be opened");
}

static int read_archive_entry(struct jw_error *err, struct layer *layer, uint8_t *to, size_t size,
							  size_t *ret_got)
{
	la_ssize_t got;

	do {
		layer->feed.searched = 0;
		got = os_archive()->read_data(layer->archive, to, size);
	} while (got == ARCHIVE_RETRY);
	if (got < 0) {
		layer->damaged = true;
		return archive_damaged(err, layer->archive);
	}
	*ret_got = (size_t)got;
	return 0;
}

/* Converts wide characters, which are UTF-16 on Windows and whole code points elsewhere. */
static char *from_wide(const wchar_t *wide)
{
	struct buf text = BUF_MAX(SIZE_MAX / 4);
	char *own;

	for (; *wide; wide++) {
		uint32_t point = (uint32_t)*wide;
		uint32_t next = (uint32_t)wide[1];
		char utf8[4];

		if (point >= 0xd800 && point < 0xdc00 && next >= 0xdc00 && next < 0xe000) {
			point = 0x10000 + ((point - 0xd800) << 10) + (next - 0xdc00);
			wide++;
		}
		(void)buf_append(NULL, &text, utf8, text_utf8_put(point, utf8));
	}
	own = mem_string(buf_text(&text));
	buf_free(&text);
	return own;
}

/* Returns a name in UTF-8, or the member's number if libarchive does not know the name's encoding.
 * On Windows libarchive keeps names in UTF-16 and cannot convert them to UTF-8. */
static char *entry_name(const struct layer *layer, struct archive_entry *entry)
{
	const char *name = os_archive()->entry_pathname_utf8(entry);
	const wchar_t *wide = name ? NULL : os_archive()->entry_pathname_w(entry);
	char *own = name   ? mem_string(name)
				: wide ? from_wide(wide)
					   : mem_printf("(member %zu)", layer->count),
		 *full;

	if (!layer->nested)
		return own;
	full = mem_printf("%s(%s)", layer->outer, own);
	mem_free(own);
	return full;
}

/* Reads to the end of the current member of a zip without its directory, whose sizes may follow the
 * data: libarchive would unpack all of it at once, without counting and without asking whether to
 * stop. -1 if nothing after it can be read. */
static int pass_over(struct jw_error *err, struct layer *layer)
{
	struct stream rest;
	int result;

	if (layer->feed.seeks || layer->damaged ||
		os_archive()->format(layer->archive) != ARCHIVE_FORMAT_ZIP)
		return 0;
	stream_of_reader(&rest, read_member, layer, STREAM_STEP);
	result = stream_skip(err, &rest, UINT64_MAX);
	stream_free(&rest);
	return result;
}

static enum walk_step next_in_archive(struct layer *layer, struct walk_found *found)
{
	for (;;) {
		struct archive_entry *entry;
		int state;

		if (layer->inside && pass_over(&found->why, layer)) {
			layer->ended = true;
			return trouble(found, layer->outer);
		}
		layer->inside = false;
		mem_free(layer->own_name);
		layer->member = layer->own_name = NULL;
		layer->feed.searched = 0;
		state = os_archive()->read_next_header(layer->archive, &entry);
		layer->feed.in_members = true;
		if (layer->feed.shared) {
			layer->ended = true;
			error_set(&found->why, JW_ERR_FORMAT,
					  "damaged or incomplete: download it again (two members share bytes)");
			return trouble(found, layer->outer);
		}
		if (cancel_asked(layer->walk->cancel))
			return WALK_END;
		if (state == ARCHIVE_EOF) {
			const struct os_map *map = layer->from->map;
			const bool empty = map && !layer->count && zip_has_member(map);

			if (!empty && (!map || os_archive()->format(layer->archive) != ARCHIVE_FORMAT_ZIP ||
						   zip_has_end(map)))
				return WALK_END;
			layer->ended = true;
			error_set(&found->why, JW_ERR_FORMAT,
					  empty
						  ? "damaged or incomplete: download it again (its directory is empty)"
						  : "damaged or incomplete: download it again (the end of its directory is "
							"missing)");
			return trouble(found, layer->outer);
		}
		if (state == ARCHIVE_RETRY)
			continue;
		if (state != ARCHIVE_OK && state != ARCHIVE_WARN) {
			layer->ended = true;
			(void)archive_damaged(&found->why, layer->archive);
			return layer->damaged ? WALK_END : trouble(found, layer->outer);
		}
		layer->count++;
		layer->inside = true;
		layer->damaged = false;
		if (os_archive()->entry_filetype(entry) != AE_IFREG)
			continue;
		layer->member = layer->own_name = entry_name(layer, entry);
		stream_of_reader(&layer->stream, read_member, layer, DEVCODE_MAX_STREAMED);
		return WALK_LEAF;
	}
}

static bool open_feed(struct archive *archive, struct feed *feed)
{
	bool seekable = feed->stream->memory != NULL;

	return os_archive()->read_support_format_zip(archive) == ARCHIVE_OK &&
		   os_archive()->read_support_format_tar(archive) == ARCHIVE_OK &&
		   os_archive()->read_set_read_callback(archive, feed_read) == ARCHIVE_OK &&
		   os_archive()->read_set_skip_callback(archive, feed_skip) == ARCHIVE_OK &&
		   (!seekable || os_archive()->read_set_seek_callback(archive, feed_seek) == ARCHIVE_OK) &&
		   os_archive()->read_set_callback_data(archive, feed) == ARCHIVE_OK &&
		   os_archive()->read_open1(archive) == ARCHIVE_OK;
}

static int open_archive(struct jw_error *err, struct layer *layer)
{
	layer->kind = LAYER_ARCHIVE;
	layer->feed.stream = layer->from;
	layer->feed.cancel = layer->walk->cancel;
	/* The layers of a .conda do not appear in names. */
	layer->nested = layer->outer && !text_ends(layer->outer, ".tar.zst");
	layer->locale = os_locale_utf8();
	if (os_archive_load(err))
		return -1;
	layer->archive = os_archive()->read_new();
	if (!layer->archive)
		mem_ended(0);
	if (!open_feed(layer->archive, &layer->feed))
		return archive_damaged(err, layer->archive);
	layer->feed.seeks = false; /* it has only looked for a directory */
	return 0;
}

/* Reads plain zip files, such as wheels, by their directory (zip_directory.h), in half of
 * libarchive's time. Other zip files, and damaged ones, are left to libarchive. */

enum {
	MADE_BY_DOS = 0,
	MADE_BY_UNIX = 3,
	DOS_FOLDER = 0x10,
	MODE_KIND = 0170000,
	MODE_FILE = 0100000
};

static bool is_folder_name(const char *name)
{
	return name[strlen(name) - 1] == '/';
}

/* Returns whether a member is a file or folder by all of its marks, with a name that has one
 * reading. */
static bool is_plain_member(const struct zip_member *member)
{
	const unsigned kind = member->external >> 16 & MODE_KIND, made_by = member->made_by >> 8;

	for (const char *at = member->name; *at; at++)
		if (*at < ' ' || *at > '~')
			return false;
	if (member->method != ZIP_STORED && member->method != ZIP_DEFLATED)
		return false;
	if (is_folder_name(member->name))
		return !member->size_bytes;
	return made_by == MADE_BY_UNIX ? !kind || kind == MODE_FILE
								   : made_by != MADE_BY_DOS || !(member->external & DOS_FOLDER);
}

static void begin_zip(struct layer *layer, const struct zip_directory *directory, size_t first,
					  size_t end)
{
	layer->kind = LAYER_ZIP;
	layer->directory = directory;
	layer->next = first;
	layer->end = end;
	layer->reader = zip_reader_open(layer->from->map, layer->walk->cancel);
}

static bool open_plain_zip(struct layer *layer)
{
	const struct os_map *map = layer->from->map;
	struct zip_directory *directory = &layer->walk->directory;

	if (zip_directory_read(NULL, map, directory))
		return false;
	for (size_t i = 0; i < directory->count; i++)
		if (!is_plain_member(&directory->members[i])) {
			zip_directory_free(directory);
			return false;
		}
	begin_zip(layer, directory, 0, directory->count);
	return true;
}

static enum walk_step next_in_zip(struct layer *layer, struct walk_found *found)
{
	while (layer->next < layer->end) {
		const struct zip_member *member = layer->directory->by_place[layer->next++];

		if (is_folder_name(member->name))
			continue;
		if (zip_reader_begin(&found->why, layer->reader, member))
			return trouble(found, member->name);
		layer->member = member->name;
		stream_of_reader(&layer->stream, read_member, layer, DEVCODE_MAX_STREAMED);
		return WALK_LEAF;
	}
	return WALK_END;
}

/* Unpacks files packed with zstd: Blender's kernels, the layers of a .conda. */

enum { ZSTD_BLOCK = 1 << 16 }; /* bytes to copy at a time; not all may be taken */

static int unpack_zstd(struct jw_error *err, struct layer *layer, uint8_t *to, size_t size,
					   size_t *ret_got)
{
	ZSTD_outBuffer out = {to, size, 0};

	while (out.pos < out.size) {
		ZSTD_inBuffer in = {0};
		const uint8_t *data;
		size_t left;

		if (cancel_check_reading(err, layer->walk->cancel) ||
			stream_peek_copy(err, layer->from, STREAM_STEP, ZSTD_BLOCK, &data, &in.size))
			return -1;
		in.src = data;
		in.size = in.size < STREAM_STEP ? in.size : STREAM_STEP;
		/* The decoder may still hold unpacked bytes after the last input. */
		left = ZSTD_decompressStream(layer->decoder, &out, &in);
		if (ZSTD_isError(left))
			return error_set(err, JW_ERR_FORMAT, "damaged zstd data: %s", ZSTD_getErrorName(left));
		if (in.pos || left == 0)
			layer->in_frame = left != 0;
		if (stream_skip(err, layer->from, in.pos))
			return -1;
		if (!in.size && out.pos < out.size)
			break;
	}
	*ret_got = out.pos;
	if (!out.pos && layer->in_frame)
		return error_set(err, JW_ERR_FORMAT, "the zstd data is cut off");
	return 0;
}

static void open_zstd(struct layer *layer)
{
	enum {
		WINDOW_LOG = 27
	}; /* as `zstd --long` makes them; libzstd refuses larger windows by default */

	layer->kind = LAYER_ZSTD;
	layer->decoder = ZSTD_createDCtx();
	if (!layer->decoder)
		mem_ended(0);
	(void)ZSTD_DCtx_setParameter(layer->decoder, ZSTD_d_windowLogMax, WINDOW_LOG);
}

/* ---- the layers, one above the other */

static int read_member(struct jw_error *err, void *context, uint8_t *to, size_t size,
					   size_t *ret_got)
{
	struct layer *layer = context;
	struct walk *walk = layer->walk;
	int result;

	if (cancel_check_reading(err, walk->cancel) || walk_again(err, walk->again_bytes, size))
		return -1;
	if (layer->kind == LAYER_ZIP)
		result = zip_reader_take(err, layer->reader, to, size, ret_got);
	else if (layer->kind == LAYER_ARCHIVE)
		result = read_archive_entry(err, layer, to, size, ret_got);
	else
		result = unpack_zstd(err, layer, to, size, ret_got);
	return result ? -1 : walk_unpacks(err, walk, *ret_got);
}

static void close_layer(struct layer *layer)
{
	stream_free(&layer->stream);
	if (layer->kind == LAYER_ARCHIVE) {
		mem_free(layer->own_name);
		if (layer->archive)
			(void)os_archive()->read_free(layer->archive);
		os_locale_restore(layer->locale);
	}
	zip_reader_close(layer->reader);
	(void)ZSTD_freeDCtx(layer->decoder);
	*layer = (struct layer){0};
}

static enum walk_step next_in_layer(struct layer *layer, struct walk_found *found)
{
	stream_free(&layer->stream);
	if (layer->ended)
		return WALK_END;
	if (layer->kind == LAYER_ZIP)
		return next_in_zip(layer, found);
	if (layer->kind == LAYER_ARCHIVE)
		return next_in_archive(layer, found);
	/* The file itself, which walk_of_memory has opened, or the content of a zstd stream. */
	layer->ended = true;
	if (layer->kind == LAYER_ZSTD) {
		layer->member = layer->outer;
		stream_of_reader(&layer->stream, read_member, layer, DEVCODE_MAX_STREAMED);
	}
	return WALK_LEAF;
}

/* Finds out what the current member of the highest layer is, by its first bytes. An archive becomes
 * the next layer: WALK_END. */
static enum walk_step identify_content(struct walk *walk, struct walk_found *found)
{
	struct layer *from = &walk->layers[walk->depth - 1], *layer = from + 1;
	const uint8_t *head;
	const char *promise;
	size_t size;

	found->member = from->member;
	found->stream = &from->stream;
	if (stream_peek(&found->why, &from->stream, KIND_HEAD, &head, &size))
		return WALK_TROUBLE;
	found->kind = kind_of(head, size < KIND_HEAD ? size : KIND_HEAD);
	if (found->kind == KIND_NONE) {
		/* The member is ignored, unless its name promises a kind: then it is a broken download. */
		promise = walk->depth == 1 ? code_file_promise(walk->path) : NULL;
		if (!promise)
			return WALK_END;
		error_set(&found->why, JW_ERR_FORMAT,
				  size ? "not %s, although its name says so: download or build it again"
					   : "empty, although its name says that it is %s: download or build it again",
				  promise);
		return WALK_TROUBLE;
	}
	if (found->kind < KIND_AR)
		return WALK_LEAF;
	if (found->kind == KIND_AR) {
		/* Inside an archive this is one of many files, and no program loads it. */
		if (from->member)
			return WALK_END;
		error_set(&found->why, JW_ERR_FORMAT,
				  "a static library, which jitwarm does not read: name the program or library that "
				  "is linked from it");
		return WALK_TROUBLE;
	}
	if (walk->depth > MAX_DEPTH) {
		error_set(&found->why, JW_ERR_LIMIT, "archives in archives more than %d deep", MAX_DEPTH);
		return WALK_TROUBLE;
	}
	*layer = (struct layer){.walk = walk, .from = &from->stream, .outer = from->member};
	if (found->kind == KIND_ZSTD) {
		open_zstd(layer);
	} else if (found->kind != KIND_ZIP || !from->stream.map || !open_plain_zip(layer)) {
		if (open_archive(&found->why, layer)) {
			close_layer(layer);
			return WALK_TROUBLE;
		}
	}
	walk->depth++;
	return WALK_END;
}

int walk_next(struct jw_error *err, struct walk *walk, struct walk_found *ret_found)
{
	for (;;) {
		struct walk_found found = {0};
		struct layer *layer = &walk->layers[walk->depth ? walk->depth - 1 : 0];
		enum walk_step step;

		/* A step that failed because of this limit was not reported: the walk reports the limit,
		 * once for all parts of the file. */
		if (walk_unpacks(&found.why, walk, 0)) {
			if (atomic_exchange(&walk->unpacked->reported, true))
				return WALK_END;
			found.member = layer->member ? layer->member : layer->outer;
			*ret_found = found;
			return WALK_TROUBLE;
		}
		if (!walk->depth)
			return WALK_END;
		step = next_in_layer(layer, &found);
		if (step == WALK_LEAF)
			step = identify_content(walk, &found);
		else if (step == WALK_END) {
			close_layer(layer);
			walk->depth--;
		}
		/* An interruption inside a layer looks like damage of the layer. */
		if (cancel_check_reading(err, walk->cancel))
			return WALK_FAILED;
		if (step != WALK_END && !walk_unpacks(NULL, walk, 0)) {
			*ret_found = found;
			return step;
		}
	}
}

struct walk *walk_of_memory(const uint8_t *data, size_t size)
{
	struct walk *walk = mem_alloc(sizeof *walk);

	walk->path = "input";
	walk->depth = 1;
	walk->unpacked = &walk->own;
	walk->own.most = walk_most_unpacked(size);
	walk->layers[0].walk = walk;
	stream_of_memory(&walk->layers[0].stream, data, size, NULL);
	return walk;
}

int walk_open(struct jw_error *err, const char *path, const struct jw_cancel *cancel,
			  atomic_uint_least64_t *again_bytes, struct walk **ret_walk)
{
	struct os_map map;
	struct walk *walk;

	if (os_map_open(err, path, &map))
		return -1;
	walk = walk_of_memory(map.data, map.size);
	walk->path = path;
	walk->cancel = cancel;
	walk->again_bytes = again_bytes;
	walk->map = map;
	walk->layers[0].stream.map = &walk->map;
	*ret_walk = walk;
	return 0;
}

enum { LARGE = 1 << 24 }; /* takes much longer to inflate than a thread to start */

/* Returns whether a member is a library, by its first bytes. */
static bool is_library(const struct walk *walk, const struct zip_member *member)
{
	uint8_t head[KIND_HEAD];
	const enum kind kind = kind_of(head, zip_member_head(&walk->map, member, head, sizeof head));

	return kind == KIND_ELF || kind == KIND_PE;
}

size_t walk_parts(struct walk *walk)
{
	enum {
		MAX_ASKED = 256
	}; /* the most members that are examined; a file could claim a million large ones */
	struct layer *file = &walk->layers[0], *zip = file + 1;
	const size_t size = walk->map.size < KIND_HEAD ? walk->map.size : KIND_HEAD;
	size_t parts = 0, asked = 0;

	*zip = (struct layer){.walk = walk, .from = &file->stream};
	if (kind_of(walk->map.data, size) != KIND_ZIP || !open_plain_zip(zip))
		return 1;
	file->ended = true;
	walk->depth++;
	for (size_t i = 0; i < zip->end && parts < 2 * MAX_LARGE && asked < MAX_ASKED; i++) {
		const struct zip_member *member = walk->directory.by_place[i];

		if (member->size_bytes < LARGE)
			continue;
		asked++;
		if (is_library(walk, member)) {
			walk->bounds[++parts] = i;
			walk->bounds[++parts] = i + 1;
		}
	}
	walk->bounds[++parts] = zip->end;
	return parts;
}

bool walk_has_library(const struct walk *walk, const char *platform)
{
	bool has = false, either;

	for (size_t i = 0; i < walk->directory.count && !has; i++)
		has = code_file_is_for(walk->directory.members[i].name, platform, &either) && !either;
	return has;
}

struct walk *walk_part(const struct walk *whole, size_t part)
{
	struct walk *walk = walk_of_memory(whole->map.data, whole->map.size);
	struct layer *file = &walk->layers[0], *zip = file + 1;

	walk->path = whole->path;
	walk->cancel = whole->cancel;
	walk->unpacked = whole->unpacked;
	file->stream.map = &whole->map;
	file->ended = true;
	*zip = (struct layer){.walk = walk, .from = &file->stream};
	begin_zip(zip, &whole->directory, whole->bounds[part], whole->bounds[part + 1]);
	walk->depth++;
	return walk;
}

void walk_close(struct walk *walk)
{
	if (!walk)
		return;
	while (walk->depth)
		close_layer(&walk->layers[--walk->depth]);
	zip_directory_free(&walk->directory);
	os_map_close(&walk->map);
	mem_free(walk);
}
