/* Releases: PTX ISA, the CUDA version that introduced it, and the driver released with that.
 *
 * Source: CUDA release notes, PTX ISA "Release Notes"; docs/compat.md. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <jitwarm/target.h>

struct gpu_isa {
	uint16_t major, minor;
};

/* Negative, 0 or positive, if a is older than, the same as or newer than b. */
int gpu_isa_compare(struct gpu_isa a, struct gpu_isa b);

/* The same for releases of drivers (550.163.1). */
int gpu_release_compare(const uint32_t a[3], const uint32_t b[3]);

/* The newest PTX ISA that a driver compiles. {UINT16_MAX, 0}, meaning no limit, if the driver's
 * CUDA version is unknown or newer than the table. */
struct gpu_isa gpu_driver_isa(const struct jw_driver *driver);
/* The first driver that compiles this ISA; zeros if it is newer than the table, or zero. */
struct jw_driver gpu_isa_driver(struct gpu_isa isa);
/* The branch of the first Linux drivers of a CUDA version in the table (12040: 550), or 0. */
uint32_t gpu_branch_number(uint32_t cuda);
/* The architecture for which such a driver compiles on a device, including the features that no
 * other GPU has, which the key does not show ("sm_90a" on 9.0; measured there, assumed from 10.0
 * on). CUDA 11.8 has "sm_90" alone. `cuda` 0: a newer driver. */
struct jw_target gpu_jit_target(struct jw_target device, uint32_t cuda);
/* The newest CUDA version in the table. */
uint32_t gpu_newest_cuda(void);
