/* A directory of objects, which other machines and accounts write to as well. */
#include <string.h>

#include <sodium.h>

#include "base/mem.h"
#include "os/file.h"
#include "share/object_place.h"

enum { DIRECTORY_MODE = 0777 }; /* less umask */

/* An object is a regular file: nothing waits for a pipe, and nothing reads a device. */
static int open_object(struct jw_error *err, const char *path, uint64_t most_bytes,
					   struct os_file **ret_file, uint64_t *ret_size)
{
	struct os_file *file;
	struct os_stat stat;

	if (os_file_open(err, path, OS_OPEN_READ, &file))
		return -1;
	if (os_file_stat(err, file, &stat))
		goto fail;
	if (stat.kind != OS_REGULAR) {
		error_set(err, JW_ERR_FORMAT, "%s: is no file", path);
		goto fail;
	}
	if (stat.size_bytes > most_bytes) {
		error_set(err, JW_ERR_LIMIT, "%s: has %llu bytes, more than its entry can need", path,
				  (unsigned long long)stat.size_bytes);
		goto fail;
	}
	*ret_file = file;
	*ret_size = stat.size_bytes;
	return 0;
fail:
	os_file_close(file);
	return -1;
}

static int copy_object(struct jw_error *err, struct os_file *from, uint64_t size, const char *path)
{
	struct os_file *to = NULL;
	int result = os_file_open(err, path, OS_OPEN_CREATE, &to) || os_file_truncate(err, to, 0) ||
				 os_file_copy(err, from, to, size);

	os_file_close(to);
	return result ? -1 : 0;
}

static int directory_get(struct jw_error *err, void *state, const char *name, uint64_t most_bytes,
						 const char *path)
{
	char *object = os_join(err, state, name);
	struct os_file *from = NULL;
	uint64_t size;
	int result = -1;

	if (object && !open_object(err, object, most_bytes, &from, &size))
		result = copy_object(err, from, size, path);
	os_file_close(from);
	mem_free(object);
	return result;
}

/* A folder in an object's place is about that object alone. */
static int rename_object(struct jw_error *err, const char *fresh, const char *object)
{
	struct os_stat stat;

	if (!os_rename(err, fresh, object))
		return 0;
	return !os_stat(NULL, object, &stat) && stat.kind == OS_DIRECTORY
			   ? error_set(err, JW_ERR_FORMAT, "%s: is no file", object)
			   : -1;
}

/* A rename takes the place of a link too, instead of following it; and nobody can have made the
 * file of a random name. */
static int directory_put(struct jw_error *err, void *state, const char *name, const char *path)
{
	char *object = os_join(err, state, name), *fresh = NULL;
	struct os_file *from = NULL;
	uint64_t number, size;
	int result = -1;

	randombytes_buf(&number, sizeof number);
	if (object)
		fresh = mem_printf(err, "%s.%016llx", object, (unsigned long long)number);
	if (fresh && !os_file_open(err, path, OS_OPEN_READ, &from) && !os_file_size(err, from, &size) &&
		!os_make_parent(err, object, DIRECTORY_MODE)) {
		result = copy_object(err, from, size, fresh) || rename_object(err, fresh, object);
		if (result)
			(void)os_remove(NULL, fresh);
	}
	os_file_close(from);
	mem_free(object);
	mem_free(fresh);
	return result ? -1 : 0;
}

static void directory_forget(void *state, const char *name)
{
	char *object = os_join(NULL, state, name);

	if (object)
		(void)os_remove(NULL, object);
	mem_free(object);
}

void *object_directory_open(struct jw_error *err, const char *folder,
							struct object_backend *ret_backend)
{
	struct os_stat stat;

	/* A mount that is missing must not be filled. */
	if (os_stat(err, folder, &stat))
		return NULL;
	if (stat.kind != OS_DIRECTORY) {
		error_set(err, JW_ERR_UNSUPPORTED, "%s: is no directory", folder);
		return NULL;
	}
	*ret_backend =
		(struct object_backend){directory_get, directory_put, directory_forget, NULL, mem_free};
	return mem_string(err, folder);
}
