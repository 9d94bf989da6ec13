/* prime-api JITWARM FILE [OPTION]…: primes by the public headers alone, and says what came of it
 * in a line. JITWARM is the program that works as worker. */
#include <stdio.h>
#include <string.h>

#include <jitwarm/prime.h>
#include <jitwarm/system.h>

static int fail(const struct jw_error *err)
{
	(void)fprintf(stderr, "%s\n", err->message);
	return 1;
}

int main(int argc, char **argv)
{
	const char *const worker[] = {argc > 2 ? argv[1] : "", "worker", NULL};
	const char *const paths[] = {argc > 2 ? argv[2] : ""};
	const struct jw_system_options how = {.size = sizeof how, .probe = true, .worker = worker};
	const char *const defined[] = {"-DAPI"};
	struct jw_nvrtc_options nvrtc = JW_NVRTC_OPTIONS_INIT;
	struct jw_prime_options options = {
		.size = sizeof options, .paths = paths, .path_count = 1, .nvrtc = &nvrtc};
	const struct jw_run_key key = {.size = sizeof key, .names = paths, .name_count = 1};
	struct jw_prime_result *result;
	struct jw_run_state *run = NULL;
	char *changes = NULL;
	struct jw_system *system;
	struct jw_error err = {0};
	bool if_changed = false;

	if (argc < 3)
		return 2;
	for (int i = 3; i < argc; i++) {
		options.carry_over = options.carry_over || !strcmp(argv[i], "carry-over");
		options.no_store = options.no_store || !strcmp(argv[i], "no-store");
		options.dry_run = options.dry_run || !strcmp(argv[i], "dry-run");
		if_changed = if_changed || !strcmp(argv[i], "if-changed");
		if (!strncmp(argv[i], "nvrtc=", 6))
			nvrtc.where = argv[i] + 6;
		if (!strcmp(argv[i], "define")) {
			nvrtc.options = defined;
			nvrtc.option_count = 1;
		}
	}
	if (if_changed && jw_run_look(&err, &key, &run, &changes))
		return fail(&err);
	if (if_changed && !*changes) {
		puts("nothing has changed");
		jw_text_free(changes);
		jw_run_state_free(run);
		return 0;
	}
	options.run = run;
	if (jw_system_open(&err, &how, &system) || jw_prime(&err, system, &options, &result))
		return fail(&err);
	printf("refilled %zu, carried %zu, compiled %zu, kept %zu, sources failed %zu\n",
		   result->reuse.refilled.entries,
		   result->reuse.carried ? result->reuse.carried->carried : 0, result->compiled,
		   result->reuse.kept, result->sources_failed);
	for (size_t i = 0; i < result->note_count; i++)
		printf("note: %s\n", result->notes[i]);
	jw_prime_result_free(result);
	jw_system_free(system);
	jw_text_free(changes);
	jw_run_state_free(run);
	return 0;
}
