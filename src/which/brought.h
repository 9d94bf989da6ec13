/* The releases of listed packages that a release brings along, for jw_which. This is no resolver:
 * it follows the requirements of the named packages, and of those that a package without device
 * code of its own requires; and only packages of the list. */
#pragma once

#include "which/question.h"

/* Judges the packages that a release brings along and requires in several versions, and finds
 * `beside`, `uses` and `unfollowed`; the release fails if it cannot run with any release of them.
 * `own`: it has device code. */
int judge_brought(struct jw_error *err, struct question *question, struct shelf *shelf,
				  const struct wheel *wheel, bool own, struct jw_which_release *release);
