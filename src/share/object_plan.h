/* The pack of a whole plan in a shared place, where somebody has put one: looked for once, before
 * the first entry. What is in it is then taken from here. docs/share.md has the layout. */
#pragma once

#include "share/object_entry.h"

struct object_plan;

/* The plan that the supervisor has named in the run's folder. It lives as long as the process. */
int object_plan_open(struct jw_error *err, const struct object_setup *setup,
					 struct object_plan **ret_plan);
/* Whether the job was done by that pack: OBJECT_PLAN, or an entry that is in it. `plan` may be
 * NULL. Threads that come while it is looked for wait. */
bool object_plan_do(struct object_plan *plan, const struct object_thread *thread,
					const struct object_job *job, struct object_answer *ret_answer);
