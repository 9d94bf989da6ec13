/* For authors of packages: how long their device code is compiled at the first start on each GPU,
 * and which machine code would avoid that. Needs neither driver nor GPU. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <jitwarm/cancel.h>
#include <jitwarm/error.h>
#include <jitwarm/estimate.h>
#include <jitwarm/scan.h>
#include <jitwarm/target.h>
#include <jitwarm/which.h>

enum jw_lint_kind {
	JW_LINT_COMPILES, /* the driver compiles modules at the first start */
	JW_LINT_FAILS,    /* a program fails because no code runs on the GPU */
	JW_LINT_LACKS,    /* some or all of it has no code for this GPU, and its package runs */
	JW_LINT_UNSURE,   /* Tile IR, or a kind of entry that jitwarm does not know */
};

enum jw_lint_level {
	JW_LINT_NOTE,    /* within the bound */
	JW_LINT_WARNING, /* there is no bound */
	JW_LINT_ERROR,   /* over the bound, or not known to be within it, or it fails */
};

/* The finding for one library on one GPU. */
struct jw_lint_finding {
	enum jw_lint_kind kind;
	enum jw_lint_level level; /* the level of that GPU; with JW_LINT_LACKS a warning, or a note */
	struct jw_target target;
	char *path, *member; /* member is the name inside an archive; NULL for a file */
	char *why;           /* NULL with JW_LINT_COMPILES */
	char *cause;         /* with JW_LINT_FAILS: "its only PTX is compute_90a, which no other GPU
							accepts"; else NULL */
	bool driver_alone;   /* an older driver than it needs is the reason, which both lines name */
	/* The library alone; a module in several libraries counts in each. */
	struct jw_scan_work work;
};

/* All files together on one GPU; each module counts once. */
struct jw_lint_gpu {
	struct jw_scan_total total;
	enum jw_lint_level level; /* JW_LINT_NOTE also if nothing is compiled */
	size_t lacking;           /* the number of files with JW_LINT_LACKS */
	size_t parts; /* those of them without which the package runs, or that no driver reads */
	struct jw_seconds start; /* the predicted time of the first start, with linking */
	/* The machine code that avoids this: for this GPU, or for an older requested GPU that also
	 * lacks code and whose code this GPU runs; with a suffix if the PTX is only for this GPU
	 * (sm_90a). It is one of `codes`; sm is 0 if none is missing, or if it would save less than
	 * JW_WHICH_NEGLIGIBLE_S within the bound. */
	struct jw_target code;
};

/* Missing machine code: -gencode arch=compute_86,code=sm_86. */
struct jw_lint_code {
	struct jw_target target;
	uint32_t cuda; /* the CUDA version of the first compiler that makes it, as in struct jw_driver;
					  0 if unknown */
	uint32_t last_cuda; /* that of the last one; 0 if none is known */
	uint64_t bytes;     /* about the size; 0 if unknown, since there is no other code */
	bool measured;      /* `bytes` is measured on the code that is there, as it is in the files;
						   otherwise  it is predicted, uncompressed */
	bool ptx;           /* PTX without the suffix of `target`, in place of the PTX with it */
	/* The time that it saves of a first start, at most; zeros with `ptx`. */
	struct jw_seconds saves;
};

enum jw_lint_claim_kind {
	JW_LINT_MISSING,  /* no piece has code that the list names */
	JW_LINT_SOME,     /* some pieces lack it */
	JW_LINT_NO_NEWER, /* it has no PTX that GPUs newer than the list can compile */
	JW_LINT_CUDA,     /* it needs another CUDA version than the wheel's label says */
	JW_LINT_EXEMPT,   /* it was left out of all that lint says */
};

/* The variant label in a wheel's name (PEP 825), and what it says about CUDA. */
struct jw_lint_label {
	char text[128];              /* "cu129_sm90a" */
	struct jw_arch_list arch;    /* machine code: sm_90a */
	uint32_t cuda_from, cuda_to; /* 12090 for cu129; 12000 and 12990 for cu12; 0: none */
};
/* Reads the label. False if the file is no wheel with a label that names a GPU architecture or a
 * CUDA version. */
bool jw_lint_label(const char *path, struct jw_lint_label *ret_label);

/* A difference between a library and the list that its build was given, or the wheel's label. */
struct jw_lint_claim {
	enum jw_lint_claim_kind kind;
	enum jw_lint_level level;
	char *path, *member;    /* member: inside an archive; NULL for a file */
	char *why;              /* a line for people */
	char *label;            /* the wheel's label, which it differs from; NULL: from the list */
	struct jw_arch arch;    /* that is missing; sm 0 with other kinds than the first two */
	size_t lacking, pieces; /* pieces with code: those without `arch`, and all */
	uint64_t size_bytes;    /* about what `arch` adds to the library, by code that is there; 0:
							   unknown */
};

/* A wheel that does worse on a GPU than the release before it, by the list of releases
 * (jitwarm/which.h): a program fails with it, or with a part of it, or it compiles what the other
 * release did not have to. */
struct jw_lint_before {
	char *path;
	struct jw_target target;
	enum jw_lint_kind kind; /* the wheel's effect: COMPILES, FAILS or LACKS */
	struct jw_which_release release;
};

struct jw_lint_result {
	struct jw_lint_claim *claims; /* sorted by file, in the order of the files */
	size_t claim_count;
	size_t compared;          /* libraries that were compared with the list */
	size_t labelled;          /* libraries that were compared with their wheel's label */
	struct jw_lint_gpu *gpus; /* in the requested order */
	size_t gpu_count;
	struct jw_lint_code *codes; /* each once */
	size_t code_count;
	struct jw_lint_finding *findings; /* by file, in the order of the files, then by GPU */
	size_t finding_count;
	struct jw_lint_before *before; /* by GPU, then by file */
	size_t before_count;
	char **troubles; /* files that could not be read, or hold damaged code, with the reason */
	size_t trouble_count;
	size_t images;  /* files and members with device code */
	bool kernels;   /* some of them has code that a program can use, or fails */
	size_t damaged; /* places in files that look like device code but are unsound */
};

struct jw_lint_options {
	const char *const *paths; /* wheels, conda packages, archives, libraries, directories */
	size_t path_count;
	const struct jw_found *found; /* the search that found `paths`, for their packages; or NULL */
	const struct jw_target *targets; /* the GPUs: at least one, at most 32 */
	size_t target_count;
	struct jw_driver driver; /* zeros stand for a driver that reads everything */
	/* Zeros stand for a usual machine, so that the result is the same anywhere. */
	struct jw_speed speed;
	bool bounded;
	double most_start_s; /* with `bounded`: a first start that is predicted to take longer is an
							error */
	/* The code that the build of all libraries was given; of none by default. A wheel's label adds
	 * to it. Loose files that are variants of each other count as one library. */
	struct jw_arch_list arch;
	bool each; /* every piece has to have it, not only one of a library */
	/* Patterns with * and ?: libraries whose path or name fits one are left out */
	const char *const *except;
	size_t except_count;
	const char *state_dir;       /* as in jw_scan_options */
	jw_required_judge *required; /* as in jw_scan_options */
	struct jw_cancel cancel;
};

/* Examines the files. JW_ERR_USAGE if no GPU is named; otherwise as jw_scan. The caller frees the
 * result with jw_result_free. */
int jw_lint(struct jw_error *err, const struct jw_lint_options *options,
			struct jw_lint_result **ret_result);
