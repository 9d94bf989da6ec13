/* Reads wheels and other zip files, and tar, with libarchive: one member after the other, without
 * writing to disk. */
#include <archive.h>
#include <archive_entry.h>
#include <errno.h>
#include <wchar.h>

#include "base/mem.h"
#include "base/text.h"
#include "devcode/devcode.h"
#include "devcode/walk.h"
#include "os/locale.h"

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
	unsigned depth;
	size_t count;
};

static int read_archive_entry(struct jw_error *err, void *context, uint8_t *to, size_t size,
							  size_t *ret_got)
{
	struct packed *packed = context;
	la_ssize_t got;

	if (walk_cancelled(err, packed->visitor->cancel))
		return -1;
	do
		got = archive_read_data(packed->archive, to, size);
	while (got == ARCHIVE_RETRY);
	if (got < 0) {
		const char *why = archive_error_string(packed->archive);

		return error_set(err, JW_ERR_FORMAT, "%s", why ? why : "the archive is damaged");
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
	return text.data ? (char *)text.data : mem_string(err, "");
}

/* A name in UTF-8, or the member's number if libarchive does not know the name's encoding. On
 * Windows libarchive keeps names in UTF-16 and cannot convert them to UTF-8. */
static char *entry_name(struct jw_error *err, const struct packed *packed,
						struct archive_entry *entry)
{
	const char *name = archive_entry_pathname_utf8(entry);
	const wchar_t *wide = name ? NULL : archive_entry_pathname_w(entry);
	char *own = name   ? mem_string(err, name)
				: wide ? from_wide(err, wide)
					   : mem_printf(err, "(member %zu)", packed->count),
		 *full;

	if (!own || !packed->nested)
		return own;
	full = mem_printf(err, "%s(%s)", packed->outer, own);
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
		} else if (state != ARCHIVE_RETRY) {
			const char *text = archive_error_string(packed->archive);
			struct jw_error why = {0};

			error_set(&why, JW_ERR_FORMAT, "%s", text ? text : "the archive is damaged");
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
							.depth = depth};
	struct feed feed = {.stream = stream};
	struct os_locale *locale = os_locale_utf8();
	struct jw_error why = {0};
	int result = 0;

	if (packed.archive && open_feed(packed.archive, &feed)) {
		result = visit_entries(err, &packed);
	} else {
		const char *text = packed.archive ? archive_error_string(packed.archive) : NULL;

		error_set(&why, JW_ERR_FORMAT, "%s", text ? text : "the archive cannot be opened");
		visitor->trouble(visitor->context, member, &why);
	}
	(void)archive_read_free(packed.archive);
	os_locale_restore(locale);
	return result;
}
