/* The options of prime for CUDA C sources, for a shared place, and for another machine: whether
 * they fit together, and what they ask for. */
#pragma once

#include <jitwarm/pack.h>
#include <jitwarm/prime.h>
#include <jitwarm/system.h>

#include "cli/command.h"
#include "cli/parts/gpu_targets.h"
#include "cli/parts/pack_report.h"
#include "cli/parts/registry_options.h"

/* ---- CUDA C sources among the operands, and the result for each */

struct nvrtc_options {
	struct jw_nvrtc_options how;
	char *text;         /* the options, each ending in a NUL */
	const char **words; /* they point into it */
	size_t capacity;
};

/* On failure it frees nothing: always call nvrtc_options_free. */
int nvrtc_options_read(struct jw_error *err, const struct cli *cli,
					   struct nvrtc_options *ret_options);
/* Prints the results; a failure changes cli->status. */
void nvrtc_options_print(struct cli *cli, const struct jw_prime_source *source);
void nvrtc_options_free(struct nvrtc_options *options);

/* ---- a place of objects, which others use meanwhile */

struct prime_share {
	struct registry_given given;
	struct jw_share_options options;
	char passphrase[PASSPHRASE_SIZE];
};

/* Wrong usage, said before any work */
int prime_share_check(struct jw_error *err, const struct cli *cli);
/* Asks for the passphrase. Must not be copied afterwards. */
int prime_share_read(struct jw_error *err, const struct cli *cli, struct prime_share *share);
/* What the library asks for; NULL where it is not given. */
const struct jw_share_options *prime_share_options(const struct prime_share *share);
/* What came from the place, and went there. */
void prime_share_print(const struct output *out, const struct prime_share *share,
					   const struct jw_prime_result *result);
void prime_share_free(struct prime_share *share);

/* ---- another machine: options name its GPUs and driver, and ptxas compiles */

struct target_machine {
	bool given; /* “jitwarm make” */
	struct gpu_targets gpus;
	struct jw_export_options pack; /* `output` NULL: no pack */
	char passphrase[PASSPHRASE_SIZE];
};

/* Reads the options and stores them in `how`, which points into *ret_elsewhere. */
int target_machine_read(struct jw_error *err, struct cli *cli, struct target_machine *ret_elsewhere,
						struct jw_system_options *how);
/* Warns if a dry run cannot know which modules are warm. */
void target_machine_warn(const struct cli *cli, const struct target_machine *elsewhere);
/* Prepares the pack's signing key: asks for the passphrase. Does nothing without -o. */
int target_machine_get_ready(struct jw_error *err, const struct cli *cli,
							 struct target_machine *elsewhere);
void target_machine_free(struct target_machine *elsewhere);
