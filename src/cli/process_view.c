#include "cli/process_view.h"

#include <stdio.h>
#include <string.h>

#include <uv.h>

#include "base/hash.h"
#include "base/mem.h"
#include "base/packages.h"
#include "base/set.h"
#include "base/text.h"
#include "os/clock.h"
#include "os/file.h"
#include "os/interrupt.h"
#include "os/processes.h"

enum { MAX_PATHS = 8192, MAX_REPLACED = 256 };

struct view_reading {
	struct process_view view;
	struct set seen;
	uint64_t until_ns;
};

/* Notes whether a loaded library is the driver, its compiler, or another compiler whose results are
 * not in the driver's cache. */
static void note_compiler(struct process_view *view, const char *name)
{
	const struct package_fact *other;

	view->driver = view->driver || text_starts(name, "libcuda.so") ||
				   text_starts_fold(name, "nvcuda.dll") || text_starts_fold(name, "nvcuda64.dll");
	view->compiler = view->compiler || text_starts(name, "libnvidia-ptxjitcompiler") ||
					 text_starts_fold(name, "nvptxjitcompiler");
	for (size_t at = 0; (other = package_fact_next("elsewhere", &at));) {
		const size_t used = strlen(view->others);

		if (text_starts(name, other->name) && !strstr(view->others, other->values[0]))
			(void)snprintf(view->others + used, sizeof view->others - used, "%s%s",
						   used ? ", " : "", other->values[0]);
	}
}

static void note_replaced(struct process_view *view, const char *path)
{
	for (size_t i = 0; i < view->replaced_count; i++)
		if (!strcmp(view->replaced[i], path))
			return;
	if (view->replaced_count == MAX_REPLACED)
		return;
	note_compiler(view, os_base_name(path));
	mem_add_string(&view->replaced, &view->replaced_count, MAX_REPLACED, path);
}

static int note_mapped(struct jw_error *err, void *context, const char *path, bool replaced)
{
	struct view_reading *reading = context;
	struct process_view *view = &reading->view;
	const uint64_t hash = fnv_update(FNV_START, path, strlen(path));

	if (os_interrupted())
		return error_set(err, JW_ERR_INTERRUPTED, "interrupted");
	if (reading->until_ns && os_monotonic_ns() >= reading->until_ns)
		return error_set(err, JW_ERR_INTERRUPTED,
						 "process %d: its files could not be read in the time", view->pid);
	if (replaced) {
		note_replaced(view, path);
		return 0;
	}
	if (set_has(&reading->seen, hash) || view->count == MAX_PATHS)
		return 0;
	set_add(&reading->seen, hash, view->count);
	mem_add_string(&view->paths, &view->count, MAX_PATHS, path);
	note_compiler(view, os_base_name(path));
	return 0;
}

/* Reads the view. Every program has mapped its own code, except for moments: a program that starts
 * another one in its place has not mapped anything yet, and one that is ending has nothing left. */
int process_view_read(struct jw_error *err, int pid, uint64_t until_ns,
					  struct process_view *ret_view)
{
	enum { READS = 10, BETWEEN_MS = 50 };

	for (int look = 0; look < READS; look++) {
		struct view_reading reading = {.view = {.pid = pid}, .until_ns = until_ns};
		struct os_process_use use;
		struct jw_error why;
		int result;

		if (look)
			uv_sleep(BETWEEN_MS);
		result = os_mapped_code(err, pid, note_mapped, &reading);
		set_free(&reading.seen);
		if (!result && reading.view.count) {
			os_program_name(pid, reading.view.name, sizeof reading.view.name);
			*ret_view = reading.view;
			return 0;
		}
		process_view_free(&reading.view);
		if (result)
			return -1;
		if (os_process_used(&why, pid, &use) && why.code == JW_ERR_NOT_FOUND)
			return error_copy(err, &why);
	}
	return error_set(err, JW_ERR_IO,
					 "process %d: no permission to see the files that the process has loaded", pid);
}

void process_view_free(struct process_view *view)
{
	jw_lines_free(view->paths, view->count);
	jw_lines_free(view->replaced, view->replaced_count);
	*view = (struct process_view){0};
}
