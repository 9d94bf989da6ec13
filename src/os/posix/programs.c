#include "os/programs.h"

#include "base/mem.h"
#include "os/file.h"

char *os_system_program(struct jw_error *err, const char *name)
{
	return mem_string(err, name);
}

char *os_system_text(struct jw_error *err, const char *printed)
{
	return mem_string(err, printed);
}

char *os_find_program(struct jw_error *err, const char *name)
{
	return mem_string(err, name);
}

bool os_is_whole_path(const char *path)
{
	return os_is_absolute(path);
}

char *os_cuda_toolkit(unsigned major, unsigned minor)
{
	return major ? mem_printf(NULL, "/usr/local/cuda-%u.%u", major, minor)
				 : mem_string(NULL, "/usr/local/cuda");
}
