/* Progress of a long command, on standard error.
 *
 * On a terminal a bar in one line that is redrawn at most ten times a second and whenever the
 * terminal's width has changed; elsewhere (or with TERM=dumb) a plain line every ten seconds or
 * every tenth of the work, whichever comes later, and one at the end. What is shown never moves
 * backwards, and the denominator never changes. With --progress json it is one object a line
 * instead (docs/programs.md), for programs, also with --quiet. If the program does not read,
 * objects are dropped and messages wait: nothing blocks until progress_finish.
 *
 *     struct progress progress;
 *     progress_start(&progress, &cli->out, modules, total_weight, "sm_86");
 *     progress_update(&progress, done, done_weight, done_bytes);
 *         ... at each event, and on a timer, so that the time left goes on ...
 *     progress_finish(&progress);
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <jitwarm/compiler.h>
#include <jitwarm/prime.h>

#include "cli/output.h"

struct progress {
	const struct output *output;
	const char *label;
	const char *unit;  /* "modules"; may be changed before the first update, like `phase` */
	const char *phase; /* for --progress json: "compiling" */
	char *current;     /* for --progress json: a file, or NULL (progress_set_current) */
	char **kept;       /* messages that wait until somebody reads standard error */
	size_t kept_count;
	size_t failed;
	size_t total_modules, done_modules;
	double total_weight, done_weight; /* predicted work, in a unit of the caller's */
	uint64_t done_bytes;
	uint64_t started_ns, changed_ns, shown_ns; /* changed_ns: when the last module was finished */
	double shown_share;
	double shown_left_s; /* a better estimate of the caller's, set before progress_update; 0 if
						   unknown */
	unsigned columns;
	bool is_terminal, is_drawn;
};

/* Starts the progress. `total_weight` is the predicted work, in any unit that the updates share;
 * if 0, modules count instead. `label` precedes the bar and must outlive it. Prints nothing with
 * --quiet. */
void progress_start(struct progress *progress, const struct output *output, size_t total_modules,
					double total_weight, const char *label);
/* Sets the file being worked on; `current` is copied. */
void progress_set_current(struct progress *progress, const char *current);
/* Updates the total work done so far, which is never less than before. */
void progress_update(struct progress *progress, size_t done_modules, double done_weight,
					 uint64_t done_bytes);
/* Prints a separate line above the bar, made harmless for terminals. */
void progress_message(struct progress *progress, const char *line);
/* Removes the bar (on a terminal) or prints the last line (elsewhere), and frees what the progress
 * owns. */
void progress_finish(struct progress *progress);

/* Returns the seconds that the rest will take at the pace so far; negative if unknown. Counts down
 * between two modules: `changed_s` is when the last one was finished. */
double progress_seconds_left(double elapsed_s, double changed_s, double share);
/* Writes the bar's line at `now_ns`, at most `columns` wide, in ASCII. Returns `text`. */
enum { PROGRESS_LINE = 256 };
const char *progress_line(char text[PROGRESS_LINE], const struct progress *progress,
						  uint64_t now_ns, unsigned columns);

/* The progress of downloading a compiler. */
struct fetching {
	const struct output *output;
	const char *label;
	const char *phase;        /* for --progress json; NULL for "fetching" */
	uint64_t total_bytes;     /* the size of the current wheel */
	uint64_t waiting_ns;      /* since when nothing was received; 0: not waiting */
	bool has_waited;          /* the line about it was printed */
	struct progress progress; /* a NULL `output` means not started */
};

#define FETCH_OPTION(text) CLI_FLAG("fetch", text)
#define PROGRESS_OPTION                                                                            \
	CLI_VALUE("progress", "FORMAT",                                                                \
			  "json: print progress on standard error for programs, one JSON object a line",       \
			  .choices = "json", .rare = true)

/* Returns options that call fetching_report; `fetching` has output and label, and must live as long
 * as they do. */
struct jw_compiler_fetch_options fetching_options(struct fetching *fetching);
/* Shows this progress; `context` is the fetching. If nothing is downloaded for long (a total of 0:
 * an index that does not answer, asks to wait or lists much), a plain line says so once, where a
 * terminal has its own (output_silence). */
void fetching_report(void *context, uint64_t done_bytes, uint64_t total_bytes);
void fetching_end(struct fetching *fetching);

/* The progress bar of a run that compiles: shows its reports and messages (jw_prime_options). */
struct prime_bar {
	const struct output *output;
	struct progress progress;
	bool is_shown;
};

/* Shows a report. The first one starts the bar, since a run may wait for another one before;
 * storing results ends it. `bar` is a struct prime_bar. */
void prime_bar_report(void *bar, const struct jw_prime_progress *report);
/* Prints a line above the bar, or a note if there is no bar. `bar` is a struct prime_bar. */
void prime_bar_message(void *bar, const char *line);
/* Removes the bar, if there is one. */
void prime_bar_end(struct prime_bar *bar);
