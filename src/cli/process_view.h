/* The code that a running process has mapped: its files, and which compilers are among them. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "cli/command.h"

struct process_view {
	int pid;
	char name[64];
	char **paths; /* programs and libraries, each once, of its descendants too */
	size_t count;
	char **replaced; /* of these, those that are not there any more: no paths to look at */
	size_t replaced_count;
	bool driver;      /* NVIDIA's driver */
	bool compiler;    /* the driver's compiler: it is loaded at the first compile or link */
	char others[200]; /* "Triton, NVRTC": compilers with results of their own; "" without one */
};

/* Descendants that this account may not see are missing. JW_ERR_NOT_FOUND: the process has ended,
 * or is ending; JW_ERR_IO: this account may not see it; JW_ERR_UNSUPPORTED: nobody tells. */
int process_view_read(struct jw_error *err, int pid, struct process_view *ret_view);
void process_view_free(struct process_view *view);
