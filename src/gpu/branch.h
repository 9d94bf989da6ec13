/* The differences between NVIDIA's driver branches that matter to jitwarm: one table.
 *
 * Measured on 460.106.00, 470.256.02, 525.147.05, 535 (four builds), 550.54.15, 550.163.01 and
 * 555.58.02 (tests/conformance, docs/driver-behaviour.md). A branch between two measured ones
 * counts as the older one; a branch newer than the table counts as its last row. Properties that
 * follow the CUDA version, such as the PTX ISA, are in release.h. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <jitwarm/target.h>

/* Parts of kind 0x40 (relocatable PTX, introduced by CUDA 12.5) in a container without a cubin for
 * the GPU. */
enum gpu_relocatable {
	/* Known: if there is no other PTX, all usable ones are compiled as inputs of a link. */
	GPU_RELOCATABLE_KNOWN,
	/* If it would run as a cubin, the load ends with CUDA_ERROR_INVALID_IMAGE, even beside PTX;
	 * otherwise it is ignored. */
	GPU_RELOCATABLE_SPOILS,
	/* The same, but the load ends the process (SIGILL). */
	GPU_RELOCATABLE_KILLS,
};

struct gpu_branch {
	uint32_t first[3]; /* the first driver of this row */
	uint32_t cuda;     /* the first driver's CUDA version, used if nothing else is known */
	uint64_t default_limit_bytes; /* of the cache, without CUDA_CACHE_MAXSIZE */
	enum gpu_relocatable relocatable;
	/* The first number that is too large for an architecture in an entry's header. With it, and
	 * with 0, the driver refuses the whole container (999), even if that has machine code for the
	 * GPU. `of_all_kinds`: in entries of all kinds; otherwise of PTX, machine code and LTO-IR. */
	uint16_t architectures;
	bool of_all_kinds;
	bool zstd; /* decompresses zstd; otherwise takes the frame for PTX text: 218, on 525 the process
				  ends */
	/* CUDA_FORCE_JIT=1 has the effect of CUDA_FORCE_PTX_JIT=1; otherwise it has none. (There
	 * CUDA_FORCE_PTX_JIT=1 stores all modules under one empty key. In both cases no entry is ever
	 * found.) */
	bool force_jit;
};

/* The row for a driver: by its release if that is complete, else by its CUDA version. An unknown
 * driver counts as a new one. Never NULL. */
const struct gpu_branch *gpu_branch_of(const struct jw_driver *driver);
