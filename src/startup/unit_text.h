/* The text of the task and the units. */
#pragma once

#include <jitwarm/startup.h>

#include "base/buf.h"

/* The mark in each of them, which tells ours from others'. */
extern const char startup_mark[];

struct startup_facts {
	const char *program; /* jitwarm, or jitwarmw.exe */
	const struct jw_startup_options *options;
	const char *account;  /* Windows: the user's SID */
	const char *driver;   /* Linux: the library to watch; NULL: no library */
	const char *packages; /* Linux: the folder to watch; NULL: no folder */
};

/* The XML of a logon task (UTF-8; schtasks is handed UTF-16: startup_utf16). Source: Microsoft,
 * "Task Scheduler Schema". */
int startup_task(struct jw_error *err, const struct startup_facts *facts, struct buf *text);
/* With a byte order mark, as schtasks wants it. */
int startup_utf16(struct jw_error *err, const char *text, struct buf *wide);

/* systemd units: of the account's own manager ... */
int startup_service(struct jw_error *err, const struct startup_facts *facts, struct buf *text);
int startup_timer(struct jw_error *err, struct buf *text);
int startup_path(struct jw_error *err, const struct startup_facts *facts, struct buf *text);
/* ... and of the system: a template that runs before the service of its name, and the settings of
 * one service. */
int startup_template(struct jw_error *err, const struct startup_facts *facts, struct buf *text);
int startup_instance(struct jw_error *err, const struct startup_facts *facts, struct buf *text);
