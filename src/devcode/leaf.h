/* Processes one whole image: searches it, reads its sections, hands it to the sink. */
#pragma once

#include "devcode/code_stream.h"
#include "devcode/image.h"
#include "devcode/image_kind.h"

/* A visitor's leaf function (walk.h); `context` is a struct reading. */
int leaf_read(struct jw_error *err, void *context, const char *member, enum kind kind,
			  struct stream *stream);
