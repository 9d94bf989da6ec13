/* The worker that speaks to a shared place of objects, in a process of its own: whatever a
 * resolver, a TLS library or a dead file server does, the supervisor goes on. */
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

enum { STDIN = 0, STDERR = 2, THREADS = 16, MOST_JOBS = 1 << 20, BEAT_BYTES = 200 };

struct object_worker;

struct worker_thread {
	struct object_worker *worker;
	_Atomic uint64_t *moved;
	_Atomic bool *computing;
};

struct object_worker {
	int out;
	struct object_given given;
	struct object_context context;
	uv_mutex_t mutex; /* of all below, and of `out` */
	uv_cond_t more;
	struct object_job *jobs; /* not begun, the next one last */
	size_t job_count, capacity;
	size_t under_way; /* jobs that are begun, and not answered */
	size_t thread_count;
	_Atomic uint64_t moved[THREADS]; /* bytes, by each thread */
	_Atomic bool computing[THREADS];
	struct worker_thread threads[THREADS];
};

static void answer_object(struct object_worker *worker, const struct object_answer *answer)
{
	struct buf line = BUF_MAX(PROTOCOL_MOST_LINE);

	if (!object_put_answer(NULL, &line, answer))
		(void)os_fd_write(NULL, worker->out, line.data, line.size);
	buf_free(&line);
}

/* Each thread has its own connections. Without a place every job is answered so. */
static void run_object_thread(void *context)
{
	struct worker_thread *own = context;
	struct object_worker *worker = own->worker;
	struct jw_error why = {0};
	struct object_thread thread = {
		.context = &worker->context,
		.computing = own->computing,
		.place = object_place_open(&why, worker->context.setup->options, own->moved),
	};

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
		if (thread.place)
			object_do(&thread, &job, &answer);
		else
			TEXT_COPY(answer.why, why.message);
		uv_mutex_lock(&worker->mutex);
		worker->under_way--;
		answer_object(worker, &answer);
		uv_mutex_unlock(&worker->mutex);
	}
}

/* What an idle worker waits for comes before what may only be there; the looks stay in order. */
static int add_object_job(struct jw_error *err, struct object_worker *worker,
						  const struct object_job *job)
{
	const size_t i = worker->thread_count;
	uv_thread_t thread;
	int result;

	uv_mutex_lock(&worker->mutex);
	result = VEC_ROOM(err, worker->jobs, worker->capacity, worker->job_count, MOST_JOBS);
	if (!result && job->what == OBJECT_LOOK) {
		memmove(worker->jobs + 1, worker->jobs, worker->job_count * sizeof *worker->jobs);
		worker->jobs[0] = *job;
	} else if (!result) {
		worker->jobs[worker->job_count] = *job;
	}
	worker->job_count += !result;
	/* A thread and its connection cost processor time, here and at the place: no more than needed.
	 */
	if (!result && i < THREADS && worker->job_count + worker->under_way > i) {
		worker->threads[i] =
			(struct worker_thread){worker, &worker->moved[i], &worker->computing[i]};
		if (!os_thread_start(&thread, run_object_thread, &worker->threads[i]))
			worker->thread_count++;
		else if (!i)
			result = error_set(err, JW_ERR_IO, "no thread can be started");
	}
	uv_cond_signal(&worker->more);
	uv_mutex_unlock(&worker->mutex);
	return result;
}

/* Tells the supervisor regularly whether the place is alive: bytes arrive faster than one by one,
 * or this process is computing, for which the place is not to blame. A suspended process tells it
 * later. */
static void beat_object_worker(void *context)
{
	struct object_worker *worker = context;
	uint64_t before = 0;

	for (;;) {
		uint64_t sum = 0;
		bool computing = false;

		uv_sleep(OBJECT_BEAT_MS);
		for (size_t i = 0; i < THREADS; i++) {
			sum += worker->moved[i];
			computing = computing || worker->computing[i];
		}
		uv_mutex_lock(&worker->mutex);
		if (worker->under_way)
			answer_object(worker,
						  &(struct object_answer){.said = computing || sum - before >= BEAT_BYTES
															  ? OBJECT_BEAT
															  : OBJECT_QUIET});
		uv_mutex_unlock(&worker->mutex);
		before = sum;
	}
}

static int take_object_line(struct jw_error *err, struct object_worker *worker, const char *line,
							size_t size)
{
	struct object_given *given = &worker->given;
	struct jw_share_options *options = &given->options;
	struct object_job job;
	uv_thread_t thread;

	if (given->setup.folder)
		return object_get_job(err, line, size, &job) ? -1 : add_object_job(err, worker, &job);
	if (object_get_setup(err, line, size, given))
		return -1;
	worker->context.setup = &given->setup;
	/* Other accounts write there. */
	os_follow_none_below(options->place, true);
	/* Deriving a key from a passphrase takes a second: once. */
	if (options->sign_key && keys_unlock(err, options->state_dir, options->sign_key,
										 options->passphrase, &worker->context.secret))
		return -1;
	answer_object(worker, &(struct object_answer){.said = OBJECT_BEAT});
	if (os_thread_start(&thread, beat_object_worker, worker))
		return error_set(err, JW_ERR_IO, "no thread can be started");
	return 0;
}

static int serve_objects(struct jw_error *err, struct object_worker *worker)
{
	struct buf in = BUF_MAX(2 * PROTOCOL_MOST_LINE);
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

/* The threads end with the process, wherever they wait: this call does not return before them. */
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
