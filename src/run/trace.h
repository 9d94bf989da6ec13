/* A trace of a run as Chrome trace events, for chrome://tracing, Perfetto and speedscope: a row for
 * each worker, a slice for each module, with its origin and its prediction.
 *
 * The file is a whole JSON array at every instant: each event is written over the closing bracket,
 * with a new one behind it, in one write. A trace that cannot be written does not stop the run;
 * trace_close reports it.
 *
 * Source: "Trace Event Format", Google: an array of objects with name, ph, ts and dur
 * (microseconds), pid, tid, args */
#pragma once

#include "plan/plan.h"

struct trace;

/* Row 0 is the supervisor, worker n has row n + 1. */
enum { TRACE_SUPERVISOR = 0, TRACE_FIRST_WORKER = 1 };

/* Replaces a file at `path`. */
int trace_open(struct jw_error *err, const char *path, struct trace **ret_trace);
/* A slice from `from_ns` until now (os_monotonic_ns). `trace` may be NULL here and below. */
void trace_slice(struct trace *trace, unsigned row, const char *name, uint64_t from_ns);
/* How a module ended: "compiled", or its failure; `cpu_ms`: the processor time of its compile, 0 if
 * unknown. */
struct trace_end {
	const char *result;
	double cpu_ms;
};
/* The slice of one of the plan's modules. */
void trace_module(struct trace *trace, unsigned row, const struct plan *plan,
				  const struct plan_module *module, uint64_t from_ns, const struct trace_end *how);
/* -1: a part is missing; err says why. */
int trace_close(struct jw_error *err, struct trace *trace);
