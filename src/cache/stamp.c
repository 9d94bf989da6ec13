#include "cache/stamp.h"

#include <string.h>

#include <jitwarm/target.h>

#include "base/cursor.h"
#include "base/text.h"
#include "code/elf64.h"
#include "jitwarm/target.h"

/* The largest size of a driver: libcuda has 30 to 100 MB. */
#define MAX_BYTES ((size_t)1 << 30)
/* The most bytes of a mapped library that are resident at a time. */
#define PIECE_BYTES ((size_t)4 << 20)

/* Returns whether a text like "Jun 25 202401:14" is at this place. */
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

/* Returns the most frequent seconds; 60 if there are none or two are equally frequent. */
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
	const uint8_t *const end = start + size;
	/* The first run, copied before it is checked (os/file.h, os_map), and the one to check. */
	uint8_t run[RUN_SIZE], next[RUN_SIZE];
	bool found = false;
	unsigned seconds[60] = {0}, second;
	bool several = false; /* there are runs that differ */

	for (size_t at = 0; at < size; at += PIECE_BYTES) {
		size_t piece = size - at < PIECE_BYTES ? size - at : PIECE_BYTES;

		for (size_t i = at; i < at + piece; i++) {
			const uint8_t *colon = memchr(start + i, ':', at + piece - i);

			if (!colon)
				break;
			i = (size_t)(colon - start);
			if (i >= RUN_COLON && end - colon >= RUN_SIZE - RUN_COLON) {
				memcpy(next, colon - RUN_COLON, RUN_SIZE);
				if (is_run(next)) {
					several = several || (found && memcmp(run, next, RUN_SIZE) != 0);
					memcpy(run, next, RUN_SIZE);
					found = true;
				}
			}
			if (end - colon >= 4) {
				const uint32_t after = load_u32(colon);
				const uint8_t tens = after >> 8 & 0xff, ones = after >> 16 & 0xff;

				if (tens >= '0' && tens <= '5' && text_is_digit(ones) && !(after >> 24))
					seconds[10 * (tens - '0') + (ones - '0')]++;
			}
		}
		os_map_forget(map, at, piece);
	}
	second = best_second(seconds);
	if (!found || several || second == 60)
		return error_set(err, JW_ERR_NOT_FOUND, "%s",
						 !found    ? "no build stamp in it"
						 : several ? "several build stamps in it"
								   : "a build stamp without its seconds");
	memcpy(ret_stamp, run, RUN_SIZE);
	ret_stamp[RUN_SIZE] = ':';
	ret_stamp[RUN_SIZE + 1] = (char)('0' + second / 10);
	ret_stamp[RUN_SIZE + 2] = (char)('0' + second % 10);
	ret_stamp[CACHE_STAMP_SIZE] = '\0';
	return 0;
}

bool jw_stamp_is(const char *text)
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
