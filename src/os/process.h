/* Runs another program to its end. Also functions for a process that another one has started. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/cancel.h"
#include "base/error.h"

struct os_ended {
	int status;          /* the exit status; on Windows also an exception's code (0xc0000005) */
	int signal;          /* the signal that ended it, or 0; always 0 on Windows */
	uint64_t peak_bytes; /* peak resident memory, 0 if unknown */
	double cpu_ms;       /* processor time of all its threads */
};

/* Runs a program and waits for its end. `arguments` ends with NULL; the first one is the program's
 * path (on Windows an absolute one); PATH is not searched. `environment` ends with NULL, too; if it
 * is NULL, the program gets this process's variables, as it always does on Windows. It runs in
 * `folder`, or in the current one if that is NULL. The program has no standard input; its stdout
 * and stderr go to the new file `output`. It is killed when this process ends, however that
 * happens. -1 if it cannot be started. */
int os_run(struct jw_error *err, const char *const *arguments, char **environment,
		   const char *folder, const char *output, struct os_ended *ret_ended);

/* Replaces this process by a program, with the same streams (POSIX). Returns only on failure:
 * JW_ERR_NOT_FOUND if there is no such program. */
int os_become_program(struct jw_error *err, const char *const *arguments);

/* Ends this process at once, wherever its threads are. */
void os_end_now(int status);
/* From now on this process is killed when its parent ends. On Windows its job object does that. */
void os_die_with_parent(void);
/* A crash ends the process at once: no core files, no dialog boxes. */
void os_crash_quietly(void);
/* From now on, other accounts may not write to the superuser's new files, whoever makes them in
 * this process. Called before other threads start. */
void os_guard_new_files(void);
/* Hears of the end of child processes, also if the caller has blocked that signal (SIGCHLD). */
void os_hear_children(void);

/* Which file a program's name means, and in which encoding the system's programs print. On Windows
 * only PATH decides, not the current folder nor another variable, because other accounts may write
 * to that folder, and unelevated programs of the account set the variables. */

/* Returns the path of a program of the system: in System32; on POSIX, that of os_program_on_path.
 * JW_ERR_NOT_FOUND. The caller frees it. */
char *os_system_program(struct jw_error *err, const char *name);
/* Returns the output of such a program as UTF-8; programs of Windows print in the console's code
 * page. The caller frees it. */
char *os_system_text(const char *printed);
/* Finds the program of a command line, in the form for os_run and libuv. Windows: searches for a
 * bare name, with .exe and .com if it has no extension, in the folders of PATH that name their
 * drive or share; JW_ERR_NOT_FOUND if there is none. POSIX: returns a copy. The caller frees it. */
char *os_find_program(struct jw_error *err, const char *name);
/* Returns whether a path depends on neither the current folder nor the current drive: "\\usr" does
 * on Windows. */
bool os_is_whole_path(const char *path);

/* Finds the folder of NVIDIA's installer for the CUDA toolkit of a version, or, if `major` is 0, of
 * the newest one, if the system has such a folder. The caller frees it; NULL if there is none. */
char *os_cuda_toolkit(unsigned major, unsigned minor);

/* Installations of Python that the system has registered, beside those on PATH. */

/* Finds the folder of the newest registered Python (PEP 514: HKEY_CURRENT_USER before
 * HKEY_LOCAL_MACHINE, both views; PythonCore before other companies). JW_ERR_NOT_FOUND if there is
 * none, and always on POSIX, which has no such registry. The caller frees it. */
int os_python_registered(struct jw_error *err, char **ret_prefix);

/* Calls `take` for the folder of each registered Python (none on POSIX), until it returns another
 * value than 0, which is then returned. */
int os_python_each(struct jw_error *err,
				   int (*take)(struct jw_error *err, void *context, const char *prefix),
				   void *context);

/* A question to another program, which has no standard input, within a time limit. What it says on
 * standard error is dropped. */
struct os_question {
	const char *const *arguments; /* NULL at the end; the first is the program's path */
	const char *folder;           /* the folder in which it runs; NULL: as os_run_found_program */
	unsigned timeout_ms;          /* the time after which it is killed */
	const struct jw_cancel *cancel;
	struct buf *answer; /* receives its standard output; its maximum bounds the output */
};

/* Asks a program on PATH. Root's is asked about before (os_guard), gets the system's own PATH and
 * few variables (child_variables_passed), and runs in a folder where nobody else can have put
 * anything. *ret_status is the exit status, or 128 if a signal ended the program. -1 if it could
 * not be started (JW_ERR_IO), printed too much or took too long (JW_ERR_LIMIT), or
 * JW_ERR_INTERRUPTED. */
int os_ask_found_program(struct jw_error *err, const struct os_question *question, int *ret_status);

/* Runs such a program like os_run, with the same precautions. */
int os_run_found_program(struct jw_error *err, const char *const *arguments, const char *output,
						 struct os_ended *ret_ended);

enum {
	OS_MAX_LINE = 1 << 20, /* of an answer */
	OS_MAX_ANSWER = 64 << 20,
	OS_MAX_HOURS = 4,
	OS_MAX_MEMORY_GIB = 8
};
/* The limits of a program whose behaviour depends on other people's servers, beside
 * OS_MAX_MEMORY_GIB: a page of an index, or a member of a wheel, may unpack to anything. */
struct os_helper {
	const char *name;    /* in messages */
	const char *folder;  /* the folder below which it writes all its files; NULL: not watched */
	const char *runs_in; /* NULL: as os_run_found_program */
	uint64_t most_bytes; /* the most bytes of those files */
	unsigned most_ms;    /* the time for an answer; 0: OS_MAX_HOURS */
	const struct jw_cancel *cancel;
	/* Called several times a second with the size of those files; may be NULL. */
	void (*on_size)(void *context, uint64_t size_bytes);
	void *context;
	struct os_patience *patience; /* NULL: none but OS_MAX_HOURS */
};
/* The wait of a command for a server, over all programs that it starts: grace_s, and a second
 * for each OS_SLOWEST bytes of their files, received or to be sent. A server that sends a byte now
 * and then would otherwise hold the command for hours. */
enum { OS_GRACE_S = 600, OS_SLOWEST = 1 << 16 };
struct os_patience {
	unsigned grace_s;
	uint64_t waited_ns, bytes; /* of the programs that have ended */
};
/* A helper that answers questions, lines, with lines, until it is stopped. `folder` and `on_size`
 * of the helper count while a question is open; what it says on standard error is dropped. */
struct os_answering;
/* Starts it, with the precautions of os_ask_found_program; JW_ERR_UNSUPPORTED if root does not run
 * it. The objects of `helper` must outlive it. */
int os_answering_start(struct jw_error *err, const char *const *arguments,
					   const struct os_helper *helper, struct os_answering **ret_answering);
/* Asks, or with a NULL question only waits for lines. `take` gets each line, which it may change,
 * and returns 0 if more lines follow, 1 for the last one of the answer, or -1 with *err. If the
 * program ends before that, *ret_ended is set, with JW_ERR_IO. JW_ERR_LIMIT if it writes more files
 * than allowed, answers with more than OS_MAX_ANSWER bytes, or takes longer than OS_MAX_HOURS or
 * its patience allow; JW_ERR_INTERRUPTED. -1 ends the program. */
int os_answering_ask(struct jw_error *err, struct os_answering *answering, const char *question,
					 int (*take)(struct jw_error *err, void *context, char *line), void *context,
					 struct os_ended *ret_ended);
void os_answering_stop(struct os_answering *answering); /* may be NULL */
/* From now on the process cannot have more memory than that of its own, as far as the system allows
 * it. */
void os_limit_memory(int pid, uint64_t most_bytes);
/* Finds the file of a program, without its ".exe", in a folder of PATH whose name does not depend
 * on the current folder; NULL if there is none. Root passes over files that another account can
 * change, unless there are no others. The caller frees it. */
char *os_program_on_path(const char *name);

/* Quotes command lines for configuration files of the two systems. */

/* Appends one argument, quoted so that the C runtime of a Windows program restores it; preceded by
 * a blank unless it is the first. Source: Microsoft, "Parsing C command-line arguments". */
int quote_windows(struct jw_error *err, struct buf *line, const char *argument);

/* Appends one argument, quoted for ExecStart= of a systemd unit. Source: systemd.service(5),
 * "Command lines". */
int quote_systemd(struct jw_error *err, struct buf *line, const char *argument);

/* The command line. */

/* Returns the arguments in UTF-8: argv itself on POSIX; on Windows the system's own, with patterns
 * ("*.dll") replaced by the files that they match; a pattern behind the option `kept` is left
 * alone. Never freed. */
char **os_arguments(int *argc, char **argv, const char *kept);
