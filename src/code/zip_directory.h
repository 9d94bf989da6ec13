/* The members of a zip file, from its directory. Unlike libarchive's members they have the place of
 * their packed bytes, and double names and members that share bytes are refused. Source: PKWARE's
 * APPNOTE.TXT 6.3.10, whose section numbers are used below. */
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
	ZIP64_EXTRA = 1, /* section 4.5.3 */
	ZIP_IN_64 = -1,  /* in a uint32_t or uint16_t: the value is in the zip64 field or record */
};

struct zip_bytes {
	const uint8_t *data;
	size_t size;
};

struct zip_member {
	const char *name; /* unique and safe */
	uint64_t packed_bytes, size_bytes, data_offset;
	uint32_t crc, external; /* `external` has the mode of a file from Unix */
	uint16_t made_by, flags, method, time, date;
	struct zip_bytes extra; /* the place in the file */
};

struct zip_directory {
	struct zip_member *members; /* in the directory's order */
	size_t count;
	const struct zip_member **by_place; /* in the file's order */
	const struct zip_member **by_name;  /* private, and so is the next one */
	char *names;
};

/* Reads the directory and checks that every member lies alone in the file, is not encrypted, is not
 * a link, and has the same name and method in both of its headers. JW_ERR_FORMAT,
 * JW_ERR_UNSUPPORTED. The result points into the map, of which few pages stay in memory. */
int zip_directory_read(struct jw_error *err, const struct os_map *map,
					   struct zip_directory *ret_directory);
void zip_directory_free(struct zip_directory *directory);
/* Returns whether the file has an end of the directory, even if other bytes follow it. A file
 * without it is truncated. */
bool zip_has_end(const struct os_map *map);
/* Returns whether the file begins with a member, so that its directory cannot be empty. */
bool zip_has_member(const struct os_map *map);

/* Returns whether a member may have this name: relative, no part of it empty, "." or "..", no
 * backslash. */
bool zip_name_is_safe(const char *name, size_t length);

/* Reads one member after the other. Errors do not name the member. */
struct zip_reader;
struct zip_reader *zip_reader_open(const struct os_map *map, const struct jw_cancel *cancel);
void zip_reader_close(struct zip_reader *reader); /* may be NULL */
int zip_reader_begin(struct jw_error *err, struct zip_reader *reader,
					 const struct zip_member *member);
/* Returns the next bytes; *ret_got is 0 at the end. Fails at the end if the bytes did not have the
 * size and checksum of the directory. Releases the mapped pages after it. */
int zip_reader_take(struct jw_error *err, struct zip_reader *reader, uint8_t *to, size_t size,
					size_t *ret_got);

/* Passes the unpacked bytes to `take`, never more than the size in the directory; fails at the end
 * if they did not have the size and checksum of the directory. */
typedef int (*zip_take)(struct jw_error *err, void *context, const uint8_t *data, size_t size);
int zip_member_unpack(struct jw_error *err, const struct os_map *map,
					  const struct zip_member *member, const struct jw_cancel *cancel,
					  zip_take take, void *context);
/* Reads the whole member, at most `most` bytes (JW_ERR_LIMIT). */
int zip_member_read(struct jw_error *err, const struct os_map *map, const struct zip_member *member,
					size_t most, struct buf *ret_content);
/* Reads the first bytes, at most `size`; returns their number, 0 if they cannot be unpacked. */
size_t zip_member_head(const struct os_map *map, const struct zip_member *member, uint8_t *head,
					   size_t size);
