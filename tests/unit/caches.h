/* Real cache directories for tests, as archives in $JITWARM_TESTDATA/driver-caches. */
#pragma once

#include "check.h"

#include <archive.h>
#include <archive_entry.h>
#include <string.h>

#include "base/mem.h"
#include "os/env.h"
#include "os/file.h"

/* These numbers of each archive are from its README. */
static const struct caches_archive {
	const char *name;
	size_t entries, rows, rows_without_file, files_without_row, opencl, linked;
} caches_archives[] = {
	{"framework-2018-sm70", 152, 212, 60, 0, 0, 0},
	{"several-drivers-2017-sm50-sm61", 168, 173, 5, 0, 0, 133},
	{"jit-options-2026-sm120", 85, 86, 1, 0, 0, 0},
	{"fatbin-2024-sm89", 6, 6, 0, 0, 0, 0},
	{"opencl-orphans-2026-sm89", 56, 51, 0, 5, 33, 0},
	{"opencl-2019-sm75", 15, 15, 0, 0, 7, 0},
	{"jetson-2021-sm72", 8, 8, 0, 0, 0, 0},
	{"two-drivers-2015-sm52", 15, 15, 0, 0, 0, 0},
};
enum { CACHES_COUNT = sizeof caches_archives / sizeof *caches_archives };

/* Returns the folder of test data; the caller frees it. */
static inline char *caches_folder(void)
{
	char *folder = os_env("JITWARM_TESTDATA");

	if (!folder)
		folder = mem_string(JITWARM_SOURCE_DIR "/../shared/testdata");
	return folder;
}

static inline bool caches_here(void)
{
	char *folder = keep(caches_folder()), *inner = keep(os_join(folder, "driver-caches"));
	bool here = os_exists(inner);

	return here;
}

/* Passes every file of an archive to `take`, with its path inside the cache. */
static inline void
caches_each(const char *name,
			void (*take)(void *context, const char *path, const struct buf *content), void *context)
{
	char *folder = keep(caches_folder());
	char *path = keep(mem_printf("%s/driver-caches/%s.tar.zst", folder, name));
	struct archive *archive = archive_read_new();
	struct archive_entry *entry;

	assert_int_equal(archive_read_support_filter_zstd(archive), ARCHIVE_OK);
	assert_int_equal(archive_read_support_format_tar(archive), ARCHIVE_OK);
	assert_int_equal(archive_read_open_filename(archive, path, 1 << 16), ARCHIVE_OK);
	while (archive_read_next_header(archive, &entry) == ARCHIVE_OK) {
		const char *inside = archive_entry_pathname(entry);
		size_t size = (size_t)archive_entry_size(entry);
		struct buf content = BUF_MAX(1 << 30);

		if (archive_entry_filetype(entry) != AE_IFREG)
			continue;
		if (!strncmp(inside, "./", 2))
			inside += 2;
		assert_true(!strncmp(inside, name, strlen(name)));
		OK(buf_reserve(why, &content, size + 1));
		assert_int_equal(archive_read_data(archive, content.data, size), size);
		content.size = size;
		take(context, inside + strlen(name) + 1, &content);
		buf_free(&content);
	}
	archive_read_free(archive);
}
