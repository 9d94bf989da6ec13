/* The files on a project's page in a package index, for both forms of the page. */
#pragma once

#include <string.h>

#include "compile/package_index.h"
#include "fuzz.h"

static inline int fuzz_on_file(struct jw_error *err, void *context, const struct index_file *file)
{
	const struct wheel_wanted wanted = {"nvidia-cuda-nvcc-cu12", {{12, 4}, 2}, "x86_64-linux"};
	char version[VERSION_TEXT];

	(void)err;
	(void)context;
	MUST(*file->name && *file->url && !strpbrk(file->name, "/\\\n"));
	MUST(strlen(file->url) <= INDEX_PAGE_MOST_TEXT);
	MUST(!file->sha256 || strspn(file->sha256, "0123456789abcdefABCDEF") == 64);
	if (wheel_name_fits(&wanted, file->name, version))
		MUST(strlen(version) < sizeof version);
	return 0;
}
