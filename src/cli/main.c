#include "cli/command.h"
#include "os/arguments.h"
#include "os/console.h"
#include "os/library.h"

#include <sodium.h>

int main(int argc, char **argv)
{
	int ready;

	os_library_places();
	argv = os_arguments(&argc, argv);
	os_terminal_prepare();
	/* Must run before the first hash: otherwise libsodium does not use the processor's vectors.
	 * Code that uses its random numbers calls it again. */
	ready = sodium_init();
	(void)ready;
	return (int)cli_run(argc, argv);
}
