/* A registry's manifests and indexes */
#include <string.h>

#include "fuzz.h"
#include "pack/minisign.h"
#include "pack/reader.h"
#include "share/artifact.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct artifact_list list;

	if (artifact_read(NULL, (const char *)data, size, &list))
		return 0;
	MUST(list.count <= ARTIFACT_MOST && (list.index || list.count == 1));
	for (size_t i = 0; i < list.count; i++) {
		const struct artifact *item = &list.items[i];

		MUST(list.index ? reference_is_digest(item->manifest.digest)
						: reference_is_digest(item->pack.digest));
		MUST(item->pack.size_bytes <= PACK_MOST_SIZE);
		MUST(item->signature.size_bytes <= MINISIGN_MOST_FILE);
		MUST(!strpbrk(item->title, "/\\:") && strcmp(item->title, "..") != 0);
		MUST(!*item->plan || reference_is_tag(item->plan));
		MUST(!strpbrk(item->targets, "\x1b\r\n"));
	}
	artifact_list_free(&list);
	return 0;
}
