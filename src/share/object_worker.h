/* The worker that speaks to a shared place of objects, in a process of its own: whatever a
 * resolver, a TLS library or a dead file server does, the supervisor goes on. Takes the process
 * over, as jw_worker_main does. */
#pragma once

#include <stdbool.h>

/* Whether this process was started as one. */
bool object_worker_is_meant(void);
int object_worker_main(void);
