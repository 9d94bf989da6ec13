/* A stamp and a build ID are found in a library's bytes at each bound, and no header leads outside
 * the file. */
#include "check.h"

#include <string.h>

#include <jitwarm/error.h>

#include "base/cursor.h"
#include "cache/profile.h"
#include "cache/stamp.h"

#define BYTES(text) text, sizeof text - 1
#define RUN         "Jun 25 202401:14"

TEST(seconds_are_told_or_not)
{
	static const char several[] = "several build stamps", none[] = "no build stamp",
					  untold[] = "without its seconds";
	static const struct {
		const char *bytes;
		size_t size;
		const char *stamp, *why;
	} cases[] = {
		{BYTES(RUN ":00\0"), RUN ":00", NULL},
		{BYTES(RUN ":59\0"), RUN ":59", NULL},
		{BYTES(RUN ":60\0"), NULL, untold},
		{BYTES(RUN ":/9\0"), NULL, untold},
		{BYTES(RUN ":5:\0"), NULL, untold},
		{BYTES(RUN ":5/\0"), NULL, untold},
		{BYTES(RUN ":59x"), NULL, untold},
		{BYTES(RUN ":59"), NULL, untold},
		{BYTES(RUN ":10\0:20\0"), NULL, untold},
		{BYTES(RUN ":10\0:20\0:20\0"), RUN ":20", NULL},
		{BYTES(RUN ":10\0:10\0:20\0"), RUN ":10", NULL},
		{BYTES(RUN ":10\0:20\0:30\0:30\0"), RUN ":30", NULL},
		{BYTES(RUN ":10\0:10\0:20\0:20\0:30\0"), NULL, untold},
		{BYTES(RUN ":10\0" RUN), RUN ":10", NULL},
		{BYTES(RUN ":10\0Jun 25 202401:15"), NULL, several},
		{BYTES(RUN ":10\0Jun 25 202401:15" RUN), NULL, several},
		{BYTES("un 25 202401:14:10\0"), NULL, none},
		{BYTES("Jun 25 202401:1"), NULL, none},
		{BYTES(":10\0:10\0"), NULL, none},
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		char stamp[CACHE_STAMP_SIZE + 1] = "untouched";
		/* The block has the text's own size: no byte after it is read. */
		uint8_t *bytes = test_malloc(cases[i].size);

		memcpy(bytes, cases[i].bytes, cases[i].size);
		GIVES(cases[i].stamp ? JW_OK : JW_ERR_NOT_FOUND,
			  stamp_find(why, &(struct os_map){.data = bytes, .size = cases[i].size}, stamp));
		test_free(bytes);
		assert_string_equal(stamp, cases[i].stamp ? cases[i].stamp : "untouched");
		if (cases[i].why)
			assert_non_null(strstr(why->message, cases[i].why));
	}
}

enum { SEGMENTS = 2, EHDR = 64, PHDR = 56, NOTES_AT = EHDR + SEGMENTS * PHDR, FILE_SIZE = 512 };

struct notes {
	uint8_t bytes[FILE_SIZE - NOTES_AT];
	size_t size;
};

static void add_note(struct notes *notes, const char *name, uint32_t name_size, uint32_t type,
					 uint32_t size)
{
	uint8_t *at = notes->bytes + notes->size;

	store_u32(at, name_size);
	store_u32(at + 4, size);
	store_u32(at + 8, type);
	memcpy(at + 12, name, strlen(name));
	at += 12 + ((name_size + 3) & ~3u);
	for (uint32_t i = 0; i < size; i++)
		at[i] = (uint8_t)(0xa0 + i);
	notes->size = (size_t)(at - notes->bytes) + ((size + 3) & ~3u);
}

static size_t put_elf(uint8_t file[FILE_SIZE], const struct notes *notes)
{
	memset(file, 0, FILE_SIZE);
	memcpy(file, "\177ELF\2\1\1", 7);
	store_u64(file + 32, EHDR);
	store_u16(file + 52, EHDR);
	store_u16(file + 54, PHDR);
	store_u16(file + 56, SEGMENTS);
	/* The first segment is not a segment of notes. */
	store_u32(file + EHDR, 1);
	store_u64(file + EHDR + 8, NOTES_AT);
	store_u64(file + EHDR + 32, notes->size);
	store_u32(file + EHDR + PHDR, 4);
	store_u64(file + EHDR + PHDR + 8, NOTES_AT);
	store_u64(file + EHDR + PHDR + 32, notes->size);
	memcpy(file + NOTES_AT, notes->bytes, notes->size);
	return NOTES_AT + notes->size;
}

static void assert_build_id(const struct notes *notes, const char *id, const char *what)
{
	uint8_t file[FILE_SIZE], *exact;
	const size_t size = put_elf(file, notes);
	char text[STAMP_BUILD_ID_SIZE] = "untouched";

	exact = test_malloc(size);
	memcpy(exact, file, size);
	assert_ptr_equal(stamp_build_id(exact, size, text), text);
	test_free(exact);
	if (strcmp(text, id) != 0)
		fail_msg("%s: “%s”, not “%s”", what, text, id);
}

TEST(a_build_id_is_one_note_of_several)
{
	static const struct {
		const char *what, *name;
		uint32_t name_size, type, size;
	} others[] = {
		{"another type", "GNU", 4, 1, 4},  {"another name", "GNV", 4, 3, 4},
		{"a longer name", "GNU", 5, 3, 4}, {"a shorter name", "GNU", 3, 3, 4},
		{"too long", "GNU", 4, 3, 33},
	};
	char longest[STAMP_BUILD_ID_SIZE] = "";
	struct notes notes;

	for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
		notes = (struct notes){0};
		add_note(&notes, others[i].name, others[i].name_size, others[i].type, others[i].size);
		assert_build_id(&notes, "", others[i].what);
		add_note(&notes, "GNU", 4, 3, 3);
		assert_build_id(&notes, "a0a1a2", others[i].what);
	}
	notes = (struct notes){0};
	add_note(&notes, "GNU", 4, 3, 32);
	for (unsigned i = 0; i < 32; i++) {
		longest[(size_t)2 * i] = "ab"[i >> 4];
		longest[(size_t)2 * i + 1] = "0123456789abcdef"[i & 15];
	}
	assert_build_id(&notes, longest, "the longest");
	/* The notes are cut within the header, the name and the bytes. */
	for (size_t cut = 1; cut < notes.size; cut++) {
		struct notes shorter = notes;

		shorter.size = notes.size - cut;
		assert_build_id(&shorter, "", "cut");
	}
	/* An empty note follows one with an empty name: 12 bytes are a whole header. */
	notes = (struct notes){0};
	add_note(&notes, "", 0, 1, 0);
	add_note(&notes, "GNU", 4, 3, 0);
	assert_build_id(&notes, "", "empty");
}

TEST(headers_that_lead_nowhere_have_no_build_id)
{
	/* a byte of the header or of the second segment, and its new value */
	static const struct {
		size_t at;
		uint8_t byte;
	} cases[] = {
		{4, 1},                  /* 32 bits */
		{5, 2},                  /* the other byte order */
		{54, PHDR + 1},          /* larger segment headers */
		{33, 2},                 /* the segments' place, after the end */
		{57, 1},                 /* 258 segments */
		{EHDR + PHDR, 5},        /* not notes */
		{EHDR + PHDR + 9, 2},    /* notes after the end */
		{EHDR + PHDR + 33, 2},   /* more notes than there are */
		{EHDR + PHDR + 15, 255}, /* notes far after the end */
		{1, 'F'},                /* not ELF */
	};
	struct notes notes = {0};
	char text[STAMP_BUILD_ID_SIZE];
	uint8_t file[FILE_SIZE];

	add_note(&notes, "GNU", 4, 3, 4);
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		const size_t size = put_elf(file, &notes);

		assert_string_equal(stamp_build_id(file, size, text), "a0a1a2a3");
		file[cases[i].at] = cases[i].byte;
		if (*stamp_build_id(file, size, text))
			fail_msg("byte %zu: %s", cases[i].at, text);
	}
	/* One byte of the file is missing. */
	assert_string_equal(stamp_build_id(file, put_elf(file, &notes) - 1, text), "");
}

RUN_TESTS(NULL, NULL)
