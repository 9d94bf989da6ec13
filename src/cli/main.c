#include "cli/command.h"
#include "os/system.h"

int main(int argc, char **argv)
{
	argv = os_arguments(&argc, argv);
	os_terminal_prepare();
	return (int)cli_run(argc, argv);
}
