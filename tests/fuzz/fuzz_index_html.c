/* A project's page in a package index: HTML. */
#include "fuzz_index.h"

/* An HTML link's fragment holds the hash and is not part of the address. */
static int on_link(struct jw_error *err, void *context, const struct index_file *file)
{
	MUST(!strchr(file->url, '#'));
	return fuzz_on_file(err, context, file);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct index_reader reader = {NULL, on_link};

	(void)index_page_read_html(NULL, (const char *)data, size, &reader);
	return 0;
}
