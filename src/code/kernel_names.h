/* The names of a few kernels, for messages that say which part of a program fails. */
#pragma once

#include "code/devcode.h"

enum { KERNELS_NAMED = 3, KERNELS_TEXT = 200 };

/* Adds the names of the kernels in a container to `text`, each once, in the form of the source if
 * that is easy: “at::native::copy, gemm, axpy, …”. It reads one of the container's entries, and
 * adds nothing if none can be read. */
void kernels_add(char text[KERNELS_TEXT], const struct devcode_container *container,
				 struct buf *scratch);
/* Adds the names of another such text. */
void kernels_join(char text[KERNELS_TEXT], const char *other);
/* Returns whether `text` has no room for another name. */
bool kernels_full(const char text[KERNELS_TEXT]);
