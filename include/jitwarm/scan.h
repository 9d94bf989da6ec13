/* The device code of files, verdicts for any GPUs, and the modules that the driver would have to
 * compile. Needs neither driver nor GPU.
 *
 * Threads: any number of threads may call these functions at the same time. Callbacks run on the
 * calling thread. */
#ifndef JITWARM_SCAN_H
#define JITWARM_SCAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <jitwarm/cancel.h>
#include <jitwarm/compiler.h>
#include <jitwarm/error.h>
#include <jitwarm/estimate.h>
#include <jitwarm/target.h>
#include <jitwarm/verdict.h>

/* Room for any name in these structures. */
#define JW_SCAN_NAME 32
/* Room for the name of a file and a line about it. */
#define JW_SCAN_REASON 1024

/* The number of fat binary entries for one target or of one kind. */
struct jw_scan_count {
	char name[JW_SCAN_NAME]; /* "sm_90a", "compute_75", "lto-ir", "kind 0x80" */
	size_t entries;
	uint64_t stored_bytes; /* of all of them, compressed as they are in the file */
};

enum jw_scan_need { JW_SCAN_NEED_NO, JW_SCAN_NEED_YES, JW_SCAN_NEED_UNKNOWN };

/* Work for the driver's compiler, as predicted (docs/internals/estimates.md). */
struct jw_scan_work {
	size_t modules;          /* distinct pairs of payload and option string */
	uint64_t ptx_bytes;      /* theirs, decompressed */
	enum jw_loading loading; /* when a program compiles them */
	struct jw_seconds start; /* all of them one after another, on one core */
	double longest_seconds;  /* the most expensive of them */
	uint64_t cache_bytes;    /* their size in the driver's cache */
};

/* One image on one GPU architecture. Verdicts count containers; for each, the first that applies */
struct jw_scan_verdicts {
	struct jw_target target;
	size_t native;           /* a cubin of exactly this architecture */
	size_t compatible;       /* another cubin that runs */
	size_t link;             /* relocatable, with usable PTX */
	size_t jit;              /* usable PTX, which the driver compiles */
	size_t tile;             /* Tile IR, which the driver compiles at its first load; jitwarm cannot
								tell if it is in the cache */
	size_t unknown;          /* a kind of entry that jitwarm does not know, */
	uint32_t unknown_kind;   /* this one, */
	size_t cannot;           /* the code that the driver chooses is unusable: */
	size_t cannot_exclusive; /* only for another GPU (an 'a' or 'f' target) */
	size_t cannot_too_new;   /* newer than the driver */
	size_t cannot_kind;      /* of these, Tile IR and other kinds that the driver does not know */
	/* The first driver that is new enough for those that are too new, for Tile IR and the like, and
	 * for those in zstd; zeros: unknown */
	struct jw_driver needs, kind_needs, zstd_needs;
	size_t cannot_zstd; /* compressed in a way that this driver cannot read */
	size_t cannot_damaged;
	size_t nothing; /* code for other or newer architectures only */
	/* Of the containers that the CUDA runtime registers, with the objects that a link left out, or
	 * of a loose file: all with code, and those without code for this GPU. Where others have some,
	 * a program that uses one fails. */
	size_t pieces, lacking;
	bool runs;           /* and others have some: no program fails but with these */
	const char *kernels; /* names of some that the GPU cannot use: "gemm, axpy, copy, …", or "" */

	struct jw_scan_work work; /* modules that the driver would compile, without link-time inputs */
	struct jw_scan_work link_work;  /* link-time inputs; compiled only if link_needed */
	enum jw_scan_need link_needed;  /* whether the CUDA runtime links when a program starts */
	struct jw_scan_work loose_work; /* the part of `work` that the library loads by itself when it
									   needs it */
	bool left_out; /* that part is so large, or of a package's own tests (then it is all of `work`),
					  that priming leaves it out unless everything is requested */
	struct jw_scan_work start_work; /* the part of `work` that a start compiles: all but what is
									   left out */
};

/* One entry of a piece, as far as verdicts depend on it. */
struct jw_piece_entry {
	uint32_t kind;
	struct jw_target target; /* as its header says; which the driver chooses by */
	struct jw_target text;   /* PTX: the target that its text names, if it was read; else sm is 0 */
	uint16_t isa_major, isa_minor; /* PTX: of its ISA; cubin: 1 and the number of its ABI */
	uint32_t cuda;                 /* cubin: the first CUDA version whose drivers load it, 0: any */
	uint32_t toolkit; /* cubin: the CUDA version of the ptxas that wrote it (12020), 0: unknown */
	bool zstd, relocatable, damaged;
	/* PTX that some target of the question compiles: distinct modules, and what they cost */
	size_t modules;
	uint64_t ptx_bytes, cache_bytes;
	double cost_ms, longest_ms;
};

/* Containers of an image that every GPU and driver judges alike. */
struct jw_piece {
	size_t containers;
	unsigned role; /* 0: the CUDA runtime hands it to the driver at start; 1: the runtime may link
					  it; 2: the library loads it itself (enum devcode_role) */
	bool linked, empty; /* empty: no program can use it (PTX or cubins without a symbol) */
	/* The names of a few of its kernels, if some target cannot use it, or jw_scan_options.kernels:
	 * "gemm, axpy, copy, …"; NULL or "": not known */
	const char *kernels;
	const struct jw_piece_entry *entries;
	size_t entry_count;
};

/* A file, or a member of an archive, with device code. */
struct jw_scan_image {
	const char *path;
	const char *member; /* inside an archive; NULL for a file */
	uint64_t size_bytes;
	const char *format; /* "elf", "pe", "fatbin", "cubin", "ptx" */
	size_t containers;
	const struct jw_scan_count *cubins, *ptx, *other; /* each in the order of targets or kinds */
	size_t cubin_count, ptx_count, other_count;
	uint64_t ptx_bytes;                      /* all PTX entries, decompressed */
	size_t damaged;                          /* places that look like a container but are unsound */
	const struct jw_scan_verdicts *verdicts; /* one per target, in the requested order */
	size_t verdict_count;
	/* The CUDA version (12040) of its CUDA runtime; 0: none, or unknown. Shared: another file is
	 * that runtime (libcudart.so.12), else it is in this one, and has the version of the compiler.
	 */
	uint32_t runtime_cuda;
	bool runtime_shared;
	bool wrappers_known;           /* whether `linked` of the pieces can be relied on */
	const struct jw_piece *pieces; /* the containers, alike ones together */
	size_t piece_count;
};

/* From this branch of Linux drivers on: the modules to compile, and the files with which a program
 * fails. Where neither is another number, more of the code runs. */
struct jw_scan_change {
	uint32_t driver;
	size_t modules, failing;
	bool may_need_none; /* a start may compile none of the modules */
};
enum { JW_SCAN_MAX_CHANGES = 32 };

/* All images together, on one GPU architecture: what priming them would compile, each module once,
 * even if several files hold it. */
struct jw_scan_total {
	struct jw_target target;
	size_t modules;
	uint64_t ptx_bytes; /* decompressed */
	size_t left_out;    /* modules that it would leave out */
	/* Branches of Linux drivers (550) that run this GPU: the oldest from which up to the driver in
	 * question all is the same and no program fails for want of a newer driver, and those, older or
	 * that driver's own, with which one fails. 0: none, or all of it fails with every driver. */
	uint32_t driver_from, fails_from, fails_to;
	bool older_differ; /* other verdicts with an older one, with which no program fails */
	/* What newer ones change, one after the other; driver_to: the last branch before, or the last
	 * one that runs this GPU; 0: none changes anything */
	uint32_t driver_to;
	struct jw_scan_change newer[JW_SCAN_MAX_CHANGES];
	size_t newer_count;
	size_t tile, unknown; /* containers, as in jw_scan_verdicts, of those that are registered */
	struct jw_forecast forecast;
	enum jw_runs verdict;
	/* Why it fails, and which part of what runs fails: "FILE: a line for people"; "": none does */
	char reason[JW_SCAN_REASON], part[JW_SCAN_REASON];
	size_t failing, lacking; /* files */
	struct jw_driver needs;  /* the first driver with which it does not fail; zeros: no driver's age
								is why it does */
	/* No start compiles all of it: code that runs as it is is beside what is compiled, or two
	 * libraries are one for several CUDA versions (libx_cuda118.so, libx_cuda121.so). */
	bool at_most;
};

enum jw_scan_part {
	JW_SCAN_PART,   /* pieces without code for the GPU, or all of an optional file */
	JW_SCAN_FAMILY, /* the same of kernels for the GPUs of a family alone, which others have, too */
	JW_SCAN_VARIANT, /* a variant that fails, of which another one runs */
};

struct jw_scan_options {
	const char *const *paths; /* files; directories, which are searched as jw_find does */
	size_t path_count;
	const char *const *named; /* of these, what counts even below a package's tests folder */
	size_t named_count;
	const struct jw_target *targets; /* GPUs, without suffix; may be none, at most 32 */
	size_t target_count;
	struct jw_driver driver; /* zeros: a driver that reads everything */
	struct jw_speed speed;   /* of the machine in question */
	bool pieces;             /* groups the containers (jw_scan_image.pieces) */
	bool kernels;            /* names kernels of all pieces */
	bool verdicts_only; /* count verdicts without the work of compiling: several times faster for
						   large files, since no PTX has to be decompressed completely */
	struct jw_cancel cancel;
	void *context; /* of the functions below */
	/* Whether an image is left out, as if it were not there; it may be asked several times in a
	 * row. May be NULL. */
	bool (*except)(void *context, const char *path, const char *member);
	/* Called for each image as soon as it is read; all that it points to is valid during the call.
	 * A return other than 0 (with *err set) ends the scan. */
	int (*image)(struct jw_error *err, void *context, const struct jw_scan_image *image);
	/* Called for a file that cannot be read; the scan continues. May be NULL. */
	void (*trouble)(void *context, const char *path, const struct jw_error *why);
	/* Called at the end, for each GPU in the requested order. May be NULL. */
	void (*total)(void *context, const struct jw_scan_total *total);
	/* Then called for each file with which programs will fail (as jw_check_failing). May be NULL */
	void (*failing)(void *context, const char *file, struct jw_target target, const char *why);
	/* And for each one of which a part fails, or which is optional and fails: `all` of it.
	 * May be NULL. */
	void (*lacking)(void *context, const char *file, struct jw_target target, const char *why,
					enum jw_scan_part part, bool all);
	/* Called behind `paths`, again and again until it gives NULL: the next file, which may be gone
	 * with the next call. -1 ends the scan. May be NULL. */
	int (*more)(struct jw_error *err, void *context, const char **ret_path);
};

/* Scans. -1: it could not be completed (the callback's own error, JW_ERR_INTERRUPTED). */
int jw_scan(struct jw_error *err, const struct jw_scan_options *options);

/* The package index that pip is configured to. pip asks it: that of the active Python environment,
 * else of the Python on PATH, else one that uv lends. It is told never to build, so no code of a
 * package runs. */
struct jw_index;

struct jw_index_options {
	const char
		*platform;      /* linux, linux-aarch64, windows; NULL: that of the GPUs, else pip's own */
	const char *python; /* for this version of Python ("3.11"); NULL: the active one */
	const struct jw_target *targets;
	size_t target_count;
	bool arm; /* the GPUs are in machines with a 64-bit Arm processor (GH200, GB10) */
	struct jw_compiler_fetch_options fetch;
};

/* -1: the platform is unknown, or not that of the GPUs. */
int jw_index_open(struct jw_error *err, const struct jw_index_options *options,
				  struct jw_index **ret_index);
void jw_index_close(struct jw_index *index);

/* What a list asks for. */
struct jw_listed_package {
	char *asked; /* NAME==VERSION, or as jw_index_names got it; of a line that is left out its kind:
					"list", "option" (of pip), "address", "file", "other" */
	char sha256[65]; /* of its file; "": not known */
	char *file;      /* the file's name; "": not known; NULL: left out */
	size_t line;     /* of what is left out; 0: a package */
	bool direct;     /* not from an index */
	bool fetched;    /* jw_index_list has got its wheel */
};

struct jw_package_list {
	struct jw_listed_package *items;
	size_t count;
};

/* The packages of a requirements file, a pylock.toml (PEP 751) or the report of “pip install
 * --report”, as pip resolves them for the platform, and before them what is left out: options of
 * pip but the indexes, other lists, and what is in no index. pip gets all wheels of lines at once,
 * each one time. The error has pip's words.
 * JW_ERR_FORMAT: the file is none of these, or names no package. The caller frees with the next
 * one. */
int jw_index_list(struct jw_error *err, struct jw_index *index, const char *path,
				  struct jw_package_list *ret_list);
/* The same list of requirements (as for jw_index_wheel_get), which nobody is asked about yet.
 * JW_ERR_USAGE: one is none. */
int jw_index_names(struct jw_error *err, const char *const *packages, size_t count,
				   struct jw_package_list *ret_list);
void jw_package_list_free(struct jw_package_list *list);

/* A wheel of it, to be looked at. */
struct jw_index_wheel {
	char *path, *name;    /* name: of the file; path NULL: it was left where it is */
	char *folder;         /* in which it is */
	const char *platform; /* as jw_platform */
	uint64_t size_bytes;
};

/* `package`: a requirement: NAME, NAME==VERSION, NAME>=2.1,<2.3. The wheel is in a run's own folder
 * among the temporary files, which after a killed run the next one removes, until the next one is
 * got, or the index closed. JW_ERR_USAGE: `package` is a file, or something else. JW_ERR_NOT_FOUND,
 * JW_ERR_IO: pip's words. */
int jw_index_wheel_get(struct jw_error *err, struct jw_index *index, const char *package,
					   const struct jw_index_wheel **ret_wheel);
/* The same of one of jw_index_list's; a wheel for any platform, which has no device code, is left
 * where it is. JW_ERR_USAGE: the package is left out. */
int jw_index_listed_get(struct jw_error *err, struct jw_index *index,
						const struct jw_listed_package *package,
						const struct jw_index_wheel **ret_wheel);

#endif
