#include "bake/former_gpus.h"

#include <string.h>

enum { MOST = 3 * ANALYSE_MOST_TARGETS };

/* Whole names, as many as there is room for. */
static void add_gpu_name(char text[JOURNAL_TEXT], struct jw_target target)
{
	char name[JW_TARGET_TEXT];
	const size_t used = strlen(text), length = strlen(jw_target_sm(name, target));

	if (used + 1 + length >= JOURNAL_TEXT)
		return;
	if (used)
		text[used] = ' ';
	memcpy(text + used + (used > 0), name, length + 1);
}

static size_t read_former(const char *text, struct jw_target former[ANALYSE_MOST_TARGETS])
{
	size_t count = 0;

	for (size_t length; *(text += strspn(text, " ")); text += length) {
		char name[JW_TARGET_TEXT] = "";
		struct jw_target target;

		length = strcspn(text, " ");
		if (length >= sizeof name)
			continue;
		memcpy(name, text, length);
		if (jw_target_parse(name, &target))
			count = jw_target_add(former, count, ANALYSE_MOST_TARGETS, target);
	}
	return count;
}

void former_gpus_join(const struct journal *journal, const struct jw_target *kept,
					  size_t kept_count, const struct jw_target *targets, size_t target_count,
					  struct former_gpus *ret_gpus)
{
	struct jw_target all[2 * ANALYSE_MOST_TARGETS];
	size_t count = journal && journal->targets ? read_former(journal->targets, all) : 0;

	*ret_gpus = (struct former_gpus){0};
	for (size_t i = 0; i < kept_count; i++)
		ret_gpus->kept_count = jw_target_add(ret_gpus->kept, ret_gpus->kept_count, MOST, kept[i]);
	for (size_t i = 0; i < count; i++)
		ret_gpus->kept_count = jw_target_add(ret_gpus->kept, ret_gpus->kept_count, MOST, all[i]);
	for (size_t i = 0; i < target_count; i++)
		count = jw_target_add(all, count, sizeof all / sizeof *all, targets[i]);
	for (size_t i = 0; i < count; i++)
		add_gpu_name(ret_gpus->targets, all[i]);
}
