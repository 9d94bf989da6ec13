#include "gpu/code_range.h"

#include <stddef.h>

#include "gpu/release.h"
#include "gpu/rules.h"

/* By the CUDA version of the first driver that understands the code. The first row's is the oldest
 * driver that was measured with it, though older ones may load it too. */
static const struct {
	uint32_t cuda;
	struct gpu_code_range range;
} code_rows[] = {
	{0, {{11040, {470, 0, 0}}, {12050, {555, 58, 2}}}},      /* compilers of CUDA 11 */
	{12000, {{12000, {525, 0, 0}}, {12050, {555, 58, 2}}}},  /* of CUDA 12, below sm_100 */
	{12080, {{12080, {570, 0, 0}}, {0}}},                    /* ABI 8, from sm_100 on */
	{13000, {{13000, {580, 0, 0}}, {13000, {580, 159, 4}}}}, /* of CUDA 13: ABI 8 */
};

/* The first that decompresses zstd (gpu/branch.c). */
static const struct jw_driver first_zstd = {12040, {550, 54, 14}};

static bool is_older(const struct jw_driver *a, const struct jw_driver *b)
{
	if (a->cuda != b->cuda)
		return a->cuda < b->cuda;
	for (int i = 0; i < 3; i++)
		if (a->release[i] != b->release[i])
			return a->release[i] < b->release[i];
	return false;
}

struct gpu_code_range gpu_code_range(uint32_t code_cuda, struct jw_target gpu, bool zstd)
{
	const uint32_t gpu_cuda = gpu_first_cuda(gpu);
	const struct jw_driver first_gpu = {gpu_cuda, {gpu_branch_number(gpu_cuda), 0, 0}};
	size_t row = 0;
	struct gpu_code_range range;

	while (row + 1 < sizeof code_rows / sizeof *code_rows && code_rows[row].cuda < code_cuda)
		row++;
	range = code_rows[row].range;
	if (is_older(&range.from, &first_gpu))
		range.from = first_gpu;
	if (zstd && is_older(&range.from, &first_zstd))
		range.from = first_zstd;
	/* None of the GPUs that need ABI 8 was measured. */
	if (gpu.sm >= 100 || is_older(&range.to, &range.from))
		range.to = (struct jw_driver){0};
	return range;
}

struct gpu_code_range gpu_code_range_both(struct gpu_code_range a, struct gpu_code_range b)
{
	struct gpu_code_range both = {is_older(&a.from, &b.from) ? b.from : a.from,
								  is_older(&a.to, &b.to) ? a.to : b.to};

	if (is_older(&both.to, &both.from))
		both.to = (struct jw_driver){0};
	return both;
}

bool gpu_code_is_newer(const struct jw_driver *from, const struct jw_driver *driver)
{
	if (from->release[0] && driver->release[0])
		return is_older(
			&(struct jw_driver){0, {driver->release[0], driver->release[1], driver->release[2]}},
			&(struct jw_driver){0, {from->release[0], from->release[1], from->release[2]}});
	return driver->cuda && driver->cuda < from->cuda;
}
