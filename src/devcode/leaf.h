/* Detects the kind of a file or member by its first bytes. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "devcode/code_stream.h"
#include "devcode/image.h"

enum kind {
	KIND_NONE, /* unknown */
	KIND_ELF,
	KIND_PE,
	KIND_OBJECT, /* COFF. Its magic is weak, so damage is not reported */
	KIND_FATBIN,
	KIND_CUBIN,
	KIND_PTX,
	KIND_AR, /* a static library: not read */
	KIND_ZIP,
	KIND_TAR,
	KIND_ZSTD,
};

/* Bytes to examine. PTX may begin with a licence. */
enum { KIND_HEAD = 4096 };

enum kind kind_of(const uint8_t *head, size_t size);

/* Processes one whole image: searches it, reads its sections, hands it to the sink. */

/* A visitor's leaf function (walk.h); `context` is a struct reading. */
int leaf_read(struct jw_error *err, void *context, const char *member, enum kind kind,
			  struct stream *stream);
