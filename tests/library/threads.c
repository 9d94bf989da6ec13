/* threads FILE CACHE...: one thread per cache. All of them at the same time list the modules of
 * FILE, check it, prime it, and check again. */
#include <jitwarm/check.h>
#include <jitwarm/prime.h>
#include <jitwarm/scan.h>
#include <jitwarm/system.h>
#include <jitwarm/worker.h>

#ifdef __SANITIZE_THREAD__
#include <fcntl.h>
#include <malloc.h>
#endif
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef __SANITIZE_THREAD__
#include <stdarg.h>
#include <sys/syscall.h>
#include <unistd.h>

/* The thread sanitizer knows open(), but not openat(): if the kernel gives one number to two
 * threads, one after the other, it looks like one descriptor that both use. dup3() tells the
 * sanitizer about the new descriptor. */
int openat(int dir, const char *path, int flags, ...)
{
	va_list list;
	mode_t mode;
	int fd, copy;

	va_start(list, flags);
	mode = va_arg(list, mode_t);
	va_end(list);
	fd = (int)syscall(SYS_openat, dir, path, flags, mode);
	copy = fd < 0 ? -1 : (int)syscall(SYS_fcntl, fd, F_DUPFD_CLOEXEC, 3);
	if (copy >= 0) {
		(void)dup3(copy, fd, flags & O_CLOEXEC);
		(void)syscall(SYS_close, copy);
	}
	return fd;
}
#endif

enum { MOST = 8 };

struct job {
	const char *file, *cache;
	const char *const *worker;
	pthread_t thread;
	struct jw_error err;
	size_t compiled, cold_before, cold_after, containers;
	bool failed;
};

static int count(struct jw_error *err, void *context, const struct jw_scan_image *image)
{
	(void)err;
	((struct job *)context)->containers += image->containers;
	return 0;
}

static int scan(struct job *job)
{
	const struct jw_scan_options options = {
		.paths = &job->file, .path_count = 1, .context = job, .image = count};

	return jw_scan(&job->err, &options, NULL);
}

static int check(struct job *job, const struct jw_system *system, size_t *ret_cold)
{
	const struct jw_check_options options = {
		.paths = &job->file, .path_count = 1, .system = system};
	struct jw_check_result *result;

	if (jw_check(&job->err, &options, &result))
		return -1;
	*ret_cold = result->gpu_count ? result->gpus[0].cold : 0;
	jw_result_free(result);
	return 0;
}

static int prime(struct job *job, const struct jw_system *system)
{
	const struct jw_prime_options options = {
		.plan.paths = &job->file, .plan.path_count = 1, .compile.jobs = 2};
	struct jw_prime_result *result;

	if (jw_prime(&job->err, system, &options, &result))
		return -1;
	job->compiled = result->compile.compiled;
	jw_result_free(result);
	return 0;
}

static void *work(void *context)
{
	struct job *job = context;
	const struct jw_system_options how = {
		.worker = job->worker, .cache_dir = job->cache, .probe = true};
	struct jw_system *system = NULL;

	job->failed = scan(job) || jw_system_open(&job->err, &how, &system) ||
				  check(job, system, &job->cold_before) || prime(job, system) ||
				  check(job, system, &job->cold_after);
	jw_system_free(system);
	return NULL;
}

static int report(const struct job *job)
{
	if (job->failed)
		(void)fprintf(stderr, "%s: %s\n", job->cache, job->err.message);
	else if (!job->containers || !job->cold_before || job->compiled != job->cold_before ||
			 job->cold_after)
		(void)fprintf(stderr,
					  "%s: not all that was cold was compiled: %zu containers, %zu cold, %zu "
					  "compiled, %zu cold then\n",
					  job->cache, job->containers, job->cold_before, job->compiled,
					  job->cold_after);
	else
		return 0;
	return 1;
}

int main(int argc, char **argv)
{
	struct job jobs[MOST] = {0};
	size_t job_count = 0;
	int status = 0;

	if (argc == 2 && !strcmp(argv[1], "worker"))
		return jw_worker_main();
#ifdef __SANITIZE_THREAD__
	/* The sanitizer has its own allocator, so two threads at once would begin the C library's own
	 * memory with their first malloc_trim. */
	(void)malloc_trim(0);
#endif
	if (argc < 3 || argc - 2 > MOST)
		return 64;
	const char *const worker[] = {argv[0], "worker", NULL};

	for (int i = 2; i < argc; i++) {
		struct job *job = &jobs[job_count];

		*job = (struct job){.file = argv[1], .cache = argv[i], .worker = worker};
		if (pthread_create(&job->thread, NULL, work, job))
			return 3;
		job_count++;
	}
	for (size_t i = 0; i < job_count; i++)
		if (pthread_join(jobs[i].thread, NULL) || report(&jobs[i]))
			status = 1;
	return status;
}
