/* The simulated driver on Linux. */
#include "os.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

char *os_env(const char *name)
{
	const char *value = getenv(name);

	return value ? strdup(value) : NULL;
}

char *os_default_cache(void)
{
	static const char tail[] = "/.nv/ComputeCache";
	const char *home = getenv("HOME");
	char *path;
	size_t size;

	if (!home)
		return NULL;
	size = strlen(home) + sizeof tail;
	path = sim_alloc(size);
	snprintf(path, size, "%s%s", home, tail);
	return path;
}

bool os_open(struct os_file *ret_file, const char *path, enum os_mode mode)
{
	static const int flags[] = {
		[OS_READ] = O_RDONLY,
		[OS_UPDATE] = O_RDWR,
		[OS_CREATE_UPDATE] = O_RDWR | O_CREAT | O_TRUNC,
		[OS_WRITE] = O_WRONLY | O_CREAT | O_TRUNC,
		[OS_APPEND] = O_WRONLY | O_CREAT | O_APPEND,
		[OS_CREATE_NEW] = O_WRONLY | O_CREAT | O_EXCL,
	};
	int handle = open(path, flags[mode] | O_CLOEXEC, 0666);

	if (handle < 0)
		return false;
	ret_file->handle = handle;
	return true;
}

void os_close(struct os_file *file)
{
	close((int)file->handle);
}

bool os_read(const struct os_file *file, struct bytes *ret_bytes)
{
	uint8_t block[16384];
	off_t at = 0;
	ssize_t got;

	while ((got = pread((int)file->handle, block, sizeof block, at)) > 0) {
		bytes_add(ret_bytes, block, (size_t)got);
		at += got;
	}
	/* The driver reads a pipe, too, and waits for a writer, which is the driver itself. */
	if (got < 0 && errno == ESPIPE)
		got = read((int)file->handle, block, sizeof block);
	return got == 0;
}

bool os_write(const struct os_file *file, uint64_t offset, const void *data, size_t size)
{
	const uint8_t *from = data;

	while (size > 0) {
		ssize_t put = pwrite((int)file->handle, from, size, (off_t)offset);

		if (put <= 0)
			return false;
		from += put;
		size -= (size_t)put;
		offset += (uint64_t)put;
	}
	return true;
}

bool os_append(const struct os_file *file, const void *data, size_t size)
{
	return write((int)file->handle, data, size) == (ssize_t)size;
}

enum os_lock os_try_lock(const struct os_file *file, bool exclusive)
{
	struct flock lock = {.l_type = exclusive ? F_WRLCK : F_RDLCK, .l_whence = SEEK_SET};

	if (fcntl((int)file->handle, F_SETLK, &lock) == 0)
		return OS_LOCKED;
	return errno == EAGAIN || errno == EACCES ? OS_BUSY : OS_NO_LOCKS;
}

void os_unlock(const struct os_file *file)
{
	struct flock lock = {.l_type = F_UNLCK, .l_whence = SEEK_SET};

	fcntl((int)file->handle, F_SETLK, &lock);
}

void os_make_directory(const char *path)
{
	mkdir(path, 0700);
}

void os_remove_file(const char *path)
{
	unlink(path);
}

void os_remove_tree(const char *path)
{
	DIR *folder = opendir(path);
	const struct dirent *entry;

	while (folder && (entry = readdir(folder)) != NULL) {
		char inner[4096];

		if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
			continue;
		if (snprintf(inner, sizeof inner, "%s/%s", path, entry->d_name) < (int)sizeof inner &&
			unlink(inner) != 0)
			os_remove_tree(inner);
	}
	if (folder)
		closedir(folder);
	rmdir(path);
}

void os_sleep_ms(double ms)
{
	struct timespec time = {.tv_sec = (time_t)(ms / 1e3)};

	time.tv_nsec = (long)((ms - (double)time.tv_sec * 1e3) * 1e6);
	while (nanosleep(&time, &time) != 0 && errno == EINTR)
		;
}

void os_burn_ms(double ms)
{
	struct timespec start, now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &start);
	do
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	while ((double)(now.tv_sec - start.tv_sec) * 1e3 + (double)(now.tv_nsec - start.tv_nsec) / 1e6 <
		   ms);
}

unsigned long os_pid(void)
{
	return (unsigned long)getpid();
}

static pthread_mutex_t process_mutex = PTHREAD_MUTEX_INITIALIZER;

void os_process_lock(void)
{
	pthread_mutex_lock(&process_mutex);
}

void os_process_unlock(void)
{
	pthread_mutex_unlock(&process_mutex);
}

struct os_mutex {
	pthread_mutex_t inner;
};

struct os_mutex *os_mutex_new(void)
{
	struct os_mutex *mutex = sim_alloc(sizeof *mutex);

	pthread_mutex_init(&mutex->inner, NULL);
	return mutex;
}

void os_mutex_lock(struct os_mutex *mutex)
{
	pthread_mutex_lock(&mutex->inner);
}

void os_mutex_unlock(struct os_mutex *mutex)
{
	pthread_mutex_unlock(&mutex->inner);
}

void os_mutex_free(struct os_mutex *mutex)
{
	pthread_mutex_destroy(&mutex->inner);
	free(mutex);
}
