/* Any ledger of the state directory is read or ignored: the bytes unchanged, and with a correct sum
 * after them, so that the parser gets past the sum. */
#include "fuzz.h"

#include "fuzz_summed.h"
#include "pack/ledger.h"

static void check(const void *data, size_t size)
{
	struct ledger ledger = {0}, again = {0};
	struct buf bytes = BUF_MAX(LEDGER_MAX_BYTES);

	ledger_parse(&ledger, data, size);
	MUST(ledger.marks.count <= LEDGER_MAX_MARKS);
	for (size_t i = 0; i < ledger.marks.count; i++)
		MUST(ledger.marks.items[i].kind == LEDGER_REFUSED ||
			 ledger.marks.items[i].kind == LEDGER_USED);
	if (ledger.marks.count && !ledger_format(NULL, &ledger, &bytes)) {
		ledger_parse(&again, bytes.data, bytes.size);
		MUST(again.marks.count == ledger.marks.count);
		ledger_close(&again);
	}
	buf_free(&bytes);
	ledger_close(&ledger);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	check_with_sum(data, size, check);
	return 0;
}
