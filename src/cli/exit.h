/* Exit statuses, part of the interface (docs/man, docs/json.md). */
#pragma once

#include <stddef.h>

#include <jitwarm/error.h>
#include <jitwarm/verdict.h>

enum exit_status {
	EXIT_DONE = 0,   /* done, or warm */
	EXIT_COLD = 1,   /* cold, or part of the work is left: damage found, Ctrl-C, a link not primed
					  */
	EXIT_CANNOT = 2, /* jitwarm cannot help, and has printed the reason */
	EXIT_FAILED = 3,
	EXIT_BAD_USAGE = 64, /* sysexits.h: EX_USAGE */
};

/* Combines two outcomes: usage beats all, then 3 beats 1 beats 2 beats 0. */
enum exit_status exit_combine(enum exit_status a, enum exit_status b);

/* The status of a library's failure: usage 64, interrupted 1, others 3. */
enum exit_status exit_of(enum jw_code code);

/* The status of every command that judges whether a start compiles. */
enum exit_status exit_of_verdict(enum jw_verdict verdict);

/* The status if something could not be read: work is left, or a failure if nothing was read.
 * `images`: files and members with device code that were read. */
enum exit_status exit_of_troubles(size_t troubles, size_t images);
