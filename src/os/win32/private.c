#include "os/private.h"

#include <string.h>

#include "base/mem.h"
#include "os/file.h"
#include "os/win32/opening.h"
#include "os/win32/trust.h"

static int check_private_place(struct jw_error *err, const char *path, enum win32_place place)
{
	HANDLE handle = win32_open(err, path, READ_CONTROL, OPENING_EXISTING);
	int result;

	if (handle == INVALID_HANDLE_VALUE)
		return -1;
	result = win32_check_trust(err, handle, path, place);
	(void)CloseHandle(handle);
	return result;
}

int os_check_private(struct jw_error *err, const char *path, uint32_t owner, bool lasting)
{
	char *real = NULL;
	int result = os_real_path(err, path, &real);

	(void)owner;
	(void)lasting;
	for (enum win32_place place = WIN32_FILE; !result; place = place ? WIN32_ABOVE : WIN32_FOLDER) {
		char *above;

		result = check_private_place(err, real, place);
		if (result || strlen(real) <= os_root_length(real))
			break;
		above = os_dir_name(err, real);
		mem_free(real);
		real = above;
		result = above ? 0 : -1;
	}
	mem_free(real);
	return result;
}
