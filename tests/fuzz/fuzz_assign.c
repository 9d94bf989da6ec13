/* Profiles, lists of variables, units and environments; and marked blocks in them. */
#include "fuzz.h"

#include <string.h>

#include "base/buf.h"
#include "setup/assign.h"
#include "setup/block.h"

static int take(struct jw_error *err, void *context, const struct assign *assign)
{
	const size_t *size = context;

	(void)err;
	MUST(assign_concerns(assign->name));
	MUST(strlen(assign->value) < ASSIGN_MOST_VALUE);
	MUST(assign->offset <= *size);
	return 0;
}

/* A value that was set is read back. */
static void put_and_take(const char *text, size_t size)
{
	struct buf with, without;
	struct block_found found;
	bool there = false;

	if (block_find(NULL, text, size, &there, &found))
		return;
	if (there) {
		MUST(found.start < found.end && found.end <= size);
		return;
	}
	if (block_put(NULL, text, size, "x=1\n", 1, &with))
		return;
	MUST(!block_take(NULL, (const char *)with.data, with.size, &without, &there, &found));
	MUST(there && without.size == size && (!size || !memcmp(without.data, text, size)));
	buf_free(&with);
	buf_free(&without);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const enum assign_form forms[] = {ASSIGN_SHELL, ASSIGN_LIST, ASSIGN_UNIT};
	const char *text = size ? (const char *)data : "";

	for (size_t i = 0; i < sizeof forms / sizeof *forms; i++)
		(void)assign_parse(NULL, forms[i], text, size, take, &size);
	put_and_take(text, size);
	return 0;
}
