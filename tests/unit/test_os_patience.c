/* Programs that answer questions, and may wait for a slow server (os/process.h). */
#include "folder.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h> /* only where /bin/sh is */

#include "base/mem.h"
#include "base/text.h"
#include "os/file.h"
#include "os/process.h"

struct asked {
	struct os_answering *answering;
	struct os_patience patience;
	struct jw_cancel cancel;
	struct os_helper helper;
	struct os_ended ended;
	size_t lines, looks;
	char last[64];
};

static const char *const asleep[] = {"/bin/sh", "-c", "exec sleep 300", NULL};

static void count_look(void *context, uint64_t size_bytes)
{
	struct asked *asked = context;

	(void)size_bytes;
	asked->looks++;
}

static void start_asked(struct asked *asked, const char *script)
{
	const char *const words[] = {"/bin/sh", "-c", script, NULL};

	*asked = (struct asked){.patience = {.grace_s = 600}};
	asked->helper = (struct os_helper){.name = "it",
									   .folder = folder,
									   .runs_in = folder,
									   .most_bytes = 1 << 20,
									   .cancel = &asked->cancel,
									   .on_size = count_look,
									   .context = asked,
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
	OK(os_remove(why, keep(os_join(folder, "long"))));
}

TEST(a_server_that_sends_nothing_ends_the_command)
{
	struct asked asked;

	start_asked(&asked, asleep[2]);
	asked.patience.grace_s = 1;
	for (int program = 0; program < 2; program++) {
		const size_t looks = asked.looks;

		GIVES(JW_ERR_LIMIT, ask(&asked, "x"));
		assert_non_null(
			strstr(why->message, "it: the connection carried less than 64 KiB a second"));
		assert_true(asked.patience.waited_ns >= 1000000000);
		/* The second program has no new grace: the first look ends it. */
		assert_int_equal(asked.looks == looks, program);
		os_answering_stop(asked.answering);
		if (!program)
			OK(os_answering_start(why, asleep, &asked.helper, &asked.answering));
	}
}

TEST(what_was_received_gives_time)
{
	struct asked asked;
	char *received = keep(os_join(folder, "received"));

	start_asked(&asked, "read x; head -c 1000 /dev/zero >received; sleep 1.5; echo end");
	asked.patience = (struct os_patience){.bytes = UINT64_C(1000) * OS_SLOWEST};
	OK(ask(&asked, "x"));
	assert_true(asked.patience.waited_ns >= 1000000000);
	assert_int_equal(asked.patience.bytes, UINT64_C(1000) * OS_SLOWEST + 1000);
	os_answering_stop(asked.answering);
	OK(os_remove(why, received));
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
