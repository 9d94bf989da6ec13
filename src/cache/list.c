/* jw_cache_list: lists the entries one by one, by header and both ends of the key. */
#include <string.h>

#include <jitwarm/cache.h>

#include "base/arena.h"
#include "base/cancel.h"
#include "cache/sound.h"
#include "cache/view.h"

static void read_listed(const char *dir, const struct cache_file *file, bool in_index,
						struct jw_cache_entry *entry)
{
	char *path = cache_entry_path(dir, file->key);
	struct os_file *open = NULL;
	struct cache_key_parts parts;
	struct cache_origin origin;
	struct cache_brief brief;

	*entry = (struct jw_cache_entry){.key = file->key,
									 .in_index = in_index,
									 .damaged = true,
									 .kind = JW_CACHE_OTHER,
									 .file_bytes = file->probed.stat.size_bytes,
									 .mtime_ns = file->probed.stat.mtime_ns};
	if (file->probed.damage == CACHE_SOUND && !os_file_open(NULL, path, OS_OPEN_READ, &open) &&
		cache_brief_open(open, &brief) == CACHE_SOUND) {
		cache_origin_of(brief.entry.key, (size_t)brief.entry.key_bytes, brief.entry.value,
						(size_t)brief.entry.value_bytes, &origin);
		entry->damaged = false;
		entry->kind = origin.kind;
		entry->target = origin.target;
		memcpy(entry->driver, origin.driver, sizeof entry->driver);
		entry->value_bytes = brief.value_bytes;
		entry->payload_bytes = brief.key_bytes;
		if (origin.kind == JW_CACHE_CUDA && cache_brief_split(&brief, &parts)) {
			entry->payload_bytes = parts.payload_size;
			entry->form = parts.jitlink                  ? JW_CACHE_JITLINK
						  : parts.form == CACHE_KEY_LINK ? JW_CACHE_LINK
														 : JW_CACHE_LOAD;
			/* Options come from keys, which may be forged. */
			for (size_t i = 0; i < parts.options_length && i < sizeof entry->options - 1; i++)
				entry->options[i] =
					(char)(parts.options[i] >= ' ' && parts.options[i] <= '~' ? parts.options[i]
																			  : '?');
		}
	}
	os_file_close(open);
	mem_free(path);
}

static int add_listed(struct jw_error *err, const struct jw_cache_options *options, const char *dir,
					  const struct cache_file *file, bool has_row, struct jw_cache_listing *list)
{
	if (cancel_check(err, &options->cancel))
		return -1;
	read_listed(dir, file, has_row, &list->entries[list->count++]);
	return 0;
}

int jw_cache_list(struct jw_error *err, const struct jw_cache_options *options,
				  struct jw_cache_listing **ret_list)
{
	struct jw_cache_listing *list;
	struct cache_view view;
	struct set rows;
	int result = 0;

	if (cache_view_open(err, options, /* headers= */ false, &view))
		return -1;
	list = arena_open(sizeof *list);
	list->path = arena_string(list, view.path);
	list->entries = arena_keep(list, mem_array(view.files.count, sizeof *list->entries));
	rows = cache_index_map(&view.index);
	/* First the entries with a row, in the order of the rows (a repeated row does not count); then
	 * the others. */
	for (size_t i = 0; !result && i < view.index.count; i++) {
		const struct cache_file *file = cache_files_find(&view.files, view.index.rows[i].key);
		size_t cursor = 0;

		if (file && set_find(&rows, file->key, &cursor) == i)
			result = add_listed(err, options, view.path, file, /* has_row= */ true, list);
	}
	for (size_t i = 0; !result && i < view.files.count; i++)
		if (!set_has(&rows, view.files.files[i].key))
			result = add_listed(err, options, view.path, &view.files.files[i],
								/* has_row= */ false, list);
	set_free(&rows);
	cache_view_free(&view);
	if (result)
		jw_result_free(list);
	else
		*ret_list = list;
	return result;
}
