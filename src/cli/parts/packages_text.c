#include "cli/parts/packages_text.h"

#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "cli/language.h"
#include "cli/parts/forecast_text.h"

enum { MOST_PACKAGES = 12, GPU_TEXT = 2 * TEXT_SHORT + 64 };

static const char head[] = "        ";

static const char *package_gpu_text(char text[GPU_TEXT], const struct jw_check_package_gpu *gpu,
									bool useless)
{
	char time[TEXT_SHORT];

	if (useless && gpu->warm + gpu->cold)
		(void)snprintf(text, GPU_TEXT, "%s to compile at every start",
					   TEXT_COUNT(gpu->warm + gpu->cold, "module", "modules"));
	else if (gpu->cold)
		(void)snprintf(text, GPU_TEXT, "%s to compile, %s on one core",
					   TEXT_COUNT(gpu->cold, "module", "modules"),
					   text_span(time, gpu->forecast.start.low, gpu->forecast.start.high));
	else if (gpu->failing)
		(void)snprintf(text, GPU_TEXT, "will fail: no code that runs there");
	else if (gpu->warm)
		(void)snprintf(text, GPU_TEXT, "warm");
	else
		(void)snprintf(text, GPU_TEXT, "runs as it is");
	return text;
}

static bool runs_as_it_is(const struct jw_check_package *package)
{
	for (size_t t = 0; t < package->gpu_count; t++)
		if (package->gpus[t].warm || package->gpus[t].cold || package->gpus[t].failing)
			return false;
	return true;
}

static enum style style_of(const struct jw_check_package_gpu *gpu, bool useless)
{
	if (useless && gpu->warm)
		return STYLE_WARN;
	if (gpu->failing && !gpu->cold)
		return STYLE_BAD;
	return gpu->cold ? STYLE_WARN : STYLE_GOOD;
}

static const char *package_name(const struct jw_check_package *package)
{
	return package->name ? package->name : "other files";
}

static void print_package(const struct output *out, const struct jw_check_package *package,
						  bool useless)
{
	char text[GPU_TEXT], target[JW_TARGET_TEXT];
	const char *space = package->version ? " " : "",
			   *version = package->version ? package->version : "";

	if (package->gpu_count == 1) {
		output_line(out, style_of(package->gpus, useless), "%s%s%s%s: %s", head,
					package_name(package), space, version,
					package_gpu_text(text, package->gpus, useless));
		return;
	}
	output_line(out, STYLE_PLAIN, "%s%s%s%s", head, package_name(package), space, version);
	for (size_t t = 0; t < package->gpu_count; t++)
		output_line(out, style_of(&package->gpus[t], useless), "%s  %s: %s", head,
					jw_target_sm(target, package->gpus[t].target),
					package_gpu_text(text, &package->gpus[t], useless));
}

/* Nothing has to be done for these. */
static void print_native(const struct output *out, const struct jw_check_result *result)
{
	char names[1024] = "";
	size_t used = 0, count = 0;

	for (size_t i = 0; i < result->package_count; i++) {
		const struct jw_check_package *package = &result->packages[i];

		if (!runs_as_it_is(package) || used + strlen(package_name(package)) + 3 > sizeof names)
			continue;
		used += (size_t)snprintf(names + used, sizeof names - used, "%s%s", count++ ? ", " : "",
								 package_name(package));
	}
	if (count)
		output_line(out, STYLE_GOOD, count == 1 ? "%sruns as it is: %s" : "%srun as they are: %s",
					head, names);
}

void packages_text(const struct output *out, const char *environment,
				   const struct jw_check_result *result)
{
	size_t shown = 0, more = 0, named = 0;

	if (!result->images) {
		output_line(out, STYLE_PLAIN, "Python  %s: no package with device code", environment);
		return;
	}
	for (size_t i = 0; i < result->package_count; i++) {
		named += result->packages[i].name != NULL;
		language_keep(result->packages[i].name);
	}
	output_line(out, STYLE_PLAIN, "Python  %s: %s with device code", environment,
				TEXT_COUNT(named, "package", "packages"));
	for (size_t i = 0; i < result->package_count; i++) {
		const struct jw_check_package *package = &result->packages[i];

		if (runs_as_it_is(package))
			continue;
		if (shown++ < MOST_PACKAGES)
			print_package(out, package, result->verdict == JW_VERDICT_USELESS);
		else
			more++;
	}
	if (more)
		output_line(out, STYLE_PLAIN, "%sand %zu more: “jitwarm check” shows all", head, more);
	print_native(out, result);
	if (result->all.cold)
		forecast_text_line(out, head, &result->all.forecast, "");
}
