/* The log of runs is halved at a megabyte, and jitwarm never writes to a file that is not its log.
 * */
#include "files.h"
#include "folder.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h> /* not on Windows: /dev/null is POSIX's, and allocations fail elsewhere */

#include <jitwarm/startup.h>

#include "os/env.h"

/* The disk cannot be read. */
static bool reading_fails;

__attribute__((visibility("default"))) ssize_t pread64(int fd, void *data, size_t size, off64_t at)
{
	errno = EIO;
	return reading_fails ? -1 : (ssize_t)syscall(SYS_pread64, fd, data, size, at);
}

/* The file system has no locks. */
static bool lockless;
/* Another process holds the lock for so many more tries. */
static unsigned refusals;

int fcntl(int fd, int command, ...)
{
	va_list arguments;
	long argument;

	va_start(arguments, command);
	argument = va_arg(arguments, long);
	va_end(arguments);
	if (command == F_SETLK && (lockless || refusals)) {
		errno = lockless ? ENOLCK : EAGAIN;
		refusals -= refusals != 0;
		return -1;
	}
	return (int)syscall(SYS_fcntl, fd, command, argument);
}

#define LINE "{\"schema\":\"jitwarm.run/1\"}"
#define MIB  ((size_t)1 << 20)

static char *path;

static int make_path(void **state)
{
	return make_folder(state) || !(path = os_join(folder, "a/log")) ? -1 : 0;
}

static int remove_path(void **state)
{
	mem_free(path);
	return remove_folder(state);
}

static void put(const char *text, size_t size)
{
	files_put(folder, "a/log", text, size);
}

static size_t content(const char **ret_text)
{
	static struct buf text;

	buf_free(&text);
	OK(os_read_file(why, path, 4 * MIB, &text));
	*ret_text = buf_text(&text);
	return text.size;
}

/* jitwarm does not write to a file that does not begin like its log, or is too short to tell. */
TEST(foreign_files_stay)
{
	static const char *const foreign[] = {"x", "{\"schema\":\"jitwarm.run",
										  "{\"schema\":\"jitwarm.ran/1\"}\n"};
	const char *text;

	for (size_t i = 0; i < sizeof foreign / sizeof *foreign; i++) {
		put(foreign[i], strlen(foreign[i]));
		GIVES(JW_ERR_FORMAT, jw_log_append(why, path, LINE));
		(void)content(&text);
		assert_string_equal(text, foreign[i]);
	}
	/* An empty file, or only the beginning of a log, counts as jitwarm's. */
	put("{\"schema\":\"jitwarm.run/", 23);
	OK(jw_log_append(why, path, LINE));
	put("", 0);
	OK(jw_log_append(why, path, LINE));
	(void)content(&text);
	assert_string_equal(text, LINE "\n");
}

TEST(a_file_system_needs_no_locks)
{
	const char *text;

	put("", 0);
	lockless = true;
	OK(jw_log_append(why, path, LINE));
	lockless = false;
	(void)content(&text);
	assert_string_equal(text, LINE "\n");
}

/* A file that cannot be read may be another program's. */
TEST(a_file_that_cannot_be_read_stays)
{
	const char *text;

	put(LINE "\n", strlen(LINE "\n"));
	reading_fails = true;
	assert_int_equal(jw_log_append(why, path, LINE), -1);
	reading_fails = false;
	assert_int_equal(why->code, JW_ERR_IO);
	(void)content(&text);
	assert_string_equal(text, LINE "\n");
}

/* From a megabyte on, the older half is removed, and whole lines stay. */
TEST(a_megabyte_is_halved)
{
	static char lines[2 * (1 << 20) + 1];

	for (size_t i = 0; i + 64 < sizeof lines; i += 64)
		(void)snprintf(lines + i, 65, "{\"schema\":\"jitwarm.run/1\",\"n\":%032zu}\n", i);
	for (size_t size = MIB - 64; size <= MIB + 64; size += 64) {
		const char *text;
		size_t left;

		put(lines, size);
		OK(jw_log_append(why, path, LINE));
		left = content(&text);
		if (size < MIB) {
			assert_int_equal(left, size + strlen(LINE "\n"));
			continue;
		}
		/* The line at which the half begins counts as broken off. */
		assert_int_equal(left, MIB / 2 - 64 + strlen(LINE "\n"));
		assert_memory_equal(text, lines + size - MIB / 2 + 64, left - strlen(LINE "\n"));
	}
	/* Without a line feed, no line is whole. */
	memset(lines + 64, 'x', sizeof lines - 64);
	put(lines, MIB);
	{
		const char *text;

		OK(jw_log_append(why, path, LINE));
		(void)content(&text);
		assert_string_equal(text, LINE "\n");
	}
}

TEST(a_line_that_is_too_long_is_refused)
{
	static char line[(1 << 20) + 1];
	const char *text;

	memset(line, 'x', sizeof line - 1);
	put(LINE "\n", strlen(LINE "\n"));
	GIVES(JW_ERR_LIMIT, jw_log_append(why, path, line));
	(void)content(&text);
	assert_string_equal(text, LINE "\n");
	assert_int_equal(jw_log_append(NULL, "/dev/null", LINE), -1);
	/* a folder beside a file cannot exist */
	files_put(folder, "b", "", 0);
	{
		assert_int_equal(jw_log_append(NULL, keep(os_join(folder, "b/log")), LINE), -1);
	}
}

TEST(it_lies_beside_what_is_remembered)
{
	char *where = NULL, *wanted = keep(os_join(folder, "runs.jsonl"));

	OK(os_env_set(why, "JITWARM_STATE", folder));
	OK(jw_log_path(why, &where));
	assert_string_equal(where, wanted);
	mem_free(where);
}

/* The log was not named by the user: a power cut, or a wrong byte in it, ends no run. */
TEST(another_writer_is_waited_for_a_while_and_never_written_over)
{
	struct buf text = {0};

	put(LINE "\n", sizeof LINE);
	refusals = 3;
	OK(jw_log_append(why, path, LINE));
	assert_int_equal(refusals, 0);
	refusals = 1000000;
	OK(jw_log_append(why, path, LINE)); /* locked for long, the line goes to the end */
	refusals = 0;
	OK(os_read_file(why, path, MIB, &text));
	assert_string_equal(buf_text(&text), LINE "\n" LINE "\n" LINE "\n");
	buf_free(&text);
}

TEST(a_damaged_own_log_is_put_aside)
{
	static const char zeros[300];
	static const struct {
		const char *bytes;
		size_t size;
	} damaged[] = {{zeros, sizeof zeros}, {"[" LINE, sizeof LINE}};
	char *own = NULL, *aside;

	OK(os_env_set(why, "JITWARM_STATE", folder));
	OK(jw_log_path(why, &own));
	aside = keep(os_join(folder, "runs.jsonl.damaged"));
	for (size_t i = 0; i < sizeof damaged / sizeof *damaged; i++) {
		struct buf old = {0}, new = {0};

		files_put(folder, "runs.jsonl", damaged[i].bytes, damaged[i].size);
		OK(jw_log_append(why, own, LINE));
		OK(os_read_file(why, own, MIB, &new));
		OK(os_read_file(why, aside, MIB, &old));
		assert_string_equal(buf_text(&new), LINE "\n");
		assert_int_equal(old.size, damaged[i].size);
		assert_memory_equal(old.data, damaged[i].bytes, old.size);
		buf_free(&old);
		buf_free(&new);
	}
	mem_free(own);
}

RUN_TESTS(make_path, remove_path)
