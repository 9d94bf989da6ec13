/* What a recording may hold at most, and making one. */
#pragma once

#include <jitwarm/recording.h>

#include "base/buf.h"

#define RECORDING_SCHEMA "jitwarm.recording/1"

enum {
	RECORDING_MOST_BYTES = 256 << 20,
	RECORDING_MOST_FILES = 1 << 20,
	RECORDING_MOST_MODULES = 1 << 20,
};

/* The text of a recording: an element of its lists a line. Appended to `text`. */
int recording_format(struct jw_error *err, const struct jw_recording *recording, struct buf *text);
