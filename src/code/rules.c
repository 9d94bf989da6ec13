#include "code/rules.h"

#include <stddef.h>

#include "code/release.h"
#include "code/target_names.h"

/* The numbers below 100 that the drivers from 460 to 555 accept in the header of PTX (each number
 * up to 999 was tried), and 88, which newer drivers know. */
static const uint16_t before_100[] = {10, 11, 12, 13, 20, 21, 30, 32, 35, 37, 50, 52, 53,
									  60, 61, 62, 69, 70, 72, 75, 80, 86, 87, 88, 89, 90};
enum { NEW_NUMBERS = 100, MAX_NUMBERS = 200 };

/* Families, for which code with 'f' is made. A family can gain members. */
static const struct {
	uint16_t code;
	uint16_t members[3];
} families[] = {
	{100, {100, 103, 107}}, {103, {103, 107}}, {107, {107}}, {101, {101, 110}},
	{110, {101, 110}},      {120, {120, 121}}, {121, {121}},
};

#define COUNT(array) (sizeof(array) / sizeof *(array))

bool gpu_is_architecture(uint16_t sm)
{
	for (size_t i = 0; i < COUNT(before_100); i++)
		if (before_100[i] == sm)
			return true;
	return sm >= NEW_NUMBERS && sm < MAX_NUMBERS;
}

/* Returns whether two numbers are the same capability: Thor was 10.1 before it became 11.0 (PTX ISA
 * 9.0). */
static bool gpu_same_capability(uint16_t a, uint16_t b)
{
	return a == b || (a == 101 && b == 110) || (a == 110 && b == 101);
}

static bool same_family(uint16_t code, uint16_t device)
{
	for (size_t i = 0; i < COUNT(families); i++)
		for (size_t k = 0; families[i].code == code && k < COUNT(families[i].members); k++)
			if (families[i].members[k] == device)
				return true;
	return code == device;
}

enum gpu_fit gpu_sass_fit(struct jw_target code, struct jw_target device)
{
	if (gpu_same_capability(code.sm, device.sm))
		return GPU_FIT_EXACT;
	if (code.suffix == 'a')
		return GPU_FIT_NONE;
	if (code.suffix == 'f')
		return same_family(code.sm, device.sm) ? GPU_FIT_COMPATIBLE : GPU_FIT_NONE;
	if (gpu_is_tegra(code.sm) || gpu_is_tegra(device.sm))
		return GPU_FIT_NONE;
	if (code.sm / 10 == device.sm / 10 && code.sm < device.sm && gpu_is_architecture(code.sm))
		return GPU_FIT_COMPATIBLE;
	return GPU_FIT_NONE;
}

bool gpu_not_newer(struct jw_target code, struct jw_target device)
{
	return code.sm <= device.sm || gpu_same_capability(code.sm, device.sm);
}

bool gpu_ptx_fits(struct jw_target code, struct jw_target device)
{
	if (!gpu_is_architecture(code.sm))
		return false;
	switch (code.suffix) {
	case 'a': return gpu_same_capability(code.sm, device.sm);
	case 'f': return same_family(code.sm, device.sm);
	default: return gpu_not_newer(code, device);
	}
}

/* The measured drivers, by the CUDA version of the first driver that understands the code. A range
 * begins with the oldest driver that was measured; older ones may load the code, too. */
static const struct {
	uint32_t cuda;
	struct gpu_code_range range;
} code_rows[] = {
	{0, {{11020, {460, 0, 0}}, {12050, {555, 58, 2}}}}, /* compilers up to CUDA 12.1 */
	{12000,
	 {{12000, {525, 0, 0}}, {12050, {555, 58, 2}}}}, /* compilers of 12.2 to 12.9, below sm_100 */
	{12080, {{12080, {570, 0, 0}}, {0}}}, /* compilers of 12.8 and 12.9, from sm_100 on */
	{13000, {{13000, {580, 0, 0}}, {13000, {580, 159, 4}}}}, /* compilers of CUDA 13: ABI 8 */
};

static bool is_older(const struct jw_driver *a, const struct jw_driver *b)
{
	if (a->cuda != b->cuda)
		return a->cuda < b->cuda;
	return gpu_release_compare(a->release, b->release) < 0;
}

struct gpu_code_range gpu_code_range(uint32_t code_cuda, struct jw_target gpu)
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
	/* None of the GPUs that need ABI 8 was measured. */
	if (gpu.sm >= 100 || is_older(&range.to, &range.from))
		range.to = (struct jw_driver){0};
	return range;
}

struct jw_driver gpu_newer_driver(struct jw_driver a, struct jw_driver b)
{
	return is_older(&a, &b) ? b : a;
}

bool gpu_code_is_newer(const struct jw_driver *from, const struct jw_driver *driver)
{
	if (from->release[0] && driver->release[0])
		return gpu_release_compare(driver->release, from->release) < 0;
	return driver->cuda && driver->cuda < from->cuda;
}
