/* The files that a unit's EnvironmentFile= names. Source: systemd.exec(5), "EnvironmentFile=". */
#pragma once

/* Calls `take` for each variable, in the order of the text, which is written over: names and values
 * lie in it. Lines that are none are skipped. A return other than 0 of `take` ends it. */
int environment_file_each(char *text, int (*take)(void *context, char *name, char *value),
						  void *context);
