/* Why programs start slowly: the findings about a machine, its settings, its cache and its
 * packages, each with evidence and a way out.
 *
 * Threads: as jw_check and jw_system_open; during jw_examine_process no other thread may use files
 * or the environment. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include <jitwarm/cancel.h>
#include <jitwarm/check.h>
#include <jitwarm/error.h>
#include <jitwarm/find.h>
#include <jitwarm/system.h>
#include <jitwarm/verdict.h>

struct jw_finding {
	const char *id; /* "cache-disabled"; docs/troubleshooting.md lists all ids */
	bool hopeless;  /* neither this account nor jitwarm can do anything about it */
	char *evidence; /* a line: what is wrong, and where it can be seen */
	char *fix;      /* a line: what to do */
	/* The arguments of a jitwarm command that fixes it, and can be undone or loses nothing; NULL at
	 * the end. NULL if it is fixed by hand. */
	char **command;
	size_t word_count;
	/* The variable that programs of a new login have after the command, with this value (`value` is
	 * NULL if it is not set). NULL if none changes. */
	char *variable, *value;
};

/* The result of giving the driver a tiny module twice, with the settings in force. */
enum jw_probe_use {
	JW_PROBE_NOT,     /* the driver was not asked: no GPU, no usable cache, or the entry's name is
						 unknown */
	JW_PROBE_HIT,     /* the second load used the entry */
	JW_PROBE_REFUSED, /* the driver stored no entry */
	JW_PROBE_UNREAD,  /* the driver compiled the module again although the entry was there */
	JW_PROBE_FAILED,  /* the driver did not load the module */
};

struct jw_doctor_options {
	const struct jw_system *system;
	const struct jw_found *found; /* the programs and packages; NULL for the machine only */
	/* The words by which the user named the files, for printed commands; 0 for the active
	 * environment. */
	const char *const *names;
	size_t name_count;
	const char *environment; /* the environment that the user named; NULL for the active one */
	bool process; /* `found` has the files that a process has loaded; the command names those of
					 them that have modules to compile */
	bool probe;   /* has the driver load a tiny module twice, which adds an entry of 3 KB to the
					 cache; needs jw_system_options.worker */
	struct jw_cancel cancel;
};

struct jw_doctor_result {
	struct jw_finding *findings; /* the likeliest cause first; none if all is well */
	size_t finding_count;
	enum jw_probe_use probe;
	char *probe_entry; /* the entry of the probe; "" if the driver was not asked */
	size_t warm, cold; /* modules of `found`, on all GPUs */
	char **notes;      /* the notes of jw_check, one line each */
	size_t note_count, assumptions;
	/* Names without a file, and files that could not be read. Nothing is known about them, so that
	 * an empty list of findings does not mean that all is well. */
	size_t troubles;
	struct jw_fate fate;     /* how the files run, whatever is in the cache */
	enum jw_verdict verdict; /* about `found`; without it about the settings: JW_VERDICT_USELESS or
								JW_VERDICT_RUNS; without a GPU JW_VERDICT_NOTHING */
};

/* Reads settings, cache and files; only the probe writes. -1 if cancelled, or with an error of
 * jw_check. The caller frees the result with jw_result_free. */
int jw_doctor(struct jw_error *err, const struct jw_doctor_options *options,
			  struct jw_doctor_result **ret_result);

/* Explains the error of CUDA, or of a program that uses CUDA, in a text that a program has printed:
 * one finding, whose id is "error". Examines nothing. JW_ERR_UNSUPPORTED if jitwarm knows no error
 * in the text. The caller frees the result with jw_result_free. */
int jw_doctor_text(struct jw_error *err, const char *text, struct jw_doctor_result **ret_result);

/* Gives this process the variables with which another process of its account was started: those of
 * the driver, HOME, and the active environment. JW_ERR_NOT_FOUND if there is no such process;
 * JW_ERR_UNSUPPORTED if it is another account's or in a container, and on Windows. */
int jw_examine_process(struct jw_error *err, int pid);
