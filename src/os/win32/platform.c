#include "os/platform.h"

const char os_name[] = "windows";

bool os_is_wsl(void)
{
	return false;
}

int os_running_driver(struct jw_error *err, char ret_release[32])
{
	(void)err;
	ret_release[0] = '\0';
	return 0;
}

bool os_has_gpu_file(void)
{
	return false;
}
