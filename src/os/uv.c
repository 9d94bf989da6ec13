#include "os/uv.h"

int os_uv_failed(struct jw_error *err, const char *path, uv_fs_t *request)
{
	int number = uv_fs_get_system_error(request);

	uv_fs_req_cleanup(request);
	return os_error_number(err, path, number);
}
