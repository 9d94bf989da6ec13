/* The driver's library, found at run time in the way of the CUDA runtime. */
#pragma once

typedef int driver_fn(void);

/* Opens libcuda.so.1, or nvcuda.dll from the system's folder. false if there is none. */
_Bool driver_open(void);
/* NULL if the library has no such function. */
driver_fn *driver_function(const char *name);
