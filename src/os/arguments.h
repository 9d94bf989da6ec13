/* The command line. */
#pragma once

/* In UTF-8: argv itself on POSIX, the system's own on Windows, with patterns ("*.dll") replaced by
 * the files that they match. Never freed. */
char **os_arguments(int *argc, char **argv);
