#include "os/python.h"

int os_python_registered(struct jw_error *err, char **ret_prefix)
{
	(void)ret_prefix;
	return error_set(err, JW_ERR_NOT_FOUND, "no register of Python installations here");
}
