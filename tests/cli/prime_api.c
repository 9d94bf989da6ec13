/* prime-api JITWARM FILE [OPTION]…: primes by the public headers alone, and prints the result in a
 * line. JITWARM is the worker program. */
#include <stdio.h>
#include <string.h>

#include <jitwarm/prime.h>
#include <jitwarm/system.h>
#include <jitwarm/target.h>

struct asked {
	struct jw_system_options system;
	struct jw_prime_options prime;
	struct jw_nvrtc_options nvrtc;
	struct jw_export_options pack;
	struct jw_target target;
	bool if_changed;
	size_t cancel_at; /* after this many modules; 0: never */
	bool cancelled;
	bool of_nothing; /* progress exceeded its total, or its total was 0 */
};

static bool is_cancelled(void *context)
{
	return ((const struct asked *)context)->cancelled;
}

static void cancel_in_time(void *context, const struct jw_prime_progress *progress)
{
	struct asked *asked = context;

	asked->of_nothing = asked->of_nothing || !progress->total || progress->done > progress->total ||
						(progress->phase == JW_PRIME_KEEPING && progress->done < progress->total);
	asked->cancelled = asked->cancelled || (asked->cancel_at && progress->done >= asked->cancel_at);
}

static int fail(const struct jw_error *err)
{
	(void)fprintf(stderr, "%s\n", err->message);
	return 1;
}

/* Returns the text that follows `name`, or NULL. */
static const char *value_of(const char *text, const char *name)
{
	return strncmp(text, name, strlen(name)) != 0 ? NULL : text + strlen(name);
}

static void take_option(const char *text, struct asked *asked)
{
	static const char *const defined[] = {"-DAPI"};
	struct jw_prime_options *prime = &asked->prime;
	const char *value;

	prime->reuse.no_store = prime->reuse.no_store || !strcmp(text, "no-store");
	prime->dry_run = prime->dry_run || !strcmp(text, "dry-run");
	asked->if_changed = asked->if_changed || !strcmp(text, "if-changed");
	if (!strcmp(text, "define")) {
		asked->nvrtc.options = defined;
		asked->nvrtc.option_count = 1;
	}
	if ((value = value_of(text, "nvrtc=")))
		asked->nvrtc.where = value;
	if ((value = value_of(text, "jobs=")))
		prime->compile.jobs = (unsigned)(*value - '0');
	if ((value = value_of(text, "cancel=")))
		asked->cancel_at = (size_t)(*value - '0');
	if ((value = value_of(text, "ptxas=")))
		prime->compile.ptxas = value;
	if ((value = value_of(text, "pack="))) {
		asked->pack.output = value;
		prime->keep.pack = &asked->pack;
	}
	if ((value = value_of(text, "driver=")) && jw_target_parse("sm_86", &asked->target)) {
		asked->system.driver = value;
		asked->system.targets = &asked->target;
		asked->system.target_count = 1;
		asked->system.probe = false;
		asked->system.scratch = true;
	}
}

static void print_result(const struct jw_prime_result *result)
{
	printf("refilled %zu, carried %zu, compiled %zu, kept %zu, sources failed %zu\n",
		   result->reuse.refilled.entries,
		   result->reuse.carried ? result->reuse.carried->carried : 0, result->compile.compiled,
		   result->keep.kept, result->plan.sources_failed);
	for (size_t i = 0; i < result->note_count; i++)
		printf("note: %s\n", result->notes[i]);
	if (result->keep.pack)
		printf("packed %zu\n", result->keep.pack->entries);
	if (result->compile.interrupted)
		printf("interrupted with %zu left\n", result->compile.undone);
	if (*result->compile.inexact || result->keep.not_packed.code)
		printf("note: %s%s\n", result->compile.inexact, result->keep.not_packed.message);
}

static int prime(struct asked *asked)
{
	struct jw_prime_result *result = NULL;
	struct jw_system *system = NULL;
	struct jw_error err = {0};
	int failed = jw_system_open(&err, &asked->system, &system) ||
				 jw_prime(&err, system, &asked->prime, &result);

	if (failed)
		failed = fail(&err);
	else
		print_result(result);
	jw_result_free(result);
	jw_system_free(system);
	return failed;
}

int main(int argc, char **argv)
{
	const char *const worker[] = {argc > 2 ? argv[1] : "", "worker", NULL};
	const char *const paths[] = {argc > 2 ? argv[2] : ""};
	const struct jw_run_key key = {.names = paths, .name_count = 1};
	struct asked asked = {
		.system = {.probe = true, .worker = worker},
		.prime = {.plan = {.paths = paths, .path_count = 1, .nvrtc = &asked.nvrtc}},
		.nvrtc = {0},
		.pack = {0},
	};
	struct jw_run_state *run = NULL;
	struct jw_error err = {0};
	const char *changes = NULL;
	int failed = 0;

	if (argc < 3)
		return 2;
	for (int i = 3; i < argc; i++)
		take_option(argv[i], &asked);
	if (asked.if_changed && jw_run_compare(&err, &key, &run, &changes))
		return fail(&err);
	asked.prime.keep.run = run;
	asked.prime.context = &asked;
	asked.prime.progress = cancel_in_time;
	asked.prime.cancel = (struct jw_cancel){&asked, is_cancelled};
	if (asked.if_changed && !*changes)
		puts("nothing has changed");
	else
		failed = prime(&asked);
	if (asked.of_nothing) {
		(void)fputs("progress of nothing\n", stderr);
		failed = 1;
	}
	jw_result_free(run);
	return failed;
}
