/* The text of the task and the units. */
#pragma once

#include <jitwarm/startup.h>

#include "base/buf.h"

/* The mark in each of them, which identifies ours. */
extern const char startup_mark[];

struct startup_facts {
	const char *program; /* jitwarm, or jitwarmw.exe */
	const struct jw_startup_options *options;
	const char *account;  /* Windows: the user's SID */
	const char *home;     /* Linux, a service: its account's folder; NULL: not known */
	const char *driver;   /* Linux: the library to watch; NULL: no library */
	const char *packages; /* Linux: the folder to watch; NULL: no folder */
};

enum startup_form {
	STARTUP_TASK, /* a logon task's XML. Source: Microsoft, "Task Scheduler Schema" */
	/* systemd units of the account's own manager */
	STARTUP_SERVICE,
	STARTUP_AHEAD,
	STARTUP_TIMER,
	STARTUP_PATH,
	/* of the system: a unit that runs before the service of its name, and one service's settings */
	STARTUP_TEMPLATE,
	STARTUP_INSTANCE,
};

/* In UTF-8; schtasks needs UTF-16 with a byte order mark: startup_utf16. */
int startup_text(struct jw_error *err, enum startup_form form, const struct startup_facts *facts,
				 struct buf *text);
int startup_utf16(struct jw_error *err, const char *text, struct buf *wide);

/* systemd's units: on Linux the items are files. */
int units_enable(struct jw_error *err, const struct jw_startup_options *options,
				 struct jw_startup *startup);
/* Adds the links to the units, as far as they are there, to what would be removed. */
void units_add_links(const struct jw_startup_options *options, struct jw_startup *startup);
int units_disable(struct jw_error *err, const struct jw_startup_options *options,
				  struct jw_startup *startup);
