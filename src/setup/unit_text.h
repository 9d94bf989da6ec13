/* The text of the task and the units. */
#pragma once

#include <jitwarm/startup.h>

#include "base/buf.h"

/* The mark in each text, which identifies jitwarm's units. */
extern const char startup_mark[];

struct startup_facts {
	const char *program; /* jitwarm, or jitwarmw.exe */
	const struct jw_startup_options *options;
	const char *account;  /* for Windows: the user's SID */
	const char *home;     /* for a service on Linux: its account's folder; NULL if unknown */
	const char *driver;   /* for Linux: the library to watch; NULL if there is none */
	const char *packages; /* for Linux: the folder to watch; NULL if there is none */
};

enum startup_form {
	STARTUP_TASK, /* a logon task's XML. Source: Microsoft, "Task Scheduler Schema" */
	/* systemd units of the account's own manager */
	STARTUP_SERVICE,
	STARTUP_TIMER,
	STARTUP_PATH,
	/* units of the system: one that runs before the service of its name, and one service's
	 * settings */
	STARTUP_TEMPLATE,
	STARTUP_INSTANCE,
};

/* Writes the text in UTF-8; schtasks needs UTF-16 with a byte order mark (startup_utf16). */
int startup_text(struct jw_error *err, enum startup_form form, const struct startup_facts *facts,
				 struct buf *text);
int startup_utf16(struct jw_error *err, const char *text, struct buf *wide);

/* ---- systemd's units: on Linux the items are files */
int units_enable(struct jw_error *err, const struct jw_startup_options *options,
				 struct jw_startup *startup);
/* Adds the existing links to the units to the items that would be removed. */
void units_add_links(const struct jw_startup_options *options, struct jw_startup *startup);
int units_disable(struct jw_error *err, const struct jw_startup_options *options,
				  struct jw_startup *startup);
