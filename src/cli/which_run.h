/* A run of which: its answers, and how they are printed. */
#pragma once

#include <jitwarm/which.h>

#include "base/wheel_name.h"
#include "cli/command.h"
#include "cli/document.h"
#include "cli/gpu_targets.h"

struct which_run {
	struct cli *cli;
	struct gpu_targets gpus;
	const char *file; /* the list of -r, whose packages are in question; or NULL */
	bool asks;        /* --ask */
	bool from_list;   /* an answer comes from the program's list */
	const struct wheel_platform *for_platform;
	const char *const *packages; /* as typed */
	size_t package_count;
	/* The document; this run owns its texts. */
	struct jw_which_advice *advices; /* for each answered package one for each GPU */
	struct jw_which_name *names;     /* of each answered package */
	size_t advice_count, name_count;
	char **unlisted; /* the packages without an answer, as typed */
	size_t unlisted_count;
	size_t unread; /* the lines and names that cannot be read */
	const char *index, *date, *platform, *python;
	char *constraints, *install; /* commands; NULL for one package on one GPU */
};

extern const struct json_table document_which; /* struct which_run */

/* Appends “jitwarm which” with the options of the question, without --ask. */
void which_add_command(struct buf *command, const struct cli *cli);
/* Prints all answers: each one in full, or a row for each package if there are several GPUs or more
 * than two packages, then the commands that write and use constraints. */
int which_print(struct jw_error *err, struct which_run *run);
/* Prints the rows before and after a release that was not examined. */
int which_print_neighbours(struct jw_error *err, const struct which_run *run,
						   const struct jw_which_advice *advice);
/* Finds the two commands for several packages or GPUs. */
void which_find_commands(struct which_run *run);
