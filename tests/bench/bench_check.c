/* bench_check [--program JITWARM] FILE...
 *
 * The time of a check for sm_86 under driver 550.163.01: the first, which reads the files, and the
 * second, which finds them in the inventory (least of five). With --program also a whole second run
 * of that program, its start included. */
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "base/mem.h"
#include "find/named_paths.h"
#include "os/clock.h"
#include "os/env.h"
#include "os/file.h"
#include "os/folders.h"
#include "plan/plan.h"

enum { ROUNDS = 5, MAX_ARGUMENTS = 1024 };

extern char **environ;

static double ms_since(uint64_t start)
{
	return (double)(os_monotonic_ns() - start) / 1e6;
}

static int time_plan(struct jw_error *err, const struct plan_request *request, double *ret_ms)
{
	uint64_t start = os_monotonic_ns();
	struct plan *plan;
	size_t left_out = 0;

	if (plan_build(err, request, &plan))
		return -1;
	*ret_ms = ms_since(start);
	for (size_t i = 0; i < plan->module_count; i++)
		left_out += plan->modules[i].state == PLAN_LEFT_OUT;
	printf("  %8.2f ms  %zu modules, %zu of them left out, %zu notes\n", *ret_ms,
		   plan->module_count, left_out, plan->note_count);
	plan_free(plan);
	return 0;
}

static int run_program(const char *program, const char *state, char *const *files, size_t count)
{
	char *arguments[MAX_ARGUMENTS + 8] = {NULL};
	static char words[][16] = {"check", "--quiet", "--target", "sm_86", "--driver", "550.163.01"};
	double least = 1e9;
	size_t used = 0;

	if (os_env_set(NULL, "JITWARM_STATE", state) || count > MAX_ARGUMENTS)
		return -1;
	arguments[used++] = mem_string(program);
	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		arguments[used++] = words[i];
	for (size_t i = 0; i < count; i++)
		arguments[used++] = files[i];
	for (int round = 0; round <= ROUNDS; round++) {
		uint64_t start = os_monotonic_ns();
		int status;
		pid_t pid;

		if (posix_spawnp(&pid, program, NULL, NULL, arguments, environ) ||
			waitpid(pid, &status, 0) != pid)
			return -1;
		if (round && ms_since(start) < least) /* the first round fills the inventory */
			least = ms_since(start);
	}
	mem_free(arguments[0]);
	printf("  %8.2f ms  a second run of %s, start included\n", least, program);
	return 0;
}

static int bench(struct jw_error *err, const char *program, char *const *files, size_t count)
{
	const struct jw_target target = {86, 0};
	struct cache_profile profile;
	struct plan_request request = {.targets = &target, .target_count = 1, .profile = &profile};
	struct jw_found *found = NULL;
	double first, second = 1e9;
	char *state = NULL;
	int result = -1;

	if (cache_profile_for_release(err, "550.163.01", &profile) ||
		os_make_temp_dir(err, "jitwarm-bench", &state))
		return -1;
	if (named_paths_find(err, (const char *const *)files, count, false, (struct jw_cancel){0},
						 &found))
		goto done;
	request.found = found;
	request.state_dir = state;
	if (time_plan(err, &request, &first))
		goto done;
	for (int round = 0; round < ROUNDS; round++) {
		double took;

		if (time_plan(err, &request, &took))
			goto done;
		second = took < second ? took : second;
	}
	printf("first %.2f ms, second %.2f ms, ratio %.0f\n", first, second, first / second);
	result = program && run_program(program, state, files, count)
				 ? error_set(err, JW_ERR_IO, "%s cannot be run", program)
				 : 0;
done:
	jw_result_free(found);
	(void)os_remove_tree(NULL, state);
	mem_free(state);
	return result;
}

int main(int argc, char **argv)
{
	const char *program = NULL;
	struct jw_error err = {0};
	int first = 1;

	if (argc > 2 && !strcmp(argv[1], "--program")) {
		program = argv[2];
		first = 3;
	}
	if (first >= argc) {
		printf("usage: bench_check [--program JITWARM] FILE...\n");
		return 64;
	}
	if (!bench(&err, program, argv + first, (size_t)(argc - first)))
		return 0;
	printf("%s\n", err.message);
	return 1;
}
