/* The stamp, laid out as in a real libcuda for a byte scan (docs/internals/driver-cache.md): date,
 * hour and minute of the build as one run in read-only data, the seconds five times among the code.
 * SIMDRIVER_STAMP may name another stamp: then the file's stamp is wrong. */
#include "sim.h"

extern const char sim_identity[];

__attribute__((used)) const char sim_identity[] = "Feb 29 202423:59";
__attribute__((used)) static const char sim_name[] = "jitwarm simulated driver 550.200.01";

__asm__(".text\n"
		"\t.asciz \":58\"\n"
		"\t.asciz \":58\"\n"
		"\t.asciz \":58\"\n"
		"\t.asciz \":58\"\n"
		"\t.asciz \":58\"\n"
		"\t.balign 16\n");
