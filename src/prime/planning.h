/* The first step of a run: its plan; and the sums and reasons of what is left of it. */
#pragma once

#include <jitwarm/find.h>
#include <jitwarm/prime.h>

#include "cache/profile.h"
#include "driver/run_folder.h"
#include "pack/ledger.h"
#include "plan/plan.h"
#include "prime/recorded_plan.h"

/* CUDA C sources among the files of a run, compiled to PTX files. */
struct source_paths {
	struct jw_nvrtc *nvrtc; /* owns the PTX files; NULL if there are no sources, or no NVRTC */
	char **ptx;
	size_t ptx_count;
};

/* A plan with its request, which may be used again; it must not be copied. */
struct planning {
	void *memory; /* owns the lists and the texts */
	struct plan *plan;
	struct plan_request request;
	struct cache_profile profile;
	struct jw_target *targets;
	struct source_paths sources;
	struct jw_found *searched; /* NULL if the options have a search */
	struct jw_found *made;     /* the PTX files of the sources */
	struct jw_found found;     /* its files are those of the two others */
	struct recorded_keys keys;
	struct recorded_account recorded;
	struct run_folder folder; /* has the containers of modules that are in no file */
	char *containers;
};

/* Makes the plan; notes about the files go into the result. `planning` is empty before; the caller
 * frees it with planning_free in any case. */
int planning_make(struct jw_error *err, const struct jw_system *system,
				  const struct jw_prime_options *options, struct jw_prime_result *outcome,
				  struct planning *planning);
/* Adds the last of the result's notes at the end. */
void planning_note_assumptions(const struct plan *plan, struct jw_prime_result *outcome);
void planning_free(struct planning *planning);
/* Leaves out the cold modules that the driver has refused before, with a note in *outcome, unless
 * the options have their file tried again. */
void planning_note_refused(struct plan *plan, const struct ledger *ledger,
						   const struct jw_prime_options *options, struct jw_prime_result *outcome);
/* Counts the modules by their present state; other members of the sum stay. */
void planning_sum_up(const struct plan *plan, const struct jw_prime_options *options,
					 struct jw_prime_plan *ret_sum);
/* Fills in sum->why: the reasons for cold modules. */
void planning_explain(const struct jw_system *system, const struct plan *plan,
					  struct jw_prime_plan *sum);
/* Chooses the modules of this run by limit and budgets, and counts them by GPU. */
void planning_choose(struct plan *plan, const struct jw_system *system,
					 const struct jw_prime_options *options, struct jw_prime_result *outcome);
/* Returns the compiler under which its speed is remembered: the driver's, or ptxas of its CUDA
 * version. */
struct jw_driver planning_compiler(const struct jw_system *system,
								   const struct jw_prime_options *options);
