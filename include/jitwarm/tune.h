/* Permanent settings of the driver's cache: where they are set, their advised values, and how to
 * write them into a file of jitwarm's own, which one marked line in a profile loads.
 *
 * Threads: during jw_settings_adopt, no other call; one call that applies or undoes at a time. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <jitwarm/cancel.h>
#include <jitwarm/error.h>
#include <jitwarm/system.h>

/* The places where settings can be written. */
enum jw_scope {
	JW_SCOPE_USER, /* this account: environment.d, which the login shell's profile loads; on Windows
					  HKEY_CURRENT_USER\Environment */
	JW_SCOPE_SYSTEM, /* every account: /etc/environment; on Windows the machine's environment */
	JW_SCOPE_SHELL,  /* the file that this account's shell reads at its start; not on Windows */
};
enum { JW_SCOPES = JW_SCOPE_SHELL + 1 };

/* Returns "user", "system" or "shell". */
const char *jw_scope_name(enum jw_scope scope);

/* One place that sets one variable. */
struct jw_setting {
	char *name, *value;
	const char *source; /* "process", "/etc/environment", "environment.d", "shell", "Windows
						   machine", "Windows user" */
	char *where;        /* the file or registry key; "" for a process */
	/* The value of JITWARM_TUNED in the same file, if that is jitwarm's; NULL if there is none. */
	char *stamp;
	bool ours; /* written by jitwarm */
};

struct jw_settings {
	struct jw_setting *items; /* the process first, then from the general to the specific */
	size_t count, capacity;
	char *stamp; /* JITWARM_TUNED in this process; NULL if it is not set */
};

/* Reads the settings of this process, jitwarm's own files, /etc/environment, and Windows' registry.
 * Missing files set nothing, and no profile of a shell is read. The caller frees them with
 * jw_result_free. */
int jw_settings_read(struct jw_error *err, struct jw_settings **ret_settings);

/* Gives this process the settings that its account's programs will have: CUDA_CACHE_PATH,
 * CUDA_CACHE_MAXSIZE and CUDA_CACHE_DISABLE, if its environment lacks them, from environment.d's
 * 60-jitwarm.conf, else /etc/environment; on Windows from the account's variables, else the
 * machine's. For a program that reports on other programs, such as `jitwarm` in a unit or a hook,
 * and not for one whose own driver is asked about. No other thread may use the environment. */
int jw_settings_adopt(struct jw_error *err);

/* Gives this process the value of one variable that a file has from now on. */
int jw_settings_take(struct jw_error *err, const char *name, const char *value);

/* Says whether a directory is lost with a container, a pod or a job, or is in a read-only image.
 * *ret_what is a line that says so, *ret_cure one that says what keeps it. The caller frees both
 * with jw_text_free. */
bool jw_tune_loss(const char *path, char **ret_what, char **ret_cure);
/* Names the caches of other compilers (data/jit-caches.csv) that exist and will be lost in one of
 * these ways, with their sizes, as a part of a line. NULL: none. The caller frees it with
 * jw_text_free. */
char *jw_tune_lost_caches(void);

/* Lists objections to a directory for a cache, one line each: volatile, of another account, on a
 * network, with little space (for `more_bytes`) or few files left. jw_tune_advice.path_usable says
 * whether it can be written to. The caller frees the lines and the array with jw_lines_free. */
int jw_tune_check_path(struct jw_error *err, const char *path, uint64_t more_bytes,
					   char ***ret_lines, size_t *ret_count);

struct jw_tune_question {
	/* The libraries and packages whose results have to fit, as for jw_find; without names the
	 * active environment, or nothing if none is active. */
	const char *const *names;
	size_t name_count;
	uint64_t limit_bytes; /* this limit; 0 for the one in force if everything fits, else
							 jw_cache_limit */
	const char *path;     /* this directory; NULL for the one in force */
	struct jw_cancel cancel;
};

/* The present settings, and the advised ones. */
struct jw_tune_advice {
	struct jw_settings *settings;
	uint64_t predicted_bytes; /* the bytes that the names would add to the cache */
	uint64_t limit_bytes;     /* advised CUDA_CACHE_MAXSIZE */
	char *path;               /* advised CUDA_CACHE_PATH; NULL if the driver caches nothing */
	bool path_named;          /* the path is from jw_tune_question.path */
	char **warnings;          /* the warnings of system->cache, and about `path` */
	size_t warning_count;
	size_t limit_warnings; /* the number of the first ones, which are about the named limit */
	size_t value_warnings; /* how many are about values that are set, and not about `path` */
	bool path_usable;      /* this account can use it, as far as that can be seen without writing */
	bool path_in_force;    /* the path is the directory of system->cache */
};

/* Computes the settings to advise, from which the caller makes a jw_tune_request. The caller frees
 * them with jw_result_free. */
int jw_tune_advise(struct jw_error *err, const struct jw_system *system,
				   const struct jw_tune_question *question, struct jw_tune_advice **ret_advice);
/* Returns the directory to set in a scope. In the system's scope it is NULL unless the user named
 * it, because one directory does not suit all accounts. */
const char *jw_tune_path(const struct jw_tune_advice *advice, enum jw_scope scope);

struct jw_tune_request {
	enum jw_scope scope;
	uint64_t limit_bytes; /* CUDA_CACHE_MAXSIZE; 0 to leave it unchanged */
	const char *path;     /* CUDA_CACHE_PATH, absolute; NULL to leave it unchanged */
};

/* Returns whether this account can write the files of a scope, as far as that can be seen without
 * writing: in a container HOME may be missing, or read-only. If false, set the variables in the
 * programs' own environment. */
bool jw_tune_can_apply(enum jw_scope scope);

/* The state of a variable that jitwarm has set, as this process sees it. */
enum jw_tune_state {
	JW_TUNE_NOT_SET,    /* jitwarm has not set it */
	JW_TUNE_IN_FORCE,   /* the process has jitwarm's value */
	JW_TUNE_PENDING,    /* the process belongs to an earlier login: log out and in again */
	JW_TUNE_OVERRIDDEN, /* something else sets another value after jitwarm's */
};
/* Returns the state of a variable; *ret_ours is jitwarm's setting, NULL with JW_TUNE_NOT_SET. */
enum jw_tune_state jw_tune_state(const struct jw_settings *settings, const char *name,
								 const struct jw_setting **ret_ours);
/* Returns the command that finds what sets a variable at a login. The caller frees it with
 * jw_text_free. */
char *jw_tune_grep(const char *name);

/* The change of one file or registry key. */
struct jw_tune_change {
	char *where;
	const char *what; /* "written", "unchanged", "restored", "removed"; "left" if another program or
						 person has changed it since */
};
struct jw_tune_result {
	struct jw_tune_change *changes;
	size_t count, capacity;
};

/* Writes the requested settings into jitwarm's own file, and the line that loads it. Other lines
 * stay, and a second call changes nothing. JW_ERR_USAGE if the path is not absolute;
 * JW_ERR_UNSUPPORTED if this system has no such scope; JW_ERR_IO for a missing permission (the
 * message says what to do). The caller frees the result with jw_result_free. */
int jw_tune_apply(struct jw_error *err, const struct jw_tune_request *request,
				  struct jw_tune_result **ret_result);
/* Sets for this account the limit that the results of these files need, also in system->cache, if
 * the current limit is too small; otherwise *ret_result is NULL. */
int jw_tune_for_files(struct jw_error *err, struct jw_system *system, const char *const *paths,
					  size_t count, struct jw_tune_result **ret_result);
/* Reverts jw_tune_apply in a scope, for every shell. With `request` NULL: in all scopes (the system
 * scope only for root or an administrator). Errors as for jw_tune_apply. */
int jw_tune_undo(struct jw_error *err, const struct jw_tune_request *request,
				 struct jw_tune_result **ret_result);
/* Reports what jw_tune_undo would revert in all scopes. Changes nothing. */
int jw_tune_undo_find(struct jw_error *err, struct jw_tune_result **ret_result);

/* Writes the lines that set the variables: "sh", "bash", "zsh", "fish", "cmd", "powershell",
 * "docker", "apptainer", "compose", "k8s", "slurm" (a script for Prolog and TaskProlog; without a
 * path below /var/cache/jitwarm), "systemd" or "conda". JW_ERR_USAGE for another form, and for a
 * value that the form cannot express. `all_caches` names a folder for the driver's cache and those
 * of other compilers, in place of `path`; NULL: the driver's cache alone. The caller frees the
 * lines with jw_text_free. */
int jw_tune_print(struct jw_error *err, const char *form, uint64_t limit_bytes, const char *path,
				  const char *all_caches, char **ret_text);
