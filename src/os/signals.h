/* Forwards signals to a program that this process has started. */
#pragma once

/* Blocks the signals that ask this process to end until os_forward_signals names their receiver, so
 * that none is lost while the receiver starts. */
void os_hold_signals(void);
/* From now on signals that ask this process to end are sent to `pid`, and this process continues.
 * The terminal's own (Ctrl-C) reach both anyway. 0 restores the handlers from before. */
void os_forward_signals(int pid);
