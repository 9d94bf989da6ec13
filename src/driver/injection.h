/* NVIDIA's driver loads a library into every program whose account owns a file of a fixed name in
 * shared memory: in cuInit, the driver opens /dev/shm/cuda_injection_path_shm, and if the file has
 * 1024 bytes and the program's account as its owner, loads the library that the bytes after the
 * first NUL name. The driver asks neither for the file's mode nor for its other names (measured:
 * 470.256.02, 525.147.05, 535.309.01, 550.163.01, 555.58.02). So an account that may write to any
 * file of root's in /dev/shm can give it this name, and root's next program runs its library. */
#pragma once

#include "base/error.h"

/* Keeps the name for root while this process starts workers: makes a file that the driver ignores,
 * which the last jitwarm of root's to end removes. JW_ERR_UNSUPPORTED if root's file of that name
 * can be changed by another account. Does nothing for other accounts, and on Windows. Each thread
 * may call it. */
int injection_hold_name(struct jw_error *err);
