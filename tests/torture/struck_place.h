/* The folder that struck_commands.c works in, and the commands that it tries there. */
#pragma once

#include <stdbool.h>

/* As a shell would read it, with one blank between two words. */
struct struck_line {
	const char *text;
	int status;
	bool writes; /* each trial has the folder anew */
	bool looks;  /* around, at what may be anything: a place that cannot be read is left out */
};

extern const struct struck_line struck_lines[];
/* The commands that are run once before them. */
extern const char *const struck_before[];

/* The one that commands work in. */
extern char *struck_folder;

int struck_place_make(void **unused);
/* Saves the present state, for struck_place_again. */
void struck_place_keep(void);
void struck_place_again(void);
/* The variables and the working directory that were there at first. */
void struck_place_renew(void);
int struck_place_remove(void **unused);
