/* Recordings, which users exchange: a recording that was read is written and read back. Its texts
 * are unpacked, and their keys have the recorded names. */
#include "fuzz.h"

#include <string.h>

#include "base/hash.h"
#include "driver/ptxas.h"
#include "prime/recording.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct jw_recording *recording, *again;
	struct buf text = BUF_MAX(RECORDING_MAX_BYTES), payload = BUF_MAX(1 << 24),
			   key = BUF_MAX(1 << 25);

	if (jw_recording_parse(NULL, (const char *)data, size, &recording))
		return 0;
	for (size_t i = 0; i < recording->module_count; i++) {
		MUST(recording->modules[i].file == JW_RECORDED_NO_FILE ||
			 recording->modules[i].file < recording->file_count);
		MUST(recording->modules[i].options);
		if (!recording->modules[i].has_text)
			continue;
		MUST(recording->modules[i].text < recording->text_count);
		MUST(!ptxas_option_with_file(recording->modules[i].options, NULL));
		if (!recording_unpack_text(NULL, &recording->texts[recording->modules[i].text], &payload) &&
			!recording_key(NULL, recording, &recording->modules[i], payload.data, payload.size,
						   &key))
			MUST(fnv_update(FNV_START, key.data, key.size) == recording->modules[i].key);
	}
	if (!recording_format(NULL, recording, &text)) {
		MUST(!jw_recording_parse(NULL, buf_text(&text), text.size, &again));
		MUST(again->module_count == recording->module_count);
		MUST(again->file_count == recording->file_count);
		MUST(again->text_count == recording->text_count);
		jw_result_free(again);
	}
	buf_free(&text);
	buf_free(&payload);
	buf_free(&key);
	jw_result_free(recording);
	return 0;
}
