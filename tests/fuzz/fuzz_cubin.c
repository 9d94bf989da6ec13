/* Any cubin header is read or refused within its bytes. */
#include "base/error.h"
#include "code/cubin.h"
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct cubin_header header;
	struct jw_error err = {0};

	if (!cubin_read(&err, data, size, &header))
		MUST(cubin_is(data, size) && header.sm && header.size_bytes <= size &&
			 (header.cuda_13 ||
			  cubin_scope(cubin_compat((struct devcode_view){data, size})) != CUBIN_SCOPE_ONE));
	else
		MUST(err.code != JW_OK && err.message[0]);
	return 0;
}
