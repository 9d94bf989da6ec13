/* Programs that were compiled with other versions of the headers: their options are shorter or
 * longer than ours. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <jitwarm/scan.h>

#include "base/mem.h"
#include "base/sized.h"

struct present {
	size_t size;
	int a, b;
};

static void an_older_struct_has_zeros_for_the_rest(void **state)
{
	struct present given = {.size = offsetof(struct present, b), .a = 1, .b = 2}, room;
	const struct present *known = sized_take(NULL, &given, &room, sizeof room);

	(void)state;
	assert_ptr_equal(known, &room);
	assert_int_equal(known->a, 1);
	assert_int_equal(known->b, 0);
}

static void a_newer_struct_without_new_requests_is_accepted(void **state)
{
	struct {
		struct present known;
		int new_one;
	} given = {.known = {.size = sizeof given, .a = 1, .b = 2}};
	struct present room;
	struct jw_error err;

	(void)state;
	assert_non_null(sized_take(&err, &given, &room, sizeof room));
	assert_int_equal(room.b, 2);
	given.new_one = 1;
	assert_null(sized_take(&err, &given, &room, sizeof room));
	assert_int_equal(err.code, JW_ERR_USAGE);
}

static void a_size_that_was_never_set_is_refused(void **state)
{
	const size_t sizes[] = {0, 1, sizeof(size_t) - 1, (1 << 16) + 1, SIZE_MAX};
	struct present given = {0}, room;
	struct jw_error err;

	(void)state;
	for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
		given.size = sizes[i];
		assert_null(sized_take(&err, &given, &room, sizeof room));
		assert_int_equal(err.code, JW_ERR_USAGE);
		assert_int_equal(sized_check(&err, &given), -1);
	}
	assert_null(sized_take(&err, NULL, &room, sizeof room));
}

static void results_are_filled_up_to_their_size(void **state)
{
	const struct present result = {.a = 1, .b = 2};
	struct present older = {.size = offsetof(struct present, b), .b = 7};
	struct {
		struct present known;
		int new_one;
	} newer = {.known = {.size = sizeof newer}, .new_one = 7};

	(void)state;
	sized_give(&result, sizeof result, &older);
	assert_int_equal(older.a, 1);
	assert_int_equal(older.b, 7);
	sized_give(&result, sizeof result, &newer);
	assert_int_equal(newer.known.size, sizeof newer);
	assert_int_equal(newer.known.b, 2);
	assert_int_equal(newer.new_one, 0);
}

static int no_image(struct jw_error *err, void *context, const struct jw_scan_image *image)
{
	(void)context;
	return error_set(err, JW_ERR_FORMAT, "%s", image->path);
}

/* A program of a version in which options ended here: the function reads no byte behind them. */
static void a_function_takes_the_options_of_an_older_program(void **state)
{
	const char *const paths[] = {JITWARM_SOURCE_DIR "/README.md"};
	const struct jw_scan_options present = {.size = offsetof(struct jw_scan_options, trouble),
											.paths = paths,
											.path_count = 1,
											.image = no_image};
	struct jw_scan_options *older = mem_alloc(NULL, present.size);
	struct jw_error err = {0};

	(void)state;
	memcpy((void *)older, &present, present.size);
	assert_int_equal(jw_scan(&err, older), 0);
	mem_free(older);
	assert_int_equal(jw_scan(&err, &(struct jw_scan_options){.paths = paths, .path_count = 1}), -1);
	assert_int_equal(err.code, JW_ERR_USAGE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_older_struct_has_zeros_for_the_rest),
		cmocka_unit_test(a_newer_struct_without_new_requests_is_accepted),
		cmocka_unit_test(a_size_that_was_never_set_is_refused),
		cmocka_unit_test(results_are_filled_up_to_their_size),
		cmocka_unit_test(a_function_takes_the_options_of_an_older_program),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
