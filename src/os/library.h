/* Vendor libraries, loaded at run time (in workers only). */
#pragma once

#include <stdbool.h>

#include "base/error.h"

struct os_library;

/* Restricts the places of libraries that this process loads by name to System32 and the folders of
 * libraries that os_library_open opened by path; the program's own folder and the current one are
 * excluded. Called first; does nothing but on Windows. */
void os_library_places(void);
/* Loads a library by name like the system; on Windows from System32 only. A path (with a separator)
 * is used unchanged. */
int os_library_open(struct jw_error *err, const char *name, struct os_library **ret_library);
/* Finds a function of the library. `ret_function` points to a pointer of the function's type; NULL
 * is stored if the function is missing. Returns whether it exists. */
bool os_library_function(struct os_library *library, const char *name, void *ret_function);
/* Finds the file that was actually loaded, by the name of one of its functions; the caller frees
 * it. */
int os_library_path(struct jw_error *err, struct os_library *library, const char *function,
					char **ret_path);

/* Finds the file that the system would load as the driver (libcuda.so.1, nvcuda.dll), without
 * loading it: LD_LIBRARY_PATH, the linker's cache, the usual folders (WSL's too); System32. Links
 * are resolved. JW_ERR_NOT_FOUND. The caller frees the path. */
int os_find_driver(struct jw_error *err, char **ret_path);
/* Finds any library in those folders; on Windows there are none. */
bool os_find_library(const char *name, char **ret_path);
/* Returns whether the library with which this driver compiles PTX is missing. Then the driver
 * returns 221 for each module, and still loads machine code and entries. False if that cannot be
 * seen without asking the driver: on Windows and in WSL, whose driver has the library in its own
 * folder. */
bool os_lacks_jit_compiler(const char *driver);

/* Finds the release of NVIDIA's driver that a file belongs to ("536.23"), by its version resource:
 * the last five digits of 31.0.15.3623. JW_ERR_NOT_FOUND if it has none; only Windows has them.
 * Source: NVIDIA's release notes name both. */
int os_file_release(struct jw_error *err, const char *path, char ret_release[32]);
