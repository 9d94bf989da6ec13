#include "os/limits.h"

#include <signal.h>
#include <sys/resource.h>

/* 128 KB suffice today; compilers and sanitizers enlarge frames. */
enum { LEAST_STACK = 256 << 10, GOOD_STACK = 8 << 20 };

int os_prepare_limits(struct jw_error *err)
{
	struct sigaction action;
	struct rlimit stack;

	if (!sigaction(SIGXFSZ, NULL, &action) && action.sa_handler == SIG_DFL)
		(void)signal(SIGXFSZ, SIG_IGN);
	/* The kernel checks the limit whenever the stack grows. */
	if (getrlimit(RLIMIT_STACK, &stack) || stack.rlim_cur >= LEAST_STACK)
		return 0;
	stack.rlim_cur = stack.rlim_max < GOOD_STACK ? stack.rlim_max : GOOD_STACK;
	if (stack.rlim_cur >= LEAST_STACK && !setrlimit(RLIMIT_STACK, &stack))
		return 0;
	return error_set(err, JW_ERR_LIMIT,
					 "the stack may have %llu KB: allow %d KB or more (ulimit -s)",
					 (unsigned long long)stack.rlim_cur >> 10, LEAST_STACK >> 10);
}
