/* Differences between NVIDIA's driver branches, as far as jitwarm has to know them: one table.
 *
 * Measured on 460.106.00, 470.256.02, 525.147.05, 535 (four builds), 550.54.15, 550.163.01 and
 * 555.58.02 (tests/conformance, docs/driver-behaviour.md). A branch between two measured ones is
 * taken for the older; a newer one than the table for its last row. Properties that follow the CUDA
 * version evenly, like the PTX ISA, are in release.h.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <jitwarm/target.h>

/* Parts of kind 0x40 (relocatable PTX, which CUDA 12.5 brought) in a container that has no cubin
 * for the GPU. */
enum gpu_relocatable {
	/* Known: compiled as input of a link, all that are usable, where there is no other PTX. */
	GPU_RELOCATABLE_KNOWN,
	/* If it would run as a cubin, the load ends with CUDA_ERROR_INVALID_IMAGE, whatever PTX is
	 * beside it; otherwise it is passed over. */
	GPU_RELOCATABLE_SPOILS,
	/* The same, but the load ends the process (SIGILL). */
	GPU_RELOCATABLE_KILLS,
};

struct gpu_branch {
	uint32_t first[3]; /* the first driver of which the row is true */
	uint32_t cuda;     /* where only the CUDA version is known, the first of which it is */
	uint64_t default_limit_bytes; /* of the cache, without CUDA_CACHE_MAXSIZE */
	enum gpu_relocatable relocatable;
	bool zstd; /* unpacks zstd; else takes the frame for PTX text: 218, on 525 the process ends */
	/* CUDA_FORCE_JIT=1 does the same as CUDA_FORCE_PTX_JIT=1; else it does nothing.
	 * (CUDA_FORCE_PTX_JIT=1 stores all modules under one empty key there. In both cases no entry is
	 * found again.) */
	bool force_jit;
};

/* The row for a driver: by its release where that is known whole, else by its CUDA version. An
 * unknown driver is taken for a new one. Never NULL. */
const struct gpu_branch *gpu_branch_of(const struct jw_driver *driver);
