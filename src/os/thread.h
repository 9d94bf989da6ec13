/* Starting a thread. */
#pragma once

#include <uv.h>

/* As uv_thread_create, but the stack has a size that suffices, whatever the shell's limit is. */
int os_thread_start(uv_thread_t *ret_thread, uv_thread_cb run, void *context);
