#include "code/release.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/text.h"

/* The PTX ISAs, each with the CUDA version that introduced it and the branch of Linux drivers that
 * came with it. */
static const struct {
	struct gpu_isa isa;
	uint32_t cuda; /* 1000 * major + 10 * minor */
	uint32_t branch;
} releases[] = {
	{{5, 0}, 8000, 375},  {{6, 0}, 9000, 384},
	{{6, 1}, 9010, 390},  {{6, 2}, 9020, 396},
	{{6, 3}, 10000, 410}, {{6, 4}, 10010, 418},
	{{6, 5}, 10020, 440}, {{7, 0}, 11000, 450},
	{{7, 1}, 11010, 455}, {{7, 2}, 11020, 460},
	{{7, 3}, 11030, 465}, {{7, 4}, 11040, 470},
	{{7, 5}, 11050, 495}, {{7, 6}, 11060, 510},
	{{7, 7}, 11070, 515}, {{7, 8}, 11080, 520},
	{{8, 0}, 12000, 525}, {{8, 1}, 12010, 530},
	{{8, 2}, 12020, 535}, {{8, 3}, 12030, 545},
	{{8, 4}, 12040, 550}, {{8, 5}, 12050, 555},
	{{8, 5}, 12060, 560}, {{8, 6}, 12070, 565}, /* only a driver: there was no CUDA 12.7 */
	{{8, 7}, 12080, 570}, {{8, 8}, 12090, 575},
	{{9, 0}, 13000, 580}, {{9, 1}, 13010, 590},
	{{9, 2}, 13020, 595}, {{9, 3}, 13030, 610},
	{{9, 4}, 13040, 615}, {{9, 5}, 13050, 620},
};

#define COUNT(array) (sizeof(array) / sizeof *(array))

static const struct gpu_isa no_limit = {UINT16_MAX, 0};

int gpu_isa_compare(struct gpu_isa a, struct gpu_isa b)
{
	if (a.major != b.major)
		return a.major < b.major ? -1 : 1;
	return (a.minor > b.minor) - (a.minor < b.minor);
}

int gpu_release_compare(const uint32_t a[3], const uint32_t b[3])
{
	for (size_t i = 0; i < 3; i++)
		if (a[i] != b[i])
			return a[i] < b[i] ? -1 : 1;
	return 0;
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

struct gpu_isa gpu_target_isa(struct jw_target target)
{
	static const struct {
		struct jw_target target;
		struct gpu_isa isa;
	} firsts[] = {
		{{60, 0}, {5, 0}},    {{61, 0}, {5, 0}},    {{62, 0}, {5, 0}},    {{70, 0}, {6, 0}},
		{{72, 0}, {6, 1}},    {{75, 0}, {6, 3}},    {{80, 0}, {7, 0}},    {{86, 0}, {7, 1}},
		{{87, 0}, {7, 4}},    {{89, 0}, {7, 8}},    {{90, 0}, {7, 8}},    {{90, 'a'}, {8, 0}},
		{{100, 0}, {8, 6}},   {{100, 'a'}, {8, 6}}, {{101, 0}, {8, 6}},   {{101, 'a'}, {8, 6}},
		{{120, 0}, {8, 7}},   {{120, 'a'}, {8, 7}}, {{100, 'f'}, {8, 8}}, {{101, 'f'}, {8, 8}},
		{{103, 0}, {8, 8}},   {{103, 'a'}, {8, 8}}, {{103, 'f'}, {8, 8}}, {{120, 'f'}, {8, 8}},
		{{121, 0}, {8, 8}},   {{121, 'a'}, {8, 8}}, {{121, 'f'}, {8, 8}}, {{88, 0}, {9, 0}},
		{{110, 0}, {9, 0}},   {{110, 'a'}, {9, 0}}, {{110, 'f'}, {9, 0}}, {{107, 0}, {9, 4}},
		{{107, 'a'}, {9, 4}}, {{107, 'f'}, {9, 4}},
	};

	for (size_t i = 0; i < COUNT(firsts); i++)
		if (jw_target_equal(firsts[i].target, target))
			return firsts[i].isa;
	return (struct gpu_isa){0, 0};
}

struct jw_driver gpu_isa_driver(struct gpu_isa isa)
{
	for (size_t i = 0; i < COUNT(releases); i++)
		if (isa.major && gpu_isa_compare(releases[i].isa, isa) >= 0)
			return (struct jw_driver){releases[i].cuda, {releases[i].branch, 0, 0}};
	return (struct jw_driver){0};
}

struct jw_driver gpu_cuda_driver(uint32_t cuda)
{
	return (struct jw_driver){cuda, {gpu_branch_number(cuda), 0, 0}};
}

uint32_t gpu_runtime_cuda(uint32_t cuda)
{
	return cuda < 11000 ? cuda : cuda / 1000 * 1000;
}

uint32_t gpu_branch_number(uint32_t cuda)
{
	for (size_t i = 0; i < COUNT(releases); i++)
		if (releases[i].cuda == cuda)
			return releases[i].branch;
	return 0;
}

size_t gpu_releases(struct jw_driver ret_drivers[GPU_MAX_RELEASES])
{
	_Static_assert(COUNT(releases) <= GPU_MAX_RELEASES, "a bit for each");
	for (size_t i = 0; i < COUNT(releases); i++)
		ret_drivers[i] = (struct jw_driver){releases[i].cuda, {releases[i].branch, 0, 0}};
	return COUNT(releases);
}

uint32_t gpu_newest_cuda(void)
{
	return releases[COUNT(releases) - 1].cuda;
}

/* Skips the words before a version: “CUDA 12.8”, “cu128”, “nvidia-driver-550”, “v550”, “R550”. */
static const char *skip_words(const char *text, bool *ret_cuda)
{
	static const char *const words[] = {"nvidia", "driver", "cuda", "cu", "v", "r"};

	*ret_cuda = false;
	for (size_t i = 0; i < COUNT(words); i++)
		if (text_starts_fold(text, words[i])) {
			*ret_cuda = *ret_cuda || words[i][0] == 'c';
			text += strlen(words[i]);
			text += *text && strchr(" -_", *text);
		}
	return text;
}

/* Copies a version without the end that means all of its branch: “550.x”, “550.xx”, “550+”. */
static void copy_version(char *version, size_t size, const char *text)
{
	static const char *const ends[] = {".x", ".xx", "+"};
	size_t length = strlen(text);

	for (size_t i = 0; i < COUNT(ends); i++)
		if (text_ends(text, ends[i])) {
			length -= strlen(ends[i]);
			break;
		}
	(void)snprintf(version, size, "%.*s", length < size ? (int)length : 0, text);
}

int jw_driver_parse(struct jw_error *err, const char *text, struct jw_driver *ret_driver)
{
	enum { FIRST_JOINED = 100, LAST_JOINED = 199 };
	char version[JW_DRIVER_TEXT];
	struct jw_driver driver = {0};
	uint32_t numbers[3] = {0};
	bool cuda;
	size_t count;

	copy_version(version, sizeof version, skip_words(text, &cuda));
	count = text_numbers(version, 4, numbers, 3);
	/* PyTorch's indexes write cu128 for CUDA 12.8. */
	if (cuda && count == 1 && numbers[0] >= FIRST_JOINED && numbers[0] <= LAST_JOINED) {
		numbers[1] = numbers[0] % 10;
		numbers[0] /= 10;
		count = 2;
	}

	/* “12” is CUDA 12.0, and “12.1.105” is 12.1, as nvcc and conda write it; “55” is neither. */
	if (!count || (numbers[0] >= 100 && cuda) ||
		(numbers[0] < 100 &&
		 (numbers[1] > 99 || (count == 1 && (cuda || numbers[0] > gpu_newest_cuda() / 1000 + 1)))))
		return error_set(err, JW_ERR_USAGE,
						 "“%.40s” is neither a CUDA version (12.2) nor a driver's (550.163.01)",
						 text);
	if (numbers[0] < 100) {
		driver.cuda = numbers[0] * 1000 + numbers[1] * 10;
	} else {
		memcpy(driver.release, numbers, sizeof numbers);
		/* A branch (the first number) belongs to one CUDA version. Windows' branches lie between
		 * Linux' (551 with 550, 527 with 525). */
		for (size_t i = 0; i < COUNT(releases) && releases[i].branch <= numbers[0]; i++)
			driver.cuda = releases[i].cuda;
	}
	if (driver.cuda < releases[0].cuda)
		return error_set(
			err, JW_ERR_USAGE,
			"“%.40s” is older than driver 375.26 (CUDA 8.0), the oldest one that jitwarm knows",
			text);
	*ret_driver = driver;
	return 0;
}

bool jw_driver_is_beyond(const struct jw_driver *driver, struct jw_driver *ret_newest)
{
	enum { NEXT_BRANCH = 5 }; /* Windows' branches lie between Linux' */

	*ret_newest = gpu_cuda_driver(gpu_newest_cuda());
	return driver->cuda > ret_newest->cuda ||
		   driver->release[0] >= ret_newest->release[0] + NEXT_BRANCH;
}

/* Writes "550.163.01", or "" if the release is unknown; returns the length. */
static size_t write_release(char text[JW_DRIVER_TEXT], const uint32_t *release)
{
	size_t used = 0;

	*text = 0;
	if (release[0] && (release[1] || release[2])) {
		used = (size_t)snprintf(text, JW_DRIVER_TEXT, "%u.%02u", release[0], release[1]);
		if (release[2])
			used += (size_t)snprintf(text + used, JW_DRIVER_TEXT - used, ".%02u", release[2]);
	} else if (release[0]) {
		used = (size_t)snprintf(text, JW_DRIVER_TEXT, "%u", release[0]);
	}
	return used;
}

const char *jw_driver_option(char text[JW_DRIVER_OPTION], const struct jw_driver *driver)
{
	char name[JW_DRIVER_TEXT];

	*text = 0;
	if (write_release(name, driver->release))
		(void)snprintf(text, JW_DRIVER_OPTION, " --driver %s", name);
	else if (driver->cuda)
		(void)snprintf(text, JW_DRIVER_OPTION, " --driver %u.%u", driver->cuda / 1000,
					   driver->cuda % 1000 / 10);
	return text;
}

const char *jw_driver_text(char text[JW_DRIVER_TEXT], const struct jw_driver *driver)
{
	const size_t used = write_release(text, driver->release);

	if (driver->cuda)
		(void)text_format(text + used, JW_DRIVER_TEXT - used, used ? " (CUDA %u.%u)" : "CUDA %u.%u",
						  driver->cuda / 1000, driver->cuda % 1000 / 10);
	else if (!used)
		(void)text_format(text, JW_DRIVER_TEXT, "unknown driver");
	return text;
}

const char *jw_driver_number(char text[JW_DRIVER_TEXT], const struct jw_driver *driver)
{
	struct jw_driver number = *driver;

	if (number.release[0])
		number.cuda = 0;
	return jw_driver_text(text, &number);
}

#define MIB (UINT64_C(1) << 20)

const struct jw_driver gpu_first_zstd = {12040, {550, 54, 14}};

/* Each row applies up to the next row's first driver. */
static const struct gpu_branch branches[] = {
	{{0, 0, 0}, 0, 256 * MIB, GPU_RELOCATABLE_SPOILS, 256, true, false, false},
	{{525, 60, 13}, 12000, 1024 * MIB, GPU_RELOCATABLE_SPOILS, 1000, true, false, true},
	/* 550.54.14 is the oldest driver of 12.4 that is known, and the first that decompresses zstd
	 * according to NVIDIA. */
	{{550, 54, 14}, 12040, 1024 * MIB, GPU_RELOCATABLE_KILLS, 1000, true, true, true},
	{{555, 42, 2}, 12050, 1024 * MIB, GPU_RELOCATABLE_KNOWN, 1000, false, true, true},
};

const struct gpu_branch *gpu_branch_of(const struct jw_driver *driver)
{
	const uint32_t *release = driver->release;
	const bool whole = release[0] && (release[1] || release[2]);
	size_t row = COUNT(branches) - 1;

	if (!whole && !driver->cuda)
		return &branches[row];
	while (row && (whole ? gpu_release_compare(release, branches[row].first) < 0
						 : driver->cuda < branches[row].cuda))
		row--;
	return &branches[row];
}
