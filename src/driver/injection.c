#include "driver/injection.h"

#include <stdlib.h>

#include "os/file.h"
#include "os/identity.h"
#include "os/platform.h"

static const char name[] = "/dev/shm/cuda_injection_path_shm";

static void give_name_back(void)
{
	struct os_stat stat;

	if (!os_stat(NULL, name, &stat) && !stat.size_bytes)
		(void)os_remove(NULL, name);
}

int injection_hold_name(struct jw_error *err)
{
	static bool held;
	struct os_file *file = NULL;
	struct os_stat stat;
	bool made;

	if (held || os_is_windows || !os_is_superuser())
		return 0;
	/* Fails where the name is another account's, which the driver ignores, and where nobody can
	 * make it. */
	made = !os_exists(name) && !os_file_open(NULL, name, OS_OPEN_CREATE, &file);
	os_file_close(file);
	/* An access list shows in the group's bits. */
	if (os_is_ours(name) && !os_stat(NULL, name, &stat) && (stat.names > 1 || stat.mode & 022U))
		return error_set(err, JW_ERR_UNSUPPORTED,
						 "%s: NVIDIA's driver would run the library that this file names as root, "
						 "and another account can have written it: delete that file",
						 name);
	held = true;
	if (made)
		(void)atexit(give_name_back);
	return 0;
}
