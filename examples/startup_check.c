/* A framework's check at its start: how long will the driver compile before the first kernel runs?
 * It takes milliseconds, wakes no GPU, and starts no process.
 *
 *     startup_check FILE|FOLDER...
 */
#include <jitwarm.h>

#include <stdio.h>

int main(int argc, char **argv)
{
	const struct jw_system_options asleep = {.size = sizeof asleep, .asleep = true};
	struct jw_check_options options = {.size = sizeof options,
									   .paths = (const char *const *)(argv + 1),
									   .path_count = (size_t)argc - 1};
	struct jw_check_result *result = NULL;
	struct jw_system *system = NULL;
	struct jw_error err;
	double seconds = 0;
	size_t cold = 0;

	if (jw_system_open(&err, &asleep, &system))
		goto failed;
	if (!system->gpu_count) {
		/* unasked: the PCI bus does not tell the GPU, no run of jitwarm has asked this driver yet,
		 * and that takes a second. */
		printf("not known: %s\n", system->why_none);
		jw_system_free(system);
		return 0;
	}
	options.system = system;
	if (jw_check(&err, &options, &result))
		goto failed;
	for (size_t i = 0; i < result->gpu_count; i++) {
		cold += result->gpus[i].cold;
		seconds += result->gpus[i].forecast.start.likely;
	}
	if (cold)
		printf("The driver will compile %zu modules first, about %.0f seconds of one core. "
			   "“jitwarm prime” does so beforehand.\n",
			   cold, seconds);
	else
		printf("warm\n");
	jw_check_result_free(result);
	jw_system_free(system);
	return 0;
failed:
	fprintf(stderr, "startup_check: %s\n", err.message);
	jw_system_free(system);
	return 1;
}
