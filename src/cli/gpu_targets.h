/* The GPUs of a command: those named by --target, else those of this machine. */
#pragma once

#include <stddef.h>

#include <jitwarm/system.h>

#include "base/buf.h"
#include "base/error.h"
#include "cli/command.h"

enum { GPUS_MAX = 32 };
/* The GPUs of an answer for everybody, as --target names them. */
#define GPUS_USUAL "rtx20..rtx50,a100,h100,b200"

/* The driver that --driver names: only a profile, or a library or a version, or both of these. */
struct named_driver {
	const char *version; /* "550.163.01", "12.4" */
	const char *library; /* a file: libcuda.so, nvcuda64.dll */
	const char *profile; /* a file of “jitwarm status --driver-profile” */
};

/* A GPU of --target that the driver does not run. */
struct gpu_refused {
	struct jw_target target;
	char why[256];          /* the reason, one line */
	struct jw_driver needs; /* the first driver that runs it; zeros if no newer one does */
};

struct gpu_targets {
	struct named_driver named;
	struct jw_target targets[GPUS_MAX]; /* each once */
	size_t count;
	bool arm; /* all were named as GPUs of machines with a 64-bit Arm processor (GH200, GB10) */
	struct jw_driver driver;              /* zeros for a driver that reads everything */
	struct gpu_refused refused[GPUS_MAX]; /* set by gpu_targets_keep_run */
	size_t refused_count;
};

/* Returns whether a word that no option announces can only be a GPU: “rtx5090”, “4090”, “sm_86”. A
 * word without a digit may be a package (“thor”), and “8.6” or “86” is a number. */
bool gpu_targets_is_gpu(const char *word);

/* Reads --target (repeatable) and --driver. Without --target, count is 0. */
int gpu_targets_read(struct jw_error *err, struct cli *cli, struct gpu_targets *ret_gpus);
/* Warns if the answer is about a driver that is newer than all known ones. */
void gpu_targets_warn(const struct cli *cli, const struct jw_driver *driver);

/* Reads the GPUs of another repeatable option, with names as for --target. */
int gpu_targets_list(struct jw_error *err, struct cli *cli, const char *option,
					 struct gpu_targets *ret_gpus);

/* Leaves out GPUs that nobody named and that the driver does not run, unless it runs none of
 * them. */
void gpu_targets_drop_unnamed(struct gpu_targets *gpus);
/* Leaves out GPUs that the driver does not run, and says so: the command ends with 2, and answers
 * for the others. If none is left, fails with JW_ERR_UNSUPPORTED. */
int gpu_targets_keep_run(struct jw_error *err, struct cli *cli, struct gpu_targets *gpus);

/* Adds the machine's own GPUs. */
int gpu_targets_add_own(struct jw_error *err, struct gpu_targets *gpus,
						const struct jw_system *system);

/* Reads --arch (repeatable), the architectures of code: names as for --target, and sm_90a, too. */
int gpu_targets_arch(struct jw_error *err, struct cli *cli, struct gpu_targets *gpus);

/* Writes "sm_86 (RTX 30)", or the typed names; returns `text`. */
#define GPUS_NAME     64
#define GPUS_MARKETED 192
const char *gpu_targets_name(char text[GPUS_NAME], const struct output *out,
							 struct jw_target target);
/* Writes the marketed name: "NVIDIA GeForce RTX 3070 (sm_86)" for a GPU of this machine, "RTX 3070
 * (sm_86)" for --target rtx3070; otherwise as gpu_targets_name. `system` may be NULL. */
const char *gpu_targets_marketed(char text[GPUS_MARKETED], const struct output *out,
								 struct jw_target target, const struct jw_system *system);

/* The text for each GPU. If there are more than a few GPUs, those with the same text share a
 * line. */
enum { GPUS_FEW = 2 };
struct gpu_lines {
	struct gpu_line {
		struct jw_target target;
		enum style style;
		struct buf text;
	} items[GPUS_MAX];
	size_t count;
};

/* Adds a GPU; the caller fills the returned text, and sets items[count - 1].style. */
struct buf *gpu_lines_add(struct gpu_lines *lines, struct jw_target target);
/* Prints the lines and frees the texts: `head`, the GPUs, in a column or with a colon, and the
 * text, unless it is empty. */
void gpu_lines_print(const struct output *out, struct gpu_lines *lines, const char *head,
					 bool column);

/* The two options, for tables of commands. */
#define GPUS_OPTIONS                                                                               \
	CLI_LIST("target", "GPU",                                                                      \
			 "Answer for this GPU instead of this machine's GPUs: sm_86, 8.6, rtx3070, “RTX "    \
			 "4090”, h100, native, all, or several with commas; may be repeated"),                 \
		CLI_VALUE("driver", "VERSION",                                                             \
				  "Answer for this driver: version (550.163.01, 580) or CUDA version (12.2)",      \
				  .names = NAMES_DRIVER)
