#include "check.h"

#include <string.h>

#include "doctor/examination.h"

static const struct finding_kind *kind_named(const char *id)
{
	const struct finding_kind *kind = finding_kinds;

	while (kind->id && strcmp(kind->id, id) != 0)
		kind++;
	assert_non_null(kind->id);
	return kind;
}

/* The sample framework links in less than a millisecond: only the estimate makes a finding. */
static void a_long_link_is_found_and_a_short_one_is_not(void **state)
{
	struct jw_check_result check = {0};
	const struct examination seen = {.check = &check}, without = {0};
	struct finding_draft draft = {0};

	(void)state;
	assert_false(kind_named("linking")->test(&without, &draft));
	check.all.forecast.link = (struct jw_seconds){0.5, 0.9, 1.4};
	assert_false(kind_named("linking")->test(&seen, &draft));
	assert_string_equal(draft.evidence, "");
	check.all.forecast.link = (struct jw_seconds){9, 12, 15};
	assert_true(kind_named("linking")->test(&seen, &draft));
	assert_non_null(strstr(draft.evidence, "9 to 15 s"));
	assert_non_null(strstr(draft.fix, "jitwarm bake"));
	assert_false(draft.hopeless);
	assert_int_equal(draft.word_count, 0);
}

/* A process may have mapped more files than a command has room for. */
static void a_command_that_is_cut_says_so(void **state)
{
	static char path[] = "/a.so";
	struct jw_check_file files[DRAFT_WORDS + 7] = {0};
	struct jw_check_result check = {.files = files, .file_count = DRAFT_WORDS};
	const struct jw_doctor_options options = {.process = 1};
	const struct examination seen = {.check = &check, .options = &options};
	struct finding_draft draft = {0};

	(void)state;
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
	assert_non_null(strstr(draft.fix, "leaves out 7 more"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_long_link_is_found_and_a_short_one_is_not),
		cmocka_unit_test(a_command_that_is_cut_says_so),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
