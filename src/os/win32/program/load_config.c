/* Read by Windows' loader before it loads the libraries that the program is linked with: they come
 * only from System32, not from the program's own folder, where a browser puts downloads
 * (DependentLoadFlags, Windows 10 1607 and later). scripts/pe-load-config.py writes the address of
 * this table into the program's headers, since GNU ld does not. Source: Microsoft, "The Load
 * Configuration Structure". */
#include <stddef.h>

#include <windows.h>

extern const IMAGE_LOAD_CONFIG_DIRECTORY64 jitwarm_load_config;

/* mingw-w64's name for DependentLoadFlags */
const IMAGE_LOAD_CONFIG_DIRECTORY64 jitwarm_load_config __attribute__((used)) = {
	.Size = sizeof jitwarm_load_config, .Reserved1 = LOAD_LIBRARY_SEARCH_SYSTEM32};

_Static_assert(offsetof(IMAGE_LOAD_CONFIG_DIRECTORY64, Reserved1) == 0x4e, "DependentLoadFlags");
