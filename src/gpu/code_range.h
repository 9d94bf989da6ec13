/* Which drivers load machine code. A driver that does not load the code that it finds for a GPU
 * tries nothing else: the program fails. So this is known before code is written into a library.
 *
 * Measured with ptxas of CUDA 11.7 to 13.0 on 470.256.02, 525.147.05, 535.309.01, 550.163.01 and
 * 555.58.02 (docs/bake.md, "Which drivers"), that of 13.0 also on 580.159.04 (docs/driver-cache.md,
 * "On a real GPU"). */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <jitwarm/target.h>

struct gpu_code_range {
	struct jw_driver from; /* the first driver, by its branch */
	struct jw_driver to;   /* the newest that was measured; zeros: none was */
};

/* `code_cuda`: the CUDA version of the first driver that understands the cubin's ABI
 * (devcode/cubin.h, cubin_cuda; 0: all measured ones). `zstd`: some of the code is packed in zstd.
 */
struct gpu_code_range gpu_code_range(uint32_t code_cuda, struct jw_target gpu, bool zstd);
/* Whether that driver is older than the first one that loads the code. What is not known of either
 * (zeros) is not compared. */
bool gpu_code_is_newer(const struct jw_driver *from, const struct jw_driver *driver);
/* What all of the drivers of both ranges load. */
struct gpu_code_range gpu_code_range_both(struct gpu_code_range a, struct gpu_code_range b);
