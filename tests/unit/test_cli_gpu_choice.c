/* Which GPUs are taken from the variables of another process: a program that waits with them. */
#include "check.h"

#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"
#include "cli/parts/gpu_targets.h"
#include "os/env.h"
#include "os/processes.h"

enum { MOST = 4096 };

static void must_be(const char *name, const char *wanted, const char *of)
{
	char *value = os_env(name);

	if (!wanted ? value != NULL : !value || strcmp(value, wanted) != 0)
		fail_msg("%s is %s, not %s, of %s", name, value ? value : "not set",
				 wanted ? wanted : "not set", of);
	mem_free(value);
}

static int note_ready(struct jw_error *err, void *context, const char *name, const char *value)
{
	(void)err;
	(void)value;
	*(bool *)context = *(bool *)context || !strcmp(name, "READY");
	return 0;
}

/* A program that was just started has no variables for a moment. */
static void await_variables(pid_t pid)
{
	bool ready = false;

	while (!ready) {
		assert_int_equal(os_process_variables(NULL, (int)pid, note_ready, &ready), 0);
		(void)usleep(1000);
	}
}

/* `given`: NVIDIA_VISIBLE_DEVICES, `chosen`: CUDA_VISIBLE_DEVICES; NULL: not set. */
static void taken(const char *given, const char *chosen, const char *order, const char *wanted,
				  const char *wanted_order)
{
	static char texts[3][MOST];
	char program[] = "sleep", time[] = "100", *const words[] = {program, time, NULL};
	char ready[] = "READY=1", *variables[5] = {NULL};
	size_t count = 0;
	int status;
	pid_t pid;

	if (given && snprintf(texts[0], MOST, "NVIDIA_VISIBLE_DEVICES=%s", given) > 0)
		variables[count++] = texts[0];
	if (chosen && snprintf(texts[1], MOST, "CUDA_VISIBLE_DEVICES=%s", chosen) > 0)
		variables[count++] = texts[1];
	if (order && snprintf(texts[2], MOST, "CUDA_DEVICE_ORDER=%s", order) > 0)
		variables[count++] = texts[2];
	variables[count] = ready;
	assert_int_equal(posix_spawn(&pid, "/bin/sleep", NULL, NULL, words, variables), 0);
	await_variables(pid);
	assert_int_equal(os_env_set(NULL, "CUDA_VISIBLE_DEVICES", "own"), 0);
	assert_int_equal(os_env_set(NULL, "CUDA_DEVICE_ORDER", "own"), 0);
	status = gpu_choice_take(NULL, (int)pid);
	(void)kill(pid, SIGKILL);
	(void)waitpid(pid, NULL, 0);
	assert_int_equal(status, 0);
	must_be("CUDA_VISIBLE_DEVICES", wanted, given ? given : chosen ? chosen : "nothing");
	must_be("CUDA_DEVICE_ORDER", wanted_order, order ? order : "nothing");
}

TEST(what_a_program_chose_is_taken)
{
	taken(NULL, NULL, NULL, NULL, NULL);
	taken(NULL, "", NULL, "", NULL);
	taken(NULL, "1,0", "FASTEST_FIRST", "1,0", "FASTEST_FIRST");
	taken(NULL, "GPU-8f2a,MIG-1/2/3", "PCI_BUS_ID", "GPU-8f2a,MIG-1/2/3", "PCI_BUS_ID");
	taken(NULL, "1", "/tmp/x", "1", NULL);
}

TEST(what_a_container_was_given_is_counted_from_0_on)
{
	taken("all", NULL, NULL, NULL, NULL);
	taken("void", "1", NULL, "1", NULL);
	taken("", "1", NULL, "1", NULL);
	taken("none", NULL, NULL, "", "PCI_BUS_ID");
	taken("none", "0", NULL, "", "PCI_BUS_ID");
	taken("3,1", NULL, NULL, "1,3", "PCI_BUS_ID");
	taken("3,1", "1", NULL, "3", "PCI_BUS_ID");
	taken("3,1", "1,0", NULL, "3,1", "PCI_BUS_ID");
	taken("3,1", "0,2,1", NULL, "1", "PCI_BUS_ID");
	taken("3,1", "", NULL, "", "PCI_BUS_ID");
	taken("GPU-b,GPU-a", "1", NULL, "GPU-a", "PCI_BUS_ID");
	taken("GPU-b,GPU-a", "GPU-b", "FASTEST_FIRST", "GPU-b", "PCI_BUS_ID");
}

/* The first that is none ends a list, as for the driver; nothing else gets through. */
TEST(hostile_lists_are_cut)
{
	char many[3000];

	taken(NULL, "0,1;rm -rf /,2", NULL, "0", NULL);
	taken(NULL, "$(x)", NULL, "", NULL);
	taken(NULL, "\x1b[31m", NULL, "", NULL);
	taken("0,\n1", NULL, NULL, "0", "PCI_BUS_ID");
	taken("0:1", "0", NULL, "0", NULL);
	taken("1,2", "99999999999999999999", NULL, "99999999999999999999", "PCI_BUS_ID");
	memset(many, 'x', sizeof many - 1);
	many[sizeof many - 1] = '\0';
	taken(NULL, many, NULL, "", NULL);
	memcpy(many, "5,", 2);
	taken(NULL, many, NULL, "5", NULL);
	for (size_t i = 0; i + 2 < sizeof many; i += 2)
		memcpy(many + i, "7,", 2);
	many[sizeof many - 1] = '\0';
	assert_int_equal(gpu_choice_take(NULL, 1 << 30), -1);
	taken("0", ",,,", NULL, "", "PCI_BUS_ID");
}

RUN_TESTS(NULL, NULL)
