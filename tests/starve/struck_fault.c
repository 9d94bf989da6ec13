#include "struck_fault.h"

#include <execinfo.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include <uv.h>

#include "base/mem.h"
#include "starve.h"

enum { MOST_FRAMES = 48, MOST_CALLS = 4096 };

static _Thread_local bool armed;
static size_t left, noted_count;
static const char *struck; /* NULL: nothing has failed */
static const char *noted[MOST_CALLS];
static void *frames[MOST_FRAMES];
static int depth;

/* Waiting for what another process may write: there is none. Wrapped, since a static libuv has it
 * beside what is needed. */
void __wrap_uv_sleep(unsigned ms);
void __wrap_uv_sleep(unsigned ms)
{
	(void)ms;
}

static void note(const char *call)
{
	if (noted_count < MOST_CALLS)
		noted[noted_count++] = call;
}

bool starve_waits(void)
{
	return armed && left;
}

bool starve_strikes(const char *call)
{
	if (left == SIZE_MAX) {
		note(call);
		return false;
	}
	if (--left)
		return false;
	struck = call;
	armed = false;
	depth = backtrace(frames, MOST_FRAMES);
	armed = true;
	return true;
}

void fault_begin(size_t n)
{
	struck = NULL;
	noted_count = n == SIZE_MAX ? 0 : noted_count;
	left = n;
	armed = true;
}

bool fault_end(void)
{
	armed = false;
	return struck != NULL;
}

const char *fault_struck(void)
{
	return struck;
}

void fault_show(void)
{
	backtrace_symbols_fd(frames, depth, STDERR_FILENO);
}

bool fault_changes(size_t n)
{
	static const char *const changes[] = {"create", "write", "rename", "fsync",
										  "lock",   "mkdir", "resize", "mode"};

	for (size_t i = 0; n && n <= noted_count && i < sizeof changes / sizeof *changes; i++)
		if (!strcmp(noted[n - 1], changes[i]))
			return true;
	return false;
}
