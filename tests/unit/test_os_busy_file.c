/* A file that another program has opened without sharing it is waited for a moment, and no longer;
 * and a message names the program. */
#include "check.h"

#include <string.h>

#include "base/mem.h"
#include "os/file.h"
#include "os/folders.h"

#ifdef __linux__
#include <signal.h>
#include <unistd.h>

#include <sys/prctl.h>
#include <sys/wait.h>
#endif

#ifdef _WIN32
#include <windows.h>

enum { MOMENT_MS = 100 };

static HANDLE hold(const char *path)
{
	return CreateFileA(path, GENERIC_READ, 0, NULL, OPEN_EXISTING, 0, NULL);
}

/* The first one who waits releases it. */
static HANDLE held_until_awaited;

static VOID WINAPI sleep_and_let_go(DWORD ms)
{
	if (held_until_awaited)
		(void)CloseHandle(held_until_awaited);
	held_until_awaited = NULL;
	(void)SleepEx(ms, FALSE);
}

/* The program's own calls find this function in place of the library's. */
typedef __typeof__(Sleep) sleep_function;
extern sleep_function *const __imp_Sleep;
sleep_function *const __imp_Sleep = sleep_and_let_go;

static DWORD WINAPI let_go_soon(void *held)
{
	Sleep(MOMENT_MS);
	(void)CloseHandle(held);
	return 0;
}
#endif

TEST(a_moment_is_waited_for_and_no_longer)
{
#ifndef _WIN32
	skip();
#else
	struct os_file *file = NULL;
	char *folder, *path;
	HANDLE held, thread;

	OK(os_make_temp_dir(why, "jitwarm-busy", &folder));
	path = keep(os_join(folder, "index"));
	OK(os_write_atomic(why, path, "x", 1));

	held = hold(path);
	assert_true(held != INVALID_HANDLE_VALUE);
	assert_int_equal(os_file_open(why, path, OS_OPEN_UPDATE, &file), -1);
	assert_non_null(strstr(why->message, "In use by another program"));

	thread = CreateThread(NULL, 0, let_go_soon, held, 0, NULL);
	assert_non_null(thread);
	OK(os_file_open(why, path, OS_OPEN_UPDATE, &file));
	(void)WaitForSingleObject(thread, INFINITE);
	(void)CloseHandle(thread);
	os_file_close(file);
	OK(os_remove_tree(why, folder));
	mem_free(folder);
#endif
}

TEST(a_file_is_renamed_over_one_that_is_open_for_a_moment)
{
#ifndef _WIN32
	skip();
#else
	struct buf bytes = {0};
	char *folder, *from, *to;

	OK(os_make_temp_dir(why, "jitwarm-busy", &folder));
	from = keep(os_join(folder, "from"));
	to = keep(os_join(folder, "to"));
	OK(os_write_atomic(why, from, "new", 3));
	OK(os_write_atomic(why, to, "old", 3));
	held_until_awaited = hold(to);
	assert_true(held_until_awaited != INVALID_HANDLE_VALUE);
	OK(os_rename(why, from, to));
	assert_null(held_until_awaited);
	OK(os_read_file(why, to, 10, &bytes));
	assert_memory_equal(bytes.data, "new", 3);
	buf_free(&bytes);
	OK(os_remove_tree(why, folder));
	mem_free(folder);
#endif
}

/* A process chooses its name, and root's terminal shows it. */
TEST(a_message_has_no_control_characters_of_a_name)
{
#ifndef __linux__
	skip();
#else
	static const char *const names[][2] = {{"a\033[2J “b\"'$", "by a__2J____b___ (process"},
										   {"py-3.12_+:/@", "by py-3.12_+:/@ (process"}};
	char *folder, *path;

	OK(os_make_temp_dir(why, "jitwarm-busy", &folder));
	path = keep(os_join(folder, "lock"));
	for (size_t i = 0; i < 2; i++) {
		struct os_file *lock;
		int ready[2], status;
		char byte;
		pid_t child;

		assert_int_equal(pipe(ready), 0);
		child = fork();
		if (!child) {
			(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
			if (!os_lock_file(NULL, path, 0, &lock) && !prctl(PR_SET_NAME, names[i][0]) &&
				write(ready[1], "", 1) == 1)
				pause();
			_exit(1);
		}
		assert_int_equal(read(ready[0], &byte, 1), 1);
		GIVES(JW_ERR_BUSY, os_lock_file(why, path, 0, &lock));
		assert_non_null(strstr(why->message, names[i][1]));
		(void)kill(child, SIGKILL);
		assert_int_equal(waitpid(child, &status, 0), child);
		(void)close(ready[0]);
		(void)close(ready[1]);
	}
	OK(os_remove_tree(why, folder));
	mem_free(folder);
#endif
}

RUN_TESTS(NULL, NULL)
