/* Asks another program something: a line in, an answer out, within a time. */
#pragma once

#include <stdbool.h>

#include "base/buf.h"
#include "base/cancel.h"

struct os_question {
	const char *const *arguments; /* NULL at the end; the first is the program's path */
	const char *input;            /* its standard input */
	const char *folder;           /* in which it runs; NULL: ours */
	unsigned timeout_ms;          /* then it is killed */
	const struct jw_cancel *cancel;
	struct buf *answer; /* takes its standard output; its maximum bounds it */
	bool mute;          /* its standard error is dropped, else ours */
};

/* *ret_status: its exit status, 128 where a signal ended it. -1: it could not be started
 * (JW_ERR_IO), or said too much or took too long (JW_ERR_LIMIT), or JW_ERR_INTERRUPTED. */
int os_ask_program(struct jw_error *err, const struct os_question *question, int *ret_status);
