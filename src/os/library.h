/* Vendor libraries, loaded at run time (in workers only). */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

struct os_library;

/* To be called first: from now on, libraries that this process loads by name come from System32, or
 * from the folder of one that os_library_open was given a path of, and not from the program's own
 * folder or the current one. Windows alone. */
void os_library_places(void);
/* Loads a library by name like the system; on Windows from System32 only. A path (with a separator)
 * is used unchanged. */
int os_library_open(struct jw_error *err, const char *name, struct os_library **ret_library);
/* Looks a function up. `ret_function` points to a pointer of the function's type; NULL is stored if
 * the function is missing. Returns whether it is there. */
bool os_library_function(struct os_library *library, const char *name, void *ret_function);
/* The file that was actually loaded; the caller frees it. `function` is one of its names. */
int os_library_path(struct jw_error *err, struct os_library *library, const char *function,
					char **ret_path);
void os_library_close(struct os_library *library);

/* Where the system would find the driver (libcuda.so.1, nvcuda.dll), without loading it:
 * LD_LIBRARY_PATH, the linker's cache, the usual folders (WSL's too); System32. Links resolved.
 * JW_ERR_NOT_FOUND. The caller frees the path. */
int os_find_driver(struct jw_error *err, char **ret_path);
/* Any library in those places; on Windows in none. */
bool os_find_library(const char *name, char **ret_path);
/* Whether the library with which this driver compiles PTX is missing: then it gives 221 for each
 * module, and loads machine code and entries. False where that does not show without asking the
 * driver: on Windows and in WSL, whose driver has it in a folder of its own. */
bool os_lacks_jit_compiler(const char *driver);

/* The release of NVIDIA's driver that a file of it is of ("536.23"), by its version resource: the
 * last five digits of 31.0.15.3623. JW_ERR_NOT_FOUND if it has none; only Windows has them. Source:
 * NVIDIA's release notes name both. */
int os_file_release(struct jw_error *err, const char *path, char ret_release[32]);
