/* Judges whether a program that uses a library, or a package of several, runs on a GPU.
 *
 * Pure functions of what libraries hold, however that is known: from a file (analyse.h), or from a
 * list of facts about files that nobody has here (wheel_list.h). They are the only judge. The rule
 * and its reasons are docs/internals/compat.md, "Runs, compiles, or fails".
 *
 *     judge_library     facts, GPU, driver: how many containers run, and whether the library does
 *     judge_packages    libraries of packages: which of them fail, and what people are told */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <jitwarm/scan.h>
#include <jitwarm/target.h>

#include "base/packages.h"
#include "code/devcode.h"
#include "code/release.h"
#include "plan/verdict.h"

/* A library, or a file that is itself a container, a cubin or PTX. */
struct judge_facts {
	const struct jw_piece *pieces;
	size_t piece_count;
	bool library;          /* ELF or PE */
	bool windows;          /* a library for Windows */
	bool nvidia;           /* NVIDIA's own, in a package of NVIDIA's or in none */
	const char *path;      /* its path below the folder of its package */
	uint32_t runtime_cuda; /* the CUDA version of its CUDA runtime; 0: none, or unknown */
};

enum judge_fate {
	JUDGE_NOTHING, /* it has no code of its own that a program loads */
	JUDGE_RUNS,
	JUDGE_LACKS,   /* most of its code is for other GPUs */
	JUDGE_REFUSED, /* the driver refuses most of its code, or its start */
};

/* The PTX that a program may have compiled: distinct modules, and their cost by the model. */
struct judge_work {
	size_t modules;
	uint64_t ptx_bytes;
	double cost_ms, longest_ms;
};

struct judged {
	enum judge_fate fate;
	/* The containers that decide: all of them, and those that run as machine code, are compiled,
	 * need a newer driver, and have no code for the GPU. */
	size_t pieces, native, compiled, too_new, lacking;
	/* The same numbers of all containers with code that no link reads. */
	size_t all_pieces, all_too_new, all_lacking;
	bool family;             /* all of it is for the GPUs of a family alone ('a', 'f') */
	bool host;               /* it has no code of its own, but needs a CUDA runtime */
	bool start;              /* with JUDGE_REFUSED: the start fails, whatever most of the code is */
	bool links;              /* the CUDA runtime links its inputs on this GPU */
	enum plan_reason reason; /* the most frequent reason why containers fail */
	struct jw_target early;  /* with REASON_EARLY: the newest target for which PTX is too old */
	/* With REASON_NEEDS: the row “library” of packages.tsv of what it needs. */
	const struct package_fact *lacks;
	uint16_t error; /* the driver's error for it (PLAN_ERROR_…) */
	uint32_t kind;  /* the kind of an entry that is unknown to jitwarm or the driver */
	/* The first driver that is new enough for all of it; zeros if a driver's age is not the
	 * reason. */
	struct jw_driver needs;
	/* All containers, by verdict, and those that cannot run by reason. */
	size_t verdicts[VERDICT_COUNT], reasons[REASON_COUNT];
	struct jw_driver reason_needs[REASON_COUNT];
	size_t tile; /* containers with Tile IR that the driver compiles */
	/* The targets of its code: the newest, the oldest, and that of PTX for some GPUs alone if there
	 * is no other PTX for this one; sm 0: none. */
	struct jw_target newest, oldest, exclusive;
	/* The newest PTX of a file that programs link with nvJitLink on this GPU; 0.0: none. */
	struct gpu_isa link_isa;
	struct judge_work work; /* without what it loads itself if that is more than a limit */
};

/* If a library has more PTX than this outside its registered sections, for one GPU, such modules
 * are left out unless everything is requested. */
#define JUDGE_LOOSE_LIMIT_BYTES UINT64_C(32000000)

void judge_library(const struct judge_facts *facts, struct jw_target device,
				   const struct jw_driver *driver, struct judged *ret_judged);
/* Returns whether the driver compiles nothing of an empty container: nothing has it loaded. */
static inline bool judge_asks_nothing(bool library, enum devcode_role role)
{
	return !library || role == DEVCODE_LOOSE;
}

enum judge_part {
	JUDGE_GOOD,    /* it runs, or nothing depends on it */
	JUDGE_SPARE,   /* no program loads it: PTX, if a variant has machine code for this GPU, or a
					  library, if a variant is for the CUDA of the framework beside it */
	JUDGE_NEWER,   /* its package runs; some or all of it needs a newer driver */
	JUDGE_WITHOUT, /* its package runs without it */
	JUDGE_FAILS,   /* its package fails */
};

/* A library of a package. */
struct judge_member {
	struct judged is;
	/* Numbers from 0 that are equal for members of one package, and for variants. */
	size_t package, variants;
	bool library;  /* ELF or PE */
	bool nvidia;   /* in a package of NVIDIA's */
	bool aside;    /* a profiler's, beside sources, NVIDIA's in another package, or one that the
					  package's users do without: it never decides */
	bool side;     /* it is for some GPUs by its name: it decides only if there is no other */
	uint32_t cuda; /* the CUDA version of its CUDA runtime; 0: unknown */
	bool base;     /* in a package by whose CUDA others choose among their variants */
	/* A row “library” of packages.tsv that it needs, without code for the GPU; NULL: none. */
	const struct package_fact *lacks;
	enum judge_part part; /* set to the answer */
	bool main;            /* set if it is what its package is for */
	bool chosen;          /* set if it counts for its variants */
};
/* Judges packages; each number is less than `numbers`. */
void judge_packages(struct judge_member *members, size_t count, size_t numbers);
