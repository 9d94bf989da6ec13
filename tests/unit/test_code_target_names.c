/* GPUs are known by their common names and device ids, with the drivers that run them; pairs that
 * do not exist are reported. */
#include "check.h"

#include <string.h>

#include <jitwarm/target.h>

#include "code/target_names.h"

enum { MOST = 32 };

static size_t read_text(struct jw_error *err, const char *text, struct jw_target targets[MOST])
{
	size_t count = 0;

	return jw_targets_read(err, text, NULL, targets, MOST, &count) ? 0 : count;
}

TEST(names_are_read)
{
	static const struct {
		const char *text;
		uint16_t sm[5];
	} cases[] = {
		{"sm_86", {86}},
		{"sm86", {86}},
		{"SM_90", {90}},
		{"8.6", {86}},
		{"120", {120}},
		{"rtx4090", {89}},
		{"RTX 4090", {89}},
		{"4090", {89}},
		{"1080 Ti", {61}},
		{"980", {52}},
		{"rtx 40", {89}},
		{"h100", {90}},
		{"NVIDIA H100 80GB HBM3", {90}},
		{"NVIDIA A100-SXM4-80GB", {80}},
		{"NVIDIA GeForce RTX 3070 Ti Laptop GPU", {86}},
		{"NVIDIA RTX PRO 6000 Blackwell Workstation Edition", {120}},
		{"RTX PRO 6000", {120}},
		{"Quadro RTX 6000", {75}},
		{"RTX 6000 Ada Generation", {89}},
		{"Tesla V100-SXM2-16GB", {70}},
		{"gb10", {121}},
		{"b300", {103}},
		{"titan x", {61}},
		{"TITAN X (Pascal)", {61}},
		{"NVIDIA GeForce GTX TITAN X", {52}},
		{"P106-100", {61}},
		{"Quadro RTX 8000", {75}},
		/* modules, with CUDA's names for their GPUs */
		{"jetson orin", {87}},
		{"Jetson Orin Nano", {87}},
		{"NVIDIA Jetson Orin Nano Super Developer Kit", {87}},
		{"Jetson AGX Orin 64GB", {87}},
		{"Orin NX", {87}},
		{"Orin (nvgpu)", {87}},
		{"Thor", {110}},
		{"NVIDIA Thor", {110}},
		{"Jetson AGX Thor", {110}},
		{"Jetson Xavier NX", {72}},
		{"Xavier", {72}},
		{"Jetson Nano", {53}},
		/* parts of a GPU: virtual ones, and those of MIG */
		{"A40-48Q", {86}},
		{"GRID T4-16Q", {75}},
		{"grid t4-2b", {75}},
		{"GRID A100-1-5CME", {80}},
		{"GRID V100DX-32Q", {70}},
		{"GRID RTX6000P-4Q", {75}},
		{"GRID M60-8Q", {52}},
		{"NVIDIA H100XM-80C", {90}},
		{"NVIDIA L40S-48Q", {89}},
		{"NVIDIA RTX6000-Ada-48Q", {89}},
		{"NVIDIA RTX Pro 6000 Blackwell DC-48Q", {120}},
		{"NVIDIA A100-SXM4-40GB MIG 1g.5gb", {80}},
		/* variants, in one word */
		{"gtx1060m", {61}},
		{"GTX 1060M", {61}},
		{"gtx1060-m", {61}},
		{"GTX 1060 Mobile", {61}},
		{"gtx1080mobile", {61}},
		{"rtx2080max-q", {75}},
		{"rtx2070maxq", {75}},
		{"gtx1650tim", {75}},
		{"1660s", {75}},
		{"RTX3070TiLaptopGPU", {86}},
		{"3080laptop", {86}},
		{"RTX 3060 LHR", {86}},
		{"a2000m", {86}},
		{"4060ti16gb", {89}},
		{"teslat4", {75}},
		{"v100sxm2", {70}},
		{"h100pcie", {90}},
		{"2x3090", {86}},
		{"4xA100", {80}},
		{"8x H100 80GB", {90}},
		{"2 x RTX 3090", {86}},
		{"rtx3090x2", {86}},
		{"A100 x4", {80}},
		{"2xrtx3080laptop", {86}},
		{"pro6000", {120}},
		{"gtx860m", {50}},
		{"GTX 940MX", {50}},
		{"GT920M", {35}},
		/* without the letter of the variants, which are alike */
		{"k40", {35}},
		{"Tesla K40", {35}},
		{"2x k40", {35}},
		{"RTX 50xx", {120}},
		{"10xx", {61}},
		{"RTX 50 Series", {120}},
		{"40 series", {89}},
		{"sm_86,sm_89", {86, 89}},
		{" sm_86 , rtx 4090 ", {86, 89}},
		{"T4,8.6,rtx3060", {75, 86}},
		{"rtx20..rtx50,h100", {75, 86, 89, 120, 90}},
		{"RTX 30..RTX 40", {86, 89}},
		{"rtx40..rtx40", {89}},
		{"sm_80..sm_90", {80, 86, 89, 90}},
		{"a100..rtx40", {80, 86, 89}},
		{"8.9..b200", {89, 90, 100}},
	};
	struct jw_target targets[MOST];

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		const size_t count = read_text(why, cases[i].text, targets);

		for (size_t k = 0; k < 5; k++)
			if ((k < count ? targets[k].sm : 0) != cases[i].sm[k])
				fail_msg("%s: %zu GPUs, sm_%u", cases[i].text, count, targets[0].sm);
	}
}

TEST(chips_and_families_are_known)
{
	static const struct {
		const char *text;
		uint16_t sm[6];
	} cases[] = {{"ga104", {86}},
				 {"GA100", {80}},
				 {"tu116", {75}},
				 {"ad102", {89}},
				 {"gh100", {90}},
				 {"gb202", {120}},
				 {"gb10", {121}},
				 {"gb200", {100}},
				 {"Ampere", {80, 86}},
				 {"ada lovelace", {89}},
				 {"blackwell", {100, 120}},
				 {"DGX Spark", {121}},
				 {"Jetson", {53, 62, 72, 87, 110}}};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct jw_target targets[6];
		size_t count = 0;

		OK(jw_targets_read(why, cases[i].text, NULL, targets, 6, &count));
		for (size_t k = 0; k < 6; k++)
			assert_int_equal(k < count ? targets[k].sm : 0, cases[i].sm[k]);
	}
}

TEST(names_of_unknown_gpus_are_refused)
{
	static const struct {
		const char *text, *says;
	} cases[] = {
		{"rtx 4091", "did you mean rtx4090?"},
		{"rtx4900", "did you mean rtx4090?"},
		{"rtxx3070", "did you mean rtx3070?"},
		{"rtx4090ti", "did you mean rtx4090?"},
		{"rtx3070tii", "did you mean rtx3070ti?"},
		{"RTX 5080 Super", "did you mean rtx5080?"},
		{"rtx407ti", "did you mean rtx4070ti?"},
		{"rtx6070", "or its product (rtx3070)"},
		{"3070ms", "is not a known GPU"},
		{"h100m", "is not a known GPU"},
		{"80gb", "is not a known GPU"},
		{"m", "is not a known GPU"},
		/* These are of another generation than the GTX 780 and the GT 640. */
		{"gtx780m", "“gtx780m” is a GPU with a compute capability below 3.5"},
		{"GT 650M", "is a GPU with a compute capability below 3.5"},
		/* A GT 740M has 3.5, a GT 740 has not. */
		{"GT 740", "is a GPU with a compute capability below 3.5"},
		{"gtx680", "is a GPU with a compute capability below 3.5"},
		{"gtx970x", "is not a known GPU"},
		{"X40-48Q", "is not a known GPU"},
		{"48Q", "is not a known GPU"},
		{"grid", "is not a known GPU"},
		{"ga1044", "is not a known GPU"},
		{"ga1x4", "is not a known GPU"},
		{"sm_999", "no GPU has"},
		{"sm_68", "no GPU has"},
		{"sm_86a", "a GPU has no suffix: sm_86"},
		{"gtx 750", "sm_50 and with sm_52"},
		{"", "is not a known GPU"},
		{"sm_86,", "has a comma without a name"},
		{",sm_86", "is not a known GPU"},
		{"laptop", "is not a known GPU"},
		{"rtx 4090 xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx", "is not a known GPU"},
		{"sm_", "is not a known GPU"},
		{"rtx50..rtx20", "ends before it begins"},
		{"rtx20..", "is not a known GPU"},
		{"..", "is not a known GPU"},
		{"rtx20...rtx50", "is not a known GPU"},
		{"rtx20..rtx90", "is not a known GPU"},
		{"rtx20..sm_86a", "a GPU has no suffix"},
		{"gtx 750..rtx20", "sm_50 and with sm_52"},
		{"all..sm_90", "“all” is several GPUs"},
		{"sm_80..blackwell", "“blackwell” is several GPUs"},
	};
	struct jw_target targets[MOST] = {{7, 0}};
	size_t count = 1;

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		GIVES(JW_ERR_USAGE, jw_targets_read(why, cases[i].text, NULL, targets, MOST, &count));
		if (!strstr(why->message, cases[i].says))
			fail_msg("%s: %s", cases[i].text, why->message);
		assert_int_equal(count, 1);
	}
	assert_int_equal(jw_targets_read(why, "sm_86", NULL, targets, 1, &count), -1);
}

static bool has(const struct jw_target *targets, size_t count, uint16_t sm)
{
	for (size_t i = 0; i < count; i++)
		if (targets[i].sm == sm)
			return true;
	return false;
}

TEST(all_are_those_of_the_driver)
{
	const struct jw_driver old = {.cuda = 12040}, new = {.cuda = 13010};
	struct jw_target targets[MOST];
	size_t count = 0;

	OK(jw_targets_read(why, "all", &old, targets, MOST, &count));
	assert_true(has(targets, count, 50) && has(targets, count, 90));
	assert_false(has(targets, count, 120) || has(targets, count, 87) || has(targets, count, 37));
	count = 0;
	OK(jw_targets_read(why, "all", &new, targets, MOST, &count));
	assert_true(has(targets, count, 75) && has(targets, count, 121));
	assert_false(has(targets, count, 70) || has(targets, count, 88));
}

TEST(pairs_that_do_not_exist_are_told)
{
	static const struct {
		uint32_t cuda;
		uint16_t sm;
		const char *says; /* NULL: the pair exists */
	} cases[] = {
		{12040, 120, "570 (CUDA 12.8) or newer"},
		{13010, 52, "580 (CUDA 13.0) was the last"},
		{13010, 70, "580 (CUDA 13.0) was the last"},
		{10020, 80, "450 (CUDA 11.0) or newer"},
		{11050, 37, "470 (CUDA 11.4) was the last"},
		{13050, 130, "no driver up to CUDA 13.5"},
		{13000, 52, NULL},
		{13000, 70, NULL},
		{13010, 75, NULL},
		{12080, 120, NULL},
		{11000, 80, NULL},
		{11020, 86, NULL},
		{12000, 89, NULL},
		{12000, 90, NULL},
		{0, 130, NULL},
		{14000, 130, NULL},
		{11040, 35, NULL},
		{8000, 61, NULL},
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		const struct jw_driver driver = {.cuda = cases[i].cuda};

		GIVES(cases[i].says ? JW_ERR_UNSUPPORTED : JW_OK,
			  jw_driver_supports(why, &driver, (struct jw_target){cases[i].sm, 0}));
		if (cases[i].says && !strstr(why->message, cases[i].says))
			fail_msg("sm_%u, CUDA %u: %s", cases[i].sm, cases[i].cuda, why->message);
	}
}

TEST(gpus_beside_arm_processors)
{
	static const char *const arm[] = {"Jetson",     "gh200", "NVIDIA GH200 480GB",
									  "GB200",      "gb300", "GB10",
									  "DGX Spark",  "12.1",  "sm_121",
									  "jetsonorin", "sm_87"},
							 *const others[] = {"ampere", "h100", "sm_90",   "gh100", "gb100",
												"b200",   "b300", "rtx5090", "all",   ""};

	for (size_t i = 0; i < sizeof arm / sizeof *arm; i++)
		if (!jw_target_named_arm(arm[i]))
			fail_msg("%s", arm[i]);
	for (size_t i = 0; i < sizeof others / sizeof *others; i++)
		if (jw_target_named_arm(others[i]))
			fail_msg("%s", others[i]);
}

TEST(device_ids_are_known)
{
	static const struct {
		uint32_t device;
		uint16_t sm; /* 0: unknown */
	} cases[] = {{0x2484, 86},  {0x1b80, 61},  {0x2330, 90}, {0x20b0, 80},
				 {0x2786, 89},  {0x2b85, 120}, {0x1e87, 75}, {0x3182, 103},
				 {0x2e12, 121}, {0x0045, 0},   {0xffff, 0},  {0x1af1, 0}};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct jw_target target = {0};

		assert_int_equal(gpu_of_pci_device(cases[i].device, &target), cases[i].sm != 0);
		assert_int_equal(target.sm, cases[i].sm);
	}
}

RUN_TESTS(NULL, NULL)
