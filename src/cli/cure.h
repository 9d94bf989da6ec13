/* What to install in place of a package that fails, by the list of releases (jitwarm/which.h). */
#pragma once

#include <jitwarm/check.h>
#include <jitwarm/which.h>

#include "cli/command.h"

enum { CURES_MAX = 32 };

/* Of packages and GPUs, each pair once; of more than so many the first. All zeros: empty. */
struct cures {
	struct cure {
		struct jw_cure is;
		struct jw_target target;
	} items[CURES_MAX];
	size_t count;
};

/* Adds the cure of a file that fails, if the list has its package: the wheel's (as jw_which_cure),
 * else the one that alone was named on the command line. */
void cures_add(const struct cli *cli, struct cures *cures, const char *file,
			   struct jw_target target, const struct jw_driver *driver);
/* Those that a check has found. */
void cures_print_checked(const struct cli *cli, const struct jw_check_result *result);
/* Prints a line for each: the release and how to install it; if none runs, the command that shows
 * what the releases do. `named`: the GPUs were named, or are those of a list, so that the command
 * names them. Frees them. */
void cures_print(const struct cli *cli, struct cures *cures, bool named);
