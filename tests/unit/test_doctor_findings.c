/* Findings have the right threshold, name the place of a setting, say if a command was cut, and
 * count each trouble once. */
#include "check.h"

#include <string.h>

#include <jitwarm/doctor.h>
#include <jitwarm/find.h>
#include <jitwarm/system.h>

#include "doctor/examination.h"
#include "folder.h"
#include "os/env.h"

static const struct finding_kind *kind_named(const char *id)
{
	const struct finding_kind *kind = finding_kinds;

	while (kind->id && strcmp(kind->id, id) != 0)
		kind++;
	assert_non_null(kind->id);
	return kind;
}

/* The sample framework links in less than a millisecond, so only the estimate can make a finding.
 * */
TEST(a_long_link_is_found_and_a_short_one_is_not)
{
	struct jw_check_result check = {0};
	const struct examination seen = {.check = &check}, without = {0};
	struct finding_draft draft = {0};

	assert_false(kind_named("linking")->test(&without, &draft));
	check.all.forecast.link = (struct jw_seconds){0.5, 0.9, 1.4};
	assert_false(kind_named("linking")->test(&seen, &draft));
	assert_string_equal(draft.evidence, "");
	check.all.forecast.link = (struct jw_seconds){9, 12, 15};
	assert_true(kind_named("linking")->test(&seen, &draft));
	assert_non_null(strstr(draft.evidence, "9 to 15 s"));
	assert_non_null(strstr(draft.fix, "no setting avoids this"));
	assert_false(draft.hopeless);
	assert_int_equal(draft.word_count, 0);
}

/* A finding names the place if jitwarm reads it; otherwise, the command that finds it. */
TEST(a_setting_is_said_to_be_where_it_is)
{
	static char name[] = "CUDA_CACHE_DISABLE", one[] = "1", zero[] = "0", none[] = "",
				where[] = "/etc/environment";
	struct jw_setting items[] = {{.name = name, .value = one, .source = "process", .where = none},
								 {.name = name, .value = zero, .source = where, .where = where}};
	struct jw_settings sources = {.items = items, .count = 2};
	const struct examination seen = {.sources = &sources, .settings = {.disabled = true}};
	struct finding_draft draft = {0};

	assert_true(kind_named("cache-disabled")->test(&seen, &draft));
	assert_non_null(strstr(draft.evidence, "set in this process"));
	assert_non_null(strstr(draft.fix, "CUDA_CACHE_DISABLE"));
	items[1].value = one;
	draft = (struct finding_draft){0};
	assert_true(kind_named("cache-disabled")->test(&seen, &draft));
	assert_non_null(strstr(draft.evidence, "set in /etc/environment"));
}

/* A process may have mapped more files than fit into a command. */
TEST(a_command_that_is_cut_says_so)
{
	static char path[] = "/a.so";
	struct jw_check_file files[DRAFT_WORDS + 7] = {0};
	struct jw_check_result check = {.files = files, .file_count = DRAFT_WORDS};
	const struct jw_doctor_options options = {.process = 1};
	const struct examination seen = {.check = &check, .options = &options};
	struct finding_draft draft = {0};

	for (size_t i = 0; i < DRAFT_WORDS + 7; i++) {
		files[i].path = path;
		files[i].cold = i != 3;
	}
	draft_prime(&seen, &draft);
	draft_finish(&draft);
	assert_int_equal(draft.word_count, DRAFT_WORDS);
	assert_string_equal(draft.fix, "compile them now, on all cores");
	draft = (struct finding_draft){0};
	check.file_count = DRAFT_WORDS + 7;
	draft_prime(&seen, &draft);
	draft_finish(&draft);
	assert_int_equal(draft.word_count, DRAFT_WORDS);
	assert_non_null(strstr(draft.fix, "too long for 7 more names"));
}

/* On a machine without a GPU, nothing is checked, and nothing counts as left out. */
TEST(troubles_count_once)
{
	static const struct jw_target target = {.sm = 86};
	struct jw_system_options asked = {0};
	struct jw_found found = {.trouble_count = 3};
	struct jw_doctor_options options = {0};
	struct jw_system *machine = NULL;

	OK(os_env_set(why, "JITWARM_STATE", folder));
	asked.targets = &target;
	asked.target_count = 1;
	asked.driver = "550.163.01";
	OK(jw_system_open(why, &asked, &machine));
	options.found = &found;
	options.system = machine;
	for (int gpus = 1; gpus >= 0; gpus--) {
		struct jw_doctor_result *result = NULL;

		machine->gpu_count = (size_t)gpus;
		OK(jw_doctor(why, &options, &result));
		assert_int_equal(result->troubles, 3);
		jw_result_free(result);
	}
	jw_system_free(machine);
}

RUN_TESTS(make_folder, remove_folder)
