#pragma once

#include <uv.h>

/* As uv_thread_create, but with a sufficient stack, independent of the shell's limit. */
int os_thread_start(uv_thread_t *ret_thread, uv_thread_cb run, void *context);
