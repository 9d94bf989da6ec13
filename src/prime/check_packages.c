#include "prime/check_packages.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "plan/forecast.h"

void check_packages_free(struct jw_check_result *result)
{
	for (size_t i = 0; i < result->package_count; i++) {
		mem_free(result->packages[i].name);
		mem_free(result->packages[i].version);
		mem_free(result->packages[i].gpus);
	}
	mem_free(result->packages);
	result->packages = NULL;
	result->package_count = 0;
}

/* The place of a file's package; package_count if it is not listed. The files of a package mostly
 * follow one another. */
static size_t package_place(const struct jw_check_result *result, const struct jw_found_file *file)
{
	for (size_t i = result->package_count; i-- > 0;)
		if (text_same(result->packages[i].name, file->package))
			return i;
	return result->package_count;
}

static int list_package(struct jw_error *err, const struct jw_found_file *file,
						struct jw_check_result *result)
{
	struct jw_check_package *package;

	if (package_place(result, file) < result->package_count)
		return 0;
	package = &result->packages[result->package_count++];
	package->name = file->package ? mem_string(err, file->package) : NULL;
	package->version = file->version ? mem_string(err, file->version) : NULL;
	package->gpus = mem_array(err, result->gpu_count, sizeof *package->gpus);
	if (!package->gpus || (file->package && !package->name) || (file->version && !package->version))
		return -1;
	package->gpu_count = result->gpu_count;
	for (size_t t = 0; t < result->gpu_count; t++)
		package->gpus[t].target = result->gpus[t].target;
	return 0;
}

static void count_packaged(const struct plan *plan, const struct plan_module *module,
						   struct jw_check_package_gpu *gpu)
{
	if (module->state == PLAN_WARM)
		gpu->warm++;
	if (module->state != PLAN_COLD)
		return;
	gpu->cold++;
	forecast_add(&gpu->forecast, plan, module);
}

/* Whether a failing file ("path" or "path: member") is this one or in it. */
static bool is_of_file(const char *failing, const char *path)
{
	const size_t length = strlen(path);

	return !strncmp(failing, path, length) &&
		   (!failing[length] || text_starts(failing + length, ": "));
}

static void count_failing(const struct plan *plan, const struct jw_found *found,
						  const struct jw_check_failing *failing,
						  const struct jw_check_result *result)
{
	size_t file = 0, gpu = 0;

	/* A file without code may be called as the beginning of another one's name. */
	while (file < found->file_count &&
		   (!plan->has_code[file] || !is_of_file(failing->file, found->files[file].path)))
		file++;
	while (gpu < result->gpu_count && !jw_target_equal(result->gpus[gpu].target, failing->target))
		gpu++;
	if (file < found->file_count && gpu < result->gpu_count)
		result->packages[package_place(result, &found->files[file])].gpus[gpu].failing++;
}

static double package_seconds(const struct jw_check_package *package)
{
	double sum = 0;

	for (size_t t = 0; t < package->gpu_count; t++)
		sum += package->gpus[t].forecast.start.likely;
	return sum;
}

static int by_package_seconds(const void *a, const void *b)
{
	const struct jw_check_package *one = a, *two = b;
	const double left = package_seconds(one), right = package_seconds(two);

	if (left < right || left > right)
		return left < right ? 1 : -1;
	return strcmp(one->name ? one->name : "", two->name ? two->name : "");
}

int check_packages(struct jw_error *err, const struct plan *plan, const struct jw_found *found,
				   struct jw_check_result *result)
{
	result->packages = mem_array(err, found->file_count, sizeof *result->packages);
	if (!result->packages)
		return -1;
	for (size_t i = 0; i < found->file_count; i++)
		if (plan->has_code[i] && list_package(err, &found->files[i], result))
			return -1;
	/* A file with modules has code, and so its package is listed. */
	for (size_t i = 0; i < plan->module_count; i++) {
		const struct plan_module *module = &plan->modules[i];
		const struct jw_found_file *file = &found->files[plan->files[module->file].found];

		count_packaged(plan, module,
					   &result->packages[package_place(result, file)].gpus[module->target]);
	}
	for (size_t i = 0; i < result->failing_count; i++)
		count_failing(plan, found, &result->failing[i], result);
	for (size_t i = 0; i < result->package_count; i++)
		for (size_t t = 0; t < result->gpu_count; t++) {
			struct jw_check_package_gpu *gpu = &result->packages[i].gpus[t];

			forecast_share(&gpu->forecast, forecast_workers(gpu->cold));
		}
	if (result->package_count)
		qsort(result->packages, result->package_count, sizeof *result->packages,
			  by_package_seconds);
	return 0;
}
