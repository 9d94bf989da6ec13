#include "os/processes.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/text.h"
#include "os/file.h"
#include "os/posix/posix.h"

enum {
	MAX_GENERATIONS = 32,
	MAX_PROCESSES = 4096,
	MAX_LINES = 16 << 20,
	MAX_ENVIRONMENT = 8 << 20
};

static int open_of_process(int pid, const char *name)
{
	char path[320];

	(void)snprintf(path, sizeof path, "/proc/%d/%.250s", pid, name);
	return open(path, O_RDONLY | O_CLOEXEC);
}

/* Reads /proc/PID/NAME to its end. A file that cannot be read counts as empty. */
static int read_of_process(struct jw_error *err, int pid, const char *name, struct buf *text)
{
	enum { STEP = 64 << 10 };
	const int fd = open_of_process(pid, name);
	ssize_t got = 1;
	int result = 0;

	buf_clear(text);
	while (fd >= 0 && !result && got > 0) {
		result = buf_reserve(err, text, STEP);
		if (result)
			break;
		do
			got = read(fd, text->data + text->size, STEP);
		while (got < 0 && errno == EINTR);
		if (got > 0)
			text->size += (size_t)got;
	}
	if (fd >= 0)
		(void)close(fd);
	return result ? -1 : buf_append(err, text, "", 0);
}

/* A process and its descendants: a visit to each. */
struct tour {
	int (*visit)(struct jw_error *err, const struct tour *tour, int pid);
	int (*take)(struct jw_error *err, void *context, const char *path, bool replaced);
	void *context;
	unsigned processes;
};

/* Returns whether a file that `maps` calls deleted lay in a folder and was not memory alone. */
static bool was_file(const char *path)
{
	return !text_starts(path, "/memfd:") && !text_starts(path, "/SYSV") &&
		   strstr(os_base_name(path), ".so");
}

/* Reads a line of maps: "7f00-7f01 r-xp 00000000 fe:00 247498 /usr/lib/libcuda.so.1". Only a line
 * feed in the name is escaped, as \012. Source: proc(5). Below /dev is devices' memory, but
 * /dev/shm holds whole environments on some machines. */
static int take_maps_line(struct jw_error *err, const struct tour *tour, char *line)
{
	static const char gone[] = " (deleted)";
	char *path = strchr(line, '/'), *rights = strchr(line, ' '), *feed;
	bool replaced;

	if (!path || !rights || strnlen(rights, 5) < 5 || rights[3] != 'x' ||
		(text_starts(path, "/dev/") && !text_starts(path, "/dev/shm/")))
		return 0;
	replaced = text_ends(path, gone);
	if (replaced)
		path[strlen(path) - strlen(gone)] = '\0';
	if (replaced && !was_file(path))
		return 0;
	while ((feed = strstr(path, "\\012"))) {
		*feed = '\n';
		memmove(feed + 1, feed + 4, strlen(feed + 4) + 1);
	}
	return tour->take(err, tour->context, path, replaced);
}

static int take_maps(struct jw_error *err, const struct tour *tour, int pid)
{
	struct buf text = BUF_MAX(MAX_LINES);
	int result = 0;

	/* The first lines count. */
	if (read_of_process(NULL, pid, "maps", &text) && text.size)
		text.data[text.size - 1] = '\0';
	for (char *line = (char *)text.data; !result && line && *line;) {
		char *end = strchr(line, '\n');

		if (!end)
			break;
		*end = '\0';
		result = take_maps_line(err, tour, line);
		line = end + 1;
	}
	buf_free(&text);
	return result;
}

static int visit_process(struct jw_error *err, struct tour *tour, int pid, unsigned depth);

/* Opens the list of a process's threads; NULL if that fails. */
static DIR *open_threads(int pid)
{
	char path[64];

	(void)snprintf(path, sizeof path, "/proc/%d/task", pid);
	return opendir(path);
}

/* Visits the children of one thread, listed as "123 456 ". */
static int visit_children(struct jw_error *err, struct tour *tour, int pid, const char *thread,
						  unsigned depth)
{
	struct buf text = BUF_MAX(1 << 20);
	char name[300];
	int result;
	char *at;

	(void)snprintf(name, sizeof name, "task/%.200s/children", thread);
	result = read_of_process(err, pid, name, &text);
	at = (char *)text.data;
	while (!result && at && *at) {
		char *end;
		long child = strtol(at, &end, 10);

		if (end == at)
			break;
		at = end;
		if (child > 0)
			result = visit_process(err, tour, (int)child, depth + 1);
	}
	buf_free(&text);
	return result;
}

static int visit_process(struct jw_error *err, struct tour *tour, int pid, unsigned depth)
{
	struct dirent *entry;
	DIR *threads;
	int result = 0;

	/* A shell that watches itself has started the process that watches. */
	if (depth > MAX_GENERATIONS || (depth && pid == getpid()) || tour->processes++ >= MAX_PROCESSES)
		return 0;
	if (tour->visit(err, tour, pid))
		return -1;
	threads = open_threads(pid);
	while (!result && threads && (entry = readdir(threads)))
		if (entry->d_name[0] != '.')
			result = visit_children(err, tour, pid, entry->d_name, depth);
	if (threads)
		(void)closedir(threads);
	return result;
}

int os_mapped_code(struct jw_error *err, int pid,
				   int (*take)(struct jw_error *err, void *context, const char *path,
							   bool replaced),
				   void *context)
{
	struct tour tour = {.visit = take_maps, .take = take, .context = context};

	return visit_process(err, &tour, pid, 0);
}

void os_program_name(int pid, char *name, size_t size)
{
	struct buf text = BUF_MAX(1 << 20);

	name[0] = '\0';
	if (!read_of_process(NULL, pid, "comm", &text) && text.size)
		text_copy(name, size, (const char *)text.data);
	name[strcspn(name, "\n")] = '\0';
	buf_free(&text);
}

/* Returns whether a program has the rights of its file (sudo, passwd); it may have become root
 * since. Source: AT_SECURE in getauxval(3). */
static bool has_rights_of_file(int pid)
{
	enum { KIND, VALUE, WORDS };
	struct buf text = BUF_MAX(1 << 20);
	unsigned long words[WORDS];
	bool has = false;

	if (!read_of_process(NULL, pid, "auxv", &text))
		for (size_t at = 0; at + sizeof words <= text.size; at += sizeof words) {
			memcpy(words, text.data + at, sizeof words);
			has = has || (words[KIND] == AT_SECURE && words[VALUE]);
		}
	buf_free(&text);
	return has;
}

/* Returns whether a file below /proc/PID differs from our own process's. False if that cannot be
 * found out: then the process's variables cannot be read either. */
static bool is_elsewhere(int pid, const char *name)
{
	struct stat its, own;
	char path[64], own_path[64];

	(void)snprintf(path, sizeof path, "/proc/%d/%s", pid, name);
	(void)snprintf(own_path, sizeof own_path, "/proc/self/%s", name);
	return !stat(path, &its) && !stat(own_path, &own) &&
		   (its.st_dev != own.st_dev || its.st_ino != own.st_ino);
}

/* Reads "Uid: 1000 1000 1000 1000": the real, effective and saved account, and that for files. The
 * owner of /proc/PID does not count: it is root if the process has
 * forbidden dumps of itself. */
int os_process_owner(struct jw_error *err, int pid, uint32_t *ret_owner)
{
	struct buf text = BUF_MAX(1 << 20);
	const char *line;
	unsigned ids[4];
	int result;

	if (pid <= 0)
		return error_set(err, JW_ERR_NOT_FOUND, "there is no process %d", pid);
	/* A container may share our root folder but have other files mounted below it. */
	if (is_elsewhere(pid, "root") || is_elsewhere(pid, "ns/mnt"))
		return error_set(err, JW_ERR_UNSUPPORTED,
						 "process %d sees other files: run jitwarm where the process runs; in a "
						 "container: “docker exec ID jitwarm doctor”",
						 pid);
	result = read_of_process(err, pid, "status", &text);
	/* The first line, which the process chooses, has its line feeds escaped. */
	line = result ? NULL : strstr(buf_text(&text), "\nUid:");
	if (!line ||
		/* NOLINTNEXTLINE(cert-err34-c): the kernel's own numbers */
		sscanf(line, "\nUid: %u %u %u %u", &ids[0], &ids[1], &ids[2], &ids[3]) != 4)
		result = result ? -1 : error_set(err, JW_ERR_NOT_FOUND, "there is no process %d", pid);
	else if (ids[0] != ids[1] || ids[0] != ids[2] || ids[0] != ids[3] || has_rights_of_file(pid))
		result = error_set(
			err, JW_ERR_UNSUPPORTED,
			"process %d runs with the rights of several accounts, like su or sudo; examine its "
			"child (pgrep -P %d)",
			pid, pid);
	else
		*ret_owner = ids[0];
	buf_free(&text);
	return result;
}

int os_process_folder(struct jw_error *err, int pid, char **ret_path)
{
	char name[64], folder[PATH_MAX];
	ssize_t length;

	(void)snprintf(name, sizeof name, "/proc/%d/cwd", pid);
	length = readlink(name, folder, sizeof folder);
	if (length < 0 || (size_t)length >= sizeof folder)
		return error_set(err, JW_ERR_NOT_FOUND, "cannot tell the folder of process %d", pid);
	folder[length] = '\0';
	if (text_ends(folder, " (deleted)"))
		return error_set(err, JW_ERR_NOT_FOUND, "the folder of process %d is gone", pid);
	*ret_path = mem_string(folder);
	return 0;
}

int os_process_variables(struct jw_error *err, int pid,
						 int (*take)(struct jw_error *err, void *context, const char *name,
									 const char *value),
						 void *context)
{
	struct buf text = BUF_MAX(MAX_ENVIRONMENT);
	const int fd = open_of_process(pid, "environ");
	char path[64];
	int result;

	if (fd < 0 && (errno == ENOENT || errno == ESRCH))
		return error_set(err, JW_ERR_NOT_FOUND, "there is no process %d", pid);
	if (fd < 0 && (errno == EACCES || errno == EPERM))
		return error_set(err, JW_ERR_UNSUPPORTED,
						 geteuid() ? "the system does not show process %d to this account: run "
									 "jitwarm in that process's account, or as root"
								   : "the system does not show process %d, not even to root",
						 pid);
	if (fd < 0) {
		(void)snprintf(path, sizeof path, "/proc/%d/environ", pid);
		return posix_error(err, path);
	}
	(void)close(fd);
	result = read_of_process(err, pid, "environ", &text);
	for (size_t at = 0; !result && at < text.size;) {
		char *name = (char *)text.data + at, *equals = strchr(name, '=');

		at += strlen(name) + 1;
		if (!equals || equals == name)
			continue;
		*equals = '\0';
		result = take(err, context, name, equals + 1);
	}
	buf_free(&text);
	return result;
}

/* Reads "12 (name) S 1 …"; the name may hold anything, blanks and brackets too. Source: proc(5),
 * stat. The state is 'X' if there is no such process or thread, or if it is ending, which may take
 * long while it frees its memory. The flag is the kernel's PF_EXITING (include/linux/sched.h). */
static int read_stat(struct jw_error *err, int pid, const char *name,
					 struct os_process_use *ret_use, char *ret_state)
{
	enum { ENDING = 0x4 };
	struct buf text = BUF_MAX(1 << 20);
	unsigned long user = 0, system = 0, of_ended = 0, system_of_ended = 0;
	unsigned long long born = 0;
	unsigned flags = 0;
	const char *rest;
	int got = 0;

	if (read_of_process(err, pid, name, &text)) {
		buf_free(&text);
		return -1;
	}
	rest = text.size ? strrchr((const char *)text.data, ')') : NULL;
	if (rest)
		/* NOLINTNEXTLINE(cert-err34-c): the kernel writes these numbers, and they fit */
		got = sscanf(rest,
					 ") %c %*s %*s %*s %*s %*s %u %*s %*s %*s %*s %lu %lu %lu %lu %*s %*s %*s "
					 "%*s %llu",
					 ret_state, &flags, &user, &system, &of_ended, &system_of_ended, &born);
	if (got != 7 || (flags & ENDING))
		*ret_state = 'X';
	ret_use->cpu_ms =
		(double)(user + system + of_ended + system_of_ended) * 1000 / (double)sysconf(_SC_CLK_TCK);
	ret_use->born = born;
	buf_free(&text);
	return 0;
}

static int add_use(struct jw_error *err, const struct tour *tour, int pid)
{
	struct os_process_use *sum = tour->context, use = {0};
	char state = 'X', name[300];
	struct dirent *entry;
	DIR *threads;
	int result = 0;

	if (read_stat(err, pid, "stat", &use, &state))
		return -1;
	/* After a process's parent has waited for it, its use is part of the parent's. */
	sum->cpu_ms += use.cpu_ms;
	if (state == 'Z' || state == 'X')
		return 0;
	sum->processes++;
	/* On a busy machine a thread may want a core and get little of it. */
	threads = open_threads(pid);
	while (!result && threads && (entry = readdir(threads))) {
		if (entry->d_name[0] == '.')
			continue;
		state = 'X';
		(void)snprintf(name, sizeof name, "task/%.200s/stat", entry->d_name);
		result = read_stat(err, pid, name, &use, &state);
		sum->runnable += state == 'R';
	}
	if (threads)
		(void)closedir(threads);
	return result;
}

int os_process_used(struct jw_error *err, int pid, struct os_process_use *ret_use)
{
	struct os_process_use own = {0}, sum = {0};
	struct tour tour = {.visit = add_use, .context = &sum};
	char state = 'X';

	if (read_stat(err, pid, "stat", &own, &state))
		return -1;
	if (state == 'Z' || state == 'X')
		return error_set(err, JW_ERR_NOT_FOUND, "there is no process %d", pid);
	sum.born = own.born;
	if (visit_process(err, &tour, pid, 0))
		return -1;
	*ret_use = sum;
	return 0;
}
