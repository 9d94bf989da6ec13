#include "os/console.h"

#include <uv.h>

bool os_is_terminal(int fd)
{
	return uv_guess_handle(fd) == UV_TTY;
}
