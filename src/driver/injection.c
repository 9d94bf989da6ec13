#include "driver/injection.h"

#include <stdlib.h>
#include <string.h>

#include "os/file.h"
#include "os/identity.h"
#include "os/platform.h"
#include "os/uv.h"

static const char name[] = "/dev/shm/cuda_injection_path_shm";
/* The content of the file that a jitwarm makes. The driver ignores a file of this size. */
static const char mark[] = "jitwarm keeps this name while it works\n";

static uv_once_t once = UV_ONCE_INIT;
static uv_mutex_t mutex; /* protects `held` */
/* Open, and locked together with the other jitwarms of this account, so that the last one of them
 * gives the name back. */
static struct os_file *held;

static bool has_name(struct os_file *file)
{
	struct os_stat there;
	struct os_stat open;

	return !os_stat(NULL, name, &there) && !os_file_stat(NULL, file, &open) &&
		   there.device == open.device && there.inode == open.inode;
}

static void give_name_back(void)
{
	char content[sizeof mark];
	size_t size;
	bool alone;

	if (held && !os_file_lock(NULL, held, true, &alone) && alone && has_name(held) &&
		!os_file_read(NULL, held, 0, content, sizeof content, &size) && size == strlen(mark) &&
		!memcmp(content, mark, size))
		(void)os_remove(NULL, name);
}

static void make_mutex(void)
{
	(void)uv_mutex_init(&mutex);
	(void)atexit(give_name_back);
}

/* Leaves `held` NULL if the name is another account's, or if nobody can make it. */
static void take_name(void)
{
	enum { MAX_TRIES = 100 };

	for (int tries = 0; tries < MAX_TRIES && !(held && has_name(held)); tries++) {
		bool locked = false;
		bool made;

		os_file_close(held);
		held = NULL;
		made = !os_exists(name);
		if (!made && !os_is_ours(name))
			return;
		if (os_file_open(NULL, name, made ? OS_OPEN_LOCK : OS_OPEN_UPDATE, &held))
			return;
		/* Another jitwarm may be giving the name back. */
		if (os_file_lock(NULL, held, false, &locked) || !locked)
			uv_sleep(1);
		else if (made)
			(void)os_file_write(NULL, held, 0, mark, strlen(mark));
	}
}

int injection_hold_name(struct jw_error *err)
{
	struct os_stat stat;
	int result = 0;

	if (os_is_windows || !os_is_superuser())
		return 0;
	uv_once(&once, make_mutex);
	uv_mutex_lock(&mutex);
	take_name();
	/* An access list shows in the group's bits. */
	if (os_is_ours(name) && !os_stat(NULL, name, &stat) && (stat.names > 1 || stat.mode & 022U))
		result = error_set(err, JW_ERR_UNSUPPORTED,
						   "%s: NVIDIA's driver would run the library that this file names as "
						   "root, and another account can have written it: delete that file",
						   name);
	uv_mutex_unlock(&mutex);
	return result;
}
