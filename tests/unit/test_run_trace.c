/* The trace on a full disk: what is written is complete JSON, and the reason is reported. */
#include "folder.h"

#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/json.h"
#include "run/trace.h"

enum { MOST_BYTES = 4096, SLICES = 100 };

static void limit_files(rlim_t most)
{
	struct rlimit limit;

	assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
	limit.rlim_cur = most;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

TEST(a_full_disk_leaves_whole_json)
{
	char *path = os_join(NULL, folder, "trace.json");
	struct jw_error err = {0};
	struct buf text = {0};
	struct trace *trace;
	cJSON *document;

	(void)signal(SIGXFSZ, SIG_IGN);
	limit_files(MOST_BYTES);
	assert_int_equal(trace_open(&err, path, &trace), 0);
	for (int i = 0; i < SLICES; i++)
		trace_slice(trace, TRACE_SUPERVISOR, "an event", 0);
	assert_int_equal(trace_close(&err, trace), -1);
	limit_files(RLIM_INFINITY);
	assert_int_equal(err.code, JW_ERR_IO);
	assert_non_null(strstr(err.message, path));
	assert_int_equal(os_read_file(&err, path, MOST_BYTES, &text), 0);
	document = json_parse(&err, buf_text(&text), text.size);
	assert_non_null(document);
	assert_in_range(cJSON_GetArraySize(document), 10, SLICES - 1);
	cJSON_Delete(document);
	buf_free(&text);
	mem_free(path);
}

/* A file that was longer, and a pipe, which gets the end only at the end */
TEST(a_trace_is_one_whole_document)
{
	for (int pipe = 0; pipe < 2; pipe++) {
		char *path = os_join(NULL, folder, pipe ? "pipe" : "file"), longer[2000], text[4096] = "";
		struct trace *trace;
		cJSON *document;
		int fd;

		memset(longer, ' ', sizeof longer);
		if (pipe)
			assert_int_equal(mkfifo(path, 0600), 0);
		else
			assert_int_equal(os_write_atomic(NULL, path, longer, sizeof longer), 0);
		fd = open(path, O_RDWR | O_NONBLOCK);
		assert_true(fd >= 0);
		assert_int_equal(trace_open(NULL, path, &trace), 0);
		trace_slice(trace, TRACE_SUPERVISOR, "an event", 0);
		trace_slice(trace, TRACE_FIRST_WORKER, "another", 0);
		assert_int_equal(trace_close(NULL, trace), 0);
		assert_in_range(read(fd, text, sizeof text), 100, 1000);
		document = json_parse(NULL, text, strlen(text));
		/* The process, two rows, and two events */
		assert_int_equal(cJSON_GetArraySize(document), 5);
		cJSON_Delete(document);
		(void)close(fd);
		mem_free(path);
	}
}

RUN_TESTS(make_folder, remove_folder)
