/* Ctrl-C and its like. */
#pragma once

#include <stdbool.h>

/* From now on Ctrl-C, a closed terminal and a polite request to end only set a flag; a second
 * Ctrl-C ends the process, unless it follows so soon that it is the same request, sent twice. A
 * closed terminal that was ignored before still is. */
void os_catch_interrupts(void);
/* Whether one has come. */
bool os_interrupted(void);
/* From now on they are ignored: a worker is ended by its supervisor, not by the keyboard. */
void os_ignore_interrupts(void);
/* The signal that asks to stand still for a while (Ctrl-Z); 0 where there is none, or the program
 * has its own idea of it. */
int os_stop_signal(void);
/* Stands still until somebody says to go on. */
void os_stop_self(void);
/* Another process of ours stands still, or goes on. */
void os_pause_process(int pid, bool paused);
/* Writing to a pipe that nobody reads any more fails, and does not end the process. A program that
 * has its own idea of that signal keeps it. */
void os_ignore_broken_pipes(void);
