#include "gpu/branch.h"

#include <stddef.h>

#include "gpu/release.h"

#define MIB (UINT64_C(1) << 20)

/* Each row holds until the next one's first driver. */
static const struct gpu_branch branches[] = {
	{{0, 0, 0}, 0, 256 * MIB, GPU_RELOCATABLE_SPOILS, 256, true, false, false},
	{{525, 60, 13}, 12000, 1024 * MIB, GPU_RELOCATABLE_SPOILS, 1000, true, false, true},
	/* 550.54.14 is the oldest driver of 12.4 that is known, and the first that decompresses zstd
	 * according to NVIDIA. */
	{{550, 54, 14}, 12040, 1024 * MIB, GPU_RELOCATABLE_KILLS, 1000, true, true, true},
	{{555, 42, 2}, 12050, 1024 * MIB, GPU_RELOCATABLE_KNOWN, 1000, false, true, true},
};

enum { COUNT = sizeof branches / sizeof *branches };

const struct gpu_branch *gpu_branch_of(const struct jw_driver *driver)
{
	const uint32_t *release = driver->release;
	const bool whole = release[0] && (release[1] || release[2]);
	size_t row = COUNT - 1;

	if (!whole && !driver->cuda)
		return &branches[row];
	while (row && (whole ? gpu_release_compare(release, branches[row].first) < 0
						 : driver->cuda < branches[row].cuda))
		row--;
	return &branches[row];
}
