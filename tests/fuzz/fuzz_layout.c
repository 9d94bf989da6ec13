/* Any manifest of a pack in a registry, and any output of the program that lists a repository's
 * tags, is read or refused. */
#include <string.h>

#include "base/buf.h"
#include "fuzz.h"
#include "share/carrier.h"
#include "share/layout.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct layout_parts parts;
	struct buf tags = BUF_MAX(1 << 20);

	if (!layout_parts_read(NULL, (const char *)data, size, &parts)) {
		MUST(strlen(parts.pack) == LAYOUT_HEX - 1);
		MUST(!*parts.signature || strlen(parts.signature) == LAYOUT_HEX - 1);
		MUST(!strpbrk(parts.pack, "/.") && !strpbrk(parts.signature, "/."));
	}
	if (buf_append(NULL, &tags, data, size))
		return 0;
	carrier_read_tags(&tags);
	for (const char *line = buf_text(&tags); *line;) {
		const size_t length = strcspn(line, "\n");
		char tag[REFERENCE_TAG] = "";

		MUST(length < sizeof tag && line[length] == '\n');
		memcpy(tag, line, length);
		MUST(reference_is_tag(tag));
		line += length + 1;
	}
	buf_free(&tags);
	return 0;
}
