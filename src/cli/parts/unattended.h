/* Unattended runs of `prime`: --if-changed, --environment, --json-log. */
#pragma once

#include <jitwarm/startup.h>

#include "cli/command.h"

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
	bool remembered;      /* the run goes into the history (prime_history.h) */
	double saved_seconds; /* processor time of the compiled ones: what a first start is spared */
	char problem[512];    /* one line; "": none */
};

/* Reads the options; with --if-changed checks whether anything has changed. Start with {0}. */
int unattended_begin(struct jw_error *err, struct cli *cli, struct unattended *run);
/* Records that the run ends with cli->status, writes the logs and frees everything. */
int unattended_end(struct jw_error *err, struct cli *cli, struct unattended *run);

#define IF_CHANGED_OPTION                                                                          \
	CLI_FLAG("if-changed", "End at once, without starting the driver, if driver, GPUs, packages, " \
						   "settings and cache are unchanged since the last such run")
#define JSON_LOG_OPTION                                                                            \
	CLI_VALUE("json-log", "FILE",                                                                  \
			  "Append a line of JSON to FILE at the end of the run, also after a failure",         \
			  .names = NAMES_LOG)
