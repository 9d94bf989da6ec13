/* The device files. An open one is an eventfd: it has its own descriptor, can be polled, and is not
 * readable until event_signal().
 *
 * Nothing here runs before a process opens one of them, so programs that do not use GPUs are not
 * affected. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "phantom.h"

#define PREFIX    "/dev/nvidia"
#define FILES_MAX 65536
#define MAJOR_GPU 195
#define MAJOR_UVM 507
#define MINOR_CTL 255

struct file {
	enum file_kind kind;
	bool event;              /* event_signal() makes it readable */
	bool expects;            /* the next mapping maps ... */
	uint32_t client, memory; /* ... this object, ... */
	uint64_t offset;         /* ... from here on */
};

static struct file files[FILES_MAX];
static unsigned files_end; /* all of the phantom's files have lower numbers */
static pid_t owner;        /* the process that the table describes */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_once_t started = PTHREAD_ONCE_INIT;

/* ---- start, fork */

static void fork_all(enum fork_moment moment)
{
	rm_fork(moment);
	uvm_fork(moment);
	engine_fork(moment);
	if (moment == FORK_IN_CHILD) {
		owner = getpid();
		for (unsigned fd = 0; fd < files_end; fd++) /* the child's actions wake no parent */
			files[fd].event = false;
	}
	fork_lock(&lock, moment);
}

static void fork_before(void)
{
	fork_all(FORK_BEFORE);
}

static void fork_in_parent(void)
{
	fork_all(FORK_IN_PARENT);
}

static void fork_in_child(void)
{
	fork_all(FORK_IN_CHILD);
}

static void start(void)
{
	const char *list = getenv("PHANTOM_GPU"), *bad;
	size_t length;
	log_open();
	owner = getpid();
	if (!gpus_parse(list && *list ? list : "sm_86", &bad, &length))
		fprintf(stderr, "phantom: no such GPU, or too many: %.*s\n", (int)length, bad);
	pthread_atfork(fork_before, fork_in_parent, fork_in_child);
}

/* ---- names */

bool device_path(const char *path)
{
	return path && strncmp(path, PREFIX, strlen(PREFIX)) == 0;
}

bool device_exists(const char *path)
{
	const char *rest = path + strlen(PREFIX);
	char *end;
	pthread_once(&started, start);
	if (strcmp(rest, "ctl") == 0 || strcmp(rest, "-uvm") == 0 || strcmp(rest, "-uvm-tools") == 0)
		return true;
	unsigned long minor = strtoul(rest, &end, 10);
	return end != rest && !*end && minor < gpu_count;
}

static dev_t device_number(const char *path)
{
	const char *rest = path + strlen(PREFIX);
	if (strcmp(rest, "ctl") == 0)
		return makedev(MAJOR_GPU, MINOR_CTL);
	if (strcmp(rest, "-uvm") == 0)
		return makedev(MAJOR_UVM, 0);
	if (strcmp(rest, "-uvm-tools") == 0)
		return makedev(MAJOR_UVM, 1);
	return makedev(MAJOR_GPU, (unsigned)strtoul(rest, NULL, 10));
}

void device_stat(const char *path, struct stat *ret_stat)
{
	*ret_stat =
		(struct stat){.st_mode = S_IFCHR | 0666, .st_nlink = 1, .st_rdev = device_number(path)};
}

/* ---- descriptors */

static struct file *file_at(int fd)
{
	return fd >= 0 && fd < FILES_MAX && files[fd].kind != FILE_NONE ? &files[fd] : NULL;
}

static void file_put(int fd, struct file file)
{
	pthread_mutex_lock(&lock);
	files[fd] = file;
	if (files_end <= (unsigned)fd)
		files_end = (unsigned)fd + 1;
	pthread_mutex_unlock(&lock);
}

int device_open(const char *path)
{
	if (!device_exists(path)) {
		errno = ENOENT;
		return -1;
	}
	int fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (fd >= FILES_MAX) {
		close(fd);
		errno = EMFILE;
		return -1;
	}
	if (fd >= 0)
		file_put(fd, (struct file){.kind = strstr(path, "-uvm") ? FILE_UVM : FILE_CONTROL});
	LOG("open %s -> %d", path, fd);
	return fd;
}

enum file_kind file_kind(int fd)
{
	const struct file *file = file_at(fd);
	return file ? file->kind : FILE_NONE;
}

void file_copied(int from, int to)
{
	const struct file *file = file_at(from);
	if (file && to >= 0 && to < FILES_MAX && owner == getpid())
		file_put(to, *file);
}

/* A child of vfork() runs in its parent's memory. If it closes descriptors that its program must
 * not inherit, as Python's subprocess does, the parent's descriptors stay open. */
void file_closed(unsigned first, unsigned last)
{
	if (first >= files_end || owner != getpid())
		return;
	pthread_mutex_lock(&lock);
	for (unsigned fd = first; fd < files_end && fd <= last; fd++)
		files[fd] = (struct file){.kind = FILE_NONE};
	pthread_mutex_unlock(&lock);
}

void file_expect_mapping(int fd, uint32_t client, uint32_t memory, uint64_t offset)
{
	struct file *file = file_at(fd);
	if (!file)
		return;
	file->expects = true;
	file->client = client;
	file->memory = memory;
	file->offset = offset;
}

void file_mapped(int fd, void *address, size_t length)
{
	struct file *file = file_at(fd);
	uvm_note_mapping(address, length);
	if (file && file->expects)
		rm_note_mapping(file->client, file->memory, file->offset, address);
	if (file)
		file->expects = false;
}

void event_add(int fd)
{
	struct file *file = file_at(fd);
	if (file)
		file->event = true;
}

void event_signal(void)
{
	static const uint64_t once = 1;
	pthread_mutex_lock(&lock);
	for (unsigned fd = 0; fd < files_end; fd++)
		if (files[fd].event && write((int)fd, &once, sizeof once) != (ssize_t)sizeof once)
			LOG("event %u is full", fd);
	pthread_mutex_unlock(&lock);
}
