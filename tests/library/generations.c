/* A program that sets up its worker wrongly. Each start of it adds a byte to the file LOG.
 *
 *     generations LOG none     names no worker
 *     generations LOG itself   names itself and does not call jw_worker_main when started as one
 *     generations LOG right    does both: the driver answers, and priming completes */
#include <jitwarm.h>

#include <stdio.h>
#include <string.h>

static int append(const char *path)
{
	FILE *file = fopen(path, "a");

	return !file || fputc('x', file) == EOF || fclose(file);
}

static int failed(const char *what, const struct jw_error *err)
{
	(void)fprintf(stderr, "%s: %d %s\n", what, (int)err->code, err->message);
	return 1;
}

int main(int argc, char **argv)
{
	const char *paths[1] = {NULL};
	struct jw_prime_options options = {
		.size = sizeof options, .paths = paths, .path_count = 1, .jobs = 1};
	struct jw_system_options how = {.size = sizeof how, .probe = false};
	struct jw_prime_result *result;
	struct jw_system *system;
	char *program = NULL;
	struct jw_error err;
	int status = 0;

	if (argc < 3 || append(argv[1]))
		return 64;
	if (argc == 5 && !strcmp(argv[2], "right"))
		return jw_worker_main();
	if (jw_program_path(&err, &program))
		return failed("path", &err);
	const char *const worker[] = {program, argv[1], argv[2], "as-worker", NULL};
	const char *const right[] = {program, argv[1], argv[2], "as", "worker", NULL};

	if (strcmp(argv[2], "none"))
		how.worker = !strcmp(argv[2], "right") ? right : worker;
	if (jw_system_open(&err, &how, &system)) {
		status = failed("open", &err);
	} else {
		if (!system->gpu_count)
			(void)printf("no GPU: %s\n", system->why_none);
		paths[0] = argv[1]; /* has no device code */
		if (jw_prime(&err, system, &options, &result))
			status = failed("prime", &err);
		else
			jw_prime_result_free(result);
		jw_system_free(system);
	}
	jw_text_free(program);
	(void)puts("end");
	return status;
}
