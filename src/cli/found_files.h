/* The files with device code that the operands name. */
#pragma once

#include <jitwarm/find.h>
#include <jitwarm/recording.h>

#include "base/set.h"
#include "cli/command.h"

struct found_files {
	struct jw_found *found; /* NULL if no search was needed */
	const char **paths;
	size_t count;
};

/* Calls jw_find, with `sources`, and prints its notes and warnings; if `out` is NULL, nobody has
 * named the files. Without names it finds the active environment. */
int found_files_find(struct jw_error *err, const struct output *out, const char *const *names,
					 size_t name_count, bool sources, struct found_files *ret_files);
/* Finds the operands' files; without operands those of this recording (--recording; NULL: none).
 * The caller frees *ret_recording, which is NULL before, in any case. */
int found_files_recorded(struct jw_error *err, const struct cli *cli, const char *recording,
						 bool sources, struct jw_recording **ret_recording,
						 struct found_files *ret_files);
/* Prints a line about a package (a wheel's file name if `version` is NULL) without device code:
 * whether it was built like that, and what has the code. */
void found_files_print_without(const struct output *out, const char *name, const char *version);
/* Prints a line for each package and wheel that is built for the CPU; returns their number. If
 * `seen` is NULL, also lists packages that have a GPU variant. */
size_t found_files_print_cpu_builds(const struct output *out, const struct jw_found *found,
									const struct set *seen);
/* Remembers that a file, and its package, has code or could not be read. */
void found_files_see(struct set *seen, const struct jw_found *found, const char *path);
/* Says that there was no device code; without operands, in which environment. Returns whether
 * nothing was judged, so that the command ends with EXIT_CANNOT. */
bool found_files_none(const struct cli *cli, const struct jw_found *found);
/* Ends with 1 if a name led to no file, or something could not be read. */
void found_files_end(struct cli *cli, const struct found_files *files);
void found_files_free(struct found_files *files);
