/* The plan: the modules that the driver would compile for the given GPUs, each warm or cold.
 *
 * plan_build makes it from files on disk (or the inventory of their contents), without driver or
 * GPU. `check` prints it, `prime` compiles it. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <jitwarm/estimate.h>
#include <jitwarm/find.h>
#include <jitwarm/scan.h>
#include <jitwarm/target.h>
#include <jitwarm/verdict.h>

#include "base/cancel.h"
#include "base/set.h"
#include "cache/profile.h"
#include "code/release.h"
#include "plan/judging.h"
#include "plan/module.h"

/* ---- files whose device code cannot run on a GPU, or not all of it, as judging.h judges them */

/* The fate of a file or member on one GPU architecture. */
struct file_fate {
	char *file; /* "path" or "path: member" */
	char *path;
	const char *member; /* a part of `file`; NULL for a file outside an archive */
	char *package;      /* normalised; NULL if no package has the file */
	uint32_t target;
	uint32_t toolkit; /* the CUDA version of its compiler; 0: unknown, or it has no code */
	struct judged is;
	enum judge_part part;
	uint64_t name; /* a hash of the file and the target */
	/* The driver has refused so many of its modules, the first with this result; if not 0, nothing
	 * else is reported for the file. */
	size_t refused;
	unsigned result;
	/* The requirement of a wheel that fails, "torch 2.0.1", and the reason; else NULL. */
	char *requires, *why;
};

struct fates {
	void *memory;            /* owns the texts and the lists; NULL before the first file */
	struct file_fate *items; /* once settled: the files with which a package fails */
	size_t count, capacity;
	struct file_fate *parts; /* once settled: those of JUDGE_NEWER and JUDGE_WITHOUT */
	size_t part_count;
	struct judge_member *members; /* one for each file with code, or with a CUDA runtime */
	size_t member_count, member_capacity;
	struct set numbers; /* the numbers of packages and variants, by hash and target */
	size_t number_count;
	size_t hopeless_count;
	struct set hopeless; /* once settled: packages whose start fails, whatever is compiled */
	size_t spare_count;
	struct set spare; /* once settled: files that no program loads on a target, by name */
};

/* Returns a hash that is equal for variants: files whose names differ only in the version of CUDA,
 * cuDNN, Python or PyTorch or in a GPU's architecture, after a mark (libx_cuda118.so and
 * libx_cuda12.8.so, sm90/x.so and sm100/x.so) or alone in the name of machine code
 * (kernel_86.cubin), in having such a mark and none (x-cu11.so, x.so), in the library's version
 * (x.so.11), in being PTX (kernel_sm_86.cubin and kernel_compute_75.ptx, Cycles), in lacking a
 * library of CUDA (libx_cuda118_nocublaslt.so, bitsandbytes), or in being for Windows (libx.so and
 * x.dll). Other numbers and words tell kernels apart (conv2d.so and conv3d.so). */
uint64_t fate_variants(const char *path, const char *member);
/* Returns whether a name has such a mark, so that there may be variants for other versions. */
bool fate_has_mark(const char *name);
/* Returns whether a library is one of NVIDIA's: by its package's or its archive's name, or outside
 * both by its own. */
bool fate_is_nvidia(const char *path, const char *member, const char *package);
/* Returns whether a library is a profiler's, by its name or its folder's: no program that runs
 * loads it (cupti/libcupti.so, cupti-blackwell/libcheckpoint.so). */
bool fate_is_profilers(const char *name);
struct fate_file {
	const char *path, *member; /* `member` is NULL for a file outside an archive */
	bool library;              /* ELF or PE */
	/* NULL if it is in none: then its archive, or the file, counts as one. */
	const char *package, *version;
	uint32_t toolkit; /* as in file_fate */
	uint32_t needs;   /* as in jw_scan_image */
};
/* Adds what a file is on a GPU, whose number is `target`. */
int fates_add(struct jw_error *err, struct fates *fates, const struct fate_file *file,
			  uint32_t target, struct jw_target device, const struct judged *is);
/* Returns, after fates_settle, whether no program loads that file on the target (JUDGE_SPARE). */
bool fates_spare(const struct fates *fates, const char *path, const char *member, uint32_t target);
/* Returns, after fates_settle, whether the start of a program of that package fails, whatever is
 * compiled. */
bool fates_hopeless(const struct fates *fates, const char *path, const char *package,
					uint32_t target);
/* Adds, after fates_settle, a module that the driver has refused, so that its file fails. */
void fates_add_refused(struct fates *fates, const char *path, const char *member, uint32_t target,
					   unsigned result);
/* Returns the name of a result with which the driver refuses a module because of its content,
 * whenever it is loaded; NULL for other results, which may have other causes. */
const char *refusal_name(unsigned result);
/* Settles the fates after the last file. */
void fates_settle(struct fates *fates);
void fates_free(struct fates *fates);

enum { FATE_TEXT = 512 };
/* Writes "will fail: no kernel image for sm_90" or "2 of 9 pieces need driver 575 or newer". */
const char *fate_text(char text[FATE_TEXT], const struct file_fate *fate, struct jw_target device);
/* Writes what a program prints: "no kernel image is available for execution on the device (209)".
 */
const char *fate_error(char text[FATE_TEXT], const struct file_fate *fate);
/* Writes the cause: "its only PTX is compute_90a, which no other GPU accepts", "toolkit 13.2
 * requires driver 580 (CUDA 13.0) or newer". */
const char *fate_cause(char text[FATE_TEXT], const struct file_fate *fate, struct jw_target device);
/* Writes only the reason, which is equal for releases that fail alike: "no code for sm_90", "needs
 * driver 580 (CUDA 13.0) or newer". */
const char *fate_reason(char text[FATE_TEXT], const struct judged *is, struct jw_target device);

struct plan_file {
	char *path;
	char *member;        /* NULL for a file */
	uint32_t found;      /* the index of the file in the request's search */
	const char *package; /* from the search; NULL if there is none */
	/* The request's `containers`, if that file has the bytes of its modules; NULL if the file
	 * itself has them. */
	const char *containers;
};

struct plan_target {
	struct jw_target device;
	struct jw_unplanned unplanned; /* `lacking` is set once the fates are settled */
	uint64_t link_bytes; /* the predicted machine code that the CUDA runtime links at each start */
	/* The number of relocatable containers with usable PTX, needed or not. */
	size_t link_containers;
	/* The file with the newest PTX that programs link with nvJitLink; NULL: none. */
	char *linked;
	struct gpu_isa link_isa;
};

/* It owns all that it holds but the fates and what comes from the request. */
struct plan {
	struct plan_file *files;
	size_t file_count;
	struct plan_target *targets;
	size_t target_count;
	struct plan_module *modules; /* most expensive first */
	size_t module_count;
	struct cache_profile profile;
	struct jw_speed speed; /* the speed on which its predictions are based */
	char *cache_dir;
	/* Lines in UTF-8 about unreadable files; the last `assumptions` of them are about modules that
	 * were left out, with the option that includes them, and how others are assumed to be
	 * loaded. */
	char **notes;
	size_t note_count, note_capacity, assumptions;
	/* The number of files that could not be read, or not in full; most have a note. */
	size_t troubles;
	/* Keys of a recording whose PTX fits none of the targets, or is too new for the driver. */
	size_t unfit, too_new;
	size_t images;  /* files and members with device code that were read */
	bool *has_code; /* for each file of the request's search: device code was read in it */
	/* For each of them, the targets on which it has pieces of `tile` or `unknown`. */
	uint32_t *unsure;
	struct fates fates; /* the files that will fail, or lack pieces */
};

struct plan_request {
	const struct jw_found *found; /* the files, each once; the search's notes become the plan's */
	const struct jw_target *targets;
	size_t target_count;
	const struct cache_profile *profile;
	const char *cache_dir; /* the live cache to check; NULL if everything is cold */
	const char *state_dir; /* stores the inventory of known files and the verified entries; NULL to
							  store neither */
	bool everything;       /* --all: leave nothing out */
	/* Files that are not left out as a package's tests, because the user named them. */
	const char *const *named;
	size_t named_count;
	bool link_inputs; /* include relocatable code that the CUDA runtime does not link, because a
						 library may link it itself */
	/* Adds the modules of the entries in `cache_dir` that the driver with this stamp has compiled,
	 * for the same GPUs. NULL for none. */
	const char *of_stamp;
	/* Replaces the cache's keys by those of a recording: returns 1 for each key, with the
	 * recording's name, and 0 at the end. Its modules are for all GPUs that their PTX fits. */
	int (*next_key)(struct jw_error *err, void *context, struct buf *ret_key);
	void *keys;
	const char *keys_name;
	/* The file to which their PTX is written, for a compiler; NULL if they are not to be
	 * compiled. */
	const char *containers;
	struct jw_cancel cancel;
	struct jw_speed speed; /* this machine's speed */
};

/* Makes a plan. Files that cannot be read become notes (troubles). -1 if there are too many
 * targets, or modules (JW_ERR_LIMIT), or JW_ERR_INTERRUPTED. The caller frees the plan with
 * plan_free. */
int plan_build(struct jw_error *err, const struct plan_request *request, struct plan **ret_plan);
void plan_free(struct plan *plan);
/* Adds a line before the assumptions; with `trouble`, about a file that is not read. */
void plan_note(struct plan *plan, bool trouble, const char *format, ...) JW_PRINTF(3, 4);
/* Returns whether a found file is one of the names that the user gave. */
bool plan_is_named(const char *const *names, size_t count, const char *path);
/* Marks cold modules as warm if their entries are in the cache now. */
void plan_probe_again(struct plan *plan);
/* Marks a cold module that the driver has refused with `result` (0: it has not) as not to be
 * compiled; its file fails. */
void plan_refuse(struct plan *plan, struct plan_module *module, unsigned result);
/* Judges, by `judge` (NULL: they require nothing), what wheels require, for `platform` if they are
 * for all, and adds those that fail to the fates, which are settled. plan_add_required adds one. */
void plan_add_required(struct plan *plan, const char *wheel, uint32_t target,
					   const struct jw_required *required);
int plan_judge_required(struct jw_error *err, jw_required_judge *judge, char *const *wheels,
						size_t count, const char *platform, struct plan *plan);
/* Sums up, once the fates are settled, how the files run on one of the plan's targets; `modules` of
 * them are compiled. */
void plan_fate(const struct plan *plan, uint32_t target, size_t modules, struct jw_fate *ret_fate);
void unplanned_add(struct jw_unplanned *sum, const struct jw_unplanned *more);
/* Returns whether a range of a file, which a worker reads, no longer holds the PTX of a planned
 * module. False if it cannot be read. */
bool plan_is_changed(const struct plan *plan, const struct plan_module *module, const char *path,
					 uint64_t offset, uint64_t size_bytes);
/* Returns whether the module's entry exists by now. */
bool plan_is_compiled(const char *cache_dir, const struct plan_module *module);
