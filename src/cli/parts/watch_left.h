/* How much longer a watched process has the driver compile: arithmetic, which looks at no clock. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* What is left by the plan's model, and how that went so far. Start with {0}. */
struct watch_left {
	bool known;      /* the modules were counted at least once */
	size_t files;    /* that they were counted in */
	size_t modules;  /* that are left */
	double model_ms; /* predicted for those */
	double since_ms; /* processor time of compiling, since the last one was done */
	/* Sums over those that were compiled, each divided by its prediction: what a line through them
	 * takes. */
	double count_count, count_model, model_model, count_cpu, model_cpu;
	double wall_ms, cpu_ms; /* of the last minute of compiling */
};

/* Some time went by in which the process had the driver compile, and used so much of processors. */
void watch_left_spend(struct watch_left *left, double wall_ms, double cpu_ms);
/* The modules of `files` files were counted again: `model_ms` is predicted for `modules` left. */
void watch_left_count(struct watch_left *left, size_t files, size_t modules, double model_ms);
/* Seconds; less than 0: not known. The pace so far counts, and the prediction as far as little was
 * compiled. */
double watch_left_seconds(const struct watch_left *left);
