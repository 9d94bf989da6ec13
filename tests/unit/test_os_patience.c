/* Programs that wait for a slow server (os/process.h). */
#include "folder.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h> /* only where /bin/sh is */

#include "base/mem.h"
#include "os/file.h"
#include "os/process.h"

static int run_shell(const char *script, struct os_patience *patience)
{
	const char *const words[] = {"/bin/sh", "-c", script, NULL};
	char *said = os_join(folder, "said"), *files = os_join(folder, "files");
	const struct jw_cancel cancel = {0};
	const struct os_helper helper = {.name = "it",
									 .folder = files,
									 .most_bytes = 1 << 30,
									 .cancel = &cancel,
									 .patience = patience};
	struct os_ended ended;
	const int result = os_run_helper(why, words, said, &helper, &ended);

	mem_free(said);
	mem_free(files);
	return result;
}

TEST(a_server_that_sends_nothing_ends_the_command)
{
	struct os_patience patience = {.grace_s = 1};

	GIVES(JW_ERR_LIMIT, run_shell("exec sleep 300", &patience));
	assert_non_null(strstr(why->message, "it: the connection carried less than 64 KiB a second"));
	assert_true(patience.waited_ns >= 1000000000);
	/* The next program of the command has no new grace. */
	GIVES(JW_ERR_LIMIT, run_shell("exec sleep 300", &patience));
}

TEST(what_was_received_gives_time)
{
	struct os_patience patience = {.grace_s = 0, .bytes = UINT64_C(1000) * OS_SLOWEST};

	OK(run_shell("head -c 1000 /dev/zero; sleep 3", &patience));
	assert_true(patience.waited_ns >= 1000000000);
	assert_int_equal(patience.bytes, UINT64_C(1000) * OS_SLOWEST + 1000);
}

/* The shell prints KiB. */
TEST(the_command_has_limited_memory)
{
	struct os_patience patience = {.grace_s = 600};
	char *said = os_join(folder, "said");
	struct buf text;
	uint64_t kib;

	OK(run_shell("ulimit -d", &patience));
	OK(os_read_file(why, said, 100, &text));
	kib = strtoull(buf_text(&text), NULL, 10); /* 0 for “unlimited” */
	assert_in_range(kib, 1, (uint64_t)OS_MAX_MEMORY_GIB << 20);
	buf_free(&text);
	mem_free(said);
}

RUN_TESTS(make_folder, remove_folder)
