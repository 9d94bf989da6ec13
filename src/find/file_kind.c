#include "find/file_kind.h"

#include <string.h>

#include "base/text.h"
#include "os/file.h"

static bool ends_fold(const char *name, const char *end)
{
	size_t length = strlen(name), tail = strlen(end);

	return length > tail && text_equal_fold(name + length - tail, end);
}

static bool ends_with_any(const char *name, const char *const *ends)
{
	for (; *ends; ends++)
		if (ends_fold(name, *ends))
			return true;
	return false;
}

/* "libcudart.so.11.0": what follows ".so" is digits and dots. */
static bool is_shared_object(const char *name)
{
	const char *at = strstr(name, ".so");

	while (at && at[3 + strspn(at + 3, ".0123456789")])
		at = strstr(at + 1, ".so");
	return at && at != name;
}

bool kind_is_code(const char *name)
{
	static const char *const ends[] = {".pyd", ".dll",       ".a",          ".lib", ".o",
									   ".obj", ".fatbin",    ".cubin",      ".ptx", ".ptx.zst",
									   ".exe", ".cubin.zst", ".fatbin.zst", NULL};

	name = os_base_name(name);
	return is_shared_object(name) || ends_with_any(name, ends);
}

bool kind_is_archive(const char *name)
{
	static const char *const ends[] = {".whl", ".conda", NULL};

	return ends_with_any(os_base_name(name), ends);
}

bool kind_is_program(const char *path)
{
	char magic[4];
	size_t got = os_read_head(path, magic, sizeof magic);

	return (got == 4 && !memcmp(magic,
								"\x7f"
								"ELF",
								4)) ||
		   (got >= 2 && !memcmp(magic, "MZ", 2));
}
