/* Quotes the output of pip in errors, without passwords. The output is not trusted. */
#pragma once

#include "base/error.h"
#include "find/pip.h"
#include "os/process.h"

/* Sets the error of a program (“pip”) that failed: its first error with its last warning,
 * else its last line, else how it ended. JW_ERR_NOT_FOUND if pip finds no wheel. `folder` is where
 * it keeps its files. */
int pip_output_error(struct jw_error *err, const char *said, const char *program,
					 const char *folder, const struct os_ended *ended);
/* Returns the size that pip tells of the wheel that it downloads: “Downloading x.whl (173.6 MB)”; 0
 * if it tells none. */
uint64_t pip_output_size(const char *said);
/* Finds out why pip finds no wheel, from all of its output with “-vv”. Leaves *err if pip's own
 * words are the best answer (PIP_LACKS_VERSION). */
enum pip_lack pip_output_lack(struct jw_error *err, const char *said);
/* The wheels that pip and the lines of pip_list's own (`PIP_FILE_LINE`) name. */
#define PIP_FILE_LINE "jitwarm-file "
void pip_output_files(const char *said, struct pip_listing *listing);
