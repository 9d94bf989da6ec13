/* Exit statuses, part of the interface (docs/man, docs/json.md). */
#pragma once

#include <stddef.h>

#include <jitwarm/error.h>

enum exit_status {
	EXIT_DONE = 0,   /* done, or warm */
	EXIT_COLD = 1,   /* cold, or a part is left undone: damage found, Ctrl-C, a link not primed */
	EXIT_CANNOT = 2, /* jitwarm cannot help, and has said why */
	EXIT_FAILED = 3,
	EXIT_BAD_USAGE = 64, /* sysexits.h: EX_USAGE */
};

/* Of several outcomes the one to report: usage beats all, then 3 beats 1 beats 2 beats 0. */
enum exit_status exit_combine(enum exit_status a, enum exit_status b);

/* The status of a library's failure: usage 64, interrupted 1, others 3. */
enum exit_status exit_of(enum jw_code code);

/* Where something could not be read: a part left undone, and failed where nothing could be.
 * `images`: files and members with device code that were read. */
enum exit_status exit_of_troubles(size_t troubles, size_t images);
