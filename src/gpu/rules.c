#include "gpu/rules.h"

#include <stddef.h>

/* GPUs of Jetson and DRIVE. They share no machine code with other GPUs of their major version. */
static const uint16_t tegra[] = {53, 62, 72, 87, 101, 110};

/* The numbers below 100 that the drivers from 460 to 555 accept in the header of PTX (each number
 * up to 999 was tried), and 88, which newer drivers know. */
static const uint16_t before_100[] = {10, 11, 12, 13, 20, 21, 30, 32, 35, 37, 50, 52, 53,
									  60, 61, 62, 69, 70, 72, 75, 80, 86, 87, 88, 89, 90};
enum { NEW_NUMBERS = 100, MOST_NUMBERS = 200 };

/* Families, for which code with 'f' is made; a family can gain members. */
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
	return sm >= NEW_NUMBERS && sm < MOST_NUMBERS;
}

bool gpu_is_tegra(uint16_t sm)
{
	for (size_t i = 0; i < COUNT(tegra); i++)
		if (tegra[i] == sm)
			return true;
	return false;
}

/* The same capability: Thor was 10.1 before it became 11.0 (PTX ISA 9.0). */
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
