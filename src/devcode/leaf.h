/* One image from beginning to end: searched, its sections read, handed to the sink. */
#pragma once

#include "devcode/code_stream.h"
#include "devcode/image.h"
#include "devcode/image_kind.h"

/* As a visitor's leaf (walk.h); `context` is a struct reading. */
int leaf_read(struct jw_error *err, void *context, const char *member, enum kind kind,
			  struct stream *stream);
