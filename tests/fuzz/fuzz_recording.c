/* Recordings, which users exchange: a recording that is read can be written and read back. */
#include "fuzz.h"

#include <string.h>

#include "record/recording.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct jw_recording *recording, *again;
	struct buf text = BUF_MAX(RECORDING_MOST_BYTES);

	if (jw_recording_parse(NULL, (const char *)data, size, &recording))
		return 0;
	for (size_t i = 0; i < recording->module_count; i++) {
		MUST(recording->modules[i].file == JW_RECORDED_NO_FILE ||
			 recording->modules[i].file < recording->file_count);
		MUST(recording->modules[i].options);
	}
	if (!recording_format(NULL, recording, &text)) {
		MUST(!jw_recording_parse(NULL, buf_text(&text), text.size, &again));
		MUST(again->module_count == recording->module_count);
		MUST(again->file_count == recording->file_count);
		jw_recording_free(again);
	}
	buf_free(&text);
	jw_recording_free(recording);
	return 0;
}
