/* jw_cache_list: the entries one by one, by header and both ends of the key. */
#include <string.h>

#include <jitwarm/cache.h>

#include "base/cancel.h"
#include "base/mem.h"
#include "cache/sound.h"
#include "cache/view.h"

/* Options come from keys, which may be forged. */
static void take_options(struct jw_cache_entry *entry, const char *options, size_t length)
{
	if (length >= sizeof entry->options)
		length = sizeof entry->options - 1;
	for (size_t i = 0; i < length; i++)
		entry->options[i] = (char)(options[i] >= ' ' && options[i] <= '~' ? options[i] : '?');
	entry->options[length] = '\0';
}

static void describe_listed(struct jw_cache_entry *entry, const struct cache_brief *brief)
{
	struct cache_key_parts parts;
	struct cache_origin origin;

	cache_entry_origin(&brief->entry, &origin);
	entry->kind = origin.kind;
	entry->target = origin.target;
	memcpy(entry->driver, origin.driver, sizeof entry->driver);
	entry->value_bytes = brief->value_bytes;
	entry->payload_bytes = brief->key_bytes;
	if (origin.kind == JW_CACHE_CUDA && cache_brief_split(brief, &parts)) {
		entry->payload_bytes = parts.payload_size;
		entry->form = parts.jitlink                  ? JW_CACHE_JITLINK
					  : parts.form == CACHE_KEY_LINK ? JW_CACHE_LINK
													 : JW_CACHE_LOAD;
		take_options(entry, parts.options, parts.options_length);
	}
}

/* *ret_read: whether it is sound. -1: out of memory, which says nothing about it. */
static int read_listed_brief(const char *dir, uint64_t key, struct cache_brief *brief,
							 bool *ret_read)
{
	struct jw_error why = {0};
	struct os_file *file = NULL;
	char *path = cache_entry_path(dir, key);

	*ret_read = path && !os_file_open(&why, path, OS_OPEN_READ, &file) &&
				cache_brief_open(file, brief) == CACHE_SOUND;
	os_file_close(file);
	mem_free(path);
	return 0;
}

static int read_listed(const char *dir, const struct cache_file *file, bool in_index,
					   struct jw_cache_entry *entry)
{
	struct cache_brief brief;
	bool read = false;

	*entry = (struct jw_cache_entry){.key = file->key,
									 .in_index = in_index,
									 .kind = JW_CACHE_OTHER,
									 .file_bytes = file->probed.size_bytes,
									 .mtime_ns = file->probed.mtime_ns};
	if (file->probed.damage == CACHE_SOUND && read_listed_brief(dir, file->key, &brief, &read))
		return -1;
	entry->damaged = !read;
	if (read)
		describe_listed(entry, &brief);
	return 0;
}

static int fill_list(struct jw_error *err, const struct jw_cache_options *options,
					 const struct cache_files *scan, const struct cache_index *index,
					 struct jw_cache_listing *list)
{
	struct set rows = {0};
	int result = -1;

	list->entries = mem_array(scan->count, sizeof *list->entries);
	if (cache_index_map(index, &rows))
		goto done;
	for (size_t pass = 0; pass < 2; pass++) {
		size_t count = pass ? scan->count : index->count;

		for (size_t i = 0; i < count; i++) {
			const struct cache_file *file =
				pass ? &scan->files[i] : cache_files_find(scan, index->rows[i].key);
			size_t cursor = 0, row = file ? set_find(&rows, file->key, &cursor) : SET_NONE;

			if (!file || (pass ? row != SET_NONE : row != i))
				continue;
			if (cancel_check(err, &options->cancel) ||
				read_listed(list->path, file, !pass, &list->entries[list->count++]))
				goto done;
		}
	}
	result = 0;
done:
	set_free(&rows);
	return result;
}

int jw_cache_list(struct jw_error *err, const struct jw_cache_options *options,
				  struct jw_cache_listing **ret_list)
{
	struct jw_cache_listing *list = mem_alloc(sizeof *list);
	struct cache_files scan = {0};
	struct cache_index index = {0};
	uint64_t limit_bytes;
	int result = -1;

	if (!list ||
		cache_view_open(err, options, cache_files_sizes, &list->path, &limit_bytes, &scan,
						&index) ||
		fill_list(err, options, &scan, &index, list))
		goto done;
	*ret_list = list;
	list = NULL;
	result = 0;
done:
	cache_files_free(&scan);
	cache_index_free(&index);
	jw_cache_list_free(list);
	return result;
}

void jw_cache_list_free(struct jw_cache_listing *list)
{
	if (!list)
		return;
	mem_free(list->path);
	mem_free(list->entries);
	mem_free(list);
}
