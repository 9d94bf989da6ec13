/* Parts of a bake that need no library: what is asked for, ranges, pointers to containers, and the
 * GPUs of a library that was baked before. */
#include <stdio.h>
#include <string.h>

#include <jitwarm/bake.h>

#include "bake/bake_package.h"
#include "bake/baked_changes.h"
#include "bake/former_gpus.h"
#include "bake/linker.h"
#include "bake/room_pointers.h"
#include "base/cursor.h"
#include "base/text.h"
#include "check.h"
#include "devcode/image.h"
#include "folder.h"

/* ---- what is asked for */

static struct jw_gpu gpus[ANALYSE_MOST_TARGETS + 1];
static struct jw_system machine;
static struct jw_found nothing = {.file_count = 0};

static void begin_machine(void)
{
	for (size_t i = 0; i < sizeof gpus / sizeof *gpus; i++)
		gpus[i].target.sm = (uint16_t)(50 + i);
	machine = (struct jw_system){.gpus = gpus,
								 .gpu_count = ANALYSE_MOST_TARGETS,
								 .state_dir = folder,
								 .cache.path = folder,
								 .driver = {.version = {12050, {555, 58, 2}},
											.stamp = "Jun 25 202401:14:48",
											.trust = JW_TRUST_CONFIRMED}};
	TEXT_COPY(machine.why_none, "none here");
}

static enum jw_code bake(const char *output, bool in_place, bool dry_run, struct jw_error *why)
{
	struct jw_bake_options options = JW_BAKE_OPTIONS_INIT;
	struct jw_bake_result *result = NULL;

	options.system = &machine;
	options.found = &nothing;
	options.output = output;
	options.in_place = in_place;
	options.dry_run = dry_run;
	*why = (struct jw_error){0};
	if (jw_bake(why, &options, &result))
		return why->code ? why->code : JW_ERR_INTERRUPTED; /* says nothing */
	assert_int_equal(result->target_count, machine.gpu_count);
	assert_int_equal(result->file_count, 0);
	jw_bake_result_free(result);
	return JW_OK;
}

static void what_is_asked_for_has_to_be_clear(void **state)
{
	struct jw_error why;

	(void)state;
	begin_machine();
	assert_int_equal(bake(folder, false, false, &why), JW_OK);
	assert_int_equal(bake(NULL, true, false, &why), JW_OK);
	assert_int_equal(bake(NULL, false, true, &why), JW_OK);
	assert_int_equal(bake(NULL, true, true, &why), JW_OK);
	assert_int_equal(bake(folder, true, false, &why), JW_ERR_USAGE);
	assert_int_equal(bake(NULL, false, false, &why), JW_ERR_USAGE);
	assert_int_equal(bake("", false, false, &why), JW_ERR_USAGE);
	machine.gpu_count++;
	assert_int_equal(bake(folder, false, false, &why), JW_ERR_USAGE);
	machine.gpu_count = 0;
	assert_int_equal(bake(folder, false, true, &why), JW_ERR_NOT_FOUND);
	assert_string_equal(why.message, "none here");
}

static void what_is_needed_has_to_be_there(void **state)
{
	struct jw_error why;

	(void)state;
	begin_machine();
	machine.driver.trust = JW_TRUST_OPAQUE;
	assert_int_equal(bake(folder, false, false, &why), JW_ERR_UNSUPPORTED);
	assert_int_equal(bake(folder, false, true, &why), JW_OK);
	machine.driver.trust = JW_TRUST_CONFIRMED;
	*machine.driver.stamp = '\0';
	assert_int_equal(bake(folder, false, false, &why), JW_ERR_UNSUPPORTED);
	assert_int_equal(bake(folder, false, true, &why), JW_OK);
	begin_machine();
	machine.cache.path = NULL;
	assert_int_equal(bake(folder, false, true, &why), JW_OK);
	assert_int_equal(bake(folder, false, false, &why), JW_ERR_UNSUPPORTED);
	assert_string_equal(why.message, "the driver has no cache here");
	TEXT_COPY(machine.cache.why_useless, "so");
	assert_int_equal(bake(folder, false, false, &why), JW_ERR_UNSUPPORTED);
	assert_string_equal(why.message, "so");
}

static void what_no_library_unpacks_to_is_refused(void **state)
{
	enum { SMALL = 64 << 20, RATIO = 250 };

	(void)state;
	assert_int_equal(bake_package_check_size(NULL, "m", 0, SMALL), 0);
	assert_int_equal(bake_package_check_size(NULL, "m", SMALL / RATIO, SMALL + 1), 0);
	assert_int_equal(bake_package_check_size(NULL, "m", SMALL / RATIO - 1, SMALL + 1), -1);
	assert_int_equal(bake_package_check_size(NULL, "m", 0, SMALL + 1), -1);
}

/* Made once, if there is memory. */
static void a_linker_has_a_folder(void **state)
{
	static struct linker linker;
	struct jw_error why = {0};
	const char *first = NULL, *second = NULL;
	char *made;

	(void)state;
	begin_machine();
	mem_fail_after(1);
	assert_int_equal(linker_folder(&why, &linker, &machine, &first), -1);
	(void)mem_fail_after(0);
	assert_true(why.code == JW_ERR_MEMORY && !first);
	assert_int_equal(linker_folder(NULL, &linker, &machine, &first), 0);
	assert_true(os_exists(first));
	assert_int_equal(linker_folder(NULL, &linker, &machine, &second), 0);
	assert_ptr_equal(first, second);
	made = mem_string(NULL, first);
	linker_free(&linker);
	assert_false(os_exists(made));
	mem_free(made);
}

/* ---- ranges */

static void ranges_are_joined_where_they_meet(void **state)
{
	static const struct baked_range noted[] = {{40, 10}, {10, 10}, {20, 5}, {0, 0},  {26, 4},
											   {41, 2},  {45, 10}, {26, 2}, {60, 1}, {60, 5}},
									joined[] = {{10, 15}, {26, 4}, {40, 15}, {60, 5}};
	struct baked_changes changes = {.size_before_bytes = 64, .size_after_bytes = 64};
	struct jw_error why = {0};

	(void)state;
	baked_changes_end(&changes);
	assert_int_equal(changes.count, 0);
	mem_fail_after(1);
	assert_int_equal(baked_changes_note(&why, &changes, 0, 1), -1);
	(void)mem_fail_after(0);
	assert_int_equal(why.code, JW_ERR_MEMORY);
	for (size_t i = 0; i < sizeof noted / sizeof *noted; i++)
		assert_int_equal(baked_changes_note(NULL, &changes, noted[i].offset, noted[i].size_bytes),
						 0);
	assert_int_equal(changes.size_after_bytes, 65);
	for (int again = 0; again < 2; again++) {
		baked_changes_end(&changes);
		assert_int_equal(changes.count, sizeof joined / sizeof *joined);
		assert_memory_equal(changes.ranges, joined, sizeof joined);
	}
	baked_changes_free(&changes);
}

/* ---- pointers */

static void containers_are_touched_at_their_edges(void **state)
{
	static const struct container_room rooms[] = {{16, 16}, {32, 8}, {64, 32}};
	static const struct room_pointers pointers = {.rooms = rooms, .room_count = 3};
	static const struct room_pointers none = {.room_count = 0};
	static const struct {
		uint64_t offset, size_bytes;
		bool touches;
	} cases[] = {{0, 16, false},    {0, 17, true},    {15, 1, false}, {16, 0, false},
				 {16, 1, true},     {31, 1, true},    {39, 1, true},  {40, 24, false},
				 {40, 25, true},    {40, 1000, true}, {95, 1, true},  {96, 1, false},
				 {96, 1000, false}, {0, 1000, true}};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		if (room_pointers_touch(&pointers, cases[i].offset, cases[i].size_bytes) !=
			cases[i].touches)
			fail_msg("%zu", i);
		assert_false(room_pointers_touch(&none, cases[i].offset, cases[i].size_bytes));
	}
	assert_true(room_pointers_hold(&pointers, 16) && room_pointers_hold(&pointers, 31));
	assert_false(room_pointers_hold(&pointers, 15) || room_pointers_hold(&pointers, 40));
}

static void wrappers_alone_may_point(void **state)
{
	enum { FIRST = 128, SECOND = 160, THIRD = 192, SIZE = 256 };
	static const struct container_room rooms[] = {{0, 32}, {32, 32}, {64, 32}};
	static const struct container_room fourth = {96, 8};
	uint8_t bytes[SIZE] = {0};
	const struct os_map map = {.data = bytes, .size = sizeof bytes};
	struct room_pointers pointers = {.map = &map, .rooms = rooms, .room_count = 3};

	(void)state;
	store_u32(bytes + FIRST, WRAPPER_MAGIC);
	store_u32(bytes + FIRST + 4, 1);
	store_u32(bytes + SECOND, WRAPPER_MAGIC);
	store_u32(bytes + SECOND + 4, 2);
	store_u32(bytes + THIRD, WRAPPER_MAGIC);
	store_u32(bytes + THIRD + 4, 3);
	store_u32(bytes, WRAPPER_MAGIC);
	store_u32(bytes + 4, 1);
	assert_int_equal(room_pointers_note(NULL, &pointers, 64, THIRD + WRAPPER_DATA_AT, 0), 0);
	assert_int_equal(room_pointers_note(NULL, &pointers, 0, FIRST + WRAPPER_DATA_AT, 7), 0);
	assert_int_equal(room_pointers_note(NULL, &pointers, 0, SECOND + WRAPPER_DATA_AT, 0), 0);
	room_pointers_sort(&pointers);
	assert_int_equal(room_pointers_first(&pointers, 0), 0);
	assert_int_equal(room_pointers_first(&pointers, 1), 2);
	assert_int_equal(room_pointers_first(&pointers, 64), 2);
	assert_int_equal(room_pointers_first(&pointers, 65), 3);
	assert_true(room_pointers_only_wrappers(&pointers, &rooms[0]));
	assert_false(room_pointers_only_wrappers(&pointers, &rooms[1])); /* nothing does */
	assert_false(room_pointers_only_wrappers(&pointers, &rooms[2])); /* of an unknown version */
	assert_false(room_pointers_only_wrappers(&pointers, &fourth));
	/* In a container, before any wrapper's place, and into a container's middle */
	assert_int_equal(room_pointers_note(NULL, &pointers, 32, WRAPPER_DATA_AT, 0), 0);
	assert_false(pointers.items[3].wrapper);
	assert_int_equal(room_pointers_note(NULL, &pointers, 32, WRAPPER_DATA_AT - 1, 0), 0);
	assert_false(pointers.items[4].wrapper);
	assert_int_equal(room_pointers_note(NULL, &pointers, 31, FIRST + WRAPPER_DATA_AT, 0), 0);
	assert_true(pointers.items[5].wrapper);
	room_pointers_sort(&pointers);
	assert_false(room_pointers_only_wrappers(&pointers, &rooms[0]));
	assert_false(room_pointers_only_wrappers(&pointers, &rooms[1]));
	room_pointers_free(&pointers);
}

/* ---- the GPUs before */

static void former_gpus_stay(void **state)
{
	static char before[] =
		"sm_80  sm_86 nonsense sm_1234567890123456789012345678901234567890 sm_90a";
	static const struct journal journal = {.targets = before}, unknown = {.targets = NULL};
	static const struct jw_target kept[] = {{.sm = 75}, {.sm = 80}},
								  now[] = {{.sm = 86}, {.sm = 89}};
	struct former_gpus gpus_now;

	(void)state;
	former_gpus_join(&journal, kept, 2, now, 2, &gpus_now);
	assert_string_equal(gpus_now.targets, "sm_80 sm_86 sm_90a sm_89");
	assert_int_equal(gpus_now.kept_count, 4);
	assert_int_equal(gpus_now.kept[0].sm, 75);
	assert_int_equal(gpus_now.kept[3].sm, 90);
	former_gpus_join(&unknown, kept, 1, now, 2, &gpus_now);
	assert_string_equal(gpus_now.targets, "sm_86 sm_89");
	assert_int_equal(gpus_now.kept_count, 1);
	former_gpus_join(NULL, NULL, 0, now, 1, &gpus_now);
	assert_string_equal(gpus_now.targets, "sm_86");
	assert_int_equal(gpus_now.kept_count, 0);
}

/* Whole names, as many as there is room for: 255 bytes */
static void names_of_gpus_have_their_room(void **state)
{
	struct jw_target many[2 * ANALYSE_MOST_TARGETS];
	struct former_gpus gpus_now;

	(void)state;
	for (size_t i = 0; i < sizeof many / sizeof *many; i++)
		many[i] = (struct jw_target){.sm = (uint16_t)(20 + i)};
	/* 5 bytes, and 6 for each one more: 251 of 42 */
	former_gpus_join(NULL, NULL, 0, many, 42, &gpus_now);
	assert_int_equal(strlen(gpus_now.targets), 251);
	former_gpus_join(NULL, NULL, 0, many, 43, &gpus_now);
	assert_int_equal(strlen(gpus_now.targets), 251);
	many[0].sm = 100;
	many[1].sm = 101;
	many[2].sm = 102;
	many[3].sm = 103;
	former_gpus_join(NULL, NULL, 0, many, 42, &gpus_now);
	assert_int_equal(strlen(gpus_now.targets), 255);
	many[4].sm = 104;
	former_gpus_join(NULL, NULL, 0, many, 42, &gpus_now);
	assert_int_equal(strlen(gpus_now.targets), 250);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_asked_for_has_to_be_clear),
		cmocka_unit_test(what_is_needed_has_to_be_there),
		cmocka_unit_test(what_no_library_unpacks_to_is_refused),
		cmocka_unit_test(a_linker_has_a_folder),
		cmocka_unit_test(ranges_are_joined_where_they_meet),
		cmocka_unit_test(containers_are_touched_at_their_edges),
		cmocka_unit_test(wrappers_alone_may_point),
		cmocka_unit_test(former_gpus_stay),
		cmocka_unit_test(names_of_gpus_have_their_room),
	};

	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
