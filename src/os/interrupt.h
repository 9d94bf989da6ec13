/* Ctrl-C and similar requests to end. */
#pragma once

#include <stdbool.h>

/* From now on Ctrl-C, a closed terminal and a polite request to end only set a flag; a second
 * Ctrl-C ends the process, unless it follows so soon that it is the same request, sent twice. A
 * closed terminal stays ignored if it was ignored before. */
void os_catch_interrupts(void);
/* From now on they end this process at once again, for what may wait for ever. */
void os_uncatch_interrupts(void);
/* Whether such a request has come. */
bool os_interrupted(void);
/* The exit status of a program that ends by it: 128 and the signal's number, as shells say, so 130
 * for Ctrl-C; on Windows always 130. 0: none has come. */
int os_interrupt_status(void);
/* From now on they are ignored: the supervisor ends a worker, not the keyboard. */
void os_ignore_interrupts(void);
/* The signal that asks to pause (Ctrl-Z); 0 if there is none, or the program handles it itself. */
int os_stop_signal(void);
/* Pauses this process until it is told to continue. */
void os_stop_self(void);
/* Pauses another process of ours, or lets it continue. */
void os_pause_process(int pid, bool paused);
/* Writing to a pipe without a reader fails instead of ending the process. A program that handles
 * that signal itself keeps doing so. */
void os_ignore_broken_pipes(void);

/* Forwards signals to a program that this process has started. */

/* Blocks the signals that ask this process to end until os_forward_signals names their receiver, so
 * that none is lost while the receiver starts. */
void os_hold_signals(void);
/* From now on signals that ask this process to end are sent to `pid`, and this process continues.
 * The terminal's own (Ctrl-C) reach both anyway. 0 restores the handlers from before. */
void os_forward_signals(int pid);
