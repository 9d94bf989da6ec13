/* A shared folder, which other machines and accounts write to as well. */
#include <sodium.h>

#include "base/mem.h"
#include "os/file.h"
#include "share/object_entry.h"

/* New folders are writable for whoever may write to the shared folder itself, less umask, and for
 * nobody else: the umask or a default access list may allow more than its owner does. */
enum { DIRECTORY_MODE = 0755, DIRECTORY_WRITES = 0022 };
/* After this many unreadable objects in a row, the folder itself counts as not working. */
enum { MAX_UNREADABLE = 4 };

/* Blames a failure on one object if the directory itself exists: the object may be another
 * account's, on a bad block, or replaced, or the disk may be full. */
static int blame_object(struct jw_error *err, const struct object_directory *directory,
						const struct jw_error *why)
{
	struct os_stat stat;

	if (why->code != JW_ERR_IO || directory->unreadable >= MAX_UNREADABLE ||
		os_stat(NULL, directory->folder, &stat) || stat.kind != OS_DIRECTORY)
		return error_copy(err, why);
	return error_set(err, JW_ERR_FORMAT, "%s", why->message);
}

/* Opens an object, which must be a regular file, so that nothing waits for a pipe or reads a
 * device. */
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
		error_set(err, JW_ERR_FORMAT, "%s: is not a file", path);
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

/* Copies an object; with `lasting`, others find the whole object also after a power loss. */
static int copy_object(struct jw_error *err, struct os_file *from, uint64_t size, const char *path,
					   bool lasting)
{
	struct os_file *to = NULL;
	int result = os_file_open(err, path, OS_OPEN_CREATE, &to) || os_file_truncate(err, to, 0) ||
						 os_file_copy(err, from, to, size, NULL) ||
						 (lasting && os_file_sync(err, to))
					 ? -1
					 : 0;

	os_file_close(to);
	return result ? -1 : 0;
}

int object_directory_get(struct jw_error *err, struct object_directory *directory, const char *name,
						 uint64_t most_bytes, const char *path)
{
	char *object = os_join(directory->folder, name);
	struct os_file *from = NULL;
	struct jw_error why = {0};
	uint64_t size;
	int result = open_object(&why, object, most_bytes, &from, &size);

	if (!result)
		result = copy_object(&why, from, size, path, false);
	directory->unreadable = why.code == JW_ERR_IO ? directory->unreadable + 1 : 0;
	if (result)
		result = blame_object(err, directory, &why);
	os_file_close(from);
	mem_free(object);
	return result;
}

/* Renames an object. If a folder is in its place, only that object is affected. */
static int rename_object(struct jw_error *err, const char *fresh, const char *object)
{
	struct os_stat stat;

	if (!os_rename(err, fresh, object)) {
		os_sync_names(object);
		return 0;
	}
	if (!os_stat(NULL, object, &stat) && stat.kind == OS_DIRECTORY)
		return error_set(err, JW_ERR_FORMAT, "%s: is not a file", object);
	return -1;
}

/* Puts an object into the folder. A rename replaces a link instead of following it, and nobody can
 * have made the file with the random name. If the mount is gone meanwhile, its place is not
 * filled. */
int object_directory_put(struct jw_error *err, const struct object_directory *directory,
						 const char *name, const char *path)
{
	char *object = os_join(directory->folder, name), *fresh;
	struct os_file *from = NULL;
	struct jw_error why = {0};
	struct os_stat stat;
	uint64_t number, size;
	int result = -1;

	randombytes_buf(&number, sizeof number);
	fresh = mem_printf("%s.%016llx", object, (unsigned long long)number);
	if (os_file_open(err, path, OS_OPEN_READ, &from) || os_file_size(err, from, &size))
		goto done;
	if (os_stat(&why, directory->folder, &stat) ||
		os_make_parent(&why, object, DIRECTORY_MODE | (stat.mode & DIRECTORY_WRITES)) ||
		copy_object(&why, from, size, fresh, true) || rename_object(&why, fresh, object)) {
		(void)blame_object(err, directory, &why);
		(void)os_remove(NULL, fresh);
		goto done;
	}
	result = 0;
done:
	os_file_close(from);
	mem_free(object);
	mem_free(fresh);
	return result;
}

void object_directory_forget(const struct object_directory *directory, const char *name)
{
	char *object = os_join(directory->folder, name);

	(void)os_remove(NULL, object);
	mem_free(object);
}

int object_directory_open(struct jw_error *err, const char *folder,
						  struct object_directory *ret_directory)
{
	struct os_stat stat;

	/* The place of a missing mount must not be filled. */
	if (os_stat(err, folder, &stat))
		return -1;
	if (stat.kind != OS_DIRECTORY)
		return error_set(err, JW_ERR_UNSUPPORTED, "%s: not a directory", folder);
	*ret_directory = (struct object_directory){.folder = folder};
	return 0;
}
