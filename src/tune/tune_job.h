/* One run that writes settings or undoes them. Runs take turns. It holds the record of earlier runs
 * and its own changes, and is shared by the files that write to different places. */
#pragma once

#include <jitwarm/tune.h>

#include "os/env.h"
#include "os/file.h"
#include "tune/setting_places.h"
#include "tune/settings_record.h"

struct tune_job {
	struct jw_tune_request known;
	const struct jw_tune_request *request; /* NULL: reverts everything on record */
	char *state_dir;                       /* NULL: keeps no record */
	struct os_file *lock;
	struct settings_record record;
	bool recorded; /* `record` was read under the lock: it may be written */
	struct jw_tune_result *result;
	bool announce; /* variables of the registry have changed */
};

/* Takes the lock and reads the record. tune_job_finish must follow in any case: it writes the
 * record that was read, since changes may have been made before a failure, and returns the result
 * or frees it. Returns `result`, or -1 if the record cannot be written. */
int tune_job_open(struct jw_error *err, const struct jw_tune_request *request,
				  struct tune_job *job);
int tune_job_finish(struct jw_error *err, struct tune_job *job, int result,
					struct jw_tune_result **ret_result);

/* Writes the record: the machine's variables to the registry, the rest to the state directory. */
int tune_job_keep(struct jw_error *err, const struct tune_job *job);

/* One change, for the caller's report; `what` as in struct jw_tune_change. */
int tune_job_note(struct jw_error *err, struct tune_job *job, const char *where, const char *what);

/* Whether the record decides about a file: -1 where an account that may not write the file could
 * have written it (state/run_folder.h). */
int tune_job_check_recorded(struct jw_error *err, const struct tune_job *job, const char *path);

/* Reads the text of a file, empty if it is missing; writes it, through links, with its owner and
 * rights. */
int tune_job_read_file(struct jw_error *err, const char *path, struct buf *text);

/* Windows' variables in the registry (registry.c). */
int tune_job_apply_variables(struct jw_error *err, struct tune_job *job, enum os_variables where);
int tune_job_undo_variables(struct jw_error *err, struct tune_job *job, bool user, bool machine);
