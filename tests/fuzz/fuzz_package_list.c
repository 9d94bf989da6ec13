/* What is asked of pip: lines of requirements, pylock.toml, the report of pip. */
#include <string.h>

#include "compile/package_index.h"
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const names[] = {"requirements.txt", "pylock.toml"};

	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		struct jw_package_list list;

		if (package_list_parse(NULL, names[i], data, size, &list))
			continue;
		MUST(list.count);
		for (size_t k = 0; k < list.count; k++) {
			MUST(list.items[k].line <= size && strlen(list.items[k].asked) <= size + 16);
			MUST(!k || list.items[k].line >= list.items[k - 1].line);
		}
		jw_package_list_free(&list);
	}
	return 0;
}
