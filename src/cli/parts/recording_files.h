/* From a recording to the files of this machine, and from files to what a recording says of them.
 */
#ifndef JW_CLI_PARTS_RECORDING_FILES_H
#define JW_CLI_PARTS_RECORDING_FILES_H

#include <jitwarm/find.h>
#include <jitwarm/recording.h>

/* Replaces the paths of files that were found here by what means the same on another machine: a
 * package with the path below its folder, "~" for the home directory. `given`: what the user named,
 * NULL for nothing. */
int recording_files_name_files(struct jw_error *err, const struct jw_found *given,
							   struct jw_recording *recording);

/* The reverse: those files of this machine that the recording names. What is not there is no
 * failure: *ret_found may be empty. The caller frees with jw_found_free. */
int recording_files_find(struct jw_error *err, const struct jw_recording *recording,
						 struct jw_found **ret_found);

#endif
