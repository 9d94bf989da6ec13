/* Each field of a pack's manifest is accepted up to its bounds, and each list up to its length; a
 * written manifest is read back the same. */
#include "check.h"

#include <stdio.h>
#include <string.h>

#include <jitwarm/system.h>

#include "base/mem.h"
#include "base/set.h"
#include "base/text.h"
#include "pack/judge.h"
#include "pack/manifest.h"

#define HEX          "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcde"
#define PTX          "{\"name\":\"ptx/" HEX "0\",\"bytes\":5}"
#define CODE         "{\"name\":\"cubin/" HEX "1\",\"bytes\":7}"
#define DRIVER(more) "{\"stamp\":\"Jan  1 203001:02:03\"" more "}"
#define ENTRY(key, driver, target, form, options, ptx, cubin)                                      \
	"{\"key\":\"" key "\",\"driver\":" driver ",\"target\":\"" target "\",\"form\":\"" form        \
	"\",\"options\":" options ",\"ptx\":" ptx ",\"cubin\":" cubin "}"
#define SOUND_ENTRY ENTRY("0123456789abcdef", "0", "sm_86", "load", "\"-O3\"", "0", "1")

/* The parts of a document; a case replaces one. */
enum part { FORMAT, FEATURES, OS, BITS, DRIVERS, MEMBERS, ENTRIES, PARTS };
static const char *const usual[PARTS] = {"\"jitwarm.pack/1\"", "[]",         "\"linux\"", "64",
										 DRIVER(""),           PTX "," CODE, SOUND_ENTRY};

static char *document_of(const char *const parts[PARTS])
{
	return mem_printf(
		"{\"format\":%s,\"requires\":%s,\"os\":%s,\"pointer_bits\":%s,\"drivers\":[%s],"
		"\"members\":[%s],\"entries\":[%s]}",
		parts[FORMAT], parts[FEATURES], parts[OS], parts[BITS], parts[DRIVERS], parts[MEMBERS],
		parts[ENTRIES]);
}

static void try_parts(const char *const parts[PARTS], enum jw_code code, const char *says)
{
	struct pack_manifest manifest = {.entry_count = 77};
	char *text = keep(document_of(parts));

	GIVES(code, manifest_parse(why, text, strlen(text), &manifest));
	if (!strstr(why->message, says))
		fail_msg("%s: “%s”, not “%s”", text, why->message, says);
	if (code)
		assert_int_equal(manifest.entry_count, 77);
	else
		manifest_free(&manifest);
}

struct one {
	enum part part;
	const char *text;
	enum jw_code code;
	const char *says;
};

static void try_cases(const struct one *cases, size_t count, const char *const parts[PARTS])
{
	for (size_t i = 0; i < count; i++) {
		const char *changed[PARTS];

		memcpy(changed, parts, sizeof changed);
		changed[cases[i].part] = cases[i].text;
		try_parts(changed, cases[i].code, cases[i].says);
	}
}

TEST(head)
{
	static const struct one cases[] = {
		{FEATURES, "{}", JW_ERR_FORMAT, "no list “requires”"},
		{FEATURES, "[\"other\"]", JW_ERR_UNSUPPORTED, "the pack needs “other”"},
		{FEATURES, "[1]", JW_ERR_UNSUPPORTED, "the pack needs “?”"},
		{FEATURES, "[\"thin\"]", JW_ERR_UNSUPPORTED, "which this version of jitwarm does not know"},
		{FEATURES, "[\"opaque\"]", JW_ERR_UNSUPPORTED,
		 "which this version of jitwarm does not know"},
	};

	try_cases(cases, sizeof cases / sizeof *cases, usual);
}

/* ---- lists with as many elements as allowed, and one more */

/* 16 GiB, and one byte more */
TEST(content_has_a_size)
{
	for (unsigned more = 0; more < 2; more++) {
		struct buf text = BUF_MAX(1 << 20), list = BUF_MAX(1 << 20);
		const char *parts[PARTS];

		memcpy(parts, usual, sizeof parts);
		OK(buf_printf(why, &text, "{\"name\":\"ptx/" HEX "0\",\"bytes\":%u}",
					  (1u << 30) - 7 + more));
		OK(buf_printf(why, &text, "," CODE));
		for (unsigned i = 0; i < 15; i++) {
			OK(buf_printf(why, &text, ",{\"name\":\"cubin/%064x\",\"bytes\":1073741824}", i));
			OK(buf_printf(why, &list, ENTRY("%016x", "0", "sm_86", "load", "\"\"", "0", "%u") ",",
						  i, i + 2));
		}
		OK(buf_printf(why, &list, SOUND_ENTRY));
		parts[MEMBERS] = buf_text(&text);
		parts[ENTRIES] = buf_text(&list);
		try_parts(parts, more ? JW_ERR_LIMIT : JW_OK, more ? "more than 16 GiB of content" : "");
		buf_free(&text);
		buf_free(&list);
	}
}

TEST(text_has_a_size)
{
	char *sound = keep(document_of(usual));
	const size_t length = strlen(sound);
	char *text = keep(mem_resize(NULL, PACK_MAX_MANIFEST + 1));

	memset(text, ' ', PACK_MAX_MANIFEST + 1);
	memcpy(text, sound, length);
	for (size_t more = 0; more < 2; more++) {
		struct pack_manifest manifest = {0};

		GIVES(more ? JW_ERR_LIMIT : JW_OK,
			  manifest_parse(why, text, PACK_MAX_MANIFEST + more, &manifest));
		manifest_free(&manifest);
	}
	/* Each value takes a hundred bytes of memory. */
	for (size_t i = 0; i < 3; i++) {
		struct pack_manifest manifest = {0};

		memset(text, ",[{"[i], PACK_MAX_MANIFEST);
		GIVES(JW_ERR_LIMIT, manifest_parse(why, text, PACK_MAX_MANIFEST, &manifest));
	}
}

/* ---- the kinds of content in a manifest */

TEST(kinds_of_entries)
{
	static char plain[] = "-O3", link[] = "-arch=sm_86 -c", only_c[] = "-O3 -c",
				only_arch[] = "-arch=sm_86 -O";
	static const struct {
		enum pack_form form;
		char *options;
		bool jitlink, relocatable;
	} cases[] = {
		{PACK_LOAD, plain, false, false},  {PACK_LOAD, link, true, true},
		{PACK_LOAD, only_c, false, false}, {PACK_LOAD, only_arch, false, false},
		{PACK_LINK, plain, false, true},   {PACK_LINK, link, false, true},
		{PACK_BARE, link, false, false},
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		const struct pack_entry entry = {.form = cases[i].form, .options = cases[i].options};

		if (pack_entry_is_jitlink(&entry) != cases[i].jitlink ||
			pack_entry_is_relocatable(&entry) != cases[i].relocatable)
			fail_msg("case %zu", i);
	}
}

TEST(keys)
{
	static char options[PACK_MAX_OPTIONS + 1];
	struct pack_driver driver = {.stamp = "Jan  1 203001:02:03"};
	struct pack_member ptx = {.size_bytes = 100};
	struct pack_entry entry = {.target = {.sm = 86}, .options = options};
	const struct pack_manifest manifest = {.drivers = &driver, .members = &ptx};
	char start[CACHE_KEY_MAX_START + 1], tail[CACHE_KEY_MAX_TAIL];

	assert_int_equal(cache_key_write_start(start, driver.stamp, entry.target), 19 + 6 + 5);
	assert_string_equal(start, "Jan  1 203001:02:03HOST64sm_86");
	TEXT_COPY(options, "-O3");
	assert_int_equal(pack_key_tail(tail, &entry), 1 + 4);
	assert_memory_equal(tail, "\0 -O3", 5);
	assert_int_equal(pack_key_bytes(&manifest, &entry), 30 + 100 + 5);
	entry.form = PACK_LINK;
	assert_int_equal(pack_key_tail(tail, &entry), 1 + 6);
	assert_memory_equal(tail, "\0 -c-O3", 7);
	entry.form = PACK_BARE;
	assert_int_equal(pack_key_tail(tail, &entry), 0);
	entry.form = PACK_LOAD;
	memset(options, 'x', PACK_MAX_OPTIONS);
	assert_int_equal(pack_key_tail(tail, &entry), 2 + PACK_MAX_OPTIONS);
}

/* A driver is known by its stamp: first the machine's, then those of the table. */
TEST(drivers_of_stamps)
{
	static const struct {
		const char *stamp, *ours;
		struct jw_driver version;
		const char *release;
		uint32_t cuda;
	} cases[] = {
		{"Jan  1 203001:02:03", "", {0}, "", 0},
		{"Jan  1 203001:02:03", "Jan  1 203001:02:03", {14000, {700, 10, 2}}, "700.10.02", 14000},
		{"Jan  1 203001:02:03", "Jan  1 203001:02:03", {14000, {700, 10, 0}}, "700.10", 14000},
		{"Jan  1 203001:02:03", "Jan  1 203001:02:03", {14000, {0}}, "", 14000},
		{"Jan  1 203001:02:03", "Jan  1 203001:02:04", {14000, {700, 10, 2}}, "", 0},
		{"Apr  8 202512:10:18", "", {0}, "550.163.01", 12040},
		{"Apr  8 202512:10:18", "Apr  8 202512:10:18", {12050, {551, 1, 0}}, "551.01", 12050},
		{"Apr  8 202512:10:18", "Apr  8 202512:10:18", {0}, "550.163.01", 12040},
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct jw_system system = {.driver = {.version = cases[i].version}};
		struct pack_driver driver;

		TEXT_COPY(system.driver.stamp, cases[i].ours);
		pack_driver_of_stamp(&driver, cases[i].stamp, i ? &system : NULL);
		assert_string_equal(driver.stamp, cases[i].stamp);
		assert_string_equal(driver.release, cases[i].release);
		assert_int_equal(driver.cuda, cases[i].cuda);
	}
}

/* Hashes do not begin alike by chance: names chosen to do so would each be compared with all
 * earlier ones. */
TEST(names_that_begin_alike_are_refused)
{
	struct pack_member *all = keep(mem_array(PACK_MAX_MEMBERS, sizeof *all)), one = {0};
	struct pack_manifest manifest = {.members = all};
	struct set leads = {0};
	uint32_t at, count = 0;
	int result;

	do {
		memcpy(one.digest.bytes + 20, &count, sizeof count);
		result = manifest_add_member(why, &manifest, &leads, &one, &at);
	} while (!result && ++count < PACK_MAX_MEMBERS);
	assert_int_equal(why->code, JW_ERR_FORMAT);
	assert_int_equal(manifest.member_count, count);
	assert_in_range(count, 2, 100);
	set_free(&leads);
}

TEST(adds_members_once)
{
	struct pack_member *all = keep(mem_array(PACK_MAX_MEMBERS + 1, sizeof *all));
	struct pack_manifest manifest = {.members = all};
	struct pack_member one = {.kind = PACK_PTX}, same_lead = {.kind = PACK_PTX},
					   code = {.kind = PACK_CUBIN};
	struct set leads = {0};
	uint32_t at = 77;

	same_lead.digest.bytes[20] = 1;
	for (int again = 0; again < 2; again++) {
		OK(manifest_add_member(why, &manifest, &leads, &one, &at));
		assert_int_equal(at, 0);
		OK(manifest_add_member(why, &manifest, &leads, &same_lead, &at));
		assert_int_equal(at, 1);
		OK(manifest_add_member(why, &manifest, &leads, &code, &at));
		assert_int_equal(at, 2);
	}
	assert_int_equal(manifest.member_count, 3);
	manifest.member_count = PACK_MAX_MEMBERS - 1;
	one.digest.bytes[0] = 1;
	OK(manifest_add_member(why, &manifest, &leads, &one, &at));
	assert_int_equal(at, PACK_MAX_MEMBERS - 1);
	one.digest.bytes[0] = 2;
	GIVES(JW_ERR_LIMIT, manifest_add_member(why, &manifest, &leads, &one, &at));
	assert_int_equal(manifest.member_count, PACK_MAX_MEMBERS);
	set_free(&leads);
}

RUN_TESTS(NULL, NULL)
