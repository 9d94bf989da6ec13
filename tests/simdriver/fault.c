/* Faults at a selected module: SIMDRIVER_FAULT=KIND:MATCH[:once], several separated by ';'. */
#include "sim.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "os.h"

static int sticky; /* the CUresult of every later call; under the process lock */

int fault_sticky(void)
{
	int now;

	os_process_lock();
	now = sticky;
	os_process_unlock();
	return now;
}

static bool contains(const uint8_t *text, size_t size, const char *match, size_t length)
{
	for (size_t at = 0; length > 0 && at + length <= size; at++)
		if (text[at] == (uint8_t)*match && memcmp(text + at, match, length) == 0)
			return true;
	return false;
}

/* Says whether a fault marked ":once" has struck already, in any process that shares
 * SIMDRIVER_STATE. */
static bool first_time(const char *fault, size_t length)
{
	char path[1024];
	struct os_file file;

	if (!sim.state)
		return true;
	os_make_directory(sim.state);
	snprintf(path, sizeof path, "%s/once-%016llx", sim.state,
			 (unsigned long long)sim_fnv(SIM_FNV_START, fault, length));
	if (!os_open(&file, path, OS_CREATE_NEW))
		return false;
	os_close(&file);
	return true;
}

/* Uses up the stack; the volatile store keeps the compiler from turning it into a loop. */
static unsigned overflow(volatile unsigned char *above)
{
	volatile unsigned char here[4096];

	here[0] = (unsigned char)(above[0] + 1);
	return here[0] + (here[0] < 255 || here[0] == 255 ? overflow(here) : 0) + here[0];
}

/* Waits while the gate file exists, so that tests can stop a run at a certain point, on any
 * machine. */
static void wait_at_gate(void)
{
	struct os_file gate;

	while (sim.gate && os_open(&gate, sim.gate, OS_READ)) {
		os_close(&gate);
		os_sleep_ms(5);
	}
}

/* Empties a file of the account, as the real driver does with the file of --compiler-stats-file. */
static void empty_file(void)
{
	char *home = os_env("HOME"), path[1024];
	struct os_file file;

	snprintf(path, sizeof path, "%s/victim", home ? home : "");
	if (os_open(&file, path, OS_WRITE))
		os_close(&file);
	free(home);
}

static int strike(const char *kind, struct bytes *error)
{
	volatile unsigned char start = 0;
	int *volatile nowhere = NULL;

	if (strcmp(kind, "crash") == 0)
		*nowhere = 1;
	if (strcmp(kind, "abort") == 0)
		abort();
	if (strcmp(kind, "exit") == 0)
		exit(3);
	if (strcmp(kind, "overflow") == 0)
		return (int)overflow(&start);
	while (strcmp(kind, "hang") == 0)
		os_sleep_ms(1000);
	if (strcmp(kind, "write") == 0) {
		empty_file();
		return CU_OK;
	}
	if (strcmp(kind, "oom") == 0)
		return CU_OUT_OF_MEMORY;
	if (strcmp(kind, "sticky") == 0) {
		os_process_lock();
		sticky = CU_ILLEGAL_ADDRESS;
		os_process_unlock();
		return CU_ILLEGAL_ADDRESS;
	}
	if (strcmp(kind, "error") == 0) {
		bytes_add_text(error, "ptxas application ptx input, line 9; error   : Unexpected "
							  "instruction types specified for 'add'\nptxas fatal   : Ptx assembly "
							  "aborted due to errors\n");
		return CU_INVALID_PTX;
	}
	fprintf(stderr, "simdriver: SIMDRIVER_FAULT: no such fault: %s\n", kind);
	return CU_UNKNOWN;
}

int fault_strike(const uint8_t *ptx, size_t size, struct bytes *error)
{
	const char *at = sim.fault ? sim.fault : "";

	while (*at) {
		size_t length = strcspn(at, ";");
		size_t kind_length = strcspn(at, ":");
		bool once = length > 5 && strncmp(at + length - 5, ":once", 5) == 0;
		char kind[16];

		if (kind_length + 1 < length) {
			const char *match = at + kind_length + 1;
			size_t match_length = length - kind_length - 1 - (once ? 5 : 0);

			snprintf(kind, sizeof kind, "%.*s", (int)kind_length, at);
			if (contains(ptx, size, match, match_length) && (!once || first_time(at, length))) {
				log_event("fault", "%s %.*s", kind, (int)match_length, match);
				if (strcmp(kind, "wait") != 0)
					return strike(kind, error);
				wait_at_gate();
			}
		}
		at += length + (at[length] == ';');
	}
	return CU_OK;
}
