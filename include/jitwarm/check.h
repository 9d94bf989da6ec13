/* Finds out whether the modules that the driver would compile are already in its cache. Compiles
 * nothing, and wakes up no GPU.
 *
 * Threads: a jw_system may serve several calls at the same time. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <jitwarm/cache.h>
#include <jitwarm/cancel.h>
#include <jitwarm/error.h>
#include <jitwarm/estimate.h>
#include <jitwarm/find.h>
#include <jitwarm/recording.h>
#include <jitwarm/scan.h>
#include <jitwarm/system.h>
#include <jitwarm/verdict.h>

struct jw_check_options {
	const char *const *paths; /* files; directories, which are searched as by jw_find */
	size_t path_count;
	/* In place of paths, the files of this search; the result then has their packages. */
	const struct jw_found *found;
	/* With `found`: the paths of these files, which count even below a package's tests folder. */
	const char *const *named;
	size_t named_count;
	const struct jw_system *system;  /* the machine: its GPUs, driver, cache and state directory */
	const struct jw_target *targets; /* GPUs instead of the system's */
	size_t target_count;             /* 0 for the GPUs of the system */
	bool store;                      /* find out what the store can restore; reads its packs */
	const char *driver; /* a driver that is not installed here ("550.163.01", "12.2"); NULL for the
						   system's */
	bool everything;    /* include modules outside the registered sections of libraries */
	/* Check only its modules, and its texts; NULL for all modules. */
	const struct jw_recording *recording;
	bool explain; /* find out why modules are cold; reads more of the cache */
	/* Judges what a wheel requires on one GPU (jw_which_required); NULL: it requires nothing. */
	jw_required_judge *required;
	struct jw_cancel cancel;
};

/* The modules for one GPU architecture. */
struct jw_check_gpu {
	struct jw_target target;
	size_t modules; /* modules that the driver would compile: warm + cold */
	size_t warm, cold;
	size_t restored; /* cold modules that the store can restore at once */
	size_t damaged;  /* cold modules with a damaged entry in the cache */
	size_t unread;   /* cold modules whose entry this account cannot read */
	size_t taken;    /* cold modules under whose name the cache has another module's entry */
	struct jw_unplanned unplanned;
	struct jw_fate fate; /* how the files run, whatever is in the cache */
	size_t link;         /* cold modules that are inputs of a necessary link */
	size_t left_out;     /* modules that `everything` would include */
	/* Modules that commands of jw_record had compiled, here or in a recording that was primed
	 * here. */
	size_t used;
	size_t used_cold;            /* the part of `used` that is cold */
	uint64_t cold_bytes;         /* the size of the cold modules' PTX */
	struct jw_forecast forecast; /* the time and cost of compiling the cold modules */
};

/* A file, or a member of an archive, with modules that the driver would compile. */
struct jw_check_file {
	char *path, *member; /* member NULL for a file */
	size_t warm, cold;
	double seconds; /* the predicted time of compiling the cold ones, on one core */
};

/* A file with which a program fails: its device code cannot run on a GPU. If the names of several
 * files differ only in a version or a GPU, none of them counts for lack of code if one runs. */
struct jw_check_failing {
	char *file; /* "path" or "path: member" */
	struct jw_target target;
	char *why;   /* a line for messages: "will fail: no kernel image for sm_90" */
	char *error; /* what a program prints: "device kernel image is invalid (200)" */
	char *cause; /* a line for messages: "toolkit 13.2 requires driver 580 (CUDA 13.0) or newer" */
	/* Set by jw_which_cures: a line for messages, "install torch 2.7.1: “pip install …”" */
	char *cure;
	bool refused; /* the driver has refused some of its modules for another reason than missing code
				   */
	bool required;          /* it is a wheel, and a package that it requires fails */
	struct jw_driver needs; /* the first driver that is new enough; zeros if the driver's age is not
							   the reason */
	char *package; /* the package of the file, normalised; NULL if no package of pip's has it, or
					  the driver has refused its code */
	/* Set by jw_which_cures, too: */
	bool listed; /* the list of releases has the package */
	const char
		*runs; /* the package's release that `which` advises for the GPU; NULL if none is known */
	const char *install; /* the command of pip that installs this release; NULL if none is known */
	bool unexamined;     /* if none is known: jitwarm has not examined older releases */
};

/* A compiler with which programs compile while they run (NVRTC, NVVM, nvJitLink, ptxas), in the
 * environment of a search, or among its files, that is too new for the driver or for a GPU, or too
 * old for a GPU. */
struct jw_check_compiler {
	const char *name; /* "NVRTC" */
	uint32_t cuda;    /* its CUDA version, 12080 */
	uint32_t needs;   /* if too old: the first CUDA version that knows the GPU; else 0 */
	uint32_t last;    /* if too new for the GPU: the last version that knows it; else 0 */
	bool fails;       /* false if programs only compile more slowly */
	char *file, *package, *version; /* package and version are NULL if unknown */
	char *why;                      /* a line for messages */
};

/* A package with device code, on one GPU architecture. A module in several packages counts for the
 * first one. */
struct jw_check_package_gpu {
	struct jw_target target;
	size_t warm, cold;
	size_t failing; /* files with which a program fails */
	size_t refused; /* those of the failing files of which the driver has refused modules */
	bool unsure;    /* it has pieces of `tile` or `unknown` */
	struct jw_forecast forecast; /* the time and cost of compiling the cold modules */
};

struct jw_check_package {
	char *name, *version;              /* both NULL for files that no package has installed */
	struct jw_check_package_gpu *gpus; /* in the order of the result's GPUs; if none is warm, cold
										  or failing, nothing is compiled */
	size_t gpu_count;
};

struct jw_check_result {
	struct jw_check_gpu *gpus;
	size_t gpu_count;
	struct jw_check_gpu all;     /* the sum over these; it has no target */
	struct jw_check_file *files; /* those with modules, cold or warm; the most expensive first */
	size_t file_count;
	char
		*why; /* with `explain`: why most of the cold modules are cold, in words; NULL if none is */
	struct jw_driver driver;
	uint64_t limit_bytes;  /* the limit of the cache under that driver: CUDA_CACHE_MAXSIZE, or its
							  default */
	uint64_t needed_bytes; /* what the warm and cold modules need of it */
	struct jw_cache_outlook cache; /* entries and bytes are those of a sound index */
	bool here;                     /* GPUs and driver are this machine's */
	bool names_known; /* false if the names of this driver's entries are unknown, so that all
						 modules count as cold */
	/* One line each, about files that could not be read; the last `assumptions` of them are about
	 * modules that were left out, and how others are assumed to be loaded. */
	char **notes;
	size_t note_count, assumptions;
	size_t troubles; /* including those of options.found */
	size_t images;   /* files and members of archives with device code that were read */
	struct jw_check_failing *failing;
	size_t failing_count;
	struct jw_check_compiler *compilers; /* the compilers in options.found that do not fit */
	size_t compiler_count;
	const char *named; /* if !names_known: a release of its branch whose names are known, or NULL */
	/* The packages of options.found; the most expensive first, then by name. */
	struct jw_check_package *packages;
	size_t package_count;
	enum jw_verdict verdict;
};

/* Checks the files. A path that is missing or cannot be read is no failure: the result's notes name
 * it. JW_ERR_NOT_FOUND if there is no GPU to ask about; JW_ERR_USAGE if `driver` is not a version,
 * or there are more than 32 GPU architectures; JW_ERR_UNSUPPORTED if the driver does not run one of
 * `targets`; JW_ERR_LIMIT for more files or modules than a plan may have; JW_ERR_IO if a disk
 * fails; JW_ERR_INTERRUPTED. The caller frees the result with jw_result_free. */
int jw_check(struct jw_error *err, const struct jw_check_options *options,
			 struct jw_check_result **ret_result);
