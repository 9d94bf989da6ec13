#include "cli/tune_changes.h"

#include <string.h>

#include "base/mem.h"
#include "os/env.h"
#include "os/file.h"
#include "os/platform.h"

void tune_change_print_one(const struct output *output, const char *what, const char *where,
						   const char *but)
{
	const bool left = !strcmp(what, "left");

	output_line(output, left ? STYLE_WARN : STYLE_GOOD, "%-10s %s%s", what, where,
				left ? " (changed by others since)" : but);
}

void tune_change_print_changes(const struct output *output, const struct jw_tune_result *result)
{
	for (size_t i = 0; i < result->count; i++)
		tune_change_print_one(output, result->changes[i].what, result->changes[i].where, "");
}

void tune_change_print(const struct output *output, const struct jw_tune_request *request,
					   const struct jw_tune_result *result)
{
	static const char *const served[] = {"",    "sh",   "bash", "dash",    "ash",
										 "ksh", "mksh", "zsh",  "busybox", "fish"};
	char *path = os_env("SHELL");
	const char *shell = path ? os_base_name(path) : "";
	bool is_served = os_is_windows || request->scope == JW_SCOPE_SYSTEM;

	tune_change_print_changes(output, result);
	for (size_t i = 0; i < sizeof served / sizeof *served; i++)
		is_served = is_served || !strcmp(shell, served[i]);
	if (!is_served)
		output_warning(output,
					   "%s does not read ~/.profile: write the settings of “jitwarm tune --print "
					   "sh” into the shell's start-up file, in its syntax",
					   shell);
	mem_free(path);
	/* Programs that start others read the settings only at their own start. */
	output_line(output, STYLE_PLAIN,
				request->scope == JW_SCOPE_SHELL ? "To use the new setting: open a new shell."
				: os_is_windows ? "To use the new setting: open a new console; restart editors and "
								  "services that start programs."
								: "To use the new setting: log out and in again; restart services "
								  "that start programs.");
}

bool tune_change_is_ahead(const struct jw_cache_info *cache)
{
	return !jw_cache_serves_now(cache, 0) ||
		   (!cache->named && cache->limit_bytes != cache->now.limit_bytes);
}
