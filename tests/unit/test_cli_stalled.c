/* If nobody reads the progress, messages wait: work does not. */
#include "check.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "cli/output.h"
#include "cli/progress.h"

TEST(a_message_waits_until_somebody_reads)
{
	const struct output output = {.progress_json = true};
	struct progress progress;
	int ends[2], own = dup(STDERR_FILENO);
	char text[4096] = {0};
	ssize_t got;
	size_t kept;

	/* If a write blocks, the alarm ends the test. */
	(void)alarm(60);
	assert_true(own >= 0 && !pipe2(ends, O_CLOEXEC | O_NONBLOCK));
	while (write(ends[1], text, sizeof text) > 0)
		;
	assert_true(dup2(ends[1], STDERR_FILENO) >= 0);
	progress_start(&progress, &output, 2, 0, "compiling");
	progress_message(&progress, "first");
	progress_message(&progress, "second");
	kept = progress.kept_count;
	while (read(ends[0], text, sizeof text) > 0)
		;
	progress_update(&progress, 1, 0, 0);
	progress_message(&progress, "third");
	progress_finish(&progress);
	got = read(ends[0], text, sizeof text - 1);
	(void)dup2(own, STDERR_FILENO);
	(void)close(own);
	(void)close(ends[0]);
	(void)close(ends[1]);
	(void)alarm(0);
	assert_int_equal(kept, 2);
	assert_true(got > 0);
	text[got] = '\0';
	{
		const char *first = strstr(text, "first\n"), *second = strstr(text, "second\n"),
				   *third = strstr(text, "third\n");

		assert_true(first && second && third && first < second && second < third);
	}
}

RUN_TESTS(NULL, NULL)
