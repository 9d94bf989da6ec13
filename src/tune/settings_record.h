/* A record of the changes that jitwarm made to settings: files with a block of ours (the blocks
 * hold what undoing them needs), and variables of Windows' registry with their former values.
 *
 * The file in the state directory is read as hostile input, since other programs of the account may
 * write to it: it says nothing of the machine's variables, and only names of settings_record_names
 * count. What the machine's were is in the registry (machine_record.h). */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

enum { RECORD_MOST_FILES = 256, RECORD_NAMES = 2 };

/* The variables that jitwarm sets. */
extern const char *const settings_record_names[RECORD_NAMES];

struct settings_record_variable {
	char *set_to; /* NULL: not recorded */
	char *was;    /* NULL: was not set */
	bool expands;
};

struct settings_record {
	char *files[RECORD_MOST_FILES];
	size_t file_count;
	struct settings_record_variable variables[2][RECORD_NAMES]; /* the account's, the machine's */
};

/* An empty record if there is no file. A damaged file is moved away, since it may be the only
 * record of the registry's former values: *ret_aside is its new path, else NULL; the caller frees
 * it. */
int settings_record_read(struct jw_error *err, const char *state_dir,
						 struct settings_record *ret_record, char **ret_aside);
/* Writes the file: all but the machine's variables. `state_dir` NULL: writes nothing. */
int settings_record_write(struct jw_error *err, const char *state_dir,
						  const struct settings_record *record);
void settings_record_free(struct settings_record *record);

/* The same from and to text; for tests and the fuzz target. */
int settings_record_parse(struct jw_error *err, const char *text, size_t size,
						  struct settings_record *ret_record);

int settings_record_add_file(struct jw_error *err, struct settings_record *record,
							 const char *path);
void settings_record_drop_file(struct settings_record *record, const char *path);
/* Records a change, instead of an earlier one; copies the strings, also those of `variable` */
int settings_record_set(struct jw_error *err, struct settings_record_variable *variable,
						const char *set_to, const char *was, bool expands);
void settings_record_drop(struct settings_record_variable *variable);

/* The record of the machine's variables (os/env.h): the values that jitwarm set, and the
 * former ones. Only administrators may write to it, so an administrator's run may trust it. */

/* Adds the recorded variables; none if the system has no registry. Ignores values that are not
 * text. -1: out of memory. */
int machine_record_read(struct jw_error *err, struct settings_record *record);
/* Makes the record agree with the machine's variables in `record`; does not write an equal one, so
 * that other accounts' runs need no write permission. */
int machine_record_write(struct jw_error *err, const struct settings_record *record);
