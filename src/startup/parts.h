/* Shared by the parts of jitwarm/startup.h. */
#pragma once

#include <jitwarm/startup.h>

#include "base/buf.h"

enum { STARTUP_MOST_COMMANDS = 8, STARTUP_MOST_TEXT = 1 << 20 };

/* The arguments of a tool. */
#define STARTUP_WORDS(...) ((const char *const[]){__VA_ARGS__, NULL})

/* Runs a program of the system (os_system_program) and records it in `startup` (NULL: does not); on
 * failure its message becomes `failed`. *ret_good: it ended with 0. `ret_output` may be NULL; the
 * caller frees it. */
int startup_command(struct jw_error *err, struct jw_startup *startup, const char *tool,
					const char *const *words, struct buf *ret_output, bool *ret_good);

/* Windows: the one item is the task. */
/* "jitwarm prime S-1-5-21-…", `account` being the SID: Task Scheduler's folder is the same for all
 * accounts. The caller frees it. */
char *task_name(const struct jw_startup_options *options, const char *account);
/* A task is ours if it has our mark and runs as us, or as the group Users for
 * `options->everyone`. */
int task_look(struct jw_error *err, struct jw_startup_item *item);
int task_register(struct jw_error *err, struct jw_startup *startup);
int task_remove(struct jw_error *err, struct jw_startup *startup);
/* Removes what we remember of a task that somebody else has deleted. */
int task_forget(struct jw_error *err, const struct jw_startup_item *item);

/* Linux: the items are files. */
int units_enable(struct jw_error *err, const struct jw_startup_options *options,
				 struct jw_startup *startup);
int units_disable(struct jw_error *err, const struct jw_startup_options *options,
				  struct jw_startup *startup);
