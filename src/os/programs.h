/* Which file a program's name means, and in which letters programs of the system speak. On Windows
 * neither the current folder nor a variable of the environment but PATH decides, since others may
 * write to the former, and programs of the account that are not elevated set the latter. */
#pragma once

#include <stdbool.h>

#include "base/error.h"

/* A program that comes with the system, as os_run takes it: its path in System32; on POSIX the
 * name, which os_run looks for on PATH. The caller frees it. NULL on failure. */
char *os_system_program(struct jw_error *err, const char *name);
/* What such a program has printed, as UTF-8: Windows' print in the console's code page. The caller
 * frees it. NULL: out of memory. */
char *os_system_text(struct jw_error *err, const char *printed);
/* The program of a command line, as os_run and libuv take it. Windows: a bare name is looked for in
 * those folders of PATH that name their drive or share, with .exe and .com behind it if it has no
 * extension; JW_ERR_NOT_FOUND where there is none. POSIX: a copy. The caller frees it. */
char *os_find_program(struct jw_error *err, const char *name);
/* A path that means the same whatever folder and drive are current: not "\\usr" on Windows. */
bool os_is_whole_path(const char *path);

/* Where NVIDIA's installer puts the CUDA toolkit of a version; of the newest, where `major` is 0
 * and the system has such a place. The caller frees it; NULL where there is none. */
char *os_cuda_toolkit(unsigned major, unsigned minor);
