/* Any line to or from the worker of a shared folder, and any claim of another node, is read or
 * refused. fuzz_pack.c has the packs themselves. */
#include <stddef.h>
#include <stdint.h>

#include "share/object_entry.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct object_received given;
	struct object_answer answer;
	struct object_job job;
	uint64_t claim;
	const char *text = (const char *)data;

	if (!object_get_setup(NULL, text, size, &given))
		object_received_free(&given);
	(void)object_get_job(NULL, text, size, &job);
	(void)object_get_answer(NULL, text, size, &answer);
	(void)object_claim_read(text, size, &claim);
	return 0;
}
