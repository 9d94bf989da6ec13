/* The list of released wheels: what their libraries hold, as far as verdicts depend on it. It holds
 * no verdicts: judge_library computes them, as it does for a file.
 *
 * Written by scripts/list-wheels.py from what “jitwarm scan --json” found in each wheel, by
 * scripts/list-builds.py from the build scripts of wheels that are on other indexes, and by
 * “jitwarm which --ask”. The text has a line for each thing; words are separated by one blank:
 *
 *     jitwarm-wheels 1 DATE
 *     package NAME                                 its name by PEP 503
 *     wheel VERSION PLATFORM PYTHONS FILE SHA256   one that was looked at; newest first
 *     same VERSION PLATFORM PYTHONS OF             not looked at itself: as the wheel of release OF
 *     unseen VERSION PLATFORM PYTHONS              not looked at, and nothing is known of it
 *     build VERSION PLATFORM PYTHONS CUDA ENTRY... not looked at: what its build script says
 *     requires REQUIREMENT                         of the wheel or build above: from its METADATA
 *     library KIND RUNTIME NAME                    of the wheel above
 *     needs NAME                                   of the library above: a row of data/packages.tsv
 *     piece COUNT ROLE ENTRY...                    of the library above: COUNT alike containers
 *
 * - PLATFORM: linux, linux-aarch64, windows; of an unseen release also source (there is no wheel)
 *   and none (there is none for the platform in question).
 * - REQUIREMENT: a release that was not looked at has those of OF unless it has its own ones, and
 *   “-” if it has none.
 * - PYTHONS: cp310 (that version), cp38+ (that one or newer), py3 (any); with commas.
 * - KIND: library, or file (which is itself a container, a cubin or PTX).
 * - A library without a piece has no code, and needs its CUDA runtime.
 * - CUDA: the toolkit's version, 12060; 0: unknown.
 * - RUNTIME: the CUDA version of its CUDA runtime. 12080: a shared library's, which is at least the
 *   compiler's of its machine code; ~12040: of one in the library, that compiler's; ~0: unknown.
 * - ROLE: registered, relocatable or loose; then -linked; then -empty or -edited.
 * - ENTRY: sm_90a, compute_80, kind8:sm_90 (another kind of entry); then any of
 *   - =90a: the target that the PTX's text names, if it is another one
 *   - @8.6: the ISA version of PTX
 *   - #12080: the first CUDA version whose drivers load the machine code
 *   - +M:S:B: M distinct modules, S seconds to compile by the model, B bytes of PTX
 *   - z: compressed with zstd; r: has to be linked before it can be loaded; d: damaged */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/error.h"
#include "plan/judging.h"

struct wheel_library {
	const char *name; /* its path in the wheel */
	struct judge_facts facts;
	uint32_t runtime_cuda; /* as the list has it: for a shared CUDA runtime from 11 on at least the
							  major version; 0 if unknown */
	bool runtime_shared;   /* it is linked to a shared runtime */
	uint32_t needs;        /* as in jw_scan_image */
};

struct wheel {
	const char *version, *platform, *pythons;
	/* "" if it was not examined itself; then its libraries are those of `of`, or what is declared.
	 */
	const char *file, *sha256;
	const char *of; /* the version that was examined; NULL if this one was, or none */
	bool unseen;
	/* The build script says for which GPUs it has machine code, which is all that is known: one
	 * library with one container stands for it. */
	bool declared;
	const struct wheel_library *libraries;
	size_t library_count;
	const char *const *requires; /* find/requirement.h reads them */
	size_t require_count;
	bool requires_none; /* though the release that it is like requires something */
};

struct wheel_list {
	char *date;           /* "2026-11-27" */
	struct wheel *wheels; /* of one package, in the order of the list: newest first */
	size_t count;
	struct wheel_memory *memory;
};

/* Reads one package (its name by PEP 503) of a list's text. `name`, the list's, begins each error.
 * JW_ERR_NOT_FOUND if the list lacks the package; JW_ERR_FORMAT names the line. */
int wheel_list_read(struct jw_error *err, const char *name, const char *text, size_t size,
					const char *package, struct wheel_list *ret_list);
/* Returns the text of the list in the program; the caller frees it. */
int wheel_list_text(struct jw_error *err, char **ret_text, size_t *ret_size);
#define WHEEL_LIST_OWN "the program's list of wheels"
#define WHEEL_SOURCE   "source" /* the platform of a release of which there is only source code */
void wheel_list_free(struct wheel_list *list);
/* Appends the lines of a package's builds in a list's text. */
void wheel_list_builds(const char *text, size_t size, const char *package, struct buf *lines);

/* Returns the label of a declared build, “cu126”, which names its place on another index; NULL for
 * a wheel of the list's own index. */
const char *wheel_label(const struct wheel *wheel);
/* Returns the major versions of the CUDA runtimes of a wheel's libraries, a bit for each; 0 if none
 * is linked to a shared one, which another package brings. */
uint32_t wheel_runtimes(const struct wheel *wheel);
/* Returns whether a wheel can be installed for that version of Python ("3.11"). */
bool wheel_fits_python(const struct wheel *wheel, const char *python);
/* Returns all versions for which it can be installed: "3.8 to 3.12", "3.9 or newer"; the caller
 * frees the text. */
char *wheel_pythons(const struct wheel *wheel);
