/* The terminal, or console. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

bool os_is_terminal(int fd);
/* Columns of the terminal behind fd, 80 where unknown. */
unsigned os_terminal_columns(int fd);
/* Whether what is printed is read as UTF-8: by the locale that the environment names. */
bool os_prints_utf8(void);
/* Once, at the start of the program: UTF-8 and escape sequences on Windows' console. */
void os_terminal_prepare(void);

/* Asks at the terminal, whatever standard input is, and reads a line that does not show, without
 * its end. JW_ERR_NOT_FOUND where there is no terminal. */
int os_ask_secret(struct jw_error *err, const char *question, char *ret_line, size_t size);
