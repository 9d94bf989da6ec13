#include "gpu/release.h"

#include <stdio.h>
#include <string.h>

#include "base/error.h"

static const struct gpu_release releases[] = {
	{{5, 0}, 8000, {375, 26, 0}, {376, 51, 0}},
	{{6, 0}, 9000, {384, 81, 0}, {385, 54, 0}},
	{{6, 1}, 9010, {390, 46, 0}, {391, 29, 0}},
	{{6, 2}, 9020, {396, 26, 0}, {397, 44, 0}},
	{{6, 3}, 10000, {410, 48, 0}, {411, 31, 0}},
	{{6, 4}, 10010, {418, 39, 0}, {418, 96, 0}},
	{{6, 5}, 10020, {440, 33, 0}, {441, 22, 0}},
	{{7, 0}, 11000, {450, 51, 5}, {451, 48, 0}},
	{{7, 1}, 11010, {455, 23, 0}, {456, 38, 0}},
	{{7, 2}, 11020, {460, 27, 3}, {460, 82, 0}},
	{{7, 3}, 11030, {465, 19, 1}, {465, 89, 0}},
	{{7, 4}, 11040, {470, 42, 1}, {471, 11, 0}},
	{{7, 5}, 11050, {495, 29, 5}, {496, 4, 0}},
	{{7, 6}, 11060, {510, 39, 1}, {511, 23, 0}},
	{{7, 7}, 11070, {515, 43, 4}, {516, 1, 0}},
	{{7, 8}, 11080, {520, 61, 5}, {520, 6, 0}},
	{{8, 0}, 12000, {525, 60, 13}, {527, 41, 0}},
	{{8, 1}, 12010, {530, 30, 2}, {531, 14, 0}},
	{{8, 2}, 12020, {535, 54, 3}, {536, 25, 0}},
	{{8, 3}, 12030, {545, 23, 6}, {545, 84, 0}},
	{{8, 4}, 12040, {550, 54, 14}, {551, 61, 0}},
	{{8, 5}, 12050, {555, 42, 2}, {555, 85, 0}},
	{{8, 5}, 12060, {560, 28, 3}, {560, 76, 0}},
	{{8, 6}, 12070, {565, 0, 0}, {565, 0, 0}}, /* the driver alone: there was no CUDA 12.7 */
	{{8, 7}, 12080, {570, 26, 0}, {570, 65, 0}},
	{{8, 8}, 12090, {575, 51, 3}, {576, 2, 0}},
	{{9, 0}, 13000, {580, 65, 6}, {0, 0, 0}},
	{{9, 1}, 13010, {590, 44, 1}, {0, 0, 0}},
	{{9, 2}, 13020, {595, 45, 4}, {0, 0, 0}},
	{{9, 3}, 13030, {610, 43, 2}, {0, 0, 0}},
	{{9, 4}, 13040, {615, 0, 0}, {0, 0, 0}},
};

/* The first PTX ISA per number, and for forms that came later than the plain one. */
static const struct {
	uint16_t sm;
	struct gpu_isa plain, a, f;
} first_isa[] = {
	{60, {5, 0}, {0, 0}, {0, 0}},  {61, {5, 0}, {0, 0}, {0, 0}},  {62, {5, 0}, {0, 0}, {0, 0}},
	{70, {6, 0}, {0, 0}, {0, 0}},  {72, {6, 1}, {0, 0}, {0, 0}},  {75, {6, 3}, {0, 0}, {0, 0}},
	{80, {7, 0}, {0, 0}, {0, 0}},  {86, {7, 1}, {0, 0}, {0, 0}},  {87, {7, 4}, {0, 0}, {0, 0}},
	{88, {9, 0}, {0, 0}, {0, 0}},  {89, {7, 8}, {0, 0}, {0, 0}},  {90, {7, 8}, {8, 0}, {0, 0}},
	{100, {8, 6}, {8, 6}, {8, 8}}, {101, {8, 6}, {8, 6}, {8, 8}}, {103, {8, 8}, {8, 8}, {8, 8}},
	{107, {9, 4}, {9, 4}, {9, 4}}, {110, {9, 0}, {9, 0}, {9, 0}}, {120, {8, 7}, {8, 7}, {8, 8}},
	{121, {8, 8}, {8, 8}, {8, 8}},
};

#define COUNT(array) (sizeof(array) / sizeof *(array))

static const struct gpu_isa no_limit = {UINT16_MAX, 0};

int gpu_isa_compare(struct gpu_isa a, struct gpu_isa b)
{
	if (a.major != b.major)
		return a.major < b.major ? -1 : 1;
	return (a.minor > b.minor) - (a.minor < b.minor);
}

struct gpu_isa gpu_driver_isa(const struct jw_driver *driver)
{
	struct gpu_isa isa = releases[0].isa;

	if (!driver->cuda || driver->cuda > releases[COUNT(releases) - 1].cuda)
		return no_limit;
	for (size_t i = 0; i < COUNT(releases) && releases[i].cuda <= driver->cuda; i++)
		isa = releases[i].isa;
	return isa;
}

const struct gpu_release *gpu_release_for_isa(struct gpu_isa isa)
{
	for (size_t i = 0; i < COUNT(releases); i++)
		if (gpu_isa_compare(releases[i].isa, isa) >= 0)
			return &releases[i];
	return NULL;
}

bool gpu_first_isa(struct jw_target target, struct gpu_isa *ret_isa)
{
	for (size_t i = 0; i < COUNT(first_isa); i++) {
		struct gpu_isa isa = first_isa[i].plain;

		if (first_isa[i].sm != target.sm)
			continue;
		if (target.suffix)
			isa = target.suffix == 'a' ? first_isa[i].a : first_isa[i].f;
		if (!isa.major)
			return false;
		*ret_isa = isa;
		return true;
	}
	return false;
}

/* Up to three numbers with dots between them; 0 if the text is anything else. */
static size_t read_numbers(const char *text, uint32_t numbers[3])
{
	size_t count = 0;

	for (;;) {
		uint32_t value = 0;
		size_t digits = 0;

		for (; text[digits] >= '0' && text[digits] <= '9'; digits++) {
			if (digits == 4)
				return 0;
			value = value * 10 + (uint32_t)(text[digits] - '0');
		}
		if (!digits || count == 3)
			return 0;
		numbers[count++] = value;
		text += digits;
		if (!*text)
			return count;
		if (*text++ != '.')
			return 0;
	}
}

/* A driver's branch (the first number) belongs to one CUDA version. Windows' branches lie between
 * Linux' (551 with 550, 527 with 525). */
static uint32_t cuda_of_branch(uint32_t branch)
{
	uint32_t cuda = 0;

	for (size_t i = 0; i < COUNT(releases) && releases[i].linux_driver[0] <= branch; i++)
		cuda = releases[i].cuda;
	return cuda;
}

int jw_driver_parse(struct jw_error *err, const char *text, struct jw_driver *ret_driver)
{
	struct jw_driver driver = {0};
	uint32_t numbers[3] = {0};
	size_t count = read_numbers(text, numbers);

	if (!count || (numbers[0] < 100 && (count != 2 || numbers[1] > 99)))
		return error_set(err, JW_ERR_USAGE,
						 "'%.40s' is neither a CUDA version (12.2) nor a driver's (550.163.01)",
						 text);
	if (numbers[0] < 100) {
		driver.cuda = numbers[0] * 1000 + numbers[1] * 10;
	} else {
		memcpy(driver.release, numbers, sizeof numbers);
		driver.cuda = cuda_of_branch(numbers[0]);
	}
	if (driver.cuda < releases[0].cuda)
		return error_set(
			err, JW_ERR_USAGE,
			"'%.40s' is older than driver 375.26 (CUDA 8.0), the oldest one known here", text);
	*ret_driver = driver;
	return 0;
}

const char *jw_driver_text(char text[JW_DRIVER_TEXT], const struct jw_driver *driver)
{
	const uint32_t *release = driver->release;
	size_t used = 0;

	*text = 0;
	if (release[0] && (release[1] || release[2])) {
		used = (size_t)snprintf(text, JW_DRIVER_TEXT, "%u.%02u", release[0], release[1]);
		if (release[2])
			used += (size_t)snprintf(text + used, JW_DRIVER_TEXT - used, ".%02u", release[2]);
	} else if (release[0]) {
		used = (size_t)snprintf(text, JW_DRIVER_TEXT, "%u", release[0]);
	}
	if (driver->cuda)
		(void)snprintf(text + used, JW_DRIVER_TEXT - used, used ? " (CUDA %u.%u)" : "CUDA %u.%u",
					   driver->cuda / 1000, driver->cuda % 1000 / 10);
	else if (!used)
		(void)snprintf(text, JW_DRIVER_TEXT, "unknown driver");
	return text;
}
