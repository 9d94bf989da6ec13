/* Removes everything that jitwarm has set up on this machine, except the entries of the driver's
 * cache.
 *
 * Threads: one call at a time in a process, and no other call of this library meanwhile. For an
 * administrator, the whole process acts as other accounts meanwhile (jitwarm/pack.h). */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include <jitwarm/error.h>

/* One thing that was removed (with `dry_run`: would be), or could not be removed. */
struct jw_uninstall_step {
	/* The file, folder, registry key or task; NULL if the step has `said` or `failed`. */
	const char *where;
	const char *what; /* "removed", or as in struct jw_tune_change */
	bool keys_stay;   /* this is the state directory, which still contains secret keys */
	bool others_stay; /* this is the state directory, which still contains files of others */
	const char *said; /* output of a command of the system's service manager, one line */
	struct jw_error failed;
};

struct jw_uninstall_options {
	bool with_keys; /* remove secret keys too, which cannot be made again */
	bool dry_run;   /* change nothing */
	void *context;  /* passed to the function below */
	/* Called for each step when it is done; may be NULL. */
	void (*step)(void *context, const struct jw_uninstall_step *step);
};

/* Removes, in this order: the task or units of this account, for an administrator those of
 * everyone, and those of services (jitwarm/startup.h); the recorded settings (jw_tune_undo); the
 * fetched compilers; the state directory (jw_state_remove).
 *
 * A failure prevents only the last step, because the state directory records settings that could
 * not be reverted, for the next call. Returns the number of failures. */
size_t jw_uninstall(const struct jw_uninstall_options *options);
