/* Programs that were compiled with other versions of the headers: their options are shorter or
 * longer than ours. */
#include <stdint.h>
#include <string.h>

#include <jitwarm/bake.h>
#include <jitwarm/cache.h>
#include <jitwarm/carry.h>
#include <jitwarm/check.h>
#include <jitwarm/compiler.h>
#include <jitwarm/doctor.h>
#include <jitwarm/find.h>
#include <jitwarm/lint.h>
#include <jitwarm/nvrtc.h>
#include <jitwarm/pack.h>
#include <jitwarm/places.h>
#include <jitwarm/prime.h>
#include <jitwarm/prune.h>
#include <jitwarm/record.h>
#include <jitwarm/scan.h>
#include <jitwarm/share.h>
#include <jitwarm/startup.h>
#include <jitwarm/store.h>
#include <jitwarm/system.h>
#include <jitwarm/tune.h>
#include <jitwarm/uninstall.h>

#include "check.h"

#include "base/mem.h"
#include "base/sized.h"

struct present {
	size_t size;
	int a, b;
};

TEST(a_newer_struct_without_new_requests_is_accepted)
{
	struct {
		struct present known;
		int new_one;
	} given = {.known = {.size = sizeof given, .a = 1, .b = 2}};
	struct present room;
	struct jw_error err;

	assert_non_null(sized_take(&err, &given, &room, sizeof room));
	assert_int_equal(room.b, 2);
	given.new_one = 1;
	assert_null(sized_take(&err, &given, &room, sizeof room));
	assert_int_equal(err.code, JW_ERR_USAGE);
}

TEST(a_size_that_was_never_set_is_refused)
{
	const size_t sizes[] = {0, 1, sizeof(size_t) - 1, (1 << 16) + 1, SIZE_MAX};
	struct present given = {0}, room;
	struct jw_error err;

	for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
		given.size = sizes[i];
		assert_null(sized_take(&err, &given, &room, sizeof room));
		assert_int_equal(err.code, JW_ERR_USAGE);
		assert_int_equal(sized_check(&err, &given), -1);
	}
	assert_null(sized_take(&err, NULL, &room, sizeof room));
}

static int no_image(struct jw_error *err, void *context, const struct jw_scan_image *image)
{
	(void)context;
	return error_set(err, JW_ERR_FORMAT, "%s", image->path);
}

/* A program of a version in which options ended here: the function reads no byte behind them. */
TEST(a_function_takes_the_options_of_an_older_program)
{
	const char *const paths[] = {JITWARM_SOURCE_DIR "/README.md"};
	const struct jw_scan_options present = {.size = offsetof(struct jw_scan_options, trouble),
											.paths = paths,
											.path_count = 1,
											.image = no_image};
	struct jw_scan_options *older = mem_alloc(NULL, present.size);
	struct jw_error err = {0};

	memcpy((void *)older, &present, present.size);
	assert_int_equal(jw_scan(&err, older), 0);
	mem_free(older);
	assert_int_equal(jw_scan(&err, &(struct jw_scan_options){.paths = paths, .path_count = 1}), -1);
	assert_int_equal(err.code, JW_ERR_USAGE);
}

#define REFUSES(call)                                                                              \
	do {                                                                                           \
		struct jw_error err = {0};                                                                 \
		if ((call) != -1 || err.code != JW_ERR_USAGE)                                              \
			fail_msg("%s: takes options without their size", #call);                               \
	} while (0)

TEST(every_function_refuses_options_without_a_size)
{
	REFUSES(jw_bake(&err, &(struct jw_bake_options){0}, &(struct jw_bake_result *){NULL}));
	REFUSES(jw_bake_verify(&err, &(struct jw_bake_verify_options){0},
						   &(struct jw_bake_verify_result *){NULL}));
	REFUSES(jw_cache_list(&err, &(struct jw_cache_options){0}, &(struct jw_cache_listing *){NULL}));
	REFUSES(
		jw_cache_verify(&err, &(struct jw_cache_options){0}, &(struct jw_cache_report *){NULL}));
	REFUSES(jw_doctor(&err, &(struct jw_doctor_options){0}, &(struct jw_doctor_result *){NULL}));
	REFUSES(jw_find(&err, &(struct jw_find_options){0}, &(struct jw_found *){NULL}));
	REFUSES(jw_places_find(&err, &(struct jw_places_options){0}, &(struct jw_places *){NULL}));
	REFUSES(jw_system_open(&err, &(struct jw_system_options){0}, &(struct jw_system *){NULL}));
	REFUSES(jw_import(&err, &(struct jw_import_options){0}, &(struct jw_import_result *){NULL}));
	REFUSES(jw_import_all(&err, &(struct jw_import_options){0},
						  &(struct jw_import_all_result *){NULL}));
	REFUSES(jw_prune(&err, &(struct jw_prune_options){0}, &(struct jw_prune_result *){NULL}));
	REFUSES(jw_check(&err, &(struct jw_check_options){0}, &(struct jw_check_result *){NULL}));
	REFUSES(jw_nvrtc_open(&err, &(struct jw_nvrtc_options){0}, &(struct jw_nvrtc *){NULL}));
	REFUSES(jw_lint(&err, &(struct jw_lint_options){0}, &(struct jw_lint_result *){NULL}));
	REFUSES(jw_index_open(&err, &(struct jw_index_options){0}, &(struct jw_index *){NULL}));
	REFUSES(jw_pull(&err, &(struct jw_pull_options){0}, &(struct jw_pull_result *){NULL}));
	REFUSES(jw_pull(&err,
					&(struct jw_pull_options){.size = sizeof(struct jw_pull_options),
											  .how = &(struct jw_import_options){0}},
					&(struct jw_pull_result *){NULL}));
	REFUSES(jw_push(&err, &(struct jw_push_options){0}, &(struct jw_push_result *){NULL}));
	REFUSES(jw_startup_look(&err, &(struct jw_startup_options){0}, &(struct jw_startup *){NULL}));
	REFUSES(jw_startup_enable(&err, &(struct jw_startup_options){0}, &(struct jw_startup *){NULL}));
	REFUSES(
		jw_startup_disable(&err, &(struct jw_startup_options){0}, &(struct jw_startup *){NULL}));
	REFUSES(jw_carry(&err, &(struct jw_carry_options){0}, &(struct jw_carry_result *){NULL}));
	REFUSES(jw_store_open(&err, &(struct jw_store_options){0}, &(struct jw_store *){NULL}));
	REFUSES(jw_prime(&err, NULL, &(struct jw_prime_options){0}, &(struct jw_prime_result *){NULL}));
	REFUSES(
		jw_record(&err, NULL, &(struct jw_record_options){0}, &(struct jw_record_result *){NULL}));
	REFUSES(jw_tune_advise(&err, NULL, &(struct jw_tune_question){0},
						   &(struct jw_tune_advice *){NULL}));
	REFUSES(jw_run_look(&err, &(struct jw_run_key){0}, &(struct jw_run_state *){NULL},
						&(char *){NULL}));
	REFUSES(jw_cache_repair(&err, &(struct jw_cache_options){0}, &(struct jw_cache_repaired){0}));
	REFUSES(jw_store_refill(&err, &(struct jw_store_refill_options){0},
							&(struct jw_store_refilled){0}));
	REFUSES(jw_store_keep(&err, &(struct jw_store_keep_options){0}, &(size_t){0}));
	REFUSES(jw_uninstall(&err, &(struct jw_uninstall_options){0}, &(size_t){0}));
	REFUSES(jw_export(&err, &(struct jw_export_options){0},
					  &(struct jw_export_result){.size = sizeof(struct jw_export_result)}));
	REFUSES(
		jw_compiler_fetch(&err, "12.4", &(struct jw_compiler_fetch_options){0}, &(char *){NULL}));
}

RUN_TESTS(NULL, NULL)
