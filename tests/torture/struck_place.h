/* The folder in which struck_commands.c works, and the commands that it tries there. */
#pragma once

#include <stdbool.h>

/* One line as a shell would read it, with one blank between two words. */
struct struck_line {
	const char *text;
	int status;
	bool writes; /* each trial begins with a new copy of the folder */
	bool looks;  /* it looks around among any files: a place that cannot be read is left out */
};

extern const struct struck_line struck_lines[];
/* The commands that run once before them. */
extern const char *const struck_before[];

/* The folder in which commands work. */
extern char *struck_folder;

int struck_place_make(void **unused);
/* Saves the present state, for struck_place_again. */
void struck_place_keep(void);
void struck_place_again(void);
/* Restores the variables and the working directory of the start. */
void struck_place_renew(void);
int struck_place_remove(void **unused);
