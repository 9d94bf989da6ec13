/* What jitwarm has set and where, kept in the state directory: files with a block of ours (the
 * blocks themselves say what taking them back needs), and variables of Windows' registry with what
 * they were before. The file is read as hostile input. */
#ifndef JW_TUNE_RECORD_H
#define JW_TUNE_RECORD_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

enum { RECORD_MOST = 256 };

struct record_variable {
	bool machine;
	char *name, *set_to;
	char *was; /* NULL: it was not set */
	bool expands;
};

struct record {
	char *files[RECORD_MOST];
	size_t file_count;
	struct record_variable variables[RECORD_MOST];
	size_t variable_count;
};

/* An empty one where nothing is on record. One that cannot be read is put aside, since it alone may
 * know what the registry held: *ret_aside is its new path, else NULL; the caller frees it. */
int record_read(struct jw_error *err, const char *state_dir, struct record *ret_record,
				char **ret_aside);
/* `state_dir` NULL: nothing is kept. */
int record_write(struct jw_error *err, const char *state_dir, const struct record *record);
void record_free(struct record *record);

/* The same from and to text; for tests and the fuzz target. */
int record_parse(struct jw_error *err, const char *text, size_t size, struct record *ret_record);

int record_add_file(struct jw_error *err, struct record *record, const char *path);
void record_drop_file(struct record *record, const char *path);
/* NULL where there is none. */
struct record_variable *record_variable(struct record *record, bool machine, const char *name);
/* A new one; strings are copied. */
int record_add_variable(struct jw_error *err, struct record *record,
						const struct record_variable *variable);
void record_drop_variable(struct record *record, struct record_variable *variable);

#endif
