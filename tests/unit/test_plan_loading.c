/* When the CUDA runtime passes a library's code to the driver, as tests/driver/loading.sh measures
 * it. */
#include "check.h"

#include "os/env.h"
#include "plan/loading.h"

TEST(the_runtime_the_driver_and_the_program_decide)
{
	static const struct {
		uint32_t runtime, driver;
		enum loading by_default, asked, declined, windows;
	} cases[] = {
		/* runtimes of which nothing is known */
		{0, 12040, LOADING_ALL, LOADING_ALL, LOADING_ALL, LOADING_ALL},
		{10020, 12040, LOADING_ALL, LOADING_ALL, LOADING_ALL, LOADING_ALL},
		{11070, 12020, LOADING_ALL, LOADING_ALL, LOADING_ALL, LOADING_ALL},
		{11080, 11040, LOADING_ALL, LOADING_ALL, LOADING_ALL, LOADING_ALL},
		{11080, 12000, LOADING_ALL, LOADING_LAZY, LOADING_ALL, LOADING_ALL},
		{11080, 12020, LOADING_LAZY, LOADING_LAZY, LOADING_ALL, LOADING_ALL},
		{11080, 12030, LOADING_LAZY, LOADING_LAZY, LOADING_ALL, LOADING_LAZY},
		{12000, 12000, LOADING_LENIENT, LOADING_LAZY, LOADING_LENIENT, LOADING_LENIENT},
		{12040, 12010, LOADING_LENIENT, LOADING_LAZY, LOADING_LENIENT, LOADING_LENIENT},
		{12040, 12020, LOADING_LAZY, LOADING_LAZY, LOADING_LENIENT, LOADING_LENIENT},
		{12040, 12040, LOADING_LAZY, LOADING_LAZY, LOADING_LENIENT, LOADING_LAZY},
		{13000, 0, LOADING_LAZY, LOADING_LAZY, LOADING_LENIENT, LOADING_LAZY},
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct loading_facts facts = {.runtime_cuda = cases[i].runtime,
									  .driver_cuda = cases[i].driver,
									  .path = "/opt/libtorch.so"};

		assert_int_equal(loading_of(&facts), cases[i].by_default);
		facts.windows = true;
		assert_int_equal(loading_of(&facts), cases[i].windows);
		facts.windows = false;
		/* PyTorch sets the variable for itself, and so for libraries in its process. */
		facts.member = "torch/lib/libtorch_cuda.so";
		assert_int_equal(loading_of(&facts), cases[i].asked);
		facts.setting = LOADING_DECLINED;
		assert_int_equal(loading_of(&facts), cases[i].declined);
		facts.member = NULL;
		facts.setting = LOADING_ASKED;
		assert_int_equal(loading_of(&facts), cases[i].asked);
	}
}

TEST(the_variable_is_read_as_the_driver_reads_it)
{
	static const struct {
		const char *value;
		enum loading_setting setting;
	} cases[] = {{"LAZY", LOADING_ASKED},      {"lazy", LOADING_DEFAULT},
				 {"EAGER", LOADING_DECLINED},  {"eager", LOADING_DECLINED},
				 {"EAGERLY", LOADING_DEFAULT}, {NULL, LOADING_DEFAULT}};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		OK(os_env_set(why, "CUDA_MODULE_LOADING", cases[i].value));
		assert_int_equal(loading_setting_here(), cases[i].setting);
	}
}

RUN_TESTS(NULL, NULL)
