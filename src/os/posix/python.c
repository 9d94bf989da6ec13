#include "os/python.h"

int os_python_registered(struct jw_error *err, char **ret_prefix)
{
	(void)ret_prefix;
	return error_set(err, JW_ERR_NOT_FOUND, "no register of Python installations here");
}

int os_python_each(struct jw_error *err,
				   int (*take)(struct jw_error *err, void *context, const char *prefix),
				   void *context)
{
	(void)err;
	(void)take;
	(void)context;
	return 0;
}
