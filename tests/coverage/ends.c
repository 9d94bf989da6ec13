/* Each program that scripts/coverage.py builds is linked with this: a process that ends at once, or
 * that its parent kills, first writes gcc's counters. */
#include <signal.h>
#include <unistd.h>
#include <uv.h>

/* Writing the counters takes less time than this, also on a busy machine. */
enum { PATIENCE_US = 300000 };

void __gcov_dump(void);
_Noreturn void __real__exit(int status);
/* Programs without libuv have neither function. */
__attribute__((weak)) int __real_uv_process_kill(uv_process_t *process, int number);
__attribute__((weak)) uv_pid_t uv_process_get_pid(const uv_process_t *process);

_Noreturn void __wrap__exit(int status)
{
	__gcov_dump();
	__real__exit(status);
}

int __wrap_uv_process_kill(uv_process_t *process, int number)
{
	if (number == SIGKILL && !kill(uv_process_get_pid(process), SIGUSR1))
		usleep(PATIENCE_US);
	return __real_uv_process_kill(process, number);
}

static void end_counted(int number)
{
	(void)number;
	__wrap__exit(0);
}

__attribute__((constructor)) static void await_end(void)
{
	signal(SIGUSR1, end_counted);
}
