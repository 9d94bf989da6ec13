#include "devcode/image_kind.h"

#include <string.h>

#include "base/cursor.h"
#include "devcode/container.h"
#include "devcode/cubin.h"
#include "devcode/pe.h"
#include "devcode/ptx.h"

enum { TAR_MAGIC_AT = 257 };

static const struct {
	size_t at;
	const char *magic;
	size_t size;
	enum kind kind;
} magics[] = {
	{0,
	 "\x7f"
	 "ELF",
	 4, KIND_ELF},
	{0, "!<arch>\n", 8, KIND_AR},
	{0, "PK\3\4", 4, KIND_ZIP},
	{0, "\x28\xb5\x2f\xfd", 4, KIND_ZSTD},
	{TAR_MAGIC_AT, "ustar", 5, KIND_TAR},
};

enum kind kind_of(const uint8_t *head, size_t size)
{
	if (cubin_is(head, size))
		return KIND_CUBIN;
	if (size >= CONTAINER_HEADER && load_u64(head) == CONTAINER_START)
		return KIND_FATBIN;
	for (size_t i = 0; i < sizeof magics / sizeof *magics; i++)
		if (range_fits(magics[i].at, magics[i].size, size) &&
			!memcmp(head + magics[i].at, magics[i].magic, magics[i].size))
			return magics[i].kind;
	if (pe_is(head, size))
		return KIND_PE;
	if (ptx_is(head, size))
		return KIND_PTX;
	return pe_is_object(head, size) ? KIND_OBJECT : KIND_NONE;
}
