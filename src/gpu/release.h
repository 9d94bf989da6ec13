/* Releases: PTX ISA, the CUDA version that brought it, and the driver that comes with that.
 *
 * Source: CUDA release notes, PTX ISA "Release Notes"; docs/compat.md.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <jitwarm/target.h>

struct gpu_isa {
	uint16_t major, minor;
};

/* One row of the table. A release of {0, 0, 0} is not listed by NVIDIA. */
struct gpu_release {
	struct gpu_isa isa;
	uint32_t cuda; /* 1000 * major + 10 * minor */
	uint32_t linux_driver[3];
	uint32_t windows_driver[3];
};

/* Less than, equal to or greater than 0, as a is older than, the same as or newer than b. */
int gpu_isa_compare(struct gpu_isa a, struct gpu_isa b);

/* The newest PTX ISA that a driver compiles. {UINT16_MAX, 0}, that is no limit, where the driver's
 * CUDA version is unknown or newer than the table. */
struct gpu_isa gpu_driver_isa(const struct jw_driver *driver);

/* The first release whose driver compiles this PTX ISA; NULL if the table has no such release. */
const struct gpu_release *gpu_release_for_isa(struct gpu_isa isa);

/* The first PTX ISA in which a target can be named; false for a target that is not in the table. */
bool gpu_first_isa(struct jw_target target, struct gpu_isa *ret_isa);
