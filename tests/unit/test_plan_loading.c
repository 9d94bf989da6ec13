/* When the CUDA runtime passes a library's code to the driver, as tests/driver/loading.sh measures
 * it, and what happens if the driver refuses code. */
#include "check.h"

#include "os/env.h"
#include "plan/decide.h"

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

/* Each library has ten pieces, too many of which the driver refuses. A letter is the fate of the
 * library for each value of enum loading: 'r' it runs, 'p' a part fails, 's' a start fails, 'f' too
 * much of it fails. */
TEST(refused_code_fails_at_the_start_or_when_it_is_used)
{
	static const struct {
		enum plan_reason reason;
		const char *few, *many, *all;
	} cases[] = {
		{REASON_TOO_NEW, "spp", "sff", "sff"}, {REASON_NEWER_CODE, "ssp", "ssf", "ssf"},
		{REASON_DAMAGED, "ssp", "ssf", "ssf"}, {REASON_ZSTD, "ssp", "ssf", "ssf"},
		{REASON_KIND, "ssp", "ssf", "ssf"},    {REASON_TILE, "ssp", "ssf", "ssf"},
		{REASON_RUNTIME, "sss", "sss", "sss"}, {REASON_EXCLUSIVE, "ppp", "fff", "fff"},
	};
	static const size_t refused[] = {3, 7, 10};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		const char *const wanted[] = {cases[i].few, cases[i].many, cases[i].all};

		for (size_t k = 0; k < sizeof refused / sizeof *refused; k++)
			for (enum loading loading = LOADING_ALL; loading <= LOADING_LAZY; loading++) {
				struct decide_counts counts = {.loading = loading};
				struct decide_piece piece = {.verdict = VERDICT_CANNOT,
											 .reason = cases[i].reason,
											 .role = DEVCODE_REGISTERED,
											 .code = true,
											 .sms = 3,
											 .needs = {13000, {580, 0, 0}}};
				struct decided got;
				char is;

				decide_count(&counts, &piece, refused[k]);
				piece = (struct decide_piece){.verdict = VERDICT_JIT, .code = true, .sms = 3};
				decide_count(&counts, &piece, 10 - refused[k]);
				got = decide_counted(&counts);
				is = got.fate == DECIDE_RUNS ? (got.lacking || got.too_new ? 'p' : 'r')
					 : got.by_share          ? 'f'
											 : 's';
				if (is != wanted[k][loading])
					fail_msg("reason %d, %zu of 10, loading %d: %c, not %c", (int)cases[i].reason,
							 refused[k], (int)loading, is, wanted[k][loading]);
				if (is == 's' || (is == 'f' && cases[i].reason != REASON_EXCLUSIVE))
					assert_int_equal(got.reason, cases[i].reason);
			}
	}
}

/* The link cannot be made. */
TEST(a_link_fails_at_the_start_of_an_old_runtime_alone)
{
	static const enum decide_fate wanted[] = {DECIDE_REFUSED, DECIDE_RUNS, DECIDE_RUNS};

	for (enum loading loading = LOADING_ALL; loading <= LOADING_LAZY; loading++) {
		for (int inputs = 0; inputs < 2; inputs++) {
			struct decide_counts counts = {.loading = loading};
			struct decided got;

			decide_count(&counts, &(struct decide_piece){.verdict = VERDICT_NATIVE, .code = true},
						 5);
			decide_count(
				&counts,
				&(struct decide_piece){.verdict = VERDICT_NOTHING, .linked = true, .code = true},
				1);
			if (inputs)
				decide_count(&counts,
							 &(struct decide_piece){.verdict = VERDICT_CANNOT,
													.reason = REASON_TOO_NEW,
													.needs = {12080, {570, 0, 0}},
													.role = DEVCODE_RELOCATABLE,
													.code = true},
							 1);
			got = decide_counted(&counts);
			assert_int_equal(got.fate, wanted[loading]);
			assert_int_equal(got.lacking, !inputs);
			assert_int_equal(got.too_new, inputs);
			assert_int_equal(got.needs.cuda, inputs ? 12080 : 0);
		}
	}
}

/* As python-vali's, whose only kernel has code for sm_75, and PTX that the driver does not read. */
TEST(a_link_of_ptx_that_is_too_new_needs_a_newer_driver)
{
	struct decide_counts counts = {.loading = LOADING_LAZY};
	struct decided got;

	decide_count(&counts,
				 &(struct decide_piece){.verdict = VERDICT_NOTHING, .linked = true, .code = true},
				 1);
	decide_count(&counts,
				 &(struct decide_piece){.verdict = VERDICT_CANNOT,
										.reason = REASON_TOO_NEW,
										.needs = {13010, {590, 0, 0}},
										.role = DEVCODE_RELOCATABLE,
										.code = true},
				 1);
	got = decide_counted(&counts);
	assert_int_equal(got.fate, DECIDE_REFUSED);
	assert_int_equal(got.reason, REASON_TOO_NEW);
	assert_int_equal(got.needs.cuda, 13010);
	assert_true(got.by_share);
}

RUN_TESTS(NULL, NULL)
