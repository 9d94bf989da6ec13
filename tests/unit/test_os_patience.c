/* Programs that wait for a slow server (os/process.h). */
#include "folder.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h> /* only where /bin/sh is */

#include "base/mem.h"
#include "base/text.h"
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

/* ---- a helper that answers */

struct asked {
	struct os_answering *answering;
	struct os_patience patience;
	struct jw_cancel cancel;
	struct os_helper helper;
	struct os_ended ended;
	size_t lines;
	char last[64];
};

static void start_asked(struct asked *asked, const char *script)
{
	const char *const words[] = {"/bin/sh", "-c", script, NULL};

	*asked = (struct asked){.patience = {.grace_s = 600}};
	asked->helper = (struct os_helper){.name = "it",
									   .folder = folder,
									   .runs_in = folder,
									   .most_bytes = 1 << 20,
									   .cancel = &asked->cancel,
									   .patience = &asked->patience};
	OK(os_answering_start(why, words, &asked->helper, &asked->answering));
}

static int take(struct jw_error *err, void *context, char *line)
{
	struct asked *asked = context;

	if (!strcmp(line, "no"))
		return error_set(err, JW_ERR_FORMAT, "no answer");
	TEXT_COPY(asked->last, line);
	asked->lines++;
	return !strcmp(line, "end");
}

static int ask(struct asked *asked, const char *question)
{
	return os_answering_ask(why, asked->answering, question, take, asked, &asked->ended);
}

TEST(one_program_answers_many_questions)
{
	struct asked asked;

	start_asked(&asked, "echo end; while read -r n; do seq $n; echo end; done");
	OK(ask(&asked, NULL));
	assert_int_equal(asked.lines, 1);
	for (size_t i = 1; i < 200; i++)
		OK(ask(&asked, "100"));
	assert_int_equal(asked.lines, 1 + 199 * 101);
	os_answering_stop(asked.answering);
}

TEST(an_answer_that_does_not_end_well_ends_the_program)
{
	static const struct {
		const char *script;
		int code;
		const char *message;
	} cases[] = {
		{"read x; exit 7", JW_ERR_IO, "it ended before it answered"},
		{"read x; echo torn", JW_ERR_IO, "it ended before it answered"},
		{"read x; kill -9 $$", JW_ERR_IO, "it ended before it answered"},
		{"read x; echo no; sleep 60", JW_ERR_FORMAT, "no answer"},
		{"read x; yes x | tr -d '\\n'", JW_ERR_LIMIT,
		 "it answered with a line of more than 1048576 bytes"},
		{"read x; yes", JW_ERR_LIMIT, "it answered with more than 64 MiB"},
		{"read x; head -c 2000000 /dev/zero >long; sleep 60", JW_ERR_LIMIT,
		 "it downloaded more than 0 GiB"},
	};

	char *long_file = os_join(folder, "long");

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct asked asked;

		start_asked(&asked, cases[i].script);
		asked.ended.status = -1;
		GIVES((enum jw_code)cases[i].code, ask(&asked, "x"));
		assert_string_equal(why->message, cases[i].message);
		if (i == 0)
			assert_int_equal(asked.ended.status, 7);
		if (i == 2)
			assert_int_equal(asked.ended.signal, 9);
		os_answering_stop(asked.answering);
	}
	OK(os_remove(why, long_file));
	mem_free(long_file);
}

TEST(an_answer_that_does_not_come_ends_the_program)
{
	struct asked asked;

	start_asked(&asked, "exec sleep 300");
	asked.patience.grace_s = 1;
	GIVES(JW_ERR_LIMIT, ask(&asked, "x"));
	assert_non_null(strstr(why->message, "it: the connection carried less than 64 KiB a second"));
	os_answering_stop(asked.answering);
}

TEST(a_program_that_answers_has_limited_memory)
{
	struct asked asked;

	start_asked(&asked, "read x; echo $(ulimit -d) end");
	asked.patience.grace_s = 1;
	(void)ask(&asked, "x");
	assert_in_range(strtoull(asked.last, NULL, 10), 1, (uint64_t)OS_MAX_MEMORY_GIB << 20);
	os_answering_stop(asked.answering);
}

RUN_TESTS(make_folder, remove_folder)
