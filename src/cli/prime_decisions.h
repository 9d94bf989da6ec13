/* The decisions of “prime” and “make” as data: facts in, one value out, nothing read or printed.
 * cmd_prime.c has the sentence for each value, and tests/data/decisions the value for every
 * combination of facts. */
#pragma once

#include <stdbool.h>

#include "cli/command.h"

/* The only sentence about the plan, before anything is compiled. */
enum plan_sentence {
	PLAN_SILENT,     /* a trouble was already printed */
	PLAN_IN_CACHE,   /* recorded modules are in no file, but in the cache */
	PLAN_NOT_JUDGED, /* only code that jitwarm cannot judge */
	PLAN_CANNOT_RUN,
	PLAN_NO_MODULES,
	PLAN_OVER_BUDGET,  /* the budget leaves all cold modules to a later run */
	PLAN_NOTHING_LEFT, /* all modules that were not warm have been restored */
	PLAN_WARM,
	PLAN_COLD,
};

struct plan_facts {
	bool modules;  /* there is a module for these GPUs */
	bool missing;  /* a recorded file is missing */
	bool unfiled;  /* a recorded module is in no file */
	bool troubles; /* a file could not be read */
	bool unjudged; /* there is code that jitwarm cannot judge */
	bool hopeless; /* a file cannot run on a GPU */
	bool cold;
	bool over_budget;
	bool all_warm;
};

enum plan_sentence plan_decide(const struct plan_facts *facts);

/* The sentence about what was compiled. */
enum compiled_sentence {
	COMPILED_NOTHING,
	COMPILED_OPAQUE, /* entries of an unknown form */
	COMPILED_PACKED,
	COMPILED_ALL,
	COMPILED_SOME,
	COMPILED_ELSEWHERE, /* another run has compiled all modules */
};

struct compiled_facts {
	bool opaque;
	bool compiled; /* at least one module */
	bool packed;
	bool all_cold; /* as many as were cold */
	bool stopped;
	bool met; /* another run compiled some of them */
	bool undone;
	bool failed;
};

enum compiled_sentence compiled_decide(const struct compiled_facts *facts);

/* The sentence about modules that were left for a later run. */
enum left_sentence {
	LEFT_NOTHING,
	LEFT_INTERRUPTED,
	LEFT_INTERRUPTED_REST, /* the same command compiles the rest */
	LEFT_TIME_UP,
	LEFT_TIME_UP_SIZE, /* both budgets are exhausted */
	LEFT_OVER_SIZE,
	LEFT_OVER_BUDGET,
};

struct left_facts {
	bool interrupted;
	bool scratch; /* the cache is a temporary one */
	bool stopped;
	bool only_plan;
	bool out_of_time;
	bool over_budget;
	bool size_given; /* --budget-size */
};

enum left_sentence left_decide(const struct left_facts *facts);

/* The sentence about the next step, if left_decide has none. */
enum prime_next {
	NEXT_NONE,
	NEXT_FILLED, /* a folder for another driver was filled */
	NEXT_START,  /* start the program again (start_decide) */
};

struct next_facts {
	bool elsewhere; /* for another machine */
	bool scratch;
	bool compiled; /* at least one module */
	bool fetched;  /* at least one module came from the folder of --store */
	bool failed;
	bool undone;
	bool opaque;
};

enum prime_next next_decide(const struct next_facts *facts);

/* The part of the program that has nothing left to compile. */
enum start_sentence {
	START_ALL,
	START_RECORDED,
	START_HOPELESS,
	START_UNJUDGED,
	START_GPUS,
	START_LEFT_OUT,
	START_PACKAGES,
	START_SENTENCES,
};

struct start_facts {
	bool recorded; /* with --recording */
	bool hopeless;
	bool unjudged;
	bool gpus;     /* with --gpu */
	bool left_out; /* a module is left out, or a container cannot be used */
	bool packages; /* only some packages of an environment were examined */
};

enum start_sentence start_decide(const struct start_facts *facts);

/* The facts for the exit status after a run that was not only a plan, apart from troubles with
 * files and errors that ended it. */
struct status_facts {
	bool interrupted;
	bool undone;
	bool failed; /* more modules failed than the driver refused */
	bool refused;
	bool unchanged; /* a module has no entry after its compile */
	bool misjudged;
	bool over_budget;
	bool evicted_in_use;
	bool hopeless;
	bool unjudged;
};

enum exit_status status_decide(const struct status_facts *facts);
