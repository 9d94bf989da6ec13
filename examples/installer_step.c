/* An installer's last step: what has been installed is compiled now, with a progress bar, rather
 * than at the first start.
 *
 *     installer_step FILE|FOLDER|PACKAGE...
 */
#include <jitwarm.h>

#include <stdio.h>
#include <string.h>

static void show_progress(void *context, const struct jw_prime_progress *progress)
{
	enum { WIDTH = 40 };
	double part = progress->total_weight > 0 ? progress->done_weight / progress->total_weight : 1;
	int full = (int)(part * WIDTH);

	(void)context;
	printf("\r[%.*s%*s] %zu of %zu", full < WIDTH ? full : WIDTH,
		   "########################################", WIDTH - full, "", progress->done,
		   progress->total);
	fflush(stdout);
}

static int prime(struct jw_error *err, const struct jw_system *system, const struct jw_found *found)
{
	const char *paths[256];
	struct jw_prime_options options = {
		.size = sizeof options, .paths = paths, .progress = show_progress};
	struct jw_prime_result *result;

	for (size_t i = 0; i < found->file_count && i < 256; i++)
		paths[options.path_count++] = found->files[i].path;
	if (jw_prime(err, system, &options, &result))
		return -1;
	printf("\n%zu modules compiled, %zu were there already, %zu failed\n", result->compiled,
		   result->plan.warm, result->failed);
	jw_prime_result_free(result);
	return 0;
}

int main(int argc, char **argv)
{
	struct jw_find_options what = {.size = sizeof what,
								   .names = (const char *const *)(argv + 1),
								   .name_count = (size_t)argc - 1};
	struct jw_system_options options = {.size = sizeof options};
	struct jw_system *system = NULL;
	struct jw_found *found = NULL;
	struct jw_error err = {0};
	char *program = NULL;
	int status = 1;

	/* The driver runs in processes of its own, which are this program again: in such a one nothing
	 * else may happen. */
	if (argc == 2 && !strcmp(argv[1], "--jitwarm-worker"))
		return jw_worker_main();
	if (jw_program_path(&err, &program))
		goto done;
	const char *const worker[] = {program, "--jitwarm-worker", NULL};

	options.worker = worker;
	if (jw_system_open(&err, &options, &system) || jw_find(&err, &what, &found))
		goto done;
	/* Without a GPU there is nothing to do, and nothing wrong. */
	if (!system->gpu_count)
		printf("nothing to compile: %s\n", system->why_none);
	else if (prime(&err, system, found))
		goto done;
	status = 0;
done:
	if (status)
		fprintf(stderr, "installer_step: %s\n", err.message);
	jw_found_free(found);
	jw_system_free(system);
	jw_text_free(program);
	return status;
}
