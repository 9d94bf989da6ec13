/* Opens the driver's library on Windows. */
#include "driver.h"

#include <windows.h>

static HMODULE library;

_Bool driver_open(void)
{
	library = LoadLibraryExW(L"nvcuda.dll", NULL, LOAD_LIBRARY_SEARCH_SYSTEM32);
	return library != NULL;
}

driver_fn *driver_function(const char *name)
{
	return (driver_fn *)(void (*)(void))GetProcAddress(library, name);
}
