/* Ctrl-C and similar requests to end. */
#pragma once

#include <stdbool.h>

/* From now on Ctrl-C, a closed terminal and a termination signal only set a flag. A second Ctrl-C
 * ends the process, unless it follows so soon that it is the same request, sent twice. A closed
 * terminal stays ignored if it was ignored before. */
void os_catch_interrupts(void);
/* Returns whether one of these requests has arrived. */
bool os_interrupted(void);
/* Returns the exit status of a program that such a request ends: 128 and the signal's number, as in
 * shells, so 130 for Ctrl-C; always 130 on Windows. 0 if no request has arrived. */
int os_interrupt_status(void);
/* From now on these requests are ignored: the supervisor ends a worker, not the keyboard. */
void os_ignore_interrupts(void);
/* Returns the signal that pauses a process (Ctrl-Z); 0 if there is none, or the program handles it
 * itself. */
int os_stop_signal(void);
/* Pauses this process until a signal continues it. */
void os_stop_self(void);
/* Pauses another process that this one started, or lets it continue. */
void os_pause_process(int pid, bool paused);
/* Writing to a pipe without a reader fails instead of ending the process. A program that handles
 * that signal itself keeps doing so. */
void os_ignore_broken_pipes(void);

/* Forwards signals to a program that this process has started. */

/* Blocks the signals that ask this process to end until os_forward_signals names their receiver, so
 * that none is lost while the receiver starts. */
void os_hold_signals(void);
/* From now on signals that ask this process to end are sent to `pid`, and this process continues.
 * Signals from the terminal (Ctrl-C) reach both anyway. A `pid` of 0 restores the previous
 * handlers. */
void os_forward_signals(int pid);
