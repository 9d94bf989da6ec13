/* Priming for another machine: options name its GPUs and driver, and ptxas compiles. */
#pragma once

#include <jitwarm/pack.h>
#include <jitwarm/system.h>

#include "cli/command.h"
#include "cli/parts/fetching.h"
#include "cli/parts/gpu_targets.h"
#include "cli/parts/pack_report.h"

struct target_machine {
	bool given; /* with --target */
	struct gpu_targets gpus;
	struct jw_export_options pack; /* `output` NULL: no pack */
	char passphrase[PASSPHRASE_SIZE];
};

/* --target, --driver, --driver-lib, --driver-profile, --ptxas, -o, --sign … */
#define ELSEWHERE_OPTIONS                                                                          \
	CLI_LIST("target", "GPU",                                                                      \
			 "For another machine with this GPU (sm_86, rtx3070), into --cache or -o; needs no "   \
			 "GPU and driver; may be repeated"),                                                   \
		CLI_VALUE("driver", "VERSION",                                                             \
				  "That machine's driver (550.163.01; for -n also 580 or CUDA 12.8)"),             \
		CLI_VALUE("driver-lib", "FILE",                                                            \
				  "That driver's libcuda.so or nvcuda64.dll, for a driver unknown to jitwarm",     \
				  .names = NAMES_FILE),                                                            \
		CLI_VALUE("driver-profile", "FILE",                                                        \
				  "That driver's profile, from “jitwarm status --driver-profile” there",           \
				  .names = NAMES_FILE),                                                            \
		CLI_VALUE("ptxas", "FILE",                                                                 \
				  "Compile with this ptxas instead of that of the driver's CUDA version",          \
				  .names = NAMES_FILE),                                                            \
		FETCH_OPTION,                                                                              \
		CLI_VALUE("output", "FILE", "Write the entries into a pack, for “jitwarm import” there",   \
				  .letter = 'o', .names = NAMES_OUTPUT),                                           \
		PACKING_SIGN_OPTIONS

/* Reads the options and stores them in `how`, which points into *ret_elsewhere. */
int target_machine_read(struct jw_error *err, struct cli *cli, struct target_machine *ret_elsewhere,
						struct jw_system_options *how);
/* Warns if a dry run cannot know which modules are warm. */
void target_machine_warn(const struct cli *cli, const struct target_machine *elsewhere);
/* Prepares the pack's signing key: asks for the passphrase. Does nothing without -o. */
int target_machine_get_ready(struct jw_error *err, const struct cli *cli,
							 struct target_machine *elsewhere);
void target_machine_free(struct target_machine *elsewhere);
