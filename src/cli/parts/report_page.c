#include "cli/parts/report_page.h"

#include <jitwarm/version.h>

#include "base/text.h"
#include "cli/parts/gpu_targets.h"
#include "os/file.h"
#include "report_css.h"

/* ---- the machine */

static void write_gpu(struct html_page *html, const struct jw_gpu *gpu)
{
	char target[JW_TARGET_TEXT], memory[TEXT_SHORT];

	html_raw(html, "<div class=\"card\"><b>");
	html_text(html, gpu->name);
	html_raw(html, "</b>");
	html_text(html, jw_target_sm(target, gpu->target));
	if (gpu->memory_bytes)
		html_textf(html, ", %s", text_bytes(memory, gpu->memory_bytes));
	html_raw(html, "</div>\n");
}

static void write_machine(struct html_page *html, const struct jw_system *system)
{
	char driver[JW_DRIVER_TEXT];

	html_raw(html, "<h2 id=\"machine\">This machine</h2>\n<div class=\"cards\">\n");
	for (size_t i = 0; i < system->gpu_count; i++)
		write_gpu(html, &system->gpus[i]);
	if (!system->gpu_count) {
		html_raw(html, "<div class=\"card\"><b>No GPU</b>");
		html_text(html, system->why_none);
		html_raw(html, "</div>\n");
	}
	if (system->driver.library[0]) {
		html_raw(html, "<div class=\"card\"><b>Driver</b>");
		html_text(html, jw_driver_text(driver, &system->driver.version));
		html_raw(html, "</div>\n");
	}
	html_raw(html, "</div>\n");
}

/* ---- packages and GPUs */

enum { MOST_PACKAGES = 200 };

static void write_package_gpu(struct html_page *html, const struct jw_check_package_gpu *gpu)
{
	char time[TEXT_SHORT];

	if (gpu->cold)
		html_cell(html, "warn", "%s to compile, %s", TEXT_COUNT(gpu->cold, "module", "modules"),
				  text_span(time, gpu->forecast.start.low, gpu->forecast.start.high));
	else if (gpu->failing)
		html_cell(html, "bad", "will fail: no code that runs there");
	else if (gpu->warm)
		html_cell(html, "good", "warm, %s", TEXT_COUNT(gpu->warm, "module", "modules"));
	else
		html_cell(html, "", "runs as it is");
}

static void write_package(struct html_page *html, const struct jw_check_package *package)
{
	html_raw(html, "<tr>");
	html_cell(html, "", "%s%s%s", package->name ? package->name : "other files",
			  package->version ? " " : "", package->version ? package->version : "");
	for (size_t t = 0; t < package->gpu_count; t++)
		write_package_gpu(html, &package->gpus[t]);
	html_raw(html, "</tr>\n");
}

static void write_packages(struct html_page *html, const struct report_data *data)
{
	const struct jw_check_result *result = data->packages;
	char name[GPUS_NAME];

	html_raw(html, "<h2 id=\"packages\">Packages and GPUs</h2>\n");
	if (!result || !result->package_count) {
		html_raw(html, "<p>");
		html_text(html, result ? "No package with device code." : data->why_no_packages);
		html_raw(html, "</p>\n");
		return;
	}
	html_raw(html, "<p class=\"soft\">What the first start of each has the driver compile, one "
				   "module after the other on one core");
	if (data->environment)
		html_textf(html, " (%s)", data->environment);
	html_raw(html, ".</p>\n<div class=\"wide\"><table>\n<tr><th>package</th>");
	for (size_t t = 0; t < result->gpu_count; t++) {
		html_raw(html, "<th>");
		html_text(html, gpu_targets_name(name, result->gpus[t].target));
		html_raw(html, "</th>");
	}
	html_raw(html, "</tr>\n");
	for (size_t i = 0; i < result->package_count && i < MOST_PACKAGES; i++)
		write_package(html, &result->packages[i]);
	html_raw(html, "</table></div>\n");
	if (result->package_count > MOST_PACKAGES)
		html_rawf(html, "<p class=\"soft\">and %zu more</p>\n",
				  result->package_count - MOST_PACKAGES);
}

static void write_largest(struct html_page *html, const struct jw_check_result *result)
{
	static const char *const heads[] = {" file", "hplace", " GPU",          "nPTX",
										"b",     "ntime",  " in the cache", NULL};
	const double whole = (double)result->largest[0].payload_bytes;

	html_raw(html, "<h2 id=\"modules\">Largest modules</h2>\n<p class=\"soft\">By their PTX; the "
				   "time is predicted, on one core.</p>\n");
	html_heads(html, heads);
	for (size_t i = 0; i < result->largest_count; i++) {
		const struct jw_check_module *module = &result->largest[i];
		char target[JW_TARGET_TEXT], size[TEXT_SHORT], time[TEXT_SHORT];

		html_raw(html, "<tr>");
		html_cell(html, "", "%s", os_base_name(module->member ? module->member : module->path));
		html_cell(html, "n hide", "0x%llx", (unsigned long long)module->offset);
		html_cell(html, "w", "%s", jw_target_sm(target, module->target));
		html_cell(html, "n", "%s", text_bytes(size, module->payload_bytes));
		html_bar(html, whole > 0 ? (double)module->payload_bytes / whole : 0);
		html_cell(html, "n", "%s", text_duration(time, module->seconds));
		html_cell(html, module->warm ? "good" : "warn", module->warm ? "yes" : "no");
		html_raw(html, "</tr>\n");
	}
	html_raw(html, "</table></div>\n");
}

/* ---- the whole */

static void write_head(struct html_page *html, const struct report_data *data)
{
	char date[HTML_DATE];

	html_raw(html, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
				   "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
				   "style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'\">\n"
				   "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
				   "<meta name=\"referrer\" content=\"no-referrer\">\n"
				   "<title>jitwarm report</title>\n<style>\n");
	html_raw(html, report_css);
	html_raw(html, "</style>\n</head>\n<body>\n<main>\n<h1>jitwarm report</h1>\n"
				   "<p class=\"soft\">");
	html_textf(html, "%s, jitwarm %s", html_date(date, data->time_s), jw_version());
	html_raw(html, "</p>\n");
}

void report_page_write(struct html_page *html, const struct report_data *data)
{
	write_head(html, data);
	write_machine(html, data->system);
	write_packages(html, data);
	if (data->packages && data->packages->largest_count)
		write_largest(html, data->packages);
	report_cache_write(html, &data->system->cache, data->entries);
	report_runs_timeline(html, data->timeline);
	report_runs_history(html, data->runs);
	html_raw(html, "</main>\n</body>\n</html>\n");
}
