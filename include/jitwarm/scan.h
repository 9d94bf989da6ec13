/* The device code of files, verdicts for any GPUs, and the modules that the driver would have to
 * compile. Needs neither driver nor GPU. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <jitwarm/cancel.h>
#include <jitwarm/compiler.h>
#include <jitwarm/error.h>
#include <jitwarm/estimate.h>
#include <jitwarm/find.h>
#include <jitwarm/target.h>
#include <jitwarm/verdict.h>

/* The number of fat binary entries of one kind and, for machine code and PTX, for one target. */
struct jw_scan_count {
	uint32_t kind; /* of relocatable PTX: that of PTX */
	struct jw_target target;
	size_t entries;
	uint64_t stored_bytes; /* of all of them, compressed as they are in the file */
};
/* Writes "sm_90a", "compute_75", "lto-ir" or "kind 0x80"; returns `name`. */
const char *jw_scan_count_name(char name[JW_TARGET_TEXT], const struct jw_scan_count *count);

enum { JW_SCAN_UNKNOWN_TEXT = 256 };
/* Writes "2 pieces of kind 0x20, which jitwarm does not know", or, for PTX, that programs edit it;
 * returns `text`. */
const char *jw_scan_unknown_text(char text[JW_SCAN_UNKNOWN_TEXT], size_t count, uint32_t kind);
/* Writes "48 of 278 pieces have no code for sm_75 (chosen by the GPU)"; returns `text`. */
const char *jw_scan_lacking_text(char text[JW_SCAN_UNKNOWN_TEXT], size_t lacking, size_t pieces,
								 struct jw_target target);
/* Writes "2 pieces have PTX that is older than its target needs"; returns `text`. */
const char *jw_scan_early_text(char text[JW_SCAN_UNKNOWN_TEXT], size_t count);

enum jw_scan_need { JW_SCAN_NEED_NO, JW_SCAN_NEED_YES, JW_SCAN_NEED_UNKNOWN };

/* Work for the driver's compiler, as predicted (docs/internals/estimates.md). */
struct jw_scan_work {
	size_t modules;          /* distinct pairs of payload and option string */
	uint64_t ptx_bytes;      /* the size of the modules' PTX, decompressed */
	enum jw_loading loading; /* when a program compiles the modules */
	struct jw_seconds start; /* compiling all modules one after another, on one core */
	double longest_seconds;  /* compiling the most expensive module */
	uint64_t cache_bytes;    /* the size of the modules' entries in the driver's cache */
};
void jw_scan_add_work(struct jw_scan_work *sum, const struct jw_scan_work *work);

/* One image on one GPU architecture. Verdicts count containers; each counts for the first one that
 * applies. */
struct jw_scan_verdicts {
	struct jw_target target;
	size_t native;     /* a cubin of exactly this architecture */
	size_t compatible; /* another cubin that runs */
	size_t link;       /* relocatable, with usable PTX */
	size_t jit;        /* relocatable code with usable PTX */
	size_t tile; /* Tile IR, which the driver compiles at its first load; jitwarm cannot find out if
					it is in the cache */
	size_t unknown; /* a kind of entry that jitwarm does not know, or a PTX source that programs
					   edit before the driver compiles it */
	uint32_t unknown_kind;   /* the number of the kind of `unknown`; for such PTX that of PTX */
	size_t cannot;           /* containers whose code the driver chooses and cannot use */
	size_t cannot_exclusive; /* `cannot`: only for another GPU (an 'a' or 'f' target) */
	size_t cannot_too_new;   /* `cannot`: newer than the driver */
	size_t cannot_kind;      /* `cannot`: Tile IR, or another kind that the driver does not know */
	/* The first driver that is new enough for `cannot_too_new`, `cannot_kind` and `cannot_zstd`;
	 * zeros if unknown. */
	struct jw_driver needs, kind_needs, zstd_needs;
	size_t cannot_zstd;  /* `cannot`: compressed with zstd, which this driver cannot read */
	size_t cannot_early; /* `cannot`: PTX that is older than the first version for its target */
	size_t cannot_damaged;
	size_t nothing; /* containers with code for other or newer architectures only */
	/* The containers that programs use: all of them, those without code for this GPU, and those
	 * that need a newer driver. Programs choose by the GPU, so a minority is no failure. */
	size_t pieces, lacking, too_new;
	bool runs, fails;
	bool runtime; /* it fails because its CUDA runtime refuses the driver; `needs` is new enough */

	struct jw_scan_work work; /* modules that the driver would compile, without link-time inputs */
	struct jw_scan_work link_work;  /* link-time inputs, which are compiled only if link_needed */
	enum jw_scan_need link_needed;  /* whether the CUDA runtime links when a program starts */
	struct jw_scan_work loose_work; /* the part of `work` that the library loads by itself when it
									   needs it */
	bool left_out; /* that part is so large, or belongs to a package's own tests (then it is all of
					  `work`), that priming leaves it out unless everything is requested */
	struct jw_scan_work start_work;  /* the part of `work` that a start compiles: everything except
										what is left out */
	struct jw_scan_work first_start; /* `start_work`, and `link_work` if a start links */
};

/* One entry of a piece, with the values that verdicts depend on. */
struct jw_piece_entry {
	uint32_t kind;
	struct jw_target target; /* the target in its header, by which the driver chooses */
	/* For PTX: the target that its text names, if it was read; else sm is 0. */
	struct jw_target text;
	uint16_t isa_major, isa_minor; /* for PTX: its ISA; for a cubin: 1 and the number of its ABI */
	uint32_t cuda;    /* for a cubin: the first CUDA version whose drivers load it; 0 for any */
	uint32_t toolkit; /* for a cubin: the CUDA version of the ptxas that wrote it (12020); 0 if
						 unknown */
	bool zstd, relocatable, damaged;
	/* PTX that some target of the question compiles: the number of distinct modules, and their
	 * cost, without modules that an earlier library of the archive has */
	size_t modules;
	uint64_t ptx_bytes, cache_bytes;
	double cost_ms, longest_ms;
};

/* Containers of an image that every GPU and driver judges alike. */
struct jw_piece {
	size_t containers;
	unsigned role; /* 0: the CUDA runtime passes it to the driver at start; 1: the runtime may link
					  it; 2: the library loads it itself (enum devcode_role) */
	bool linked, empty; /* empty: no program can use it (PTX or cubins without a symbol) */
	bool edited;        /* a PTX source that programs edit before the driver compiles it */
	/* The names of a few of its kernels, if some target cannot use it, or with
	 * jw_scan_options.kernels: "gemm, axpy, copy, …"; NULL or "" if unknown */
	const char *kernels;
	const struct jw_piece_entry *entries;
	size_t entry_count;
};

/* A file, or a member of an archive, with device code. */
struct jw_scan_image {
	const char *path;
	const char *member; /* the name inside an archive; NULL for a file */
	uint64_t size_bytes;
	unsigned format; /* 0 ELF, 1 PE, 2 fat binary, 3 cubin, 4 PTX (enum devcode_format) */
	bool library;    /* ELF or PE, rather than a loose file */
	size_t containers;
	size_t inputs; /* containers that only a link uses (role 1) */
	size_t empty;  /* containers that no program can use (jw_piece) */
	/* Parts of one array, each in the order of targets or kinds */
	const struct jw_scan_count *cubins, *ptx, *other;
	size_t cubin_count, ptx_count, other_count;
	uint64_t ptx_bytes;                      /* the size of all PTX entries, decompressed */
	size_t damaged;                          /* places that look like a container but are unsound */
	const struct jw_scan_verdicts *verdicts; /* one for each target, in the requested order */
	size_t verdict_count;
	/* The CUDA version (12040) of the image's CUDA runtime; 0 if there is none, or it is unknown.
	 * If shared, another file is that runtime (libcudart.so.12); otherwise it is in this image, and
	 * has the version of the compiler. */
	uint32_t runtime_cuda;
	bool runtime_shared;
	/* Libraries of NVIDIA's that the image is linked to, of which jitwarm knows for which GPUs they
	 * have code (jw_scan_needs). */
	uint32_t needs;
	bool wrappers_known;           /* whether `linked` of the pieces is reliable */
	const struct jw_piece *pieces; /* the containers, with equal ones together */
	size_t piece_count;
};

/* A change from this branch of Linux drivers on: the modules to compile, and the files with which a
 * program fails. If neither number differs, more of the code runs. */
struct jw_scan_change {
	uint32_t driver;
	size_t modules, failing;
	bool may_need_none; /* a start may compile none of the modules */
	bool unsure;        /* jitwarm cannot tell whether a start compiles some of the code */
};
enum { JW_SCAN_MAX_CHANGES = 32 };

/* All images together, on one GPU architecture: the modules that priming them would compile, each
 * counted once, even if several files contain it. */
struct jw_scan_total {
	struct jw_target target;
	size_t modules;
	uint64_t ptx_bytes; /* decompressed size */
	size_t left_out;    /* modules that priming would leave out */
	/* Branches of Linux drivers (550) that run this GPU: the oldest one from which, up to the
	 * driver in question, nothing changes and no program fails for lack of a newer driver; and the
	 * first and last branch, older or that driver's own, with which a program fails. 0 if there is
	 * none, or everything fails with every driver. */
	uint32_t driver_from, fails_from, fails_to;
	bool older_differ; /* an older driver gives other verdicts, but no program fails with it */
	/* The changes with newer drivers, one after the other. driver_to is the last branch before
	 * them, or the last one that runs this GPU; 0 if none changes anything */
	uint32_t driver_to;
	struct jw_scan_change newer[JW_SCAN_MAX_CHANGES];
	size_t newer_count;
	size_t tile, unknown; /* registered containers, as in jw_scan_verdicts */
	struct jw_forecast forecast;
	struct jw_fate fate;
	/* No start compiles all of it: there is code that runs as it is beside the modules to compile,
	 * or two libraries are variants for several CUDA versions (libx_cuda118.so,
	 * libx_cuda121.so). */
	bool at_most;
};

enum jw_scan_part {
	JW_SCAN_FAILS,   /* programs fail with it (as in jw_check_failing) */
	JW_SCAN_NEWER,   /* some or all of it needs a newer driver, and its package runs */
	JW_SCAN_WITHOUT, /* it fails, and its package runs without it */
};

/* A file that fails on a GPU, or a part of which does. */
struct jw_scan_fate {
	enum jw_scan_part part;
	char *file, *path, *member; /* `file` is "path" or "path: member"; member NULL for a file */
	struct jw_target target;
	char *why; /* a line for people */
	/* With JW_SCAN_FAILS: */
	char *cause;                /* a line for people */
	struct jw_target exclusive; /* its only PTX, if that is for some GPUs alone; sm 0: it is not */
	bool
		driver_alone; /* the only reason is a driver older than the file needs; both lines say so */
	bool lacks_code;  /* with machine code for the GPU, by the compiler of its other code, the file
						 would run */
};

struct jw_scan_result {
	struct jw_scan_total *totals; /* one for each GPU, in the requested order */
	size_t total_count;
	struct jw_scan_fate *fates; /* first those with JW_SCAN_FAILS; each in the order of the files */
	size_t fate_count;
};

/* A requirement of a wheel that fails on a GPU, and so lets it fail. */
struct jw_required {
	char *what, *why; /* “torch>=2.8”, “no code for sm_61” */
	struct jw_driver
		needs; /* the first driver with which it does not fail; zeros if none is known */
};
/* Finds the first one of a wheel (its path), for `platform` (as jw_platform returns) if it is for
 * all. *ret_required is NULL if there is none; the caller frees it with jw_result_free. */
typedef int jw_required_judge(struct jw_error *err, const char *wheel, const char *platform,
							  struct jw_target target, const struct jw_driver *driver,
							  struct jw_required **ret_required);

struct jw_scan_options {
	const char *const *paths; /* files; directories, which are searched as jw_find does */
	size_t path_count;
	/* In place of paths, the files of this search, which are judged with their packages. */
	const struct jw_found *found;
	const char *const
		*named; /* those of these files that count even below a package's tests folder */
	size_t named_count;
	const struct jw_target *targets; /* GPUs, without suffix; may be none, at most 32 */
	size_t target_count;
	struct jw_driver driver; /* zeros stand for a driver that reads everything */
	struct jw_speed speed;   /* the speed of the machine in question */
	bool kernels;            /* name the kernels of all pieces */
	/* Leave out libraries of other platforms than this one ("x86_64-linux", as jw_platform returns)
	 * from a wheel for every system, if it has some for this one; NULL: leave out none. */
	const char *platform;
	bool verdicts_only; /* count verdicts without the work of compiling: several times faster for
						   large files, since no PTX has to be decompressed completely */
	/* Judges what a wheel requires on one GPU (jw_which_required); NULL: it requires nothing. */
	jw_required_judge *required;
	const char *state_dir; /* the folder that remembers what the files hold, so that the next scan
							  does not read them; NULL for none */
	struct jw_cancel cancel;
	void *context; /* passed to the functions below */
	/* Returns whether to leave out an image, as if it were not there; may be called several times
	 * in a row for one image. May be NULL. */
	bool (*except)(void *context, const char *path, const char *member);
	/* Called for each image as soon as it is read; its pointers are valid during the call. A return
	 * value other than 0 (with *err set) ends the scan. */
	int (*image)(struct jw_error *err, void *context, const struct jw_scan_image *image);
	/* Called for a file that cannot be read; the scan continues. May be NULL. */
	void (*trouble)(void *context, const char *path, const struct jw_error *why);
	/* Called after `paths`, again and again until it returns NULL: the next file, which may be gone
	 * at the next call. -1 ends the scan. May be NULL. */
	int (*more)(struct jw_error *err, void *context, const char **ret_path);
};

/* Scans the files. A file that cannot be read is reported by `trouble`. JW_ERR_UNSUPPORTED if the
 * driver does not run one of the GPUs; JW_ERR_USAGE for more than 32 GPU architectures;
 * JW_ERR_LIMIT for more files or modules than a plan may have; JW_ERR_INTERRUPTED; or a callback's
 * own error. The caller frees the result with jw_result_free; without `ret_result`, which may be
 * NULL, only the functions of `options` are called. */
int jw_scan(struct jw_error *err, const struct jw_scan_options *options,
			struct jw_scan_result **ret_result);

struct jw_found;
/* The packages that have device code, as far as files were read in the given time. */
enum { JW_CODE_PACKAGES = 8 };
struct jw_code_packages {
	const char *names[JW_CODE_PACKAGES]; /* of `found`; the first ones that were met */
	size_t count;
	bool any; /* a file has device code, of a package or not */
	bool cut; /* the time was over before all files were read */
};
void jw_code_packages(const struct jw_found *found, unsigned most_ms, struct jw_cancel cancel,
					  struct jw_code_packages *ret_packages);

/* The package index that pip is configured to use. It is asked by pip: that of the active Python
 * environment, else of the Python on PATH, else one that uv provides. pip never builds, so no code
 * of a package runs. */
struct jw_index;

struct jw_index_options {
	/* linux, linux-aarch64, windows; NULL for that of the GPUs, else pip's own. */
	const char *platform;
	const char *python; /* for this version of Python ("3.11"); NULL for the active one */
	const struct jw_target *targets;
	size_t target_count;
	bool arm; /* the GPUs are in machines with a 64-bit Arm processor (GH200, GB10) */
	struct jw_compiler_fetch_options fetch;
};

/* Opens the index. -1 if the platform is unknown, or not that of the GPUs. */
int jw_index_open(struct jw_error *err, const struct jw_index_options *options,
				  struct jw_index **ret_index);
void jw_index_close(struct jw_index *index);

/* A package that a list names. */
struct jw_listed_package {
	char *asked; /* NAME==VERSION, or the text that was passed to jw_index_names; for a line that is
					left out, its kind: "list", "option" (of pip), "address", "file", "other" */
	char sha256[65]; /* the hash of its file; "" if unknown */
	char *file;      /* the file's name; "" if unknown; NULL if left out */
	size_t line;     /* the number of a line that is left out; 0 for a package */
	bool direct;     /* not from an index */
	bool fetched;    /* jw_index_list has fetched its wheel */
};

struct jw_package_list {
	struct jw_listed_package *items;
	size_t count;
};

/* Lists the packages of a requirements file, a pylock.toml (PEP 751) or the report of “pip install
 * --report”, as pip resolves them for the platform, preceded by lines that are left out: options of
 * pip except for indexes, other lists, and packages that are in no index. pip fetches all wheels of
 * lines at once, each once. JW_ERR_FORMAT if the file is none of these,
 * or names no package. `path` may be “-”, standard input. The caller frees the list with
 * jw_index_list_free. */
int jw_index_list(struct jw_error *err, struct jw_index *index, const char *path,
				  struct jw_package_list *ret_list);
/* Makes the same list from requirements (as for jw_index_wheel_get), without asking the index.
 * JW_ERR_USAGE if one is not a requirement. */
int jw_index_names(struct jw_error *err, const char *const *packages, size_t count,
				   struct jw_package_list *ret_list);
void jw_package_list_free(struct jw_package_list *list);

/* A wheel of the index, for reading. */
struct jw_index_wheel {
	char *path, *name;    /* name is the file's */
	char *folder;         /* the folder that contains it */
	const char *platform; /* as for jw_platform */
	uint64_t size_bytes;
};

/* Fetches the wheel of a requirement, `package`: NAME, NAME==VERSION, NAME>=2.1,<2.3. The wheel is
 * in a run's own folder in the temporary directory (the next run removes it after a killed one),
 * until the next wheel is fetched, or the index closed. JW_ERR_USAGE if `package` is a file, or
 * something else. JW_ERR_NOT_FOUND or JW_ERR_IO with the reason. */
int jw_index_wheel_get(struct jw_error *err, struct jw_index *index, const char *package,
					   const struct jw_index_wheel **ret_wheel);
/* Fetches the wheel of a package that jw_index_list has listed. JW_ERR_USAGE if the package is left
 * out. */
int jw_index_listed_get(struct jw_error *err, struct jw_index *index,
						const struct jw_listed_package *package,
						const struct jw_index_wheel **ret_wheel);
