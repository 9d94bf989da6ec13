#include "cli/cli.h"
#include "cli/language.h"
#include "os/console.h"
#include "os/file.h"
#include "os/library.h"
#include "os/process.h"

#include <sodium.h>

int main(int argc, char **argv)
{
	int ready, status;

	os_library_places();
	os_keep_standard_descriptors();
	os_hear_children();
	(void)os_creation_mask(); /* before there are threads */
	argv = os_arguments(&argc, argv, "--except");
	os_terminal_prepare();
	/* Runs before the first hash: otherwise libsodium does not use the processor's vectors. Code
	 * that uses its random numbers calls it again. */
	ready = sodium_init();
	(void)ready;
	language_open();
	status = (int)cli_run(argc, argv);
	language_close();
	return status;
}
