/* A run's place of objects: the pack of a whole plan. */
#pragma once

#include "run/run_state.h"

/* The most bytes that the pack of a module's entry can need. */
uint64_t remote_most_bytes(const struct plan_module *module);
/* Names the entries of the plan to the process that speaks to the place, which looks for one pack
 * of them all: where most of it is cold, and for one architecture. Sets remote.plan_bytes. */
void remote_plan_name(struct run *run);
/* Whether that pack is to be put there now: all is done. */
bool remote_plan_is_due(const struct run *run);
/* The answer to that. */
void remote_plan_answered(struct run *run, const struct object_answer *answer);
