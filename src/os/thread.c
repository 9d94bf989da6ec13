#include "os/thread.h"

enum { STACK_BYTES = 8 << 20 };

int os_thread_start(uv_thread_t *ret_thread, uv_thread_cb run, void *context)
{
	const uv_thread_options_t how = {.flags = UV_THREAD_HAS_STACK_SIZE, .stack_size = STACK_BYTES};

	return uv_thread_create_ex(ret_thread, &how, run, context);
}
