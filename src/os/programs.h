/* Which file a program's name means, and in which letters programs of the system speak. On Windows
 * neither the current folder nor a variable of the environment but PATH decides, since others may
 * write to the former, and programs of the account that are not elevated set the latter. */
#pragma once

#include <stdbool.h>

#include "base/error.h"

/* A program of the system, in the form for os_run: its path in System32; on POSIX its name, which
 * os_run finds on PATH. The caller frees it. NULL on failure. */
char *os_system_program(struct jw_error *err, const char *name);
/* Output of such a program as UTF-8: Windows programs print in the console's code page. The caller
 * frees it. NULL: out of memory. */
char *os_system_text(struct jw_error *err, const char *printed);
/* The program of a command line, in the form for os_run and libuv. Windows: searches for a bare
 * name in the folders of PATH that name their drive or share, with .exe and .com if it has no
 * extension; JW_ERR_NOT_FOUND if there is none. POSIX: a copy. The caller frees it. */
char *os_find_program(struct jw_error *err, const char *name);
/* A path that does not depend on the current folder and drive: not "\\usr" on Windows. */
bool os_is_whole_path(const char *path);

/* The folder of NVIDIA's installer for the CUDA toolkit of a version; for the newest, if `major` is
 * 0 and the system has such a folder. The caller frees it; NULL if there is none. */
char *os_cuda_toolkit(unsigned major, unsigned minor);
