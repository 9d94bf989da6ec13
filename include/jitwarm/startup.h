/* Automatic priming after a logon and when packages or the driver change: a logon task on Windows,
 * systemd units on Linux.
 *
 * Threads: one call that enables or disables at a time. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include <jitwarm/error.h>

struct jw_startup_options {
	/* Names for `prime`; paths among them become absolute; without names, the environment. */
	const char *const *names;
	size_t name_count;
	const char *environment; /* a virtual or conda environment, absolute; NULL for the active one */
	/* On Linux, a unit of the system instead, which runs before this service starts, and as its
	 * account (NULL: root). */
	const char *service, *account;
	bool everyone; /* for every account of this machine, each in its own account and at its own
					  logon; needs an administrator */
	bool replace;  /* replace a task or unit of that name that is not jitwarm's */
	bool dry_run;  /* for jw_startup_disable: remove nothing; the items with `ours` would be removed
					*/
	const char *program; /* the jitwarm program to start, absolute; NULL for the calling program,
							which must then support `prime --if-changed` */
};

/* A file of systemd, or the task. */
struct jw_startup_item {
	char *where;  /* the file's path, or the task's name */
	char *text;   /* its content */
	bool ours;    /* it exists and is jitwarm's */
	bool there;   /* it exists */
	bool removed; /* removed by this call */
};
struct jw_startup {
	struct jw_startup_item *items;
	size_t count;
	char *program;   /* the jitwarm program that it starts */
	char **commands; /* commands that were run; one line each */
	size_t command_count;
	char *failed; /* why the first of them failed; NULL if all succeeded. Then nothing is enabled,
					 and the files are as before */
	bool not_running; /* on Linux, for jw_startup_enable: systemd, which would start it, is not
						 running */
};

/* Reports what exists, and what would be written. Changes nothing. JW_ERR_UNSUPPORTED, here and
 * below, for `service` on Windows. The caller frees the result with jw_result_free, here and
 * below. */
int jw_startup_find(struct jw_error *err, const struct jw_startup_options *options,
					struct jw_startup **ret_startup);
/* Like jw_startup_find, but first checks the program's path and the names as jw_startup_enable
 * does. Does not fail with JW_ERR_BUSY. */
int jw_startup_preview(struct jw_error *err, const struct jw_startup_options *options,
					   struct jw_startup **ret_startup);
/* Writes and registers the items. JW_ERR_BUSY if an item of that name exists and is not jitwarm's;
 * JW_ERR_IO for a missing permission; an error of jw_find for a name that is neither a path nor a
 * package of the active environment (not checked with `environment`, `service` or `everyone`). */
int jw_startup_enable(struct jw_error *err, const struct jw_startup_options *options,
					  struct jw_startup **ret_startup);
/* Removes the items, and nothing that jitwarm did not write. */
int jw_startup_disable(struct jw_error *err, const struct jw_startup_options *options,
					   struct jw_startup **ret_startup);
/* Lists the services for which jitwarm has installed a unit. The caller frees the list with
 * jw_result_free. */
int jw_startup_services(struct jw_error *err, char ***ret_names, size_t *ret_count);

/* ---- whether anything has changed since the last run */

struct jw_run_key {
	const char *const *names; /* as passed to `prime` */
	size_t name_count;
	const char *cache_dir; /* NULL for the live cache */
	const char *recording; /* the recording's file; NULL if there is none */
	const char *what;      /* the options that decide what is compiled; NULL for none */
};

/* The facts that a run depends on: driver file, GPUs, packages and files, settings, the cache. */
struct jw_run_state;

/* Examines the state without loading the driver. *ret_changes lists the differences from the last
 * complete run ("driver, packages"), or is "first run", or "" if there are none, and lasts as long
 * as the state, which the caller frees with jw_result_free. */
int jw_run_compare(struct jw_error *err, const struct jw_run_key *key,
				   struct jw_run_state **ret_state, const char **ret_changes);
/* Makes the next jw_run_compare compare with this state. jw_prime calls it for
 * jw_prime_keep_options.run, if the run has left nothing. */
int jw_run_remember(struct jw_error *err, const struct jw_run_state *state);
/* Returns whether a run has left nothing that a later one could compile or has to report: over a
 * budget, unused, undone, refused by the driver, unreadable, or interrupted. Modules that failed
 * for another reason do not count, since only a change gives them another chance. */
struct jw_prime_result;
bool jw_run_left_nothing(const struct jw_prime_result *result);

/* Appends a line to a log of JSON lines; a log over a megabyte loses its older half. If the log of
 * jw_log_path is damaged, it is renamed to runs.jsonl.damaged, and a new one begins; any other file
 * that does not begin like a log stays as it is: JW_ERR_FORMAT. */
int jw_log_append(struct jw_error *err, const char *path, const char *line);
/* Finds the log that runs with --if-changed write (in the state directory). The caller frees it
 * with jw_text_free. */
int jw_log_path(struct jw_error *err, char **ret_path);
/* Reads the last lines of a log, at most `most`, the newest last. The caller frees them with
 * jw_lines_free. */
int jw_log_tail(struct jw_error *err, const char *path, size_t most, char ***ret_lines,
				size_t *ret_count);
