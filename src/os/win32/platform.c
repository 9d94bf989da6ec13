#include "os/platform.h"

const char os_name[] = "windows";

bool os_is_wsl(void)
{
	return false;
}

bool os_running_driver(char ret_release[32])
{
	(void)ret_release;
	return false;
}

bool os_has_gpu_file(void)
{
	return false;
}
