#include "os/private.h"

static os_guard_check *guard;

void os_set_guard(os_guard_check *check)
{
	guard = check;
}

int os_guard(struct jw_error *err, const char *path)
{
	return guard ? guard(err, path, /* for_all= */ false) : 0;
}

int os_guard_for_all(struct jw_error *err, const char *path)
{
	return guard ? guard(err, path, /* for_all= */ true) : 0;
}
