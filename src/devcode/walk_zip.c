/* Reads a zip file by its directory, in half of libarchive's time. Only a plain one, as wheels are:
 * anything else, and what is damaged, is libarchive's. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "devcode/devcode.h"
#include "devcode/walk.h"
#include "devcode/zip_directory.h"

enum {
	MADE_BY_DOS = 0,
	MADE_BY_UNIX = 3,
	DOS_FOLDER = 0x10,
	MODE_KIND = 0170000,
	MODE_FILE = 0100000
};

struct plain_zip {
	const struct jw_cancel *cancel;
	struct zip_directory directory;
	const struct zip_member **members; /* in the file's order */
	struct zip_reader *reader;
};

static int read_plain_member(struct jw_error *err, void *context, uint8_t *to, size_t size,
							 size_t *ret_got)
{
	struct plain_zip *zip = context;

	return walk_cancelled(err, zip->cancel) || zip_reader_take(err, zip->reader, to, size, ret_got)
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
	for (size_t i = 0; i < directory->count; i++)
		if (!is_plain_member(&directory->members[i]))
			return false;
	zip->members = mem_array(NULL, directory->count + 1, sizeof(struct zip_member *));
	if (!zip->members || zip_reader_open(NULL, map, &zip->reader))
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
	struct plain_zip zip = {.cancel = visitor->cancel};
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
