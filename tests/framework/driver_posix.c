/* Opens the driver's library on Linux. */
#include "driver.h"

#include <dlfcn.h>
#include <string.h>

static void *library;

_Bool driver_open(void)
{
	library = dlopen("libcuda.so.1", RTLD_NOW);
	return library != NULL;
}

driver_fn *driver_function(const char *name)
{
	void *address = dlsym(library, name);
	driver_fn *function;

	memcpy(&function, &address, sizeof function);
	return function;
}
