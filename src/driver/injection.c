#include "driver/injection.h"

#include <stdlib.h>
#include <string.h>

#include "os/file.h"
#include "os/identity.h"
#include "os/platform.h"
#include "os/uv.h"

static const char folder[] = "/dev/shm";
static const char name[] = "/dev/shm/cuda_injection_path_shm";
/* The content of the file that a jitwarm makes. The driver ignores a file of this size. */
static const char mark[] = "jitwarm keeps this name while it works\n";

enum { MAX_TRIES = 1000, PAUSE_MS = 10 };

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
	os_file_close(held); /* others wait for its lock */
	held = NULL;
}

static void prepare(void)
{
	(void)uv_mutex_init(&mutex);
	(void)atexit(give_name_back);
}

/* Returns whether root alone can write to the file of that name, if there is one, and can give the
 * name to another one. */
static bool is_roots(struct os_stranger *ret_stranger)
{
	struct os_stat stat;

	return !os_find_stranger_before(name, ret_stranger) &&
		   (os_stat(NULL, name, &stat) || stat.names == 1);
}

/* Says how another account could make the driver run a library. Returns -1. */
static int refuse(struct jw_error *err, const struct os_stranger *stranger)
{
	char text[OS_STRANGER_TEXT];

	if (stranger->unknown)
		return error_set(err, JW_ERR_IO, "%s", os_stranger_text(text, stranger));
	if (stranger->found && strcmp(stranger->part, name) != 0)
		return error_set(err, JW_ERR_UNSUPPORTED,
						 "%s: NVIDIA's driver would run the library that a file of this name names "
						 "as root, and %s: type “chmod 1777 /dev/shm”, or, if those accounts may "
						 "act as root, as in a container, set JITWARM_TRUST_ACCOUNTS='*'",
						 name, os_stranger_text(text, stranger));
	return error_set(err, JW_ERR_UNSUPPORTED,
					 "%s: NVIDIA's driver would run the library that this file names as root, and "
					 "another account can have written it: delete that file",
					 name);
}

/* Opens the file of that name, or makes it, and locks it. Leaves `held` NULL, without an error, if
 * another program has just removed it or still locks it. */
static int open_name(struct jw_error *err)
{
	const bool missing = !os_exists(name);
	bool locked = false;

	if (os_file_open(err, name, missing ? OS_OPEN_LOCK : OS_OPEN_UPDATE, &held))
		return missing || os_exists(name) ? -1 : 0;
	/* Another jitwarm may be giving the name back. */
	if (!os_file_lock(NULL, held, false, &locked) && !locked) {
		os_file_close(held);
		held = NULL;
		uv_sleep(PAUSE_MS);
	} else if (missing) {
		(void)os_file_write(NULL, held, 0, mark, strlen(mark));
	}
	return 0;
}

/* Leaves `held` NULL where no account can make the name. */
static int take_name(struct jw_error *err)
{
	for (int tries = 0; tries < MAX_TRIES; tries++) {
		struct os_stranger stranger;

		if (held && has_name(held))
			return 0;
		os_file_close(held);
		held = NULL;
		if (!is_roots(&stranger)) {
			/* The driver ignores another account's file, but that account could give its name to
			 * a file of root's while a worker starts. A mount keeps its name. */
			if (!stranger.owner || strcmp(stranger.part, name) != 0 || os_remove(NULL, name))
				return refuse(err, &stranger);
		} else if (!os_exists(folder) || os_is_read_only(folder)) {
			return 0;
		} else if (open_name(err)) {
			return -1;
		}
	}
	return error_set(
		err, JW_ERR_BUSY,
		"%s: other programs make and remove this file again and again: try again later", name);
}

int injection_hold_name(struct jw_error *err)
{
	struct os_stranger stranger;
	int result;

	if (os_is_windows || !os_is_superuser())
		return 0;
	uv_once(&once, prepare);
	uv_mutex_lock(&mutex);
	result = take_name(err);
	/* The file that has the name now keeps it. */
	if (!result && !is_roots(&stranger))
		result = refuse(err, &stranger);
	uv_mutex_unlock(&mutex);
	return result;
}
