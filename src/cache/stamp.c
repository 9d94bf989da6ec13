#include "cache/stamp.h"

#include <string.h>

#include "base/cursor.h"
#include "base/mem.h"
#include "base/text.h"
#include "code/elf64.h"
#include "code/release.h"
#include "os/file.h"
#include "os/platform.h"

/* A larger file is not a driver: libcuda has 30 to 100 MB. */
#define MAX_BYTES ((size_t)1 << 30)
/* This much of a mapped library is resident at a time. */
#define PIECE_BYTES ((size_t)4 << 20)

/* "Jun 25 202401:14", at any place. */
static bool is_run(const uint8_t *at)
{
	static const char months[] = "JanFebMarAprMayJunJulAugSepOctNovDec";
	bool month = false;

	for (size_t i = 0; i < 36; i += 3)
		month = month || !memcmp(at, months + i, 3);
	if (!month || at[3] != ' ' || at[6] != ' ' || at[13] != ':' ||
		(at[4] != ' ' && !text_is_digit(at[4])))
		return false;
	for (size_t i = 5; i < 16; i++)
		if (i != 6 && i != 13 && !text_is_digit(at[i]))
			return false;
	return true;
}

enum { RUN_SIZE = 16, RUN_COLON = 13 };

/* The most frequent seconds, 60 if there is none or two are equally frequent. */
static unsigned best_second(const unsigned seconds[60])
{
	unsigned best = 60, most = 0;

	for (unsigned i = 0; i < 60; i++) {
		if (seconds[i] > most) {
			best = i;
			most = seconds[i];
		} else if (most && seconds[i] == most) {
			best = 60;
		}
	}
	return best;
}

int stamp_find(struct jw_error *err, const struct os_map *map, char ret_stamp[CACHE_STAMP_SIZE + 1])
{
	const uint8_t *start = map->data;
	const size_t size = map->size < MAX_BYTES ? map->size : MAX_BYTES;
	const uint8_t *run = NULL, *const end = start + size;
	unsigned seconds[60] = {0}, second;
	bool several = false; /* runs that differ */

	for (size_t at = 0; at < size; at += PIECE_BYTES) {
		size_t piece = size - at < PIECE_BYTES ? size - at : PIECE_BYTES;

		for (size_t i = at; i < at + piece; i++) {
			const uint8_t *colon = memchr(start + i, ':', at + piece - i);

			if (!colon)
				break;
			i = (size_t)(colon - start);
			if (i >= RUN_COLON && end - colon >= RUN_SIZE - RUN_COLON &&
				is_run(colon - RUN_COLON)) {
				several = several || (run && memcmp(run, colon - RUN_COLON, RUN_SIZE) != 0);
				run = colon - RUN_COLON;
			}
			if (end - colon >= 4 && colon[1] >= '0' && colon[1] <= '5' && text_is_digit(colon[2]) &&
				!colon[3])
				seconds[10 * (colon[1] - '0') + (colon[2] - '0')]++;
		}
		os_map_forget(map, at, piece);
	}
	second = best_second(seconds);
	if (!run || several || second == 60)
		return error_set(err, JW_ERR_NOT_FOUND, "%s",
						 !run      ? "no build stamp in it"
						 : several ? "several build stamps in it"
								   : "a build stamp without its seconds");
	memcpy(ret_stamp, run, RUN_SIZE);
	ret_stamp[RUN_SIZE] = ':';
	ret_stamp[RUN_SIZE + 1] = (char)('0' + second / 10);
	ret_stamp[RUN_SIZE + 2] = (char)('0' + second % 10);
	ret_stamp[CACHE_STAMP_SIZE] = '\0';
	return 0;
}

bool stamp_is(const char *text)
{
	return strlen(text) == CACHE_STAMP_SIZE && is_run((const uint8_t *)text) && text[16] == ':' &&
		   text_is_digit((uint8_t)text[17]) && text_is_digit((uint8_t)text[18]);
}

enum { PT_NOTE = 4, NT_GNU_BUILD_ID = 3 };

/* Searches the notes of one segment. */
static bool find_note(struct cursor notes, char text[STAMP_BUILD_ID_SIZE])
{
	static const char digits[] = "0123456789abcdef";

	while (cursor_left(&notes) >= 12) {
		uint32_t name_size = cursor_u32(&notes), size = cursor_u32(&notes),
				 type = cursor_u32(&notes);
		const uint8_t *name = cursor_take(&notes, ((uint64_t)name_size + 3) & ~UINT64_C(3));
		const uint8_t *id = cursor_take(&notes, ((uint64_t)size + 3) & ~UINT64_C(3));

		if (notes.overrun)
			return false;
		if (type != NT_GNU_BUILD_ID || name_size != 4 || memcmp(name, "GNU", 4) != 0 ||
			size > (STAMP_BUILD_ID_SIZE - 1) / 2)
			continue;
		for (size_t i = 0; i < size; i++) {
			text[2 * i] = digits[id[i] >> 4];
			text[2 * i + 1] = digits[id[i] & 15];
		}
		text[(size_t)2 * size] = '\0';
		return true;
	}
	return false;
}

const char *stamp_build_id(const void *bytes, size_t size, char text[STAMP_BUILD_ID_SIZE])
{
	const uint8_t *file = bytes;
	struct elf64_header elf;

	*text = '\0';
	if (!elf64_header_read(file, size, &elf) || elf.class != ELF64_CLASS ||
		elf.order != ELF64_LITTLE || elf.phentsize != ELF64_PHDR_SIZE ||
		!range_fits(elf.phoff, (uint64_t)elf.phnum * ELF64_PHDR_SIZE, size))
		return text;
	for (size_t i = 0; i < elf.phnum; i++) {
		const uint8_t *segment = file + elf.phoff + i * ELF64_PHDR_SIZE;
		uint64_t offset = load_u64(segment + 8), length = load_u64(segment + 32);

		if (load_u32(segment) == PT_NOTE && range_fits(offset, length, size) &&
			find_note(cursor_of(file + offset, (size_t)length), text))
			break;
	}
	return text;
}

enum { MAX_DRIVERS = 4096 };

/* The first statement about a stamp wins: living drivers are added first. */
static int add_former(struct jw_error *err, struct former_drivers *drivers, const char *stamp,
					  const uint32_t release[3], enum former_verdict verdict)
{
	struct former_driver *one;

	if (!stamp_is(stamp) || former_of(drivers, stamp) != FORMER_UNKNOWN)
		return 0;
	if (VEC_ROOM(err, drivers->items, drivers->capacity, drivers->count, MAX_DRIVERS))
		return -1;
	one = &drivers->items[drivers->count++];
	*one = (struct former_driver){.verdict = verdict};
	TEXT_COPY(one->stamp, stamp);
	memcpy(one->release, release, sizeof one->release);
	return 0;
}

static bool is_living(const struct former_drivers *drivers, const struct cache_profile *profile)
{
	struct os_stat stat;

	if (drivers->running[0] && !gpu_release_compare(profile->driver.release, drivers->running))
		return true;
	return *profile->library && !os_stat(NULL, profile->library, &stat) &&
		   stat.size_bytes == profile->library_size && stat.mtime_ns == profile->library_mtime_ns;
}

/* Adds the profiles of living drivers, or those of former ones. Skips unreadable profiles. */
static int add_profiles(struct jw_error *err, const char *state_dir, enum former_verdict verdict,
						struct former_drivers *drivers)
{
	char *folder = os_join(state_dir, "drivers");
	struct os_names names;
	int result = 0;

	if (os_list(NULL, folder, &names)) {
		mem_free(folder);
		return 0;
	}
	for (size_t i = 0; !result && i < names.count; i++) {
		char *path = os_join(folder, names.items[i]);
		struct cache_profile profile;

		if (text_ends(path, ".json") && !cache_profile_read(NULL, path, &profile) &&
			is_living(drivers, &profile) == (verdict == FORMER_LIVING))
			result = add_former(err, drivers, profile.stamp, profile.driver.release, verdict);
		mem_free(path);
	}
	os_names_free(&names);
	mem_free(folder);
	return result;
}

static bool has_living(const struct former_drivers *drivers, const uint32_t release[3])
{
	for (size_t i = 0; i < drivers->count; i++)
		if (drivers->items[i].verdict == FORMER_LIVING &&
			!gpu_release_compare(drivers->items[i].release, release))
			return true;
	return false;
}

static bool is_newer(const struct former_drivers *drivers, const uint32_t release[3])
{
	return drivers->newest[0] && gpu_release_compare(release, drivers->newest) > 0;
}

/* The driver that runs, where it is another release than the installed one. */
static void find_running(struct former_drivers *drivers, const uint32_t installed[3])
{
	struct jw_driver running;
	char text[32];

	memcpy(drivers->newest, installed, sizeof drivers->newest);
	os_running_driver(text);
	if (!*text || jw_driver_parse(NULL, text, &running) || !running.release[0] ||
		(installed[0] && !gpu_release_compare(running.release, installed)))
		return;
	memcpy(drivers->running, running.release, sizeof drivers->running);
	if (gpu_release_compare(running.release, installed) > 0)
		memcpy(drivers->newest, running.release, sizeof drivers->newest);
}

int former_read(struct jw_error *err, const char *state_dir, const char *stamp,
				const uint32_t release[3], struct former_drivers *ret_drivers)
{
	struct former_drivers drivers = {0};
	const struct cache_known_driver *known = cache_known_driver(release), *running;
	int result;

	find_running(&drivers, release);
	running = cache_known_driver(drivers.running);
	/* If the stamp was read wrongly, the table still knows the installed release. */
	result = add_former(err, &drivers, stamp, release, FORMER_LIVING) ||
					 (known && add_former(err, &drivers, known->stamp, release, FORMER_LIVING)) ||
					 (running &&
					  add_former(err, &drivers, running->stamp, running->release, FORMER_LIVING)) ||
					 (state_dir && (add_profiles(err, state_dir, FORMER_LIVING, &drivers) ||
									add_profiles(err, state_dir, FORMER_FORMER, &drivers)))
				 ? -1
				 : 0;
	for (size_t i = 0; !result && (known = cache_known_driver_at(i)); i++)
		if (!has_living(&drivers, known->release))
			result = add_former(err, &drivers, known->stamp, known->release,
								is_newer(&drivers, known->release) ? FORMER_NEWER : FORMER_FORMER);
	if (result) {
		former_free(&drivers);
		return -1;
	}
	drivers.nameless = drivers.running[0] && !has_living(&drivers, drivers.running);
	*ret_drivers = drivers;
	return 0;
}

int former_add(struct jw_error *err, struct former_drivers *drivers, const char *stamp)
{
	static const uint32_t unknown[3];

	for (size_t i = 0; i < drivers->count; i++)
		if (drivers->items[i].verdict == FORMER_NEWER && !strcmp(drivers->items[i].stamp, stamp))
			drivers->items[i].verdict = FORMER_FORMER;
	return drivers->nameless ? 0 : add_former(err, drivers, stamp, unknown, FORMER_FORMER);
}

int former_spare(struct jw_error *err, struct former_drivers *drivers, const char *stamp)
{
	static const uint32_t unknown[3];

	for (size_t i = 0; i < drivers->count; i++)
		if (!strcmp(drivers->items[i].stamp, stamp))
			drivers->items[i].verdict = FORMER_LIVING;
	return add_former(err, drivers, stamp, unknown, FORMER_LIVING);
}

void former_free(struct former_drivers *drivers)
{
	mem_free(drivers->items);
	*drivers = (struct former_drivers){0};
}

/* As its stamp is judged, where that is known. Else one that no installed driver has is a former
 * driver's, unless it is newer; unknown if the release of an installed driver is unknown. */
static enum former_verdict of_release(const struct former_drivers *drivers,
									  const uint32_t release[3])
{
	enum former_verdict verdict = !drivers->count              ? FORMER_UNKNOWN
								  : is_newer(drivers, release) ? FORMER_NEWER
															   : FORMER_FORMER;

	if ((drivers->running[0] && !gpu_release_compare(drivers->running, release)) ||
		has_living(drivers, release))
		return FORMER_LIVING;
	for (size_t i = 0; i < drivers->count; i++) {
		const struct former_driver *one = &drivers->items[i];

		if (one->release[0] && !gpu_release_compare(one->release, release))
			return one->verdict;
		if (one->verdict == FORMER_LIVING && !one->release[0])
			verdict = FORMER_UNKNOWN;
	}
	return verdict;
}

enum former_verdict former_of(const struct former_drivers *drivers, const char *driver)
{
	struct jw_driver version;

	for (size_t i = 0; i < drivers->count; i++)
		if (!strcmp(drivers->items[i].stamp, driver))
			return drivers->items[i].verdict;
	if (*driver && !stamp_is(driver) && !jw_driver_parse(NULL, driver, &version) &&
		version.release[0])
		return of_release(drivers, version.release);
	return FORMER_UNKNOWN;
}
