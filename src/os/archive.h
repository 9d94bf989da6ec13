/* libarchive. It loads ten more libraries, which takes longer than the rest of a start. If it is
 * shared, os_archive_load loads it the first time that it is called. */
#pragma once

#include <archive.h>
#include <archive_entry.h>

#include "base/error.h"

#define OS_ARCHIVE_FUNCTIONS(X)                                                                    \
	X(read_new)                                                                                    \
	X(read_free)                                                                                   \
	X(read_support_format_tar)                                                                     \
	X(read_support_format_zip)                                                                     \
	X(read_support_format_zip_seekable)                                                            \
	X(read_set_callback_data)                                                                      \
	X(read_set_read_callback)                                                                      \
	X(read_set_seek_callback)                                                                      \
	X(read_set_skip_callback)                                                                      \
	X(read_open1)                                                                                  \
	X(read_open_memory)                                                                            \
	X(read_next_header)                                                                            \
	X(read_data)                                                                                   \
	X(entry_filetype)                                                                              \
	X(entry_pathname)                                                                              \
	X(entry_pathname_utf8)                                                                         \
	X(entry_pathname_w)                                                                            \
	X(format)                                                                                      \
	X(error_string)                                                                                \
	X(set_error)                                                                                   \
	X(version_string)

struct os_archive {
#define OS_ARCHIVE_MEMBER(name) __typeof__(archive_##name) *name;
	OS_ARCHIVE_FUNCTIONS(OS_ARCHIVE_MEMBER)
#undef OS_ARCHIVE_MEMBER
};

/* Loads libarchive. Returns -1 if it cannot be loaded, or lacks one of the functions. */
int os_archive_load(struct jw_error *err);
/* libarchive's functions, once os_archive_load has returned 0. */
const struct os_archive *os_archive(void);
