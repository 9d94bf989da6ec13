/* The files with device code that the operands name. */
#pragma once

#include <jitwarm/find.h>
#include <jitwarm/recording.h>

#include "base/set.h"
#include "cli/command.h"

struct found_files {
	struct jw_found *found; /* NULL: no search was needed */
	const char **paths;
	size_t count;
};

/* jw_find (`sources`: as there), with its notes and warnings printed (`out` NULL: not). Without
 * names: the active environment. */
int found_files_find(struct jw_error *err, const struct output *out, const char *const *names,
					 size_t name_count, bool sources, struct found_files *ret_files);
/* The same for the operands; without them for the files of --recording, if it is given. The caller
 * frees *ret_recording, which is NULL before, in any case. */
int found_files_recorded(struct jw_error *err, const struct cli *cli, bool sources,
						 struct jw_recording **ret_recording, struct found_files *ret_files);
/* The same for a finished search; takes it over. */
void found_files_take(const struct output *out, struct jw_found *found,
					  struct found_files *ret_files);
/* A line on a package (`version` NULL: a wheel's file name) without device code: whether that is
 * how it was built, and what has the code. */
void found_files_print_without(const struct output *out, const char *name, const char *version);
/* The same of those packages and wheels that are built for the CPU, a line each; returns their
 * number. `seen` NULL: nothing has code, and of those, too, of which others have it. */
size_t found_files_print_cpu_builds(const struct output *out, const struct jw_found *found,
									const struct set *seen);
/* Keeps in mind that a file, and the package that it is of, has code or could not be read. */
void found_files_see(struct set *seen, const struct jw_found *found, const char *path);
/* Says that there was no device code; without operands, in which environment. Ends with 2 where
 * there was no file. */
void found_files_none(struct cli *cli, const struct jw_found *found);
/* Ends with 1 where a name led to no file, or something could not be read. */
void found_files_end(struct cli *cli, const struct found_files *files);
void found_files_free(struct found_files *files);
