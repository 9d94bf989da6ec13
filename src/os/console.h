/* The terminal, or console. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

bool os_is_terminal(int fd);
/* Returns the columns of the terminal at `fd`; 80 if unknown. */
unsigned os_terminal_columns(int fd);
/* Returns whether the terminal reads output as UTF-8, according to the locale in the environment.
 */
bool os_prints_utf8(void);
/* Finds the language that the account wants for messages, as ISO 639 names it ("ko"): on POSIX from
 * LANGUAGE and the locale, on Windows from the display language. False if none is set. */
enum { OS_LANGUAGE = 3 };
bool os_language(char ret_name[OS_LANGUAGE]);
/* Enables escape sequences on Windows' console; called once at the program's start. */
void os_terminal_prepare(void);
/* Writes UTF-8 to Windows' console, without splitting characters. Returns false, and writes
 * nothing, if fd is no such console; then stdio does it. Flush before. */
bool os_terminal_write(int fd, const char *text, size_t size);

/* Pipes and standard streams, by descriptor. */

/* Keeps closed standard descriptors occupied. Otherwise the next file would get the descriptor of a
 * stream that the caller has closed, and then everything that is printed. Reading or writing such a
 * stream still fails. Called before any file is opened. */
void os_keep_standard_descriptors(void);

/* Returns a copy of stdout for a worker's own use; everything else that is written to stdout goes
 * to stderr from then on (the driver and its compiler may print at any time). */
int os_take_stdout(struct jw_error *err, int *ret_fd);
/* Reads the available bytes, and waits only if there are none; *ret_got is 0 at the end. */
int os_fd_read_some(struct jw_error *err, int fd, void *data, size_t size, size_t *ret_got);
/* Returns whether OS_FD_TAKES bytes can be written to `fd` without blocking; waits at most
 * `wait_ms` for that. Always true on Windows, which cannot answer that. */
enum { OS_FD_TAKES = 4096 };
bool os_fd_takes(int fd, int wait_ms);
/* Returns whether this process may write to the terminal `fd` unasked: a shell's job in the
 * background leaves the terminal to the shell. Always true on Windows. */
bool os_has_terminal(int fd);
/* Writes all of the bytes. */
int os_fd_write(struct jw_error *err, int fd, const void *data, size_t size);
