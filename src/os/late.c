/* libarchive brings ten libraries more, whose loading takes longer than the rest of a start. If it
 * is shared, functions of its names are here, and load it when called. */
#include "os/library.h"

#ifdef JITWARM_LATE_LIBRARIES
#include <dlfcn.h>
#include <string.h>

static void *late_library(void)
{
	return dlopen("libarchive.so.13", RTLD_NOW | RTLD_LOCAL);
}

static void find_late(const char *function, void *ret_function)
{
	void *library = late_library();
	void *found = library ? dlsym(library, function) : NULL;

	memcpy(ret_function, &found, sizeof found);
}

int os_late_library(struct jw_error *err, const char *function)
{
	void *library = late_library();

	return library && dlsym(library, function) ? 0
											   : error_set(err, JW_ERR_NOT_FOUND, "%s", dlerror());
}

/* Each takes at most five words and gives one, in registers: a 64-bit machine passes them on
 * whatever their types are. Without the library it gives NULL, which the callers know of what they
 * open; nothing else is called then. */
#define LATE(name)                                                                                 \
	intptr_t name(intptr_t a, intptr_t b, intptr_t c, intptr_t d, intptr_t e);                     \
	intptr_t name(intptr_t a, intptr_t b, intptr_t c, intptr_t d, intptr_t e)                      \
	{                                                                                              \
		static _Thread_local intptr_t (*call)(intptr_t first, ...);                                \
                                                                                                   \
		if (!call)                                                                                 \
			find_late(#name, (void *)&call);                                                       \
		return call ? call(a, b, c, d, e) : 0;                                                     \
	}
/* They themselves must not find these, even where all of our functions are visible. */
#pragma GCC visibility push(hidden)
/* clang-format off */
LATE(archive_entry_filetype) LATE(archive_entry_free) LATE(archive_entry_new)
LATE(archive_entry_pathname) LATE(archive_entry_pathname_utf8) LATE(archive_entry_pathname_w)
LATE(archive_entry_set_mode) LATE(archive_entry_set_mtime) LATE(archive_entry_set_pathname)
LATE(archive_entry_set_size) LATE(archive_entry_update_pathname_utf8) LATE(archive_error_string)
LATE(archive_format) LATE(archive_read_data) LATE(archive_read_free) LATE(archive_read_new)
LATE(archive_read_next_header) LATE(archive_read_open1) LATE(archive_read_open_memory)
LATE(archive_read_set_callback_data) LATE(archive_read_set_read_callback)
LATE(archive_read_set_seek_callback) LATE(archive_read_set_skip_callback)
LATE(archive_read_support_format_tar) LATE(archive_read_support_format_zip)
LATE(archive_read_support_format_zip_seekable) LATE(archive_set_error) LATE(archive_version_string)
LATE(archive_write_close) LATE(archive_write_data) LATE(archive_write_free)
LATE(archive_write_header) LATE(archive_write_new) LATE(archive_write_open)
LATE(archive_write_set_bytes_in_last_block) LATE(archive_write_set_format_option)
LATE(archive_write_set_format_zip)
#else
int os_late_library(struct jw_error *err, const char *function)
{
	(void)err;
	(void)function;
	return 0;
}
#endif
