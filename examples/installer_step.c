/* An installer's last step: the driver compiles now what it would compile at the first start, and
 * the user sees how far it is.
 *
 *     installer_step "jitwarm prime --quiet /opt/product/lib" */
#ifndef _WIN32
#define _POSIX_C_SOURCE 200809L
#define NOWHERE         "/dev/null"
#else
#define popen   _popen
#define pclose  _pclose
#define NOWHERE "NUL"
#endif
#include <stdio.h>

int main(int argc, char **argv)
{
	char line[4096], command[4096], phase[32];
	unsigned done, total;
	FILE *run;

	if (argc != 2)
		return 64;
	(void)snprintf(command, sizeof command, "%s --progress json 2>&1 >" NOWHERE, argv[1]);
	run = popen(command, "r");
	while (run && fgets(line, sizeof line, run))
		if (sscanf(line, "{\"phase\":\"%31[a-z]\",\"done\":%u,\"total\":%u", phase, &done,
				   &total) == 3)
			printf("\r%s: %u of %u", phase, done, total);
		else
			printf("\n%s", line); /* a warning, or the reason for the failure */
	printf("\n");
	return !run || pclose(run) != 0;
}
