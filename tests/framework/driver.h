/* Finds the driver's library at run time as the CUDA runtime does. */
#pragma once

typedef int driver_fn(void);

/* Opens libcuda.so.1, or nvcuda.dll from the system's folder. Returns false if there is none. */
_Bool driver_open(void);
/* Returns NULL if the library has no such function. */
driver_fn *driver_function(const char *name);
