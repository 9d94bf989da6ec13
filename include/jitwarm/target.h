/* The targets of code: compute capabilities and driver versions.
 *
 * A target is a compute capability without its dot (8.6 is 86, 12.0 is 120) and the suffix that
 * CUDA gives to code which runs only on that capability ('a') or on its family ('f'). Devices have
 * no suffix. Source: CUDA C++ Programming Guide, "Compute Capabilities"; PTX ISA, ".target". */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <jitwarm/error.h>

struct jw_target {
	uint16_t sm;
	char suffix; /* 'a', 'f' or 0 */
};

/* The properties of a driver that decide which code it loads; one of them may be unknown (0). */
struct jw_driver {
	uint32_t cuda;       /* as by cuDriverGetVersion: 1000 * major + 10 * minor */
	uint32_t release[3]; /* 550, 163, 1 */
};

/* The size of "compute_120a" and its NUL. */
#define JW_TARGET_TEXT 20

/* Reads "sm_86", "compute_90a", "86" or "8.6". Returns false and leaves *ret_target unchanged if
 * the text is not a target. */
bool jw_target_parse(const char *text, struct jw_target *ret_target);
/* Writes "sm_86" or "sm_90a"; returns `text`. */
const char *jw_target_sm(char text[JW_TARGET_TEXT], struct jw_target target);
/* Writes "compute_86" or "compute_90a"; returns `text`. */
const char *jw_target_compute(char text[JW_TARGET_TEXT], struct jw_target target);
/* Returns whether the name is that of a GPU which exists only in machines with a 64-bit Arm
 * processor: Jetson's, and those beside a processor of NVIDIA's own ("gh200", "GB10", "dgx spark").
 */
bool jw_target_named_arm(const char *name);
/* Appends the GPUs that `text` names to a list without duplicates: a capability ("sm_86", "sm86",
 * "8.6"), a product ("RTX 4090", "h100", "NVIDIA A100-SXM4-80GB"), "all" (each GPU on sale that the
 * driver runs, without Jetson), a range ("rtx20..rtx50": these generations; "sm_80..h100": the GPUs
 * of "all" between them), or several of these separated by commas. `driver` may be NULL. The list
 * has room for `most`. JW_ERR_USAGE leaves it unchanged. */
int jw_targets_read(struct jw_error *err, const char *text, const struct jw_driver *driver,
					struct jw_target *targets, size_t most, size_t *count);
/* Returns the common names of the GPUs of a capability: "RTX 30, A10, A40" for 8.6; "" if
 * unknown. */
const char *jw_target_products(struct jw_target target);
/* Returns whether a device of this capability may exist: it is known, or newer than all known ones.
 */
bool jw_target_plausible(struct jw_target target);
bool jw_target_equal(struct jw_target a, struct jw_target b);
/* Appends a target to a list with room for `most`, unless the list contains it or is full. Returns
 * the new number. */
size_t jw_target_add(struct jw_target *targets, size_t count, size_t most, struct jw_target target);

/* Code that a build makes: machine code (sm_90), or PTX (compute_90). */
struct jw_arch {
	struct jw_target target;
	bool ptx;
};
enum { JW_ARCH_MAX = 64 };
struct jw_arch_list {
	struct jw_arch items[JW_ARCH_MAX]; /* each once */
	size_t count;
};
/* Adds the code that a build makes for such a list, in the build's own notation:
 * TORCH_CUDA_ARCH_LIST ("8.6;12.0+PTX", "Ampere"), CMAKE_CUDA_ARCHITECTURES
 * ("75-real;80;90-virtual") or words of nvcc ("-gencode arch=compute_90,code=[sm_90,compute_90]",
 * "-arch=sm_86"). JW_ERR_USAGE leaves the list unchanged if the text is none of these, or depends
 * on the machine that builds ("native"). */
int jw_arch_list_read(struct jw_error *err, const char *text, struct jw_arch_list *list);
/* Writes "sm_90" or "compute_90"; returns `name`. */
const char *jw_arch_name(char name[JW_TARGET_TEXT], struct jw_arch arch);

/* Reads a CUDA version ("12.2", "CUDA 12.2", "cu122") or a driver's ("550.163.01", whose CUDA
 * version comes from the table of releases). */
int jw_driver_parse(struct jw_error *err, const char *text, struct jw_driver *ret_driver);
/* Returns whether a text has the form of a driver's build stamp: "Mar 25 202615:25:13". */
bool jw_stamp_is(const char *text);

/* Returns whether a driver is newer than all known ones; *ret_newest is the newest known one. */
bool jw_driver_is_beyond(const struct jw_driver *driver, struct jw_driver *ret_newest);

/* Fails with JW_ERR_UNSUPPORTED, which names the drivers that do, if the driver does not run a GPU
 * of this capability. An unknown driver runs all. */
int jw_driver_supports(struct jw_error *err, const struct jw_driver *driver,
					   struct jw_target target);

/* Returns the first driver that runs a GPU of this capability; zeros if none is known. */
struct jw_driver jw_driver_first(struct jw_target target);

/* The size of any driver's text. */
#define JW_DRIVER_TEXT 64
/* Writes "CUDA 12.2", "550.163.01 (CUDA 12.4)" or "unknown driver"; returns `text`. */
const char *jw_driver_text(char text[JW_DRIVER_TEXT], const struct jw_driver *driver);
/* The same without the CUDA version, if the release is known: "550.163.01", "CUDA 12.2". */
const char *jw_driver_number(char text[JW_DRIVER_TEXT], const struct jw_driver *driver);
/* The size of any driver's option. */
#define JW_DRIVER_OPTION (JW_DRIVER_TEXT + 16)
/* Writes the option of jitwarm's commands that names the driver, after a blank:
 * " --driver 550.163.01", " --driver 12.4"; "" if the driver is unknown. Returns `text`. */
const char *jw_driver_option(char text[JW_DRIVER_OPTION], const struct jw_driver *driver);
