/* What a byte scan of the library finds, where a real libcuda has it (docs/driver-cache.md): date,
 * hour and minute of its build as one run in read-only data, the seconds five times among the code.
 * SIMDRIVER_STAMP may name another stamp: then the file tells what does not hold. */
#include "sim.h"

extern const char sim_identity[];

__attribute__((used)) const char sim_identity[] = "Apr  8 202512:10";
__attribute__((used)) static const char sim_name[] = "jitwarm simulated driver 550.163.01";

__asm__(".text\n"
		"\t.asciz \":18\"\n"
		"\t.asciz \":18\"\n"
		"\t.asciz \":18\"\n"
		"\t.asciz \":18\"\n"
		"\t.asciz \":18\"\n"
		"\t.balign 16\n");
