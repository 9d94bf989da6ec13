#include "cli/parts/watch_target.h"

#include <stdio.h>
#include <string.h>

#include <uv.h>

#include <jitwarm/doctor.h>

#include "base/text.h"
#include "os/processes.h"

enum { MOST_PROGRAMS = 64, MOST_NAMED = 8 };

/* "python3 (4242), ollama (17)" */
static void name_programs(char *text, size_t size, const struct os_program *programs, size_t count)
{
	size_t used = 0;

	*text = '\0';
	for (size_t i = 0; i < count && i < MOST_NAMED && used < size; i++)
		used += (size_t)snprintf(text + used, size - used, "%s%s (%d)", i ? ", " : "",
								 programs[i].name, programs[i].pid);
}

/* Our own workers compile on purpose. */
static size_t drop_own(struct os_program *programs, size_t count)
{
	size_t kept = 0;

	for (size_t i = 0; i < count; i++)
		if (strcmp(programs[i].name, "jitwarm") != 0)
			programs[kept++] = programs[i];
	return kept;
}

static bool has_started(int pid, int other)
{
	enum { MOST_GENERATIONS = 32 };

	for (int i = 0; i < MOST_GENERATIONS && other > 1; i++) {
		other = os_process_parent(other);
		if (other == pid)
			return true;
	}
	return false;
}

/* The program that has started all others; 0: none has. */
static int first_program(const struct os_program *programs, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		size_t its = 0;

		for (size_t j = 0; j < count; j++)
			its += i == j || has_started(programs[i].pid, programs[j].pid);
		if (its == count)
			return programs[i].pid;
	}
	return 0;
}

static int only_program(struct jw_error *err, int *ret_pid)
{
	static struct os_program programs[MOST_PROGRAMS];
	struct os_process_use own;
	char names[1024];
	size_t count = 0;

	/* Where the system does not show other processes, that is the answer. */
	if (os_process_used(err, (int)uv_os_getpid(), &own) ||
		os_programs_with(err, "libcuda.so", programs, MOST_PROGRAMS, &count))
		return -1;
	count = drop_own(programs, count);
	if (!count)
		return error_set(err, JW_ERR_NOT_FOUND,
						 "no program that this account may see has loaded NVIDIA's driver: name "
						 "the process");
	*ret_pid = first_program(programs, count);
	if (!*ret_pid) {
		name_programs(names, sizeof names, programs, count);
		return error_set(err, JW_ERR_USAGE,
						 "several programs have loaded NVIDIA's driver: name one of %s%s", names,
						 count > MOST_NAMED ? ", …" : "");
	}
	return 0;
}

static int unit_process(struct jw_error *err, const char *unit, int *ret_pid)
{
	if (jw_look_as_unit(err, unit, ret_pid))
		return -1;
	return *ret_pid ? 0
					: error_set(err, JW_ERR_NOT_FOUND, "%s: the unit does not run: start it first",
								unit);
}

int watch_target_choose(struct jw_error *err, const struct cli *cli, int *ret_pid)
{
	const struct options *options = &cli->options;
	const char *unit = options_value(options, "unit"),
			   *container = options_value(options, "container"), *tool;
	uint64_t pid = 0;

	if (options->operand_count + !!unit + !!container > 1)
		return error_set(err, JW_ERR_USAGE,
						 "one process is watched: name it by its number, --unit or --container");
	if (container)
		return jw_container_process(err, container, ret_pid, &tool);
	if (unit)
		return unit_process(err, unit, ret_pid);
	if (!options->operand_count)
		return only_program(err, ret_pid);
	if (!text_number(options->operands[0], INT32_MAX, &pid) || !pid)
		return error_set(err, JW_ERR_USAGE, "the number of one process is wanted");
	*ret_pid = (int)pid;
	return 0;
}
