/* The list of released wheels: what their libraries hold, as far as verdicts depend on it. It holds
 * no verdicts: judge_library computes them, as it does for a file.
 *
 * Written by scripts/list-wheels.py from what “jitwarm scan --json” found in each wheel, and by
 * “jitwarm which --ask”. The text has a line for each thing; words are separated by one blank:
 *
 *     jitwarm-wheels 1 DATE
 *     package NAME                                 its name by PEP 503
 *     wheel VERSION PLATFORM PYTHONS FILE SHA256   one that was looked at; newest first
 *     same VERSION PLATFORM PYTHONS OF             not looked at itself: as the wheel of release OF
 *     unseen VERSION PLATFORM PYTHONS              not looked at, and nothing is known of it
 *     pin NAME VERSION                             of the wheel above: it requires that version
 *     needs NAME                                   of the wheel or the library above: a row
 * “library” of data/packages.tsv that it requires library KIND RUNTIME NAME                    of
 * the wheel above piece COUNT ROLE ENTRY...                    of the library above: COUNT alike
 * containers
 *
 * - PLATFORM: linux, linux-aarch64, windows.
 * - PYTHONS: cp310 (that version), cp38+ (that one or newer), py3 (any); with commas.
 * - KIND: library, or file (which is itself a container, a cubin or PTX).
 * - A library without a piece has no code, and needs its CUDA runtime.
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

#include <jitwarm/target.h>

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

struct wheel_pin {
	const char *name, *version;
};

struct wheel {
	const char *version, *platform, *pythons;
	/* "" if it was not examined itself; then its libraries are those of `of`. */
	const char *file, *sha256;
	const char *of; /* the version that was examined; NULL if this one was, or none */
	bool unseen;
	const struct wheel_library *libraries;
	size_t library_count;
	uint32_t needs; /* by its requirements, as in jw_scan_image */
	const struct wheel_pin *pins;
	size_t pin_count;
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
void wheel_list_free(struct wheel_list *list);

/* Returns whether a wheel can be installed for that version of Python ("3.11"). */
bool wheel_fits_python(const struct wheel *wheel, const char *python);
/* Returns all versions for which it can be installed: "3.8 to 3.12", "3.9 or newer"; the caller
 * frees the text. */
char *wheel_pythons(const struct wheel *wheel);
