/* The limits of a recording, writing one, and its texts. */
#pragma once

#include <jitwarm/recording.h>

#include "base/buf.h"

#define RECORDING_SCHEMA "jitwarm.recording/2"

enum {
	RECORDING_MAX_BYTES = 256 << 20,
	RECORDING_MAX_FILES = 1 << 20,
	RECORDING_MAX_MODULES = 1 << 20,
	RECORDING_MAX_SECONDS = 1 << 30,
	/* The most bytes of texts in base64, and of all modules that have one, unpacked: a text counts
	 * each time. */
	RECORDING_MAX_PACKED = 192 << 20,
	RECORDING_MAX_UNPACKED = 1 << 30,
};

/* Appends the recording to `text`, one line for each list element. */
int recording_format(struct jw_error *err, const struct jw_recording *recording, struct buf *text);

/* Returns whether a module with these options may have a text, so that compilers open no file that
 * the options name. */
bool recording_may_have_text(const struct jw_recorded_module *module);
/* Returns the maximum length of `zstd`, in characters, for a text of `size` bytes. */
size_t recording_max_packed(size_t size);
struct jw_recorded_text recording_pack_text(const void *payload, size_t size);
int recording_unpack_text(struct jw_error *err, const struct jw_recorded_text *text,
						  struct buf *ret_payload);
/* Computes the key of the module's entry on the recorded machine. JW_ERR_FORMAT if this is not the
 * module's text. */
int recording_key(struct jw_error *err, const struct jw_recording *recording,
				  const struct jw_recorded_module *module, const void *payload, size_t size,
				  struct buf *ret_key);
