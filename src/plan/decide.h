/* Decides whether a program that uses a library, or a package of several, runs on a GPU.
 *
 * Pure functions of what a library holds, however that is known: from its file (analyse.c), or from
 * a list of facts about files that nobody has here. Nothing here reads a file or asks a driver.
 *
 *     decide_library     facts, GPU, driver: what runs of a library
 *     decide_packages    what runs of the libraries: which run, are a part that fails, or fail
 *
 * The rule; docs/internals/compat.md has its reasons ("Fails, a part fails, or runs"):
 *
 * 1. A start fails if the driver is too old for the CUDA runtime. If the runtime loads lazily
 *    (loading.h), nothing else makes a start fail: code that the driver refuses, or that cannot be
 *    linked, is a piece that fails when it is used. If a runtime of 12.0 or newer loads all of it,
 *    a start fails with what the driver calls invalid: machine code of a newer CUDA, damage, kinds
 *    that it does not know. With an older one it fails with all that the driver refuses, and if the
 *    runtime must link and cannot: some inputs have code for the GPU and others have none, or the
 *    file no longer has the inputs.
 *    A linked container with machine code for the GPU, none of it empty, is whole if its inputs
 *    have PTX alone: a build links machine code, so that of the inputs was removed afterwards.
 *    Code without a kernel, while other code of its container has some, is for no GPU. The driver
 *    takes it all the same, so the container has no code for the GPU (decide_lacks_kernels).
 * 2. The runtime skips a linked container if neither it nor any of its inputs has code for the GPU.
 *    That is one piece without code.
 * 3. A library fails if more than half of its pieces have no code for the GPU or need a newer
 *    driver; if fewer do, a part fails. The driver is the reason if a newer one helps; the driver
 *    that is named is new enough for the start and for these pieces. Pieces for the GPUs of a
 *    family alone ('a', 'f') count in this share only if there are no others: programs choose them
 *    by the GPU.
 * 4. A container in a library's data counts like a registered one if it holds code for several
 *    architectures: it was made for every GPU. One for a single architecture is one of a set from
 *    which the library chooses; a set without code for the GPU is a part that fails, unless its
 *    containers are for several architectures and other code of the library runs: then the library
 *    does without the set on other GPUs. If it is all that the library has, the library fails.
 *    A library does not choose by the driver: containers for one architecture each whose PTX is
 *    too new count like registered ones, unless others in the data run. Those that run count like
 *    registered ones if the library otherwise fails, and with at least three of them at
 *    most half of it does.
 *    Containers in the data with different lists of architectures are a set, too, if three of
 *    them have machine code for the GPU: those without are for other GPUs (cuSPARSELt). PTX does
 *    not show that: TensorFlow's profiler has some for every GPU.
 *    Registered containers for one architecture each are such a set, too, if they have three
 *    different ones, or two and three containers with machine code for the GPU: if other code of
 *    the library runs, they are for other GPUs (cuDNN's engines).
 *    In cuDNN 7 and OptiX Prime, so are registered containers whose architectures have none in
 *    common with those of a container for the GPU: the library has kernels for each generation.
 *    NVIDIA's later libraries (cuBLAS, cuTENSOR, cuDNN 9, …) have such kernels in several forms.
 *    They lack nothing if they have machine code for the GPU, and either run, or have three
 *    containers of it that begin with the GPU's generation: Maxwell and Pascal, or a major version.
 *    So are registered containers for Maxwell and Pascal alone, if the library runs, and has at
 *    least as many with machine code for the GPU that are for later GPUs alone (cuBLAS).
 * 5. A program loads one of several variants (fate_variants): none fails if one runs.
 * FlashAttention 3 without code for the GPU counts like a variant of FlashAttention 2: programs
 * choose it by the GPU, but not by the driver, and use version 2 beside it. If variants are no
 * libraries, it loads machine code for exactly its GPU before PTX, which is no module then, and if
 * none runs, one counts for all, rather one that only needs a newer driver.
 * 6. A package fails if one of its libraries makes a start fail, if none runs, or if the one with
 *    the most pieces fails. Other libraries are optional: a part of the package fails. So is one
 *    without code for the GPU if another one of its own has machine code for the GPU's family
 * alone ('a', 'f'): the package was built for this GPU (sglang-kernel, whose largest library is
 * FlashAttention 3, on an RTX 50). A library of FlashAttention that runs is not what a package is
 * for, nor one without code for a GPU older than sm_80, for which it has none: programs do without
 * it there (vLLM and xformers). A part is, too, a library of another package that auditwheel or
 * delvewheel has copied into the wheel, even if the driver refuses its code: torch 2.5 has
 * libcusparseLt with more pieces than its own libraries, and with PTX that driver 550 refuses on a
 * GTX 10. Some libraries are a part even if the package has no other code (is_dispensable).
 * 7. A library without code of its own whose CUDA runtime refuses the driver makes its package fail
 * if no library with code runs, and at least half of the package's libraries have code or need such
 * a runtime. Otherwise it is a part: one plug-in of many (libucx). */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <jitwarm/scan.h>
#include <jitwarm/target.h>

#include "code/devcode.h"
#include "plan/loading.h"
#include "plan/verdict.h"

enum decide_fate {
	DECIDE_NO_CODE, /* nothing is counted: no code, or code from which the library chooses */
	DECIDE_RUNS,    /* with `lacking`: a part fails */
	DECIDE_LACKS,   /* too much of it has code only for other GPUs */
	DECIDE_REFUSED, /* the driver refuses too much of it, or the start fails */
};

/* The decision about a library on a GPU under a driver. */
struct decided {
	enum decide_fate fate;
	/* The containers that count; those of them that this GPU cannot use; and those for whose code
	 * the driver is too old. */
	size_t pieces, lacking, too_new;
	size_t
		family_lacking; /* those of `lacking` that are only for the GPUs of a family ('a', 'f') */
	bool special;       /* all of `pieces` are only for the GPUs of a family */
	bool for_family;    /* it has machine code for the GPU's family alone, which runs */
	bool chosen;        /* with DECIDE_LACKS: all of it is a set in the data */
	bool own, text;     /* a file, not a library: machine code for exactly this GPU; only PTX */
	size_t unneeded;    /* containers in the data that are too new, while others of their set run */
	/* with DECIDE_REFUSED, none if inputs of a link have no code; else of `too_new` */
	enum plan_reason reason;
	bool by_share; /* the share of pieces decides, not the start */
	/* It has no code of its own, or none with kernels, and its CUDA runtime refuses the driver
	 * (DECIDE_REFUSED); or it has no code, and the runtime takes the driver (DECIDE_NO_CODE). */
	bool host;
	bool tile_too; /* it also has Tile IR for which the driver is too old */
	/* The first driver that is new enough; zeros if its age is not the reason. */
	struct jw_driver needs;
};

/* Returns whether all that lacks code is for the GPUs of a family, so that programs choose by the
 * GPU. */
static inline bool decide_lacks_family(const struct decided *decided)
{
	return decided->lacking && decided->lacking == decided->family_lacking;
}

/* ---- from facts in the form of scan --json */

/* A library, or a file that is itself a container, a cubin or PTX. */
struct decide_facts {
	const struct jw_piece *pieces;
	size_t piece_count;
	bool library;          /* ELF or PE */
	bool windows;          /* a library for Windows */
	const char *path;      /* the path of the library, below the folder of its package */
	uint32_t runtime_cuda; /* the CUDA version of its CUDA runtime; 0 if there is none, or it is
							  unknown */
};

/* PTX that the driver compiles: the number of distinct modules, and their cost by the model. */
struct decide_work {
	size_t modules;
	uint64_t ptx_bytes;
	double cost_ms, longest_ms;
};

/* Returns how programs without CUDA_MODULE_LOADING load it. */
enum loading decide_loading(const struct decide_facts *facts, const struct jw_driver *driver);
/* Decides about a library. *ret_work is what a start compiles of it, with the inputs of a link if
 * there is one; *ret_loose is what the library loads itself. Both may be NULL. */
void decide_library(const struct decide_facts *facts, struct jw_target device,
					const struct jw_driver *driver, struct decided *ret_decided,
					struct decide_work *ret_work, struct decide_work *ret_loose);
void decide_add_work(struct decide_work *sum, const struct decide_work *more);

/* ---- the same decision step by step, for callers that have judged each container */

struct decide_piece {
	enum plan_verdict verdict;
	enum plan_reason reason;
	struct jw_driver needs;
	enum devcode_role role;
	bool in_file; /* the file is not a library: it is the code itself */
	bool linked;
	/* Neither a linked container of the library nor an input of a link declares anything. */
	bool link_empty;
	bool native;  /* it has machine code that the driver loads, unless it is too old for the runtime
				   */
	bool code;    /* it has something that a program can use */
	bool lto;     /* LTO-IR, which only the linker of the build compiles */
	bool hollow;  /* it has machine code alone, and for some of its GPUs none */
	bool machine; /* it has machine code, for whatever GPU */
	bool family;  /* as in plan_judgement */
	bool special; /* only for the GPUs of a family */
	uint64_t sms; /* a bit for each architecture (decide_sm_bit) */
};

enum { DECIDE_SET = 3, DECIDE_LISTS = 16 };

/* Returns the bit of an architecture. No two real ones share a bit; invented ones that do count as
 * one. */
static inline uint64_t decide_sm_bit(uint16_t sm)
{
	return UINT64_C(1) << (sm & 63);
}

/* Returns whether the bits are those of several architectures. */
static inline bool decide_is_several(uint64_t sms)
{
	return sms & (sms - 1);
}

/* The counts of a library; decide_begin makes them. */
struct decide_counts {
	enum loading loading; /* how registered code is loaded */
	size_t pieces, lacking, special, special_lacking;
	size_t for_family;   /* those of them with machine code for the GPU's family alone */
	size_t refused;      /* containers that make the start fail */
	size_t late_refused; /* containers, in the data or registered, that make only the programs
							 that use them fail */
	size_t alone_running, alone_lacking, alone_too_new; /* containers in the data */
	/* The containers of a file with a cubin of exactly the GPU's; those with PTX to compile. */
	size_t own, texts;
	/* Registered containers for one architecture each: a set, if they have so many different
	 * ones. */
	size_t set_lacking, set_native;
	uint64_t set_sms;
	/* Registered containers for Maxwell and Pascal alone that the GPU cannot use, without those of
	 * a set; and those with machine code for the GPU that are for later GPUs alone. */
	size_t former_lacking, later_native;
	/* It is one of NVIDIA's libraries that choose by the GPU; its containers with machine code for
	 * the GPU, and those of them without code for a GPU of an earlier generation. */
	bool by_gpu;
	unsigned major; /* the GPU's */
	size_t native, dedicated;
	/* For cuDNN 7 and OptiX Prime, which have kernels for each generation of GPUs: the
	 * architectures of the registered containers that the GPU cannot use, and how many have them;
	 * and the fewest architectures of one that it can use. */
	bool generations;
	struct {
		uint64_t sms;
		size_t count;
	} lacking_sms[DECIDE_LISTS];
	size_t lists;
	uint64_t narrowest;
	uint64_t alone_sms; /* the architectures of containers in the data for one architecture each */
	/* All containers in the data: the architectures of one; whether others are for other ones;
	 * those with machine code for the GPU; and those for several architectures without code for it.
	 */
	uint64_t data_sms;
	bool data_differ;
	size_t data_native, data_lacking, data_special_lacking;
	/* Linked containers: without code, with a cubin, without one. */
	size_t relinked, prelinked, unlinked;
	bool hollow; /* a linked one is hollow */
	size_t inputs, inputs_lacking, inputs_refused;
	size_t inputs_machine; /* inputs with machine code, for whatever GPUs */
	bool lto;
	/* A bit for each reason: of registered containers that make the start fail, of inputs, which
	 * only a link reads, and of the others. */
	uint32_t reasons, input_reasons, late_reasons;
	struct jw_driver needs, input_needs, late_needs;
	/* Containers in the data for one architecture that are registered nowhere: usable, refused. */
	size_t usable, unusable;
	uint32_t other_reasons;
	struct jw_driver other_needs, alone_needs;
};

/* Returns whether the driver refuses code for that reason, so that a program that loads it fails.
 */
bool decide_is_fatal(enum plan_reason reason);
/* Returns whether the driver takes machine code of the container, be it that it then refuses it. */
bool decide_takes_cubin(enum plan_verdict verdict, enum plan_reason reason, uint16_t error);
/* Returns whether the container is a linked one or an input of a link. */
static inline bool decide_is_of_link(enum devcode_role role, bool linked)
{
	return linked || role == DEVCODE_RELOCATABLE;
}

/* Returns whether the GPU lacks the kernels of a container whose code for it is hollow. A linked
 * container has the rules of its inputs. */
static inline bool decide_lacks_kernels(bool hollow, enum devcode_role role, bool linked)
{
	return hollow && !decide_is_of_link(role, linked);
}

/* Returns whether a container that declares nothing asks nothing of the driver, so that no start
 * and no kernel needs it (measured: tests/driver/loading.sh, tests/driver/linked.sh). The driver
 * skips one without code for the GPU, and loads machine code in any case. It reads a registered one
 * if it loads all code at a start, and only an older runtime's start fails if it refuses that; with
 * lazy loading no kernel has it loaded, whatever it holds. A linked container and the inputs of its
 * link are registered together: if some of them declare something, its kernels need them all. nvcc
 * links each library: of one without relocatable code, the linked container has no inputs. */
bool decide_asks_nothing(const struct decide_piece *empty, enum loading loading);
/* Returns the counts of a library before its first container. Its name tells whether it is one of
 * NVIDIA's that choose by the GPU. */
struct decide_counts decide_begin(const char *path, struct jw_target device, enum loading loading);
/* Adds `count` containers that are judged alike. */
void decide_count(struct decide_counts *counts, const struct decide_piece *piece, size_t count);
/* Returns whether registered containers for one architecture each are a set, so that its missing
 * code for the GPU does not count. */
bool decide_has_set(const struct decide_counts *counts);
struct decided decide_counted(const struct decide_counts *counts);
/* Returns whether the CUDA runtime links at a start on that GPU: a linked container has no cubin
 * for it, and some inputs have code. */
bool decide_links(const struct decide_counts *counts);
/* Returns whether the build has linked for that GPU, so that nothing reads the inputs of the link.
 */
bool decide_is_linked(const struct decide_counts *counts);

/* ---- packages */

enum decide_part {
	DECIDE_GOOD,    /* it runs, or has nothing to run */
	DECIDE_SPARE,   /* PTX that no program loads: a variant is machine code for this GPU */
	DECIDE_LIKE,    /* a file, not a library, fails, and one of its variants counts for it */
	DECIDE_VARIANT, /* it fails; another variant, or FlashAttention 2, runs */
	DECIDE_PART,    /* a program fails that uses the pieces without code: all of them, or some */
	DECIDE_FAILS,   /* the package fails */
};

/* Which FlashAttention a library is. */
enum decide_attention { ATTENTION_NONE, ATTENTION_2 /* or 1 */, ATTENTION_3 };

struct decide_member {
	struct decided decided;
	/* Numbers from 0 that are equal for members of one package, for variants, and for files in one
	 * folder or one archive's folder. */
	size_t package, variants, folder;
	bool library; /* ELF or PE */
	/* A number like the others that is equal for the libraries of one package or archive, or for
	 * all files outside packages; how many libraries of its own that has, 0 if unknown; and whether
	 * this is one of them, which no tool has copied into the wheel. */
	size_t group, siblings;
	bool own;
	bool bundled; /* another package's library, which a tool has copied into the wheel */
	bool aside;   /* FlashAttention or cuDNN's engines, which run or are for newer GPUs */
	enum decide_attention attention;
	bool dispensable;      /* the package runs without it, whatever else is in it */
	enum decide_part part; /* set to the answer */
};
/* Returns the decision about a library without code of its own that needs that CUDA runtime. */
struct decided decide_host(uint32_t runtime_cuda, const struct jw_driver *driver);
/* Decides about packages; each number is less than `numbers`. */
void decide_packages(struct decide_member *members, size_t count, size_t numbers);
