/* A project's page in a package index: HTML. */
#include <string.h>

#include "compile/package_index.h"
#include "fuzz.h"

static int on_file(struct jw_error *err, void *context, const struct index_file *file)
{
	const struct wheel_wanted wanted = {"nvidia-cuda-nvcc-cu12", {{12, 4}, 2}, "x86_64-linux"};
	char version[VERSION_TEXT];

	(void)err;
	(void)context;
	MUST(*file->name && *file->url && !strpbrk(file->name, "/\\\n"));
	MUST(!strchr(file->url, '#') && strlen(file->url) <= INDEX_PAGE_MOST_TEXT);
	MUST(!file->sha256 || strspn(file->sha256, "0123456789abcdefABCDEF") == 64);
	if (wheel_name_fits(&wanted, file->name, version))
		MUST(strlen(version) < sizeof version);
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct index_reader reader = {NULL, on_file};

	(void)index_page_read_html(NULL, (const char *)data, size, &reader);
	return 0;
}
