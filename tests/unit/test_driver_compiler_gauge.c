/* A compiler's gauge is tried once; one that was interrupted is tried again. */
#include "check.h"

#include "driver/speed_gauge.h"
#include "driver/speed_model.h"
#include "folder.h"

static bool ask_end(void *asked)
{
	return *(bool *)asked;
}

TEST(an_interrupted_gauge_was_not_tried)
{
	static const char *const worker[] = {"/nonexistent/jitwarm", "worker", NULL};
	const struct jw_driver compiler = {.cuda = 12040};
	struct jw_gpu gpu = {.target = {.sm = 86}};
	struct jw_system system = {.gpus = &gpu, .gpu_count = 1, .state_dir = folder, .worker = worker};
	bool asked = true;
	const struct jw_cancel cancel = {&asked, ask_end};

	system.driver.version.cuda = compiler.cuda;
	compiler_gauge(&system, "/nonexistent/ptxas", &cancel);
	assert_false(speed_is_remembered(folder, &compiler));
	asked = false;
	compiler_gauge(&system, "/nonexistent/ptxas", &cancel);
	assert_true(speed_is_remembered(folder, &compiler));
}

RUN_TESTS(make_folder, remove_folder)
