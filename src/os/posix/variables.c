#include "os/env.h"

bool os_variables_kept(void)
{
	return false;
}

const char *os_variables_key(enum os_variables where)
{
	(void)where;
	return "";
}

int os_variable_read(struct jw_error *err, enum os_variables where, const char *name,
					 struct os_variable *ret_variable)
{
	(void)where;
	(void)ret_variable;
	return error_set(err, JW_ERR_UNSUPPORTED, "%s: this system has no registry", name);
}

int os_variable_write(struct jw_error *err, enum os_variables where, const char *name,
					  const struct os_variable *variable)
{
	(void)where;
	(void)variable;
	return error_set(err, JW_ERR_UNSUPPORTED, "%s: this system has no registry", name);
}

void os_variables_announce(void)
{
}
