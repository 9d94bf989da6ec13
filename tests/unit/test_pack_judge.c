/* Which entries of a pack fit a machine, and which field prevents it. */
#include "check.h"

#include <string.h>

#include "base/text.h"
#include "os/platform.h"
#include "pack/judge.h"

static const char stamp_550[] = "Apr  8 202512:10:18", stamp_550_54[] = "Mar  5 202422:02:27",
				  stamp_535[] = "Mar 25 202615:25:13", stamp_580[] = "Jan  7 202622:51:46",
				  stamp_nobody[] = "Jan  1 201901:02:03";

struct machine {
	struct jw_gpu gpu, not_its; /* behind the list */
	struct jw_system system;
};

/* A machine with an sm_86 and driver 550.163.01. */
static void make_machine(struct machine *machine)
{
	*machine = (struct machine){.gpu = {.target = {86, 0}}, .not_its = {.target = {90, 0}}};
	machine->system.gpus = &machine->gpu;
	machine->system.gpu_count = 1;
	machine->system.driver.version = (struct jw_driver){12040, {550, 163, 1}};
	machine->system.driver.trust = JW_TRUST_CONFIRMED;
	TEXT_COPY(machine->system.driver.stamp, stamp_550);
}

struct one {
	struct pack_driver driver;
	struct pack_entry entry;
	struct pack_manifest manifest;
};

static void make_pack(struct one *one, const char *stamp, uint32_t cuda, uint16_t sm)
{
	static char none[] = "";

	*one = (struct one){.driver = {.cuda = cuda}, .entry = {.target = {sm, 0}, .options = none}};
	TEXT_COPY(one->driver.stamp, stamp);
	TEXT_COPY(one->manifest.os, os_name);
	one->manifest.drivers = &one->driver;
	one->manifest.driver_count = 1;
	one->manifest.entries = &one->entry;
	one->manifest.entry_count = 1;
}

TEST(drivers_and_targets)
{
	const struct {
		const char *stamp;
		uint32_t cuda;
		uint16_t sm;
		bool carry_over, refused, carried;
		const char *says;
	} cases[] = {
		{stamp_550, 12040, 86, false, false, false, ""},
		{stamp_550, 0, 86, false, false, false, ""},       /* the stamp is enough */
		{stamp_550_54, 12040, 86, false, false, true, ""}, /* the same CUDA version: exact */
		{stamp_550_54, 12040, 86, true, false, true, ""},
		{stamp_535, 12020, 86, false, true, false, "--carry-over"},
		{stamp_535, 12020, 86, true, false, true, ""},
		{stamp_580, 13000, 86, false, true, false, "older driver cannot load"},
		{stamp_580, 13000, 86, true, true, false, "driver version"},
		{stamp_nobody, 0, 86, true, true, false, "driver version not known"},
		{stamp_550, 12040, 75, false, true, false, "architecture sm_75"},
		{stamp_535, 12020, 75, false, true, false, "; driver stamp"},
	};
	struct machine machine;

	make_machine(&machine);
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct judgement judgement;
		struct one one;

		make_pack(&one, cases[i].stamp, cases[i].cuda, cases[i].sm);
		judge_entry(&one.manifest, &one.entry, &machine.system, cases[i].carry_over, &judgement);
		if (judgement.refused != cases[i].refused || judgement.carried != cases[i].carried ||
			!strstr(judgement.why, cases[i].says) || (!cases[i].refused && judgement.why[0]))
			fail_msg("case %zu: %d %d “%s”", i, judgement.refused, judgement.carried,
					 judgement.why);
		if (judgement.older != (judgement.carried && cases[i].cuda != 12040))
			fail_msg("case %zu: older %d", i, judgement.older);
	}
}

TEST(the_gpus_of_a_machine)
{
	struct machine machine;

	make_machine(&machine);
	assert_true(judge_has_gpu(&machine.system, (struct jw_target){86, 0}));
	assert_true(judge_has_gpu(&machine.system, (struct jw_target){86, 'a'}));
	assert_false(judge_has_gpu(&machine.system, (struct jw_target){90, 0}));
	assert_false(judge_has_gpu(&machine.system, (struct jw_target){80, 0}));
	machine.system.gpu_count = 2;
	assert_true(judge_has_gpu(&machine.system, (struct jw_target){90, 0}));
	/* Without a GPU, the pack is for a machine that has some */
	machine.system.gpu_count = 0;
	assert_true(judge_has_gpu(&machine.system, (struct jw_target){80, 0}));
}

TEST(other_fields)
{
	static char jitlink[] = " -arch=sm_86 -c";
	struct judgement judgement;
	struct machine machine;
	struct one one;

	make_machine(&machine);
	make_pack(&one, stamp_550, 12040, 86);
	TEXT_COPY(one.manifest.os, "plan9");
	judge_entry(&one.manifest, &one.entry, &machine.system, false, &judgement);
	assert_true(judgement.refused);
	assert_non_null(strstr(judgement.why, "OS plan9"));
	/* Without a system nothing is compared */
	judge_entry(&one.manifest, &one.entry, NULL, false, &judgement);
	assert_false(judgement.refused);
	/* A driver of another form */
	make_pack(&one, stamp_550, 12040, 86);
	machine.system.driver.trust = JW_TRUST_OPAQUE;
	judge_entry(&one.manifest, &one.entry, &machine.system, false, &judgement);
	assert_true(judgement.refused);
	assert_non_null(strstr(judgement.why, "key form"));
	/* A library's stamp is not a driver's */
	make_machine(&machine);
	make_pack(&one, stamp_nobody, 0, 86);
	one.entry.options = jitlink;
	judge_entry(&one.manifest, &one.entry, &machine.system, false, &judgement);
	assert_false(judgement.refused || judgement.carried);
}

/* A driver before CUDA 12.8 does not know cubins of ABI 8. */
TEST(machine_code_that_a_driver_does_not_know)
{
	const struct cubin_header abi_7 = {.abi = CUBIN_ABI_7, .sm = 86};
	const struct cubin_header abi_8 = {.abi = CUBIN_ABI_8, .sm = 86};
	struct machine machine;
	char why[512] = "";

	make_machine(&machine);
	assert_true(judge_cubin(&abi_7, &machine.system, why));
	assert_string_equal(why, "");
	assert_false(judge_cubin(&abi_8, &machine.system, why));
	assert_non_null(strstr(why, "cubin ABI 8"));
	assert_true(judge_cubin(&abi_8, NULL, why));
	machine.system.driver.version = (struct jw_driver){12080, {570, 86, 10}};
	assert_true(judge_cubin(&abi_8, &machine.system, why));
}

RUN_TESTS(NULL, NULL)
