#include "os/stream.h"

#include <io.h>
#include <stdio.h>

#include "os/win32/win32.h"

int os_take_stdout(struct jw_error *err, int *ret_fd)
{
	int copy;

	(void)fflush(stdout);
	copy = _dup(1);
	if (copy < 0)
		return error_set(err, JW_ERR_IO, "stdout: cannot be duplicated");
	/* Processes that the driver may start must not inherit the pipe. */
	(void)SetHandleInformation(uv_get_osfhandle(copy), HANDLE_FLAG_INHERIT, 0);
	if (_dup2(2, 1) < 0) {
		(void)_close(copy);
		return error_set(err, JW_ERR_IO, "stdout: cannot be redirected");
	}
	(void)SetStdHandle(STD_OUTPUT_HANDLE, GetStdHandle(STD_ERROR_HANDLE));
	*ret_fd = copy;
	return 0;
}
