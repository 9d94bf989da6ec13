/* Any list of released wheels is read or refused, and the rules give an answer for each wheel in
 * it. */
#include <string.h>

#include "base/mem.h"
#include "fuzz.h"
#include "which/wheel_list.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct jw_driver driver = {.cuda = 12040, .release = {550, 163, 1}};
	const struct jw_target device = {86, 0};
	struct jw_error err = {0};
	struct wheel_list list;

	if (wheel_list_read(&err, "list", (const char *)data, size, "a", &list)) {
		MUST(*err.message && !strchr(err.message, '\n'));
		return 0;
	}
	for (size_t i = 0; i < list.count; i++) {
		const struct wheel *wheel = &list.wheels[i];
		char *pythons = wheel_pythons(wheel);

		MUST(*pythons);
		mem_free(pythons);
		(void)wheel_fits_python(wheel, "3.11");
		MUST(!*wheel->sha256 == (wheel->of || wheel->unseen || wheel->declared));
		MUST(!wheel->declared || wheel->library_count == 1);
		for (size_t k = 0; k < wheel->library_count; k++) {
			const struct wheel_library *library = &wheel->libraries[k];
			struct judged is;

			MUST(*library->name);
			judge_library(&library->facts, device, &driver, &is);
			MUST(is.native + is.compiled + is.too_new + is.lacking == is.pieces);
		}
	}
	wheel_list_free(&list);
	return 0;
}
