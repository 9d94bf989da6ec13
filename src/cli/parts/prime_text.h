/* Text output of prime: what it restored and reused, its plan and its results. */
#pragma once

#include <stdbool.h>

#include <jitwarm/ahead.h>
#include <jitwarm/pack.h>
#include <jitwarm/prime.h>
#include <jitwarm/system.h>

#include "cli/command.h"
#include "cli/parts/gpu_targets.h"
#include "cli/parts/pack_report.h"
#include "cli/parts/registry_options.h"
#include "cli/progress.h"

#define REUSE_OPTIONS                                                                              \
	CLI_FLAG("no-store", "Do not restore earlier results from the store, and do not add new ones", \
			 .rare = true),                                                                        \
		CLI_FLAG("carry-over",                                                                     \
				 "After a driver update: reuse results of older drivers, from the cache and the "  \
				 "store, under this driver's names; only the rest is compiled",                    \
				 .rare = true),                                                                    \
		CLI_FLAG("recompile-carried",                                                              \
				 "Compile modules carried over from older drivers, and replace those results",     \
				 .rare = true)

/* Before compiling: entries from the store and from former drivers. */
void prime_print_reuse(const struct output *out, const struct jw_prime_result *result,
					   bool dry_run);
/* Before compiling: the modules to compile, time and space, and the limit of the cache. */
/* `for_others`: not into the cache of this machine. */
void prime_print_plan(const struct output *out, const struct jw_prime_result *result,
					  bool for_others);
/* After compiling. A completed plan is shown beside its prediction. */
void prime_print_compiled(const struct output *out, const struct jw_prime_result *result);
/* After a run that a budget has cut short (`by_size`: the size budget): how to continue. */
void prime_print_left(const struct output *out, const struct jw_prime_result *result, bool by_size);

/* The progress bar of a run that compiles: its reports and messages (jw_prime_options), shown. */
struct prime_bar {
	const struct output *output;
	struct progress progress;
	bool is_shown;
};

/* Shows a report. The first one starts the bar, since a run may wait for another one before it;
 * results that are put away end it. `bar`: a struct prime_bar. */
void prime_bar_report(void *bar, const struct jw_prime_progress *report);
/* A line above the bar, or a note where there is none. `bar`: a struct prime_bar. */
void prime_bar_message(void *bar, const char *line);
/* Removes the bar, if there is one. */
void prime_bar_end(struct prime_bar *bar);

/* Unattended runs of `prime`: --if-changed, --environment, --json-log. */
struct unattended {
	struct jw_run_state *state; /* NULL without --if-changed */
	char *changes;
	bool skip; /* nothing has changed: skip the run */
	int64_t time_s;
	uint64_t began_ns;
	double seconds; /* set when the run has ended */
	unsigned status;
	/* The run's results, for the log. */
	size_t modules, compiled, failed, undone;
	size_t restored;      /* from the store, a shared place or another driver's entries */
	double saved_seconds; /* processor time of the compiled ones: what a first start is spared */
	char problem[512];    /* one line; "": none */
};

/* Reads the options; with --if-changed checks whether anything has changed. Start with {0}. */
int unattended_begin(struct jw_error *err, struct cli *cli, struct unattended *run);
/* Records that the run ends with cli->status, writes the logs and frees everything. */
int unattended_end(struct jw_error *err, struct cli *cli, struct unattended *run);

/* ---- a driver that starts at the next boot */

/* How far the cache is prepared for it, in one line; nothing if no driver is pending. `head` stands
 * before it. */
void ahead_print(const struct output *out, const char *head, const struct jw_ahead *ahead);
/* `prime` takes what waits in the store for the boot that has come, and compiles nothing here. With
 * --if-changed (unattended) it prepares the cache, too; *ret_pending: the installed driver does not
 * run yet, so that nothing else can be primed. */
int ahead_besides(struct jw_error *err, struct cli *cli, bool unattended, bool *ret_pending);

#define IF_CHANGED_OPTION                                                                          \
	CLI_FLAG("if-changed",                                                                         \
			 "End at once, without starting the driver, if driver, GPUs, packages, "               \
			 "settings and cache are unchanged since the last such run",                           \
			 .rare = true)
#define JSON_LOG_OPTION                                                                            \
	CLI_VALUE("json-log", "FILE",                                                                  \
			  "Append a line of JSON to FILE at the end of the run, also after a failure",         \
			  .names = NAMES_LOG, .rare = true)

/* ---- the options for CUDA C sources, for a shared place, and for another machine: whether they
 * fit together, and what they ask for (prime_options.c) */

/* ---- CUDA C sources among the operands, and the result for each */

struct nvrtc_options {
	struct jw_nvrtc_options how;
	char *text;         /* the options, each ending in a NUL */
	const char **words; /* they point into it */
	size_t capacity;
};

/* On failure it frees nothing: the caller frees `words` and `text` in any case. */
int nvrtc_options_read(struct jw_error *err, const struct cli *cli,
					   struct nvrtc_options *ret_options);
/* Prints the results; a failure changes cli->status. */
void nvrtc_options_print(struct cli *cli, const struct jw_prime_source *source);

/* ---- a place of objects, which others use meanwhile */

struct prime_share {
	struct registry_given given;
	struct jw_share_options options;
	char passphrase[PASSPHRASE_SIZE];
};

/* Wrong usage, said before any work */
int prime_share_check(struct jw_error *err, const struct cli *cli);
/* Asks for the passphrase. Must not be copied afterwards. */
int prime_share_read(struct jw_error *err, const struct cli *cli, struct prime_share *share);
/* What came from the place, and went there. */
void prime_share_print(const struct output *out, const struct prime_share *share,
					   const struct jw_prime_result *result);

/* ---- another machine: options name its GPUs and driver, and ptxas compiles */

struct target_machine {
	bool given; /* “jitwarm make” */
	struct gpu_targets gpus;
	struct jw_export_options pack; /* `output` NULL: no pack */
	char passphrase[PASSPHRASE_SIZE];
};

/* Reads the options and stores them in `how`, which points into *ret_elsewhere. */
int target_machine_read(struct jw_error *err, struct cli *cli, struct target_machine *ret_elsewhere,
						struct jw_system_options *how);
/* There is no driver here either: the error has the typed line with one. Returns -1. */
int target_machine_lacks_driver(struct jw_error *err, const struct cli *cli);
/* Warns if a dry run cannot know which modules are warm. */
void target_machine_warn(const struct cli *cli, const struct target_machine *elsewhere);
