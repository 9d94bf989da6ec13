/* Libraries of one folder that are one library for several CUDA versions. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "plan/build.h"

enum { MOST_VARIANTS = 256 };

/* The name with a star for the number behind "cuda" or "cu" in its last part; NULL where there is
 * none. */
static char *pattern_of(struct jw_error *err, const char *path, bool *ret_none)
{
	const char *name = path + strlen(path), *at;
	size_t digits;

	while (name > path && name[-1] != '/' && name[-1] != '\\')
		name--;
	at = strstr(name, "cu");
	*ret_none = false;
	for (; at; at = strstr(at + 1, "cu")) {
		const char *number = at + (text_starts(at, "cuda") ? 4 : 2);

		digits = strspn(number, "0123456789");
		if (digits && (at == name || strchr("_-.", at[-1])))
			return mem_printf(err, "%.*s*%s", (int)(number - path), path, number + digits);
	}
	*ret_none = true;
	return NULL;
}

static int by_text(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

int build_note_variants(struct jw_error *err, struct build *build)
{
	const struct plan *plan = build->plan;
	char *patterns[MOST_VARIANTS] = {0};
	size_t count = 0, same = 0;
	int result = 0;

	if (build->request->link_inputs)
		return 0;
	for (size_t i = 0; !result && i < plan->file_count && count < MOST_VARIANTS; i++) {
		const struct plan_file *file = &plan->files[i];
		bool none;
		char *pattern = pattern_of(err, file->member ? file->member : file->path, &none);

		result = pattern || none ? 0 : -1;
		if (pattern)
			patterns[count++] = pattern;
	}
	qsort(patterns, count, sizeof *patterns, by_text);
	for (size_t i = 0; !result && i < count; i += same) {
		for (same = 1; i + same < count && !strcmp(patterns[i], patterns[i + same]);)
			same++;
		if (same > 1)
			result = build_note(err, build, false,
								"%s: %s for several CUDA versions, of which a program loads one; "
								"all are counted: name that one, or “jitwarm record” finds it",
								patterns[i], TEXT_COUNT(same, "file", "files"));
	}
	while (count > 0)
		mem_free(patterns[--count]);
	return result;
}
