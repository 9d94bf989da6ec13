/* Any answer of a worker, a process with foreign code, is read or refused. */
#include <stddef.h>
#include <stdint.h>

#include "driver/protocol.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct protocol_hello hello;
	static struct protocol_answer answer;
	static struct protocol_job job;
	const char *text = (const char *)data;

	(void)protocol_get_hello(NULL, text, size, &hello);
	(void)protocol_get_answer(NULL, text, size, &answer);
	(void)protocol_get_job(NULL, text, size, &job);
	return 0;
}
