/* CUDA C sources among the paths of a run: compiled to PTX files, which are planned like others. */
#pragma once

#include <jitwarm/prime.h>

struct source_paths {
	struct jw_nvrtc *nvrtc; /* owns the PTX files; NULL: there are no sources, or no NVRTC */
	char **ptx;
	size_t ptx_count;
	const char **paths; /* of the run: those that are no sources, then the PTX files */
	size_t count;
};

/* Compiles each source for each of these GPUs. A failure is told and counted in *result, and the
 * rest is compiled nevertheless; -1: out of memory, or interrupted. `sources` is empty before; the
 * caller frees it in any case. */
int source_paths_compile(struct jw_error *err, const struct jw_system *system,
						 const struct jw_prime_options *options, const struct jw_target *targets,
						 size_t target_count, struct source_paths *sources,
						 struct jw_prime_result *result);
void source_paths_free(struct source_paths *sources);
