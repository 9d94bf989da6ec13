/* The release to install in place of a package that fails, by the list of releases, or the command
 * that finds one (jitwarm/which.h). */
#pragma once

#include <jitwarm/check.h>
#include <jitwarm/which.h>

#include "cli/command.h"

enum { CURES_MAX = 32 };

/* Cures for packages and GPUs, each pair once, up to a maximum. Empty if all zeros. */
struct cures {
	struct cure {
		struct jw_cure is;
		struct jw_target target;
	} items[CURES_MAX];
	size_t count;
	void *owner;      /* of the texts of cures_add; the caller frees it with jw_result_free */
	bool only_listed; /* cures_add ignores packages that the list lacks */
	/* The driver of a command that names GPUs, unless --driver does; zeros for the newest one. */
	struct jw_driver driver;
};

/* Adds the cure for a failing file if the list of wheels has its package: the one in the name of a
 * wheel (as for jw_which_cure), else the only name on the command line. */
void cures_add(struct cli *cli, struct cures *cures, const char *file, struct jw_target target,
			   const struct jw_driver *driver);
/* Prints the cures that a check has found; `named` as for cures_print. */
void cures_print_checked(const struct cli *cli, const struct jw_check_result *result, bool named);
/* Prints a line for each: the release and how to install it; if none runs, the command that shows
 * the releases; if the list lacks the package, the command that asks an index. With `named`, the
 * user or a list named the GPUs, so the command names them and the driver. */
void cures_print(const struct cli *cli, const struct cures *cures, bool named);
