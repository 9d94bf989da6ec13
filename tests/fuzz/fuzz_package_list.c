/* What is asked of pip: lines of requirements, pylock.toml, the report of pip. */
#include <stdio.h>
#include <string.h>

#include "base/package_version.h"
#include "find/requirement.h"
#include "fuzz.h"

/* What is above 1 and below 2 is 1.5. */
static void try_ranges(const char *ranges)
{
	struct package_version version;
	char within[4096];

	if (!ranges || strlen(ranges) > 4000 || !package_version_read("1.5", 3, &version) ||
		!version_is_wanted(ranges))
		return;
	(void)snprintf(within, sizeof within, ">1,%s,<2", ranges);
	MUST(package_version_fits(&version, within) == package_version_fits(&version, ranges));
}

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
			MUST(!list.items[k].hashes || strlen(list.items[k].hashes) <= size);
			try_ranges(strpbrk(list.items[k].asked, "=<>!~"));
			MUST(!k || list.items[k].line >= list.items[k - 1].line);
		}
		jw_package_list_free(&list);
	}
	return 0;
}
