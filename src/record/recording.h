/* Limits of a recording, and writing one. */
#pragma once

#include <jitwarm/recording.h>

#include "base/buf.h"

#define RECORDING_SCHEMA "jitwarm.recording/1"

enum {
	RECORDING_MOST_BYTES = 256 << 20,
	RECORDING_MOST_FILES = 1 << 20,
	RECORDING_MOST_MODULES = 1 << 20,
	RECORDING_MOST_SECONDS = 1 << 30,
};

/* Appends the recording to `text`, one line for each list element. */
int recording_format(struct jw_error *err, const struct jw_recording *recording, struct buf *text);
