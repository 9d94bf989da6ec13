/* The code that a running process has mapped: its files, and which compilers are among them. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

struct process_view {
	int pid;
	char name[64];
	char **paths; /* programs and libraries, each once, also those of its descendants */
	size_t count;
	char **replaced; /* those of them that no longer exist, so that they cannot be examined */
	size_t replaced_count;
	bool driver;      /* NVIDIA's driver is loaded */
	bool compiler;    /* the driver's compiler is loaded, as it is at the first compile or link */
	char others[200]; /* "Triton, NVRTC": compilers with results of their own; "" if there are none
					   */
};

/* Reads the files of a process, until `until_ns` by os_monotonic_ns (0: without a limit).
 * Descendants that this account may not see are missing. JW_ERR_NOT_FOUND if the process has ended,
 * or is ending; JW_ERR_IO if this account may not see it; JW_ERR_UNSUPPORTED if the system does not
 * report it; JW_ERR_INTERRUPTED after the time, or if jitwarm is to end. */
int process_view_read(struct jw_error *err, int pid, uint64_t until_ns,
					  struct process_view *ret_view);
void process_view_free(struct process_view *view);
