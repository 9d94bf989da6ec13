/* Permanent settings of the driver's cache: their sources, their advised values, and writing them
 * into a file of jitwarm's own, which one marked line in a profile loads.
 *
 * Threads: any number of threads may call these functions at the same time, except
 * jw_settings_adopt. One that applies or undoes at a time. */
#ifndef JITWARM_TUNE_H
#define JITWARM_TUNE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <jitwarm/cancel.h>
#include <jitwarm/error.h>
#include <jitwarm/system.h>

/* Where settings can be written. */
enum jw_scope {
	JW_SCOPE_USER,   /* this account: environment.d, which the login shell's profile loads; on
						Windows HKEY_CURRENT_USER\Environment */
	JW_SCOPE_SYSTEM, /* every account: /etc/environment; on Windows the machine's environment */
	JW_SCOPE_SHELL,  /* the file that this account's shell reads at its start; not on Windows */
};
enum { JW_SCOPES = JW_SCOPE_SHELL + 1 };

/* "user", "system", "shell". */
const char *jw_scope_name(enum jw_scope scope);

/* One place that sets one variable. */
struct jw_setting {
	char *name, *value;
	const char *source; /* "process", "/etc/environment", "environment.d", "shell", "Windows
						   machine", "Windows user" */
	char *where;        /* the file or registry key, "" for a process */
	char *stamp;        /* what the same file of jitwarm's sets JITWARM_TUNED to; NULL: nothing */
	bool ours;          /* jitwarm has written it */
};

struct jw_settings {
	struct jw_setting *items; /* process first, then from the general to the specific */
	size_t count, capacity;
	char *stamp; /* JITWARM_TUNED in this process; NULL: it is not set */
};

/* Reads this process, jitwarm's own files, /etc/environment, and Windows' registry. Missing files
 * set nothing, and no profile of a shell is read. The caller frees with jw_settings_free. */
int jw_settings_read(struct jw_error *err, struct jw_settings **ret_settings);
void jw_settings_free(struct jw_settings *settings);

/* Gives this process the settings that its account's programs will have: CUDA_CACHE_PATH,
 * CUDA_CACHE_MAXSIZE and CUDA_CACHE_DISABLE, where its environment lacks them, as environment.d's
 * 60-jitwarm.conf, else /etc/environment say; on Windows the account's variables, else the
 * machine's. For a program that speaks of other programs, such as `jitwarm` in a unit or a hook,
 * and not for one whose own driver is asked about. No other thread may use the environment. */
int jw_settings_adopt(struct jw_error *err);

/* The same of one variable, which a file has from now on. */
int jw_settings_take(struct jw_error *err, const char *name, const char *value);

/* Objections to a directory for a cache, one line each: volatile, of another account, on a network,
 * with little space (for `more_bytes`) or few files left. Whether it can be written to is
 * jw_tune_advice.path_usable. The caller frees the lines and the array with jw_lines_free. */
int jw_tune_check_path(struct jw_error *err, const char *path, uint64_t more_bytes,
					   char ***ret_lines, size_t *ret_count);

struct jw_tune_question {
	/* The libraries and packages whose results are to fit, as jw_find takes them; without names the
	 * active environment, or nothing if none is active. */
	const char *const *names;
	size_t name_count;
	uint64_t limit_bytes; /* this limit; 0: the one in force if all fits, else jw_cache_limit */
	const char *path;     /* this directory; NULL: the one in force */
	struct jw_cancel cancel;
};

/* What is set, and what should be. */
struct jw_tune_advice {
	struct jw_settings *settings;
	uint64_t predicted_bytes; /* that the names would add to the cache */
	uint64_t limit_bytes;     /* CUDA_CACHE_MAXSIZE */
	char *path;               /* CUDA_CACHE_PATH; NULL: the driver caches nothing */
	bool path_named;          /* by jw_tune_question.path */
	char **warnings;          /* those of system->cache, and about `path` */
	size_t warning_count;
	size_t limit_warnings; /* the first ones: about the limit that was named */
	bool path_usable;      /* by this account, as far as can be seen without writing */
	bool path_in_force;    /* it is the directory of system->cache */
};

/* Collects what jw_tune_apply needs to know. The caller frees with jw_tune_advice_free. */
int jw_tune_advise(struct jw_error *err, const struct jw_system *system,
				   const struct jw_tune_question *question, struct jw_tune_advice **ret_advice);
void jw_tune_advice_free(struct jw_tune_advice *advice);
/* The directory to set in a scope: one directory does not suit all accounts, so there it is NULL
 * unless it was named. */
const char *jw_tune_path(const struct jw_tune_advice *advice, enum jw_scope scope);

struct jw_tune_request {
	enum jw_scope scope;
	uint64_t limit_bytes; /* CUDA_CACHE_MAXSIZE; 0: do not change it */
	const char *path;     /* CUDA_CACHE_PATH, absolute; NULL: do not change it */
};

/* Whether this account can write the files of a scope, as far as can be seen without writing: in a
 * container HOME may be missing, or read-only. If not, only the environment that programs are
 * started with sets anything. */
bool jw_tune_can_apply(enum jw_scope scope);

/* How a variable that jitwarm has set stands in this process. */
enum jw_tune_state {
	JW_TUNE_NOT_SET,    /* jitwarm has not set it */
	JW_TUNE_IN_FORCE,   /* the process has jitwarm's value */
	JW_TUNE_PENDING,    /* the process is of a login from before: log out and in again */
	JW_TUNE_OVERRIDDEN, /* something sets another value behind jitwarm's */
};
/* *ret_ours: jitwarm's setting; NULL with JW_TUNE_NOT_SET. */
enum jw_tune_state jw_tune_state(const struct jw_settings *settings, const char *name,
								 const struct jw_setting **ret_ours);
/* The command that finds what sets a variable at a login. The caller frees it with jw_text_free. */
char *jw_tune_grep(const char *name);

/* The change of one file or registry key. */
struct jw_tune_change {
	char *where;
	const char *what; /* "written", "unchanged", "restored", "removed"; "left": another program or
						 person has changed it since */
};
struct jw_tune_result {
	struct jw_tune_change *changes;
	size_t count, capacity;
};

/* Writes the requested settings into jitwarm's own file, and the line that loads it. Other lines
 * stay, and a second call changes nothing. JW_ERR_UNSUPPORTED: no such scope on this system;
 * JW_ERR_IO: no permission (the message says what to do). The caller frees with
 * jw_tune_result_free. */
int jw_tune_apply(struct jw_error *err, const struct jw_tune_request *request,
				  struct jw_tune_result **ret_result);
/* Sets for this account the limit that the results of these files need, also in system->cache, if
 * the current limit is too small; otherwise *ret_result is NULL. */
int jw_tune_for_files(struct jw_error *err, struct jw_system *system, const char *const *paths,
					  size_t count, struct jw_tune_result **ret_result);
/* Reverts jw_tune_apply in a scope, whichever shell the account had; with `request` NULL in all
 * scopes, the system's only for the superuser or an administrator. */
int jw_tune_undo(struct jw_error *err, const struct jw_tune_request *request,
				 struct jw_tune_result **ret_result);
/* The same report of what jw_tune_undo would revert everywhere. Changes nothing. */
int jw_tune_undo_find(struct jw_error *err, struct jw_tune_result **ret_result);
void jw_tune_result_free(struct jw_tune_result *result);

/* The lines that set them: "sh", "bash", "zsh", "fish", "cmd", "powershell", "docker", "compose",
 * "k8s", "slurm" (a script for Prolog and TaskProlog; without a path below /var/cache/jitwarm),
 * "systemd" or "conda". JW_ERR_USAGE for another form, and for a value that it cannot hold. The
 * caller frees it with jw_text_free. */
int jw_tune_print(struct jw_error *err, const char *form, uint64_t limit_bytes, const char *path,
				  char **ret_text);

#endif
