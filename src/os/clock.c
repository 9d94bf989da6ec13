#include "os/clock.h"

#include <time.h>
#include <uv.h>

uint64_t os_monotonic_ns(void)
{
	return uv_hrtime();
}

int64_t os_now_s(void)
{
	return (int64_t)time(NULL);
}

static uint64_t nanoseconds(const uv_timeval_t *time)
{
	return ((uint64_t)time->tv_sec * 1000000 + (uint64_t)time->tv_usec) * 1000;
}

uint64_t os_cpu_ns(void)
{
	uv_rusage_t used;

	return uv_getrusage(&used) ? 0 : nanoseconds(&used.ru_utime) + nanoseconds(&used.ru_stime);
}
