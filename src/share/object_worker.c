/* The worker that reads and writes a shared folder, in its own process: no signal may be able to
 * end a thread that waits for a dead file server, and it would keep the supervisor from ending. */
#include <stdbool.h>
#include <string.h>

#include <jitwarm/share.h>
#include <sodium.h>
#include <uv.h>

#include "base/mem.h"
#include "base/text.h"
#include "driver/protocol.h"
#include "driver/task.h"
#include "os/console.h"
#include "os/env.h"
#include "os/file.h"
#include "os/interrupt.h"
#include "os/process.h"
#include "os/uv.h"
#include "pack/key_files.h"
#include "share/object_entry.h"

enum { STDIN = 0, STDERR = 2, THREADS = 16, MAX_JOBS = 1 << 20 };

struct object_worker {
	int out;
	struct object_received given;
	struct object_context context;
	uv_mutex_t mutex; /* protects everything below, and `out` */
	uv_cond_t more;
	struct object_job *jobs; /* jobs not begun, the next one last */
	size_t job_count, capacity;
	size_t under_way; /* the number of jobs that are begun, and not answered */
	size_t thread_count;
};

static void answer_object(struct object_worker *worker, const struct object_answer *answer)
{
	struct buf line = BUF_MAX(PROTOCOL_MAX_LINE);

	if (!object_put_answer(NULL, &line, answer))
		(void)os_fd_write(NULL, worker->out, line.data, line.size);
	buf_free(&line);
}

/* Runs a thread. Without a folder, the answer to each job is OBJECT_GONE. */
static void run_object_thread(void *context)
{
	struct object_worker *worker = context;
	struct jw_error why = {0};
	struct object_thread thread = {.context = &worker->context};
	const bool opened =
		!object_directory_open(&why, worker->given.options.folder, &thread.directory);

	for (;;) {
		struct object_answer answer = {.said = OBJECT_GONE};
		struct object_job job;

		uv_mutex_lock(&worker->mutex);
		while (!worker->job_count)
			uv_cond_wait(&worker->more, &worker->mutex);
		job = worker->jobs[--worker->job_count];
		worker->under_way++;
		uv_mutex_unlock(&worker->mutex);
		answer.id = job.id;
		answer.what = job.what;
		if (opened)
			object_do(&thread, &job, &answer);
		else
			TEXT_COPY(answer.why, why.message);
		uv_mutex_lock(&worker->mutex);
		worker->under_way--;
		answer_object(worker, &answer);
		uv_mutex_unlock(&worker->mutex);
	}
}

/* Adds a job. Jobs that an idle worker waits for come before others; the searches stay in order. */
static int add_object_job(struct jw_error *err, struct object_worker *worker,
						  const struct object_job *job)
{
	uv_thread_t thread;
	int result;

	uv_mutex_lock(&worker->mutex);
	result = VEC_ROOM(err, worker->jobs, worker->capacity, worker->job_count, MAX_JOBS);
	if (!result && job->what == OBJECT_FIND) {
		memmove(worker->jobs + 1, worker->jobs, worker->job_count * sizeof *worker->jobs);
		worker->jobs[0] = *job;
	} else if (!result) {
		worker->jobs[worker->job_count] = *job;
	}
	worker->job_count += !result;
	if (!result && worker->thread_count < THREADS &&
		worker->job_count + worker->under_way > worker->thread_count) {
		if (!os_thread_start(&thread, run_object_thread, worker))
			worker->thread_count++;
		else if (!worker->thread_count)
			result = error_set(err, JW_ERR_IO, "no thread can be started");
	}
	uv_cond_signal(&worker->more);
	uv_mutex_unlock(&worker->mutex);
	return result;
}

static int take_object_line(struct jw_error *err, struct object_worker *worker, const char *line,
							size_t size)
{
	struct object_received *given = &worker->given;
	struct jw_share_options *options = &given->options;
	struct object_job job;

	if (given->setup.folder)
		return object_get_job(err, line, size, &job) ? -1 : add_object_job(err, worker, &job);
	if (object_get_setup(err, line, size, given))
		return -1;
	worker->context.setup = &given->setup;
	if (options->sign_key &&
		keys_read(err, options->state_dir, options->sign_key, &worker->context.secret))
		return -1;
	return 0;
}

static int serve_objects(struct jw_error *err, struct object_worker *worker)
{
	struct buf in = BUF_MAX(2 * PROTOCOL_MAX_LINE);
	uint8_t fresh[65536];
	size_t got;

	while (!os_fd_read_some(err, STDIN, fresh, sizeof fresh, &got) && got) {
		uint8_t *end;
		size_t used = 0;

		if (buf_append(err, &in, fresh, got))
			return -1;
		while ((end = memchr(in.data + used, '\n', in.size - used))) {
			if (take_object_line(err, worker, (char *)in.data + used,
								 (size_t)(end - in.data) - used))
				return -1;
			used = (size_t)(end - in.data) + 1;
		}
		memmove(in.data, in.data + used, in.size - used);
		in.size -= used;
	}
	return err->code ? -1 : 0;
}

bool jw_is_share_worker(void)
{
	char *task = os_env(TASK_VARIABLE);
	const bool is = task && !strcmp(task, OBJECT_TASK);

	mem_free(task);
	return is;
}

/* Runs the worker. The threads end with the process, wherever they wait; this call does not return
 * before them. */
int jw_share_worker_main(void)
{
	struct object_worker worker = {0};
	struct jw_error err = {0};

	os_die_with_parent();
	os_ignore_interrupts();
	os_ignore_broken_pipes();
	os_crash_quietly();
	if (sodium_init() < 0 || uv_mutex_init(&worker.mutex) || uv_cond_init(&worker.more) ||
		os_take_stdout(&err, &worker.out) || serve_objects(&err, &worker)) {
		(void)os_fd_write(NULL, STDERR, err.message, strlen(err.message));
		os_end_now(3);
	}
	os_end_now(0);
	return 0;
}
