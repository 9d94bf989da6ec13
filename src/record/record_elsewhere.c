/* Entries that a command may have left in caches other than the one it was given. */
#include <string.h>

#include "base/mem.h"
#include "cache/cache_files.h"
#include "cache/settings.h"
#include "os/file.h"
#include "os/folders.h"
#include "record/record_state.h"

/* The folder was just made. */
int record_begin_elsewhere(struct jw_error *err, struct recorder *recorder, const char *folder)
{
	struct os_stat stat;

	if (os_stat(err, folder, &stat))
		return -1;
	recorder->began_ns = stat.mtime_ns;
	return 0;
}

static void count_new(struct recorder *recorder, const char *dir)
{
	struct jw_record_result *result = recorder->result;
	struct cache_files scan = {0};
	size_t before = result->elsewhere;

	if (!strcmp(dir, recorder->cache_dir) || cache_files_sizes(NULL, dir, &scan))
		return;
	for (size_t i = 0; i < scan.count; i++)
		result->elsewhere += scan.files[i].probed.mtime_ns >= recorder->began_ns;
	if (result->elsewhere > before && !result->elsewhere_dir)
		result->elsewhere_dir = mem_string(NULL, dir);
	cache_files_free(&scan);
}

/* The cache of this environment, and the default one. */
void record_look_elsewhere(struct recorder *recorder)
{
	struct cache_settings settings = {0};
	char *usual = NULL;

	if (!cache_settings_read(NULL, NULL, NULL, &settings) && settings.path)
		count_new(recorder, settings.path);
	if (!os_driver_cache_dir(NULL, NULL, &usual) &&
		(!settings.path || strcmp(usual, settings.path) != 0))
		count_new(recorder, usual);
	cache_settings_free(&settings);
	mem_free(usual);
}
