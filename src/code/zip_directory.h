/* The members of a zip file, from its directory: unlike libarchive's, with the place of
 * their packed bytes, and without double names and members that share bytes. Source: PKWARE's
 * APPNOTE.TXT 6.3.10, which the numbers of sections below refer to. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/cancel.h"
#include "base/error.h"
#include "os/file.h"

enum {
	ZIP_STORED = 0,
	ZIP_DEFLATED = 8,
	ZIP_LOCAL_SIGNATURE = 0x04034b50,
	ZIP_CENTRAL_SIGNATURE = 0x02014b50,
	ZIP_END_SIGNATURE = 0x06054b50,
	ZIP64_END_SIGNATURE = 0x06064b50,
	ZIP64_LOCATOR_SIGNATURE = 0x07064b50,
	ZIP_LOCAL_BYTES = 30,
	ZIP_CENTRAL_BYTES = 46,
	ZIP_END_BYTES = 22,
	ZIP64_END_BYTES = 56,
	ZIP64_LOCATOR_BYTES = 20,
	ZIP64_EXTRA = 1, /* 4.5.3 */
	ZIP_IN_64 = -1,  /* as uint32_t or uint16_t: the value is in the zip64 field or record */
};

struct zip_bytes {
	const uint8_t *data;
	size_t size;
};

struct zip_member {
	const char *name; /* unique and safe */
	uint64_t packed_bytes, size_bytes, data_offset;
	uint32_t crc, external; /* external: the mode of a file from Unix */
	uint16_t made_by, flags, method, time, date;
	struct zip_bytes extra; /* in the file */
};

struct zip_directory {
	struct zip_member *members; /* in the directory's order */
	size_t count;
	const struct zip_member **by_place; /* in the file's order */
	const struct zip_member **by_name;  /* private, like the next one */
	char *names;
};

/* Checks that every member lies alone in the file, is not encrypted, is no link, and has the same
 * name and method in both of its headers. JW_ERR_FORMAT, JW_ERR_UNSUPPORTED. The result points into
 * the map, of which few pages stay in memory. */
int zip_directory_read(struct jw_error *err, const struct os_map *map,
					   struct zip_directory *ret_directory);
void zip_directory_free(struct zip_directory *directory);
/* Whether an end of the directory is where it can be, though other bytes may follow it. A file that
 * lacks it is cut off. */
bool zip_has_end(const struct os_map *map);
/* NULL: there is none of that name. */
const struct zip_member *zip_directory_find(const struct zip_directory *directory,
											const char *name);

/* Whether a member may be called so: relative, no part of it empty, "." or "..", no backslash. */
bool zip_name_is_safe(const char *name, size_t length);

/* Reads one member after the other. What fails does not name the member. */
struct zip_reader;
struct zip_reader *zip_reader_open(const struct os_map *map, const struct jw_cancel *cancel);
void zip_reader_close(struct zip_reader *reader); /* may be NULL */
int zip_reader_begin(struct jw_error *err, struct zip_reader *reader,
					 const struct zip_member *member);
/* The next bytes; *ret_got is 0 at the end, where it fails if they were not of the size and
 * checksum that the directory promises. Releases the mapped pages behind it. */
int zip_reader_take(struct jw_error *err, struct zip_reader *reader, uint8_t *to, size_t size,
					size_t *ret_got);

/* Passes on the unpacked bytes, and then fails if they are not of the size and checksum that the
 * directory promises; never passes on more than that size. */
typedef int (*zip_take)(struct jw_error *err, void *context, const uint8_t *data, size_t size);
int zip_member_unpack(struct jw_error *err, const struct os_map *map,
					  const struct zip_member *member, const struct jw_cancel *cancel,
					  zip_take take, void *context);
/* The whole member, at most `most` bytes (JW_ERR_LIMIT). */
int zip_member_read(struct jw_error *err, const struct os_map *map, const struct zip_member *member,
					size_t most, struct buf *ret_content);
/* The first bytes, at most `size`; returns their number, 0 if they cannot be unpacked. */
size_t zip_member_head(const struct os_map *map, const struct zip_member *member, uint8_t *head,
					   size_t size);
