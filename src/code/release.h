/* Releases: PTX ISA, the CUDA version that introduced it, and the driver released with that
 * version. Source: CUDA release notes, PTX ISA "Release Notes"; docs/internals/compat.md. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <jitwarm/target.h>

#include "base/error.h"

struct gpu_isa {
	uint16_t major, minor;
};

/* Returns a negative number, 0 or a positive one if a is older than, the same as or newer than
 * b. */
int gpu_isa_compare(struct gpu_isa a, struct gpu_isa b);

/* Compares releases of drivers (550.163.1) in the same way. */
int gpu_release_compare(const uint32_t a[3], const uint32_t b[3]);

/* Returns the newest PTX ISA that a driver compiles; {UINT16_MAX, 0}, which means no limit, if the
 * driver's CUDA version is unknown or newer than the table. */
struct gpu_isa gpu_driver_isa(const struct jw_driver *driver);
/* Returns the first driver with that CUDA version in the table; its branch is 0 if there is
 * none. */
struct jw_driver gpu_cuda_driver(uint32_t cuda);
/* Returns the first driver that compiles this ISA; zeros if the ISA is newer than the table, or
 * zero. */
struct jw_driver gpu_isa_driver(struct gpu_isa isa);
/* Returns the first PTX ISA that has this target, if PTX is for it; zeros for one that the table
 * lacks. Source: PTX ISA, “.target”; docs/internals/compat.md. */
struct gpu_isa gpu_target_isa(struct jw_target target);
/* Returns the oldest CUDA version of a driver under which the CUDA runtime of that version starts.
 * With an older driver it returns 35, whatever the code is for (measured with 11.8, 12.0 and 13.0).
 * From CUDA 11 on a driver of the same major version is sufficient. */
uint32_t gpu_runtime_cuda(uint32_t cuda);
/* Returns the branch of the first Linux drivers of a CUDA version in the table (12040: 550), or
 * 0. */
uint32_t gpu_branch_number(uint32_t cuda);
enum { GPU_MAX_RELEASES = 32 };
/* Fills in the first drivers of each CUDA version in the table, the oldest first; returns their
 * number. */
size_t gpu_releases(struct jw_driver ret_drivers[GPU_MAX_RELEASES]);
/* Returns the newest CUDA version in the table. */
uint32_t gpu_newest_cuda(void);

/* The differences between NVIDIA's driver branches that matter to jitwarm: one table.
 *
 * Measured on 460.106.00, 470.256.02, 525.147.05, 535 (four builds), 550.54.15, 550.163.01 and
 * 555.58.02 (tests/conformance, docs/contributing/driver-behaviour.md). A branch between two
 * measured ones counts as the older one; a branch newer than the table counts as its last row.
 * Properties that follow the CUDA version, such as the PTX ISA, are above. */

/* A driver's treatment of parts of kind 0x40 (relocatable PTX, introduced by CUDA 12.5) in a
 * container without a cubin for the GPU, and parts of all other kinds that it does not know, such
 * as 0x80 (Tile IR). */
enum gpu_relocatable {
	/* The driver knows the kind: if there is no other PTX, all usable parts are compiled as inputs
	 * of a link. Kinds that it does not know are ignored. */
	GPU_RELOCATABLE_KNOWN,
	/* If the part would run as a cubin, the load ends with CUDA_ERROR_INVALID_IMAGE, even beside
	 * PTX; otherwise the part is ignored. */
	GPU_RELOCATABLE_SPOILS,
	/* If the part would run as a cubin, the load ends the process (SIGILL). */
	GPU_RELOCATABLE_KILLS,
};

struct gpu_branch {
	uint32_t first[3]; /* the first driver of this row */
	uint32_t cuda;     /* the first driver's CUDA version, used if nothing else is known */
	uint64_t default_limit_bytes; /* the cache's limit without CUDA_CACHE_MAXSIZE */
	enum gpu_relocatable relocatable;
	/* The first number that is too large for an architecture in an entry's header. With it, and
	 * with 0, the driver refuses the whole container (999), even if that has machine code for the
	 * GPU. With `of_all_kinds` this holds for entries of all kinds; otherwise for PTX, machine code
	 * and LTO-IR. */
	uint16_t architectures;
	bool of_all_kinds;
	bool zstd; /* decompresses zstd; other drivers take the frame for PTX text: 218, on 525 the
				  process ends */
	/* CUDA_FORCE_JIT=1 has the effect of CUDA_FORCE_PTX_JIT=1; otherwise it has none. (These
	 * drivers store all modules under one empty key with CUDA_FORCE_PTX_JIT=1. In both cases no
	 * entry is ever found.) */
	bool force_jit;
};

/* The first driver that decompresses zstd. */
extern const struct jw_driver gpu_first_zstd;

/* Returns the row for a driver: by its release if that is complete, else by its CUDA version. An
 * unknown driver counts as a new one. Never NULL. */
const struct gpu_branch *gpu_branch_of(const struct jw_driver *driver);
