/* Any list of architectures is read or refused, and what was read is read back the same from its
 * names. */
#include <string.h>

#include <jitwarm/target.h>

#include "base/mem.h"
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = mem_string_n((const char *)data, size);
	struct jw_arch_list list = {.count = 0};

	if (!jw_arch_list_read(NULL, text, &list)) {
		MUST(list.count && list.count <= JW_ARCH_MAX);
		for (size_t i = 0; i < list.count; i++) {
			struct jw_arch_list one = {.count = 0};
			char name[JW_TARGET_TEXT];

			/* The name of an architecture is read as that architecture, and none is in the list
			 * twice. */
			MUST(!jw_arch_list_read(NULL, jw_arch_name(name, list.items[i]), &one));
			MUST(one.count == 1 && one.items[0].ptx == list.items[i].ptx &&
				 jw_target_equal(one.items[0].target, list.items[i].target));
			for (size_t k = 0; k < i; k++)
				MUST(list.items[k].ptx != list.items[i].ptx ||
					 !jw_target_equal(list.items[k].target, list.items[i].target));
		}
	}
	mem_free(text);
	return 0;
}
