/* Other processes and the files that they have mapped. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

/* Calls `take` for every file that a process or one of its descendants has mapped as code now
 * (programs and libraries), for some files several times; `replaced`: a library that was replaced
 * or removed since, so the file no longer exists, or is another one. Unreadable files, and
 * processes that end meanwhile, are skipped. As the superuser, so are processes of other accounts,
 * and those that see other files, with their descendants. JW_ERR_UNSUPPORTED if the system does not
 * report it (other than Linux and Windows). If `take` returns another value than 0, the walk ends.
 */
int os_mapped_code(struct jw_error *err, int pid,
				   int (*take)(struct jw_error *err, void *context, const char *path,
							   bool replaced),
				   void *context);

/* A running program. */
struct os_program {
	int pid;
	char name[64];
};

/* Finds the program that holds a lock on a file. False if the system does not report it: Windows,
 * locks of another container or machine. */
struct os_file;
bool os_file_user(struct os_file *file, struct os_program *ret_program);
/* Finds a program's name; "" if unknown. */
void os_program_name(int pid, char *name, size_t size);

/* Finds the account of a process. JW_ERR_NOT_FOUND if there is no such process;
 * JW_ERR_UNSUPPORTED if it is in a container (it has other files than we have), has the rights of
 * several accounts, or the system does not report it. */
int os_process_owner(struct jw_error *err, int pid, uint32_t *ret_owner);
/* Calls `take` for each variable with which the process was started; a variable may contain any
 * bytes. JW_ERR_IO if this account may not read them. */
int os_process_variables(struct jw_error *err, int pid,
						 int (*take)(struct jw_error *err, void *context, const char *name,
									 const char *value),
						 void *context);

/* Finds the current folder of a process, by its path below the process's own root folder.
 * JW_ERR_NOT_FOUND if it was removed or is unknown. The caller frees it. */
int os_process_folder(struct jw_error *err, int pid, char **ret_path);

/* The resources that a process and its descendants have used so far; the superuser's walk skips as
 * above. */
struct os_process_use {
	double cpu_ms; /* processor time, including that of ended processes if their parents waited for
					  them */
	unsigned processes, runnable; /* runnable: threads that run or want a core */
	uint64_t born;                /* distinguishes it from a later process with the same number */
};
/* JW_ERR_NOT_FOUND if the process has ended or is ending; JW_ERR_UNSUPPORTED if the system does not
 * report it. */
int os_process_used(struct jw_error *err, int pid, struct os_process_use *ret_use);
