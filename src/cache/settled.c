#include "cache/settled.h"

#include "os/clock.h"

enum {
	WRITTEN_S = 900,
	ADJUSTED_S = 10,
};

bool settled_is(int64_t changed_s, int64_t now_s)
{
	return changed_s + WRITTEN_S < now_s;
}

uint64_t settled_boot_s(void)
{
	return (uint64_t)os_now_s() - os_monotonic_ns() / 1000000000;
}

bool settled_same_boot(uint64_t a, uint64_t b)
{
	return (a > b ? a - b : b - a) <= ADJUSTED_S;
}
