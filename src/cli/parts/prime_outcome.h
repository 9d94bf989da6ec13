/* One run of `jitwarm prime`, and its report. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include <jitwarm/prime.h>

#include "cli/command.h"
#include "cli/parts/found_files.h"
#include "cli/parts/nvrtc_options.h"
#include "cli/parts/prime_bar.h"
#include "cli/parts/prime_share.h"
#include "cli/parts/target_machine.h"
#include "cli/parts/unattended.h"

struct prime_outcome {
	struct cli *cli;
	struct jw_recording *recording; /* NULL: not given */
	struct nvrtc_options nvrtc;
	struct found_files files;
	struct target_machine elsewhere;
	struct prime_share share;
	struct unattended unattended;
	struct prime_bar bar;
	struct jw_baked_list *baked; /* of the files; NULL: none */
	bool only_plan;
};

/* Prints each failed module with the driver's log and the command that reproduces it, the modules
 * left undone and the reason, and the next step. */
void prime_outcome_print_result(const struct prime_outcome *priming,
								const struct jw_prime_result *result);
int prime_outcome_document(struct jw_error *err, const struct prime_outcome *priming,
						   const struct jw_prime_result *result);
enum exit_status prime_outcome_status(const struct prime_outcome *priming,
									  const struct jw_prime_result *result);
/* EXIT_CANNOT for a driver that does not cache, or a cache whose files cannot be locked; a full
 * cache is work left undone. */
enum exit_status prime_outcome_status_of_error(const struct jw_error *err);
