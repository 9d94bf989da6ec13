/* Replaces whole files: a new file is written beside the old one, and renamed. */
#include <string.h>

#include <jitwarm/accounts.h>

#include "base/mem.h"
#include "base/text.h"
#include "os/clock.h"
#include "os/file.h"
#include "os/path_calls.h"
#include "os/private.h"
#include "os/uv.h"

/* Finds the file to be replaced: `path`, or its link's target. Refuses anything but a regular
 * file. */
static int find_target(struct jw_error *err, const char *path, char **ret_real,
					   struct os_stat *ret_stat, bool *ret_there)
{
	const bool link = path_is_link(path), there = !os_stat(NULL, path, ret_stat);
	char *real = NULL;

	if (link && !there)
		return error_set(err, JW_ERR_IO, "%s: is a symlink to a file that does not exist", path);
	if (there && ret_stat->kind != OS_REGULAR)
		return error_set(err, JW_ERR_UNSUPPORTED, "%s: %s", path,
						 ret_stat->kind == OS_DIRECTORY ? "Is a directory"
														: "is not a regular file: not replaced");
	/* Windows does not reliably report who owns a link. */
	if (link && os_is_separator('\\') && jw_is_administrator())
		return error_set(err, JW_ERR_IO,
						 "%s: is a symlink, which an administrator does not follow: name the file "
						 "that it leads to",
						 path);
	/* Root follows only a link that no other account has made. */
	if (link && (os_guard(err, path) || os_real_path(err, path, &real)))
		return -1;
	*ret_real = link ? real : mem_string(path);
	*ret_there = there;
	return 0;
}

#define BESIDE ".%s.jitwarm-"

char *os_beside_start(const char *path)
{
	const char *name = os_base_name(path);

	return mem_printf("%.*s" BESIDE, (int)(name - path), path, name);
}

void os_sweep_beside(const char *path, int64_t older_s)
{
	char *folder = os_dir_name(path), *start = mem_printf(BESIDE, os_base_name(path));

	os_sweep(folder, start, OS_MADE_FORM, OS_REGULAR, older_s);
	os_sweep(folder, start, "%", OS_REGULAR, older_s);
	mem_free(start);
	mem_free(folder);
}

/* With `keep`, the new file has the rights and the owner of the old one. With `lasting`, also a
 * power loss leaves the old content or the new one. */
static int write_over(struct jw_error *err, const char *path, const void *data, size_t size,
					  uint32_t mode, bool keep, bool lasting)
{
	char *real = NULL, *name = NULL, *start;
	struct os_stat stat;
	uv_fs_t request;
	bool there = false;
	int fd, result = -1;

	if (find_target(err, path, &real, &stat, &there))
		return -1;
	/* Files that are rewritten are the user's (a profile): what a killed run leaves beside them has
	 * a name that the next run knows. */
	start = keep ? os_beside_start(real) : mem_string(real);
	if (keep)
		os_sweep_beside(real, OS_WRITTEN_S);
	fd = path_make_file(err, start, &name);
	mem_free(start);
	if (fd < 0)
		goto done;
	result = os_uv_write(err, real, fd, data, size, -1) ||
			 fd_set_rights(err, fd, real, mode, keep && there);
	if (!result && lasting)
		result = os_uv_result(err, real, &request, uv_fs_fsync(NULL, &request, fd, NULL));
	result = close_fd(result ? NULL : err, real, fd) || result || os_rename(err, name, real);
	if (result)
		(void)os_remove(NULL, name);
	else if (lasting)
		os_sync_names(real);
done:
	mem_free(name);
	mem_free(real);
	return result ? -1 : 0;
}

void os_sweep_unlocked(const char *path)
{
	char *folder = os_dir_name(path), *start = mem_printf(BESIDE, os_base_name(path));
	const int64_t before_ns = (os_now_s() - 1) * 1000000000;
	struct os_names names = {0};

	(void)os_list_unfollowed(NULL, folder, start, &names);
	for (size_t i = 0; i < names.count; i++) {
		char *left = os_join(folder, names.items[i]);
		struct os_file *file = NULL;
		struct os_stat stat;
		bool free = false;

		if (names.kinds[i] == OS_REGULAR && text_has_form(names.items[i] + strlen(start), "%") &&
			!os_stat(NULL, left, &stat) && stat.mtime_ns < before_ns &&
			!os_file_open(NULL, left, OS_OPEN_UPDATE, &file) &&
			!os_file_lock(NULL, file, true, &free) && free)
			(void)os_remove(NULL, left);
		os_file_close(file);
		mem_free(left);
	}
	os_names_free(&names);
	mem_free(start);
	mem_free(folder);
	os_sweep_beside(path, OS_LEFT_S);
}

int os_write_atomic(struct jw_error *err, const char *path, const void *data, size_t size)
{
	return write_over(err, path, data, size, RIGHTS_OF_NEW, false, false);
}

int os_write_output(struct jw_error *err, const char *path, const void *data, size_t size)
{
	return write_over(err, path, data, size, RIGHTS_OF_NEW, false, true);
}

int os_write_mode(struct jw_error *err, const char *path, const void *data, size_t size,
				  uint32_t mode)
{
	return write_over(err, path, data, size, mode, false, true);
}

int os_rewrite(struct jw_error *err, const char *path, const void *data, size_t size)
{
	return write_over(err, path, data, size, RIGHTS_OF_NEW, true, true);
}

int os_rewrite_mode(struct jw_error *err, const char *path, const void *data, size_t size,
					uint32_t mode)
{
	return write_over(err, path, data, size, mode, true, true);
}

int os_replaceable(struct jw_error *err, const char *path, char **ret_real)
{
	struct os_stat stat;
	bool there;

	return find_target(err, path, ret_real, &stat, &there);
}
