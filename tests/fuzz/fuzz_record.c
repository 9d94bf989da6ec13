/* RECORD of installed packages: whatever is in it, no path leaves the environment. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "code/code_file.h"
#include "find/package_files.h"

static void check_path(const char *path)
{
	static const char root[] = "/env", base[] = "/env/lib/site-packages";
	char *full = wheel_record_resolve(NULL, root, base, path);

	(void)code_file_by_name(path);
	if (full && (strncmp(full, "/env", 4) != 0 || (full[4] && full[4] != '/') ||
				 strstr(full, "/../") || strstr(full, "//")))
		abort();
	mem_free(full);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct cursor cursor = cursor_of(data, size);
	struct buf path = BUF_MAX(RECORD_MAX_PATH + 1);

	while (wheel_record_next(&cursor, &path))
		check_path(buf_text(&path));
	buf_free(&path);
	return 0;
}
