/* Writes a zip file of members that another one has: copied as they are packed, or with new
 * content. The same members give the same bytes. */
#pragma once

#include "devcode/zip_directory.h"

struct zip_writer;

/* Writes from the start of `file`, which the caller keeps, for a directory of up to `count`
 * members. The caller closes it. */
int zip_writer_open(struct jw_error *err, struct os_file *file, size_t count,
					struct zip_writer **ret_writer);
void zip_writer_close(struct zip_writer *writer);

/* The next bytes of the file: a member's, which will be the `place`-th of the directory. `name` may
 * differ from the member's; the caller keeps it. */
int zip_writer_copy(struct jw_error *err, struct zip_writer *writer, size_t place,
					const struct os_map *map, const struct zip_member *member, const char *name,
					const struct jw_cancel *cancel);
/* The same with other content, of `size_bytes`, which zip_writer_put appends until
 * zip_writer_end. */
int zip_writer_begin(struct jw_error *err, struct zip_writer *writer, size_t place,
					 const struct zip_member *member, const char *name, bool deflated,
					 uint64_t size_bytes);
int zip_writer_put(struct jw_error *err, struct zip_writer *writer, const void *data, size_t size);
int zip_writer_end(struct jw_error *err, struct zip_writer *writer);
/* Writes the directory: members that were not written are not in it. */
int zip_writer_finish(struct jw_error *err, struct zip_writer *writer, struct zip_bytes comment);
