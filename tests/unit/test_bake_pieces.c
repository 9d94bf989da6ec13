/* An unclear request to bake is refused, and pointers to containers are found at every edge. */
#include <string.h>

#include <jitwarm/bake.h>

#include "bake/bake_wheel.h"
#include "bake/linker.h"
#include "bake/room_pointers.h"
#include "base/cursor.h"
#include "base/text.h"
#include "check.h"
#include "code/image.h"
#include "folder.h"
#include "plan/analyse.h"

/* ---- the request */

static struct jw_gpu gpus[PLAN_MAX_TARGETS + 1];
static struct jw_system machine;
static struct jw_found nothing = {.file_count = 0};

static void begin_machine(void)
{
	for (size_t i = 0; i < sizeof gpus / sizeof *gpus; i++)
		gpus[i].target.sm = (uint16_t)(50 + i);
	machine = (struct jw_system){.gpus = gpus,
								 .gpu_count = PLAN_MAX_TARGETS,
								 .example = "rtx4090",
								 .state_dir = folder,
								 .cache.path = folder,
								 .driver = {.version = {12050, {555, 58, 2}},
											.stamp = "Jun 25 202401:14:48",
											.trust = JW_TRUST_CONFIRMED}};
	TEXT_COPY(machine.why_none, "none here");
}

static enum jw_code bake(const char *output, bool dry_run, struct jw_error *err)
{
	struct jw_bake_options options = {0};
	struct jw_bake_result *result = NULL;

	options.system = &machine;
	options.found = &nothing;
	options.output = output;
	options.dry_run = dry_run;
	*err = (struct jw_error){0};
	if (jw_bake(err, &options, &result))
		return err->code ? err->code : JW_ERR_INTERRUPTED; /* prints no message */
	assert_int_equal(result->target_count, machine.gpu_count);
	assert_int_equal(result->file_count, 0);
	jw_result_free(result);
	return JW_OK;
}

TEST(what_is_asked_for_has_to_be_clear)
{
	begin_machine();
	assert_int_equal(bake(folder, false, why), JW_OK);
	assert_int_equal(bake(NULL, true, why), JW_OK);
	assert_int_equal(bake(NULL, false, why), JW_ERR_USAGE);
	assert_int_equal(bake("", false, why), JW_ERR_USAGE);
	machine.gpu_count++;
	assert_int_equal(bake(folder, false, why), JW_ERR_USAGE);
	machine.gpu_count = 0;
	assert_int_equal(bake(folder, true, why), JW_ERR_NOT_FOUND);
	assert_string_equal(why->message,
						"none here; “--target rtx4090 --fetch” bakes for another machine");
}

TEST(what_is_needed_has_to_be_there)
{
	begin_machine();
	machine.driver.trust = JW_TRUST_OPAQUE;
	assert_int_equal(bake(folder, false, why), JW_ERR_UNSUPPORTED);
	assert_int_equal(bake(folder, true, why), JW_OK);
	machine.driver.trust = JW_TRUST_CONFIRMED;
	*machine.driver.stamp = '\0';
	assert_int_equal(bake(folder, false, why), JW_ERR_UNSUPPORTED);
	assert_int_equal(bake(folder, true, why), JW_OK);
	begin_machine();
	machine.cache.path = NULL;
	assert_int_equal(bake(folder, true, why), JW_OK);
	assert_int_equal(bake(folder, false, why), JW_ERR_UNSUPPORTED);
	assert_string_equal(why->message, "the driver uses no cache on this machine");
	TEXT_COPY(machine.cache.why_useless, "so");
	assert_int_equal(bake(folder, false, why), JW_ERR_UNSUPPORTED);
	assert_string_equal(why->message, "so");
}

TEST(what_no_library_unpacks_to_is_refused)
{
	enum { SMALL = 64 << 20, RATIO = 250 };

	OK(bake_package_check_size(why, "m", 0, SMALL));
	OK(bake_package_check_size(why, "m", SMALL / RATIO, SMALL + 1));
	assert_int_equal(bake_package_check_size(NULL, "m", SMALL / RATIO - 1, SMALL + 1), -1);
	assert_int_equal(bake_package_check_size(NULL, "m", 0, SMALL + 1), -1);
}

/* The folder is made once, if there is memory. */
TEST(a_linker_has_a_folder)
{
	static struct linker linker;
	const char *first = NULL, *second = NULL;
	char *made;

	begin_machine();
	OK(linker_folder(why, &linker, &machine, &first));
	assert_true(os_exists(first));
	OK(linker_folder(why, &linker, &machine, &second));
	assert_ptr_equal(first, second);
	made = keep(mem_string(first));
	linker_free(&linker);
	assert_false(os_exists(made));
}

/* ---- pointers */

TEST(containers_are_touched_at_their_edges)
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

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		if (room_pointers_touch(&pointers, cases[i].offset, cases[i].size_bytes) !=
			cases[i].touches)
			fail_msg("%zu", i);
		assert_false(room_pointers_touch(&none, cases[i].offset, cases[i].size_bytes));
	}
	assert_true(room_pointers_hold(&pointers, 16) && room_pointers_hold(&pointers, 31));
	assert_false(room_pointers_hold(&pointers, 15) || room_pointers_hold(&pointers, 40));
}

TEST(wrappers_alone_may_point)
{
	enum { FIRST = 128, SECOND = 160, THIRD = 192, SIZE = 256 };
	static const struct container_room rooms[] = {{0, 32}, {32, 32}, {64, 32}};
	static const struct container_room fourth = {96, 8};
	uint8_t bytes[SIZE] = {0};
	const struct os_map map = {.data = bytes, .size = sizeof bytes};
	struct room_pointers pointers = {.map = &map, .rooms = rooms, .room_count = 3};

	store_u32(bytes + FIRST, WRAPPER_MAGIC);
	store_u32(bytes + FIRST + 4, 1);
	store_u32(bytes + SECOND, WRAPPER_MAGIC);
	store_u32(bytes + SECOND + 4, 2);
	store_u32(bytes + THIRD, WRAPPER_MAGIC);
	store_u32(bytes + THIRD + 4, 3);
	store_u32(bytes, WRAPPER_MAGIC);
	store_u32(bytes + 4, 1);
	OK(room_pointers_note(why, &pointers, 64, THIRD + WRAPPER_DATA_AT, 0));
	OK(room_pointers_note(why, &pointers, 0, FIRST + WRAPPER_DATA_AT, 7));
	OK(room_pointers_note(why, &pointers, 0, SECOND + WRAPPER_DATA_AT, 0));
	room_pointers_sort(&pointers);
	assert_int_equal(room_pointers_first(&pointers, 0), 0);
	assert_int_equal(room_pointers_first(&pointers, 1), 2);
	assert_int_equal(room_pointers_first(&pointers, 64), 2);
	assert_int_equal(room_pointers_first(&pointers, 65), 3);
	assert_true(room_pointers_only_wrappers(&pointers, &rooms[0]));
	assert_false(room_pointers_only_wrappers(&pointers, &rooms[1])); /* nothing does */
	assert_false(room_pointers_only_wrappers(&pointers, &rooms[2])); /* of an unknown version */
	assert_false(room_pointers_only_wrappers(&pointers, &fourth));
	/* The pointers are in a container, before any wrapper's place, and into a container's middle.
	 * */
	OK(room_pointers_note(why, &pointers, 32, WRAPPER_DATA_AT, 0));
	assert_false(pointers.items[3].wrapper);
	OK(room_pointers_note(why, &pointers, 32, WRAPPER_DATA_AT - 1, 0));
	assert_false(pointers.items[4].wrapper);
	OK(room_pointers_note(why, &pointers, 31, FIRST + WRAPPER_DATA_AT, 0));
	assert_true(pointers.items[5].wrapper);
	room_pointers_sort(&pointers);
	assert_false(room_pointers_only_wrappers(&pointers, &rooms[0]));
	assert_false(room_pointers_only_wrappers(&pointers, &rooms[1]));
	room_pointers_free(&pointers);
}

RUN_TESTS(make_folder, remove_folder)
