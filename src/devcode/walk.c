#include "devcode/walk.h"

#include <archive.h>
#include <archive_entry.h>
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

#include <zstd.h>

#include "base/cancel.h"
#include "base/mem.h"
#include "base/text.h"
#include "devcode/code_file.h"
#include "devcode/devcode.h"
#include "devcode/zip_directory.h"
#include "os/library.h"
#include "os/platform.h"

enum { MOST_DEPTH = 5 }; /* a .conda has three: zip, zstd, tar */
#define MOST_AGAIN (UINT64_C(64) << 30)

int walk_cancelled(struct jw_error *err, const struct jw_cancel *cancel)
{
	return cancel_asked(cancel)
			   ? error_set(err, JW_ERR_INTERRUPTED, "interrupted while files were read")
			   : 0;
}

int walk_again(struct jw_error *err, uint64_t *again_bytes, uint64_t size)
{
	if (again_bytes && (*again_bytes > MOST_AGAIN || (*again_bytes += size) > MOST_AGAIN))
		return error_set(err, JW_ERR_LIMIT, "too much would have to be unpacked once more");
	return 0;
}

/* Before each piece of a layer. */
static int may_unpack(struct jw_error *err, const struct visitor *visitor, size_t size)
{
	return walk_cancelled(err, visitor->cancel) || walk_again(err, visitor->again_bytes, size) ? -1
																							   : 0;
}

int walk_stream(struct jw_error *err, const struct visitor *visitor, const char *member,
				struct stream *stream, unsigned depth)
{
	struct jw_error why = {0};
	const uint8_t *head;
	size_t size;
	enum kind kind;

	if (stream_peek(&why, stream, KIND_HEAD, &head, &size)) {
		visitor->trouble(visitor->context, member, &why);
		return 0;
	}
	kind = kind_of(head, size < KIND_HEAD ? size : KIND_HEAD);
	if (kind == KIND_NONE)
		return 0;
	if (kind < KIND_AR)
		return visitor->leaf(err, visitor->context, member, kind, stream);
	if (kind == KIND_AR) {
		/* Inside an archive it is one of many files, and no program loads it. */
		error_set(&why, JW_ERR_FORMAT,
				  "a static library, which is not read: name what is linked from it");
		if (!member)
			visitor->trouble(visitor->context, NULL, &why);
		return 0;
	}
	if (depth == MOST_DEPTH) {
		error_set(&why, JW_ERR_LIMIT, "archives in archives, more than %d deep", MOST_DEPTH);
		visitor->trouble(visitor->context, member, &why);
		return 0;
	}
	if (kind == KIND_ZIP && !member && stream->map) {
		bool plain;
		const int result = walk_zip(err, visitor, stream->map, depth + 1, &plain);

		if (plain)
			return result;
	}
	return kind == KIND_ZSTD ? walk_zstd(err, visitor, member, stream, depth + 1)
							 : walk_archive(err, visitor, member, stream, depth + 1);
}

/* Ignores a file of an unknown kind, unless its name promises another: a broken download */
static void check_promise(const struct visitor *visitor, const char *path, const struct os_map *map)
{
	struct jw_error why;
	size_t head = map->size < KIND_HEAD ? map->size : KIND_HEAD;
	const char *promise = code_file_promise(path);

	if (!promise || kind_of(map->data, head) != KIND_NONE)
		return;
	error_set(&why, JW_ERR_FORMAT, "%s, and not %s as its name says",
			  map->size ? "unknown content" : "empty", promise);
	visitor->trouble(visitor->context, NULL, &why);
}

int walk_file(struct jw_error *err, const struct visitor *visitor, const char *path)
{
	struct os_map map;
	struct stream stream;
	int result;

	if (os_map_open(err, path, &map))
		return -1;
	check_promise(visitor, path, &map);
	stream_of_memory(&stream, map.data, map.size, &map);
	result = walk_stream(err, visitor, NULL, &stream, 0);
	os_map_close(&map);
	return result;
}

/* Reads wheels and other zip files, and tar, with libarchive: one member after the other, without
 * writing to disk. */

enum { BLOCK = 1 << 20 }; /* bytes per read of libarchive */

/* The input of libarchive. */
struct feed {
	struct stream *stream;
	uint64_t given;     /* bytes of the stream's window that libarchive is using */
	uint64_t forgotten; /* mapped pages up to here were released */
	struct jw_error err;
};

static la_ssize_t feed_read(struct archive *archive, void *context, const void **ret_data)
{
	struct feed *feed = context;
	const uint8_t *data;
	size_t size;

	if (stream_skip(&feed->err, feed->stream, feed->given) ||
		stream_peek(&feed->err, feed->stream, STREAM_STEP, &data, &size)) {
		archive_set_error(archive, EIO, "%s", feed->err.message);
		return -1;
	}
	stream_forget(feed->stream, feed->stream->offset, &feed->forgotten);
	feed->given = size < BLOCK ? size : BLOCK;
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

/* Only for archives in memory: a zip's directory is at its end. */
static la_int64_t feed_seek(struct archive *archive, void *context, la_int64_t offset, int whence)
{
	struct feed *feed = context;
	la_int64_t size = (la_int64_t)feed->stream->size_bytes, base = 0;

	if (whence == SEEK_CUR)
		base = (la_int64_t)(feed->stream->offset + feed->given);
	else if (whence == SEEK_END)
		base = size;
	if (offset < -base || offset > size - base) {
		archive_set_error(archive, EIO, "the archive is cut off");
		return ARCHIVE_FATAL;
	}
	feed->given = 0;
	feed->stream->offset = (uint64_t)(base + offset);
	return base + offset;
}

struct packed {
	const struct visitor *visitor;
	const char *outer; /* see entry_name */
	struct archive *archive;
	bool nested; /* inside a named archive, not just a zstd layer */
	bool streamed;
	bool damaged; /* the last member, which was said: what follows it may not be read either */
	unsigned depth;
	size_t count;
};

static int archive_damaged(struct jw_error *err, struct archive *archive)
{
	const char *why = archive ? archive_error_string(archive) : NULL;

	return error_set(err, JW_ERR_FORMAT, "damaged or incomplete: fetch it again (%s)",
					 why ? why : "the archive cannot be opened");
}

static int read_archive_entry(struct jw_error *err, void *context, uint8_t *to, size_t size,
							  size_t *ret_got)
{
	struct packed *packed = context;
	la_ssize_t got;

	if (may_unpack(err, packed->visitor, size))
		return -1;
	do
		got = archive_read_data(packed->archive, to, size);
	while (got == ARCHIVE_RETRY);
	if (got < 0) {
		packed->damaged = true;
		return archive_damaged(err, packed->archive);
	}
	*ret_got = (size_t)got;
	return 0;
}

/* Wide characters are UTF-16 on Windows, whole code points elsewhere. NULL: out of memory. */
static char *from_wide(struct jw_error *err, const wchar_t *wide)
{
	struct buf text = BUF_MAX(SIZE_MAX / 4);

	for (; *wide; wide++) {
		uint32_t point = (uint32_t)*wide;
		uint32_t next = (uint32_t)wide[1];
		char utf8[4];

		if (point >= 0xd800 && point < 0xdc00 && next >= 0xdc00 && next < 0xe000) {
			point = 0x10000 + ((point - 0xd800) << 10) + (next - 0xdc00);
			wide++;
		}
		if (buf_append(err, &text, utf8, text_utf8_put(point, utf8))) {
			buf_free(&text);
			return NULL;
		}
	}
	return text.data ? (char *)text.data : mem_string("");
}

/* A name in UTF-8, or the member's number if libarchive does not know the name's encoding. On
 * Windows libarchive keeps names in UTF-16 and cannot convert them to UTF-8. */
static char *entry_name(struct jw_error *err, const struct packed *packed,
						struct archive_entry *entry)
{
	const char *name = archive_entry_pathname_utf8(entry);
	const wchar_t *wide = name ? NULL : archive_entry_pathname_w(entry);
	char *own = name   ? mem_string(name)
				: wide ? from_wide(err, wide)
					   : mem_printf("(member %zu)", packed->count),
		 *full;

	if (!own || !packed->nested)
		return own;
	full = mem_printf("%s(%s)", packed->outer, own);
	mem_free(own);
	return full;
}

static int visit_entry(struct jw_error *err, struct packed *packed, struct archive_entry *entry)
{
	struct jw_error why = {0};
	struct stream stream;
	char *name;
	int result;

	packed->count++;
	packed->damaged = false;
	if (archive_entry_filetype(entry) != AE_IFREG)
		return 0;
	name = entry_name(&why, packed, entry);
	if (!name) {
		packed->visitor->trouble(packed->visitor->context, packed->outer, &why);
		return 0;
	}
	stream_of_reader(&stream, read_archive_entry, packed, DEVCODE_MOST_STREAMED);
	result = walk_stream(err, packed->visitor, name, &stream, packed->depth);
	stream_free(&stream);
	mem_free(name);
	return result;
}

/* Reads on to the end of an entry of a zip without its directory, whose sizes may be behind it:
 * libarchive would unpack all of it at once, uncounted and without asking whether to stop. False:
 * nothing behind it can be read. */
static bool pass_over(struct packed *packed)
{
	struct jw_error why = {0};
	struct stream rest;
	bool passed;

	if (!packed->streamed || packed->damaged ||
		archive_format(packed->archive) != ARCHIVE_FORMAT_ZIP)
		return true;
	stream_of_reader(&rest, read_archive_entry, packed, STREAM_STEP);
	passed = !stream_skip(&why, &rest, UINT64_MAX);
	if (!passed && !walk_cancelled(NULL, packed->visitor->cancel))
		packed->visitor->trouble(packed->visitor->context, packed->outer, &why);
	stream_free(&rest);
	return passed;
}

static int visit_entries(struct jw_error *err, struct packed *packed)
{
	for (;;) {
		struct archive_entry *entry;
		int state = archive_read_next_header(packed->archive, &entry);

		/* A stop inside an inner layer looks like damage in this one. */
		if (walk_cancelled(err, packed->visitor->cancel))
			return -1;
		if (state == ARCHIVE_EOF)
			return 0;
		if (state == ARCHIVE_OK || state == ARCHIVE_WARN) {
			if (visit_entry(err, packed, entry))
				return -1;
			if (!pass_over(packed))
				return walk_cancelled(err, packed->visitor->cancel);
		} else if (state != ARCHIVE_RETRY) {
			struct jw_error why = {0};

			(void)archive_damaged(&why, packed->archive);
			if (!packed->damaged)
				packed->visitor->trouble(packed->visitor->context, packed->outer, &why);
			return 0;
		}
	}
}

static bool open_feed(struct archive *archive, struct feed *feed)
{
	bool seekable = feed->stream->memory != NULL;

	return archive_read_support_format_zip(archive) == ARCHIVE_OK &&
		   archive_read_support_format_tar(archive) == ARCHIVE_OK &&
		   archive_read_set_read_callback(archive, feed_read) == ARCHIVE_OK &&
		   archive_read_set_skip_callback(archive, feed_skip) == ARCHIVE_OK &&
		   (!seekable || archive_read_set_seek_callback(archive, feed_seek) == ARCHIVE_OK) &&
		   archive_read_set_callback_data(archive, feed) == ARCHIVE_OK &&
		   archive_read_open1(archive) == ARCHIVE_OK;
}

int walk_archive(struct jw_error *err, const struct visitor *visitor, const char *member,
				 struct stream *stream, unsigned depth)
{
	struct packed packed = {.visitor = visitor,
							.outer = member,
							.archive = archive_read_new(),
							/* The layers of a .conda do not appear in names. */
							.nested = member && !text_ends(member, ".tar.zst"),
							.streamed = !stream->memory,
							.depth = depth};
	struct feed feed = {.stream = stream};
	struct os_locale *locale = os_locale_utf8();
	struct jw_error why = {0};
	int result = 0;

	if (packed.archive && open_feed(packed.archive, &feed)) {
		result = visit_entries(err, &packed);
	} else {
		if (!os_late_library(&why, "archive_read_new"))
			(void)archive_damaged(&why, packed.archive);
		visitor->trouble(visitor->context, member, &why);
	}
	(void)archive_read_free(packed.archive);
	os_locale_restore(locale);
	return result;
}

/* Reads a zip file by its directory, in half of libarchive's time. Only a plain one, as wheels are:
 * anything else, and what is damaged, is libarchive's. */

enum {
	MADE_BY_DOS = 0,
	MADE_BY_UNIX = 3,
	DOS_FOLDER = 0x10,
	MODE_KIND = 0170000,
	MODE_FILE = 0100000
};

struct plain_zip {
	const struct visitor *visitor;
	struct zip_directory directory;
	const struct zip_member **members; /* in the file's order */
	struct zip_reader *reader;
};

static int read_plain_member(struct jw_error *err, void *context, uint8_t *to, size_t size,
							 size_t *ret_got)
{
	struct plain_zip *zip = context;

	return may_unpack(err, zip->visitor, size) ||
				   zip_reader_take(err, zip->reader, to, size, ret_got)
			   ? -1
			   : 0;
}

static bool is_folder_name(const char *name)
{
	return name[strlen(name) - 1] == '/';
}

/* A file or folder that is nothing else by any of its marks, with a name that has one reading. */
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

static int compare_members(const void *a, const void *b)
{
	const uint64_t x = (*(const struct zip_member *const *)a)->data_offset,
				   y = (*(const struct zip_member *const *)b)->data_offset;

	return (x > y) - (x < y);
}

static bool open_plain(struct plain_zip *zip, const struct os_map *map)
{
	struct zip_directory *directory = &zip->directory;

	if (zip_directory_read(NULL, map->data, map->size, directory))
		return false;
	/* A page for the header of each member, and those that the system maps around it. */
	os_map_forget(map, 0, map->size);
	for (size_t i = 0; i < directory->count; i++)
		if (!is_plain_member(&directory->members[i]))
			return false;
	zip->members = mem_array(directory->count + 1, sizeof(struct zip_member *));
	if (zip_reader_open(map, &zip->reader))
		return false;
	for (size_t i = 0; i < directory->count; i++)
		zip->members[i] = &directory->members[i];
	qsort(zip->members, directory->count, sizeof(struct zip_member *), compare_members);
	return true;
}

static int visit_member(struct jw_error *err, const struct visitor *visitor, struct plain_zip *zip,
						const struct zip_member *member, unsigned depth)
{
	struct jw_error why = {0};
	struct stream stream;
	int result;

	if (is_folder_name(member->name))
		return 0;
	if (zip_reader_begin(&why, zip->reader, member)) {
		visitor->trouble(visitor->context, member->name, &why);
		return 0;
	}
	stream_of_reader(&stream, read_plain_member, zip, DEVCODE_MOST_STREAMED);
	result = walk_stream(err, visitor, member->name, &stream, depth);
	stream_free(&stream);
	return result;
}

int walk_zip(struct jw_error *err, const struct visitor *visitor, const struct os_map *map,
			 unsigned depth, bool *ret_plain)
{
	struct plain_zip zip = {.visitor = visitor};
	int result = 0;

	*ret_plain = open_plain(&zip, map);
	for (size_t i = 0; *ret_plain && !result && i < zip.directory.count; i++)
		result = visit_member(err, visitor, &zip, zip.members[i], depth) ||
						 walk_cancelled(err, visitor->cancel)
					 ? -1
					 : 0;
	zip_reader_close(zip.reader);
	mem_free(zip.members);
	zip_directory_free(&zip.directory);
	return result;
}

/* Files packed with zstd: Blender's kernels, the layers of a .conda. */

enum { WINDOW_LOG = 27 }; /* as `zstd --long` makes them; libzstd refuses larger windows */

struct unpacker {
	ZSTD_DCtx *context;
	struct stream *from;
	const struct visitor *visitor;
	bool inside; /* a frame has begun and not ended */
};

static int unpack(struct jw_error *err, void *context, uint8_t *to, size_t size, size_t *ret_got)
{
	struct unpacker *unpacker = context;
	ZSTD_outBuffer out = {to, size, 0};

	if (walk_again(err, unpacker->visitor->again_bytes, size))
		return -1;
	while (out.pos < out.size) {
		ZSTD_inBuffer in = {0};
		const uint8_t *data;
		size_t left;

		if (walk_cancelled(err, unpacker->visitor->cancel) ||
			stream_peek(err, unpacker->from, STREAM_STEP, &data, &in.size))
			return -1;
		in.src = data;
		/* After the last input the decoder may still hold unpacked bytes. */
		left = ZSTD_decompressStream(unpacker->context, &out, &in);
		if (ZSTD_isError(left))
			return error_set(err, JW_ERR_FORMAT, "damaged zstd data: %s", ZSTD_getErrorName(left));
		if (in.pos || left == 0)
			unpacker->inside = left != 0;
		if (stream_skip(err, unpacker->from, in.pos))
			return -1;
		if (!in.size && out.pos < out.size)
			break;
	}
	*ret_got = out.pos;
	if (!out.pos && unpacker->inside)
		return error_set(err, JW_ERR_FORMAT, "the zstd data is cut off");
	return 0;
}

int walk_zstd(struct jw_error *err, const struct visitor *visitor, const char *member,
			  struct stream *stream, unsigned depth)
{
	struct unpacker unpacker = {.context = ZSTD_createDCtx(), .from = stream, .visitor = visitor};
	struct stream unpacked;
	int result;

	if (!unpacker.context)
		mem_ended(0);
	(void)ZSTD_DCtx_setParameter(unpacker.context, ZSTD_d_windowLogMax, WINDOW_LOG);
	stream_of_reader(&unpacked, unpack, &unpacker, DEVCODE_MOST_STREAMED);
	result = walk_stream(err, visitor, member, &unpacked, depth);
	stream_free(&unpacked);
	(void)ZSTD_freeDCtx(unpacker.context);
	return result || walk_cancelled(err, visitor->cancel) ? -1 : 0;
}
