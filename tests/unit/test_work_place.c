/* Runs with a shared folder; its worker is a shell script, as the other workers are. */
#include "runs.h"

#include <sys/wait.h>

/* `about ID WHAT` answers each request: 0 a look-up, 1 a claim, 2 an addition. */
static int run_shared(struct jw_error *err, unsigned workers, const char *about)
{
	static const char body[] =
		"told() { echo "
		"\"{\\\"answer\\\":$1,\\\"what\\\":$2,\\\"said\\\":$3,\\\"why\\\":\\\"${4:-}\\\","
		"\\\"claim\\\":\\\"00000000000000${5:-00}\\\",\\\"bytes\\\":7}\"; "
		"}\n"
		"here=0 missing=1 ours=2 theirs=3 placed=4 gone=5\n"
		"bring() { mkdir -p \"$CUDA_CACHE_PATH/$key\"; cp -R \"$trees/$1/.\" "
		"\"$CUDA_CACHE_PATH/$key\"; }\n"
		"take() { bring $1; told $1 $2 $here; }\n"
		"usual() { case $2 in 2) told $1 2 $placed;; *) told $1 $2 $ours;; esac; }\n"
		"%s\n"
		"if [ \"$JITWARM_WORKER_TASK\" = share ]; then once place; read -r setup\n"
		"while read -r line; do id=${line#*:} what=${line#*what?:} key=${line#*key?:?}\n"
		"id=${id%%%%,*} what=${what%%%%,*} key=${key%%%%?,*}; about $id $what; done; exit 0; fi\n"
		"do_job() { fine $1; }\nhello; serve\n";
	static const struct jw_share_options there = {.folder = "/place"};
	char *text = mem_printf(body, about);
	int failed;

	shared = &there;
	failed = run_with(err, workers, text);
	mem_free(text);
	return failed;
}

static bool is_marked(const char *name)
{
	char *path = mark_path(name);
	const bool is = os_exists(path);

	mem_free(path);
	return is;
}

/* Each answer from a place has one outcome. */
CASE(each_answer_of_a_place_counts)
{
	static const struct {
		const char *about;
		size_t fetched, placed, refused, unplaced;
		const char *trouble, *refused_why; /* a part of the text */
	} cases[] = {
		{.about = "about() { take $1 $2; }", .fetched = 6},
		{.about = "about() { usual $1 $2; }", .placed = 6},
		/* not for everybody, and not at once */
		{.about = "about() { if once $1; then told $1 $2 $theirs '' 0a; else take $1 $2; fi; }",
		 .fetched = 6},
		{.about = "about() { [ $1 != 3 ] || { take $1 $2; return; }; usual $1 $2; }",
		 .fetched = 1,
		 .placed = 5},
		/* an object that is torn, or not trusted, is compiled */
		{.about = "about() { case $2 in 2) told $1 2 $missing bad;; *) told $1 $2 $missing bad;;\n"
				  "esac; }",
		 .refused = 6,
		 .refused_why = "bad"},
		{.about = "about() { [ $2 != 2 ] || { usual $1 $2; return; }; bring $1\n"
				  "find \"$CUDA_CACHE_PATH/$key\" -type f | while read -r f; do : >\"$f\"; done\n"
				  "told $1 $2 $here; }",
		 .placed = 6,
		 .refused = 6,
		 .refused_why = ""},
		/* the place accepts nothing */
		{.about = "about() { case $2 in 2) told $1 2 $missing full;; *) told $1 $2 $ours;; esac; }",
		 .unplaced = 6,
		 .trouble = "full"},
		{.about = "about() { case $2 in 2) told $1 2 $missing;; *) told $1 $2 $ours;; esac; }"},
		/* the place is given up */
		{.about = "about() { told $1 $2 $gone away; }", .trouble = "away"},
		{.about = "about() { exit 3; }", .trouble = "its process ended with status 3"},
		{.about = "about() { told 6 $2 $ours; }", .trouble = "that was not asked for"},
		{.about = "about() { told $1 2 $placed; }", .trouble = "that was not asked for"},
		{.about = "about() { usual $1 $2; usual $1 $2; }", .trouble = "that was not asked for"},
		{.about = "about() { echo nonsense; }", .trouble = "cannot be read"},
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		char *left = os_join(folder, "run/share");
		struct os_names names;
		const struct jw_shared *said;

		print_message("%s\n", cases[i].about);
		(void)end(state);
		(void)begin(state);
		OK(run_shared(why, 2, cases[i].about));
		said = &result->compile.shared;
		assert_int_equal(result->compile.compiled, MODULES - said->fetched);
		assert_int_equal(result->compile.undone + result->compile.failed, 0);
		assert_int_equal(warm(), MODULES);
		if (!cases[i].trouble || strcmp(cases[i].trouble, "that was not asked for") != 0) {
			assert_int_equal(said->fetched, cases[i].fetched);
			assert_int_equal(said->placed, cases[i].placed);
		}
		assert_int_equal(said->fetched_bytes, 7 * said->fetched);
		assert_int_equal(said->placed_bytes, 7 * said->placed);
		assert_true((said->saved_seconds > 0) == (said->fetched > 0));
		assert_int_equal(said->refused, cases[i].refused);
		assert_int_equal(said->unplaced, cases[i].unplaced);
		if (cases[i].trouble ? !strstr(said->trouble, cases[i].trouble) : *said->trouble)
			fail_msg("%s", said->trouble);
		if (cases[i].refused_why
				? !*said->refused_why || !strstr(said->refused_why, cases[i].refused_why)
				: *said->refused_why)
			fail_msg("%s", said->refused_why);
		/* No part of the fetched objects is left. */
		OK(os_list(why, left, &names));
		assert_int_equal(names.count, 0);
		os_names_free(&names);
		mem_free(left);
	}
}

CASE(a_place_that_stays_silent_is_told)
{
	OK(run_shared(why, 2, "about() { exec sleep 1000; }"));
	expect_all();
	assert_non_null(strstr(result->compile.shared.trouble, "/place: no answer within 10 seconds"));
}

/* A claim counts for a while; then the place is told whose it was. */
CASE(a_dead_claim_is_named)
{
	OK(run_shared(why, 1,
				  "about() { case $2$line in 1*dead?:?000000000000000a*) usual $1 1;;\n"
				  "2*) usual $1 2;; *) told $1 $2 $theirs '' 0a;; esac; }"));
	expect_all();
	assert_int_equal(result->compile.shared.placed, MODULES);
}

/* An object that arrives after the budget's end is not used. */
CASE(a_budget_ends_fetching)
{
	options.plan.budget_ms = 500;
	OK(run_shared(why, 2,
				  "about() { if once first; then usual $1 $2; return; fi\n"
				  "sleep 1.5; once late; take $1 $2; }\n"
				  "fine() { until [ -e \"$marks/late\" ]; do sleep 0.1; done\n"
				  "sleep 0.5; make_entry $1; answer $1 0; }"));
	assert_true(result->compile.out_of_time);
	assert_int_equal(result->compile.shared.fetched, 0);
	assert_int_equal(result->compile.undone + result->compile.compiled, MODULES);
	assert_int_equal(warm(), result->compile.compiled);
}

CASE(fetched_entries_wait_for_the_lock)
{
	const pid_t pid = hold_lock(1500);

	OK(run_shared(why, 1, "about() { take $1 $2; }"));
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	assert_int_equal(result->compile.shared.fetched, MODULES);
	assert_int_equal(result->compile.compiled + result->compile.undone, 0);
	assert_int_equal(warm(), MODULES);
}

static bool stop_when_asked(void *unused)
{
	(void)unused;
	return is_marked("asked");
}

CASE(who_interrupts_does_not_wait_for_a_place)
{
	options.cancel.is_cancelled = stop_when_asked;
	OK(run_shared(why, 1, "about() { once asked; exec sleep 1000; }"));
	assert_true(result->compile.interrupted);
	assert_int_equal(result->compile.undone, MODULES);
	assert_string_equal(result->compile.shared.trouble, "");
}

/* No place is asked if there is nothing to do, or nothing can be taken from it. */
CASE(a_place_is_not_asked_for_nothing)
{
	opaque = true;
	OK(run_shared(why, 1, "about() { usual $1 $2; }"));
	assert_false(is_marked("place"));
	opaque = false;
	for (size_t i = 0; i < MODULES; i++)
		modules[i].state = PLAN_WARM;
	OK(run_shared(why, 1, "about() { usual $1 $2; }"));
	assert_false(is_marked("place"));
}

RUN_TESTS(make_folder, remove_folder)
