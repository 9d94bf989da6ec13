/* The terminal, or console. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

bool os_is_terminal(int fd);
/* Columns of the terminal behind fd, 80 if unknown. */
unsigned os_terminal_columns(int fd);
/* Whether the terminal reads output as UTF-8, according to the locale in the environment. */
bool os_prints_utf8(void);
/* The language of messages that the account wants, as ISO 639 names it ("ko"); false: none is set.
 * posix: of the locale, and LANGUAGE before it; win32: of Windows' surface. */
enum { OS_LANGUAGE = 3 };
bool os_language(char ret_name[OS_LANGUAGE]);
/* Call once at the program's start: escape sequences on Windows' console. */
void os_terminal_prepare(void);
/* Writes UTF-8 to Windows' console, in its own encoding and not in pieces of characters. False, and
 * nothing written, where fd is no such console: then stdio does it. Flush before. */
bool os_terminal_write(int fd, const char *text, size_t size);

/* Pipes and standard streams, by descriptor. */

/* To be called before any file is opened: a standard descriptor that the caller has closed would
 * become that of the next file, which would then get what is printed. Reading or writing it fails
 * as before. */
void os_keep_standard_descriptors(void);

/* For worker processes: returns a copy of stdout for our own use; from then on everything else
 * written to stdout goes to stderr (the driver and its compiler may print at any time). */
int os_take_stdout(struct jw_error *err, int *ret_fd);
/* Reads the available bytes, and waits only if there are none; *ret_got is 0 at the end. */
int os_fd_read_some(struct jw_error *err, int fd, void *data, size_t size, size_t *ret_got);
/* Whether OS_FD_TAKES bytes can be written to `fd` without waiting for who reads it; waits for that
 * at most `wait_ms`. Windows cannot tell: always true. */
enum { OS_FD_TAKES = 4096 };
bool os_fd_takes(int fd, int wait_ms);
/* Writes all of the bytes. */
int os_fd_write(struct jw_error *err, int fd, const void *data, size_t size);
