/* The logon task, managed with schtasks: the one item on Windows. */
#pragma once

#include <jitwarm/startup.h>

/* Returns "jitwarm prime S-1-5-21-…", with the SID `account`, because Task Scheduler's folder is
 * the same for all accounts. The caller frees it. */
char *task_name(const struct jw_startup_options *options, const char *account);
/* Finds our task: it has our mark and runs as us, or as the group Users for `options->everyone`. */
int task_find(struct jw_error *err, struct jw_startup_item *item);
int task_register(struct jw_error *err, struct jw_startup *startup);
int task_remove(struct jw_error *err, struct jw_startup *startup);
/* Removes our copy of a task that somebody else has deleted. */
int task_forget(struct jw_error *err, const struct jw_startup_item *item);
