/* Other processes and the files that they have mapped. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

/* Calls `take` for every file that a process or one of its descendants has mapped as code now
 * (programs and libraries), for some of them several times. Unreadable ones, and processes that end
 * meanwhile, are skipped. JW_ERR_UNSUPPORTED if the system does not tell (other than Linux and
 * Windows). A return other than 0 of `take` ends it. */
int os_mapped_code(struct jw_error *err, int pid,
				   int (*take)(struct jw_error *err, void *context, const char *path),
				   void *context);

/* The same for libraries that were replaced or removed since: there is no such file any more, or it
 * is another one. */
int os_replaced_code(struct jw_error *err, int pid,
					 int (*take)(struct jw_error *err, void *context, const char *path),
					 void *context);

/* A running program. */
struct os_program {
	int pid;
	char name[64];
};

/* The program that holds a lock on a file. False if the system does not tell: Windows, locks of
 * another container or machine. */
struct os_file;
bool os_file_user(struct os_file *file, struct os_program *ret_program);
/* "" if it is unknown. */
void os_program_name(int pid, char *name, size_t size);

/* The account of a process. JW_ERR_NOT_FOUND: there is none; JW_ERR_UNSUPPORTED: it is in a
 * container (it has other files than we have), it has the rights of several accounts, or the system
 * does not tell. */
int os_process_owner(struct jw_error *err, int pid, uint32_t *ret_owner);
/* Calls `take` for each variable that the process was started with. Any bytes may be in them.
 * JW_ERR_IO: this account may not read them. */
int os_process_variables(struct jw_error *err, int pid,
						 int (*take)(struct jw_error *err, void *context, const char *name,
									 const char *value),
						 void *context);

/* The folder that a process is in now, by the path that it has for it (below its own root folder).
 * JW_ERR_NOT_FOUND: it was removed, or nobody tells. The caller frees it. */
int os_process_folder(struct jw_error *err, int pid, char **ret_path);

/* The resources that a process and its descendants have used so far. */
struct os_process_use {
	double cpu_ms; /* processor time, including that of ended processes if their parents waited for
					  them */
	unsigned processes, runnable; /* runnable: threads that run or want a core */
	uint64_t born;                /* distinguishes it from a later process with the same number */
};
/* JW_ERR_NOT_FOUND if the process has ended or is ending; JW_ERR_UNSUPPORTED if the system does not
 * report it. */
int os_process_used(struct jw_error *err, int pid, struct os_process_use *ret_use);
