/* The command line. */
#pragma once

/* In UTF-8: argv itself on POSIX, the system's own on Windows, where patterns ("*.dll") become the
 * files that they match. Never freed. */
char **os_arguments(int *argc, char **argv);
