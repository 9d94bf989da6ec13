/* The handler of SIGBUS names the mapped file that was cut, and no other; a signal that another
 * process sends ends this one as without the handler (os/file.h). */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"
#include "files.h"
#include "folder.h"

enum { NAMED = 7, MISNAMED = 8 };

static char *cut;

static void end_with_name(const char *path)
{
	_exit(strcmp(path, cut) != 0 ? MISNAMED : NAMED);
}

/* Maps three files, after one that is no longer mapped, and reads the middle one, which was cut. */
static void read_cut(void)
{
	struct os_map maps[4] = {{0}};
	volatile uint8_t byte;

	os_on_cut_file(end_with_name);
	for (size_t i = 0; i < 4; i++) {
		char *path = i == 2 ? mem_string(cut) : mem_printf("%s/%zu", folder, i);

		OK(os_write_atomic(why, path, "content", 7));
		OK(os_map_open(why, path, &maps[i]));
		if (!i)
			os_map_close(&maps[i]);
		mem_free(path);
	}
	if (truncate(cut, 0))
		_exit(1);
	byte = *maps[2].data;
	_exit(byte ? 2 : 3);
}

static void send_to_self(void)
{
	os_on_cut_file(end_with_name);
	(void)kill(getpid(), SIGBUS);
	_exit(1);
}

static int status_of(void (*work)(void))
{
	const pid_t child = fork();
	int status = 0;

	if (!child)
		work();
	assert_int_equal(waitpid(child, &status, 0), child);
	return status;
}

TEST(the_cut_file_is_named)
{
	int status;

	cut = keep(os_join(folder, "cut"));
	status = status_of(read_cut);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), NAMED);
}

TEST(a_sent_signal_ends_the_process)
{
	int status = status_of(send_to_self);

	assert_true(WIFSIGNALED(status));
	assert_int_equal(WTERMSIG(status), SIGBUS);
}

RUN_TESTS(make_folder, remove_folder)
