/* Signals that are meant for a program that we have started. */
#pragma once

/* What asks this process to end waits until os_forward_signals says for whom it is: so nothing is
 * lost while that one is being started. */
void os_hold_signals(void);
/* From now on, what asks this process to end is sent to that one, and this one goes on. What the
 * terminal sends (Ctrl-C) reaches both anyway. With 0 it does again what it did before. */
void os_forward_signals(int pid);
