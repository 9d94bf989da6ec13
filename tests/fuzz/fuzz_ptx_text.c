/* PTX texts in a program's data: each is found once, and is whole PTX. */
#include <string.h>

#include "code/ptx.h"
#include "code/ptx_text.h"
#include "code/search.h"
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	size_t from = 0, at = 0;

	MUST(search_clear(data, size) <= size);
	while ((at += ptx_text_find(data + at, size - at, size - at)) < size) {
		size_t read, length = ptx_text_length(data + at, size - at, &read), lead;
		struct devcode_ptx_header header;
		struct ptx_run run;

		MUST(!memcmp(data + at, ".version", 8));
		MUST(length <= size - at && read <= size - at);
		if (length) {
			lead = ptx_text_lead(data + at, at - from);
			ptx_run_measure(data + at, at - from, size - at, &run);
			MUST(run.count && run.size >= length && run.size <= size - at && run.read <= size - at);
			MUST(run.count < 2 || (run.first_lead <= lead && run.lead + run.trail <= size));
			MUST(lead <= at - from);
			MUST(!ptx_header_read(NULL, data + at - lead, lead + length, &header));
			MUST(!memchr(data + at - lead, 0, lead + length));
			(void)ptx_text_kernels(data + at, length);
			from = at + length;
		}
		at += length ? length : 8;
	}
	return 0;
}
