/* break.so: preloaded into workers of jitwarm under NVIDIA's own drivers, it breaks chosen calls of
 * cuModuleLoadDataEx, as SIMDRIVER_FAULT does in the simulated driver.
 *
 *     BREAK=KIND:N      the N-th call of all processes that share BREAK_STATE, and each later one
 *                       of the same module. N:once: that one call only
 *     BREAK_STATE=FILE  made if missing
 *
 * KIND: crash, abort, exit, overflow, hang, sticky (700, also of cuCtxSynchronize from then on),
 * oom (2), error (218). jitwarm gets the function from dlsym, so break.so replaces dlsym. */
#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

typedef int load_fn(void **module, const void *image, unsigned count, int *options, void **values);
typedef int synchronize_fn(void);
typedef void *dlsym_fn(void *handle, const char *name);

static load_fn *real_load;
static synchronize_fn *real_synchronize;
static int sticky;

struct state {
	uint64_t calls, victim, struck; /* victim: hash of the module; 0: none yet */
};

/* Identifies a module by the bytes of its container, whose length the header gives. */
static uint64_t hash_of(const void *image)
{
	const uint8_t *bytes = image;
	uint64_t hash = 0xcbf29ce484222325u, size = 64;

	if (bytes[0] == 0x50 && bytes[1] == 0xed && bytes[2] == 0x55 && bytes[3] == 0xba) {
		memcpy(&size, bytes + 8, sizeof size);
		size += 16;
	}
	for (uint64_t i = 0; i < size; i++)
		hash = (hash ^ bytes[i]) * 0x100000001b3u;
	return hash ? hash : 1;
}

/* Counts the call, and returns whether to break it. */
static bool is_mine(const void *image, unsigned long wanted, bool once)
{
	const char *path = getenv("BREAK_STATE");
	int fd = path ? open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600) : -1;
	struct state state = {0};
	uint64_t hash = hash_of(image);
	bool mine;

	if (fd < 0)
		return false;
	(void)flock(fd, LOCK_EX);
	if (pread(fd, &state, sizeof state, 0) != (ssize_t)sizeof state)
		memset(&state, 0, sizeof state);
	state.calls++;
	if (state.calls == wanted && !state.victim)
		state.victim = hash;
	mine = state.victim == hash && !(once && state.struck);
	state.struck += mine;
	if (pwrite(fd, &state, sizeof state, 0) != (ssize_t)sizeof state)
		abort();
	(void)close(fd);
	return mine;
}

static int overflow(volatile char *above)
{
	volatile char here[4096];

	here[0] = (char)(above[0] + 1);
	return overflow(here) + here[0];
}

static int strike(const char *kind)
{
	volatile char start = 0;

	if (!strncmp(kind, "crash:", 6))
		(void)raise(SIGSEGV);
	if (!strncmp(kind, "abort:", 6))
		abort();
	if (!strncmp(kind, "exit:", 5))
		_exit(3);
	if (!strncmp(kind, "overflow:", 9))
		return overflow(&start);
	while (!strncmp(kind, "hang:", 5))
		(void)sleep(1000);
	if (!strncmp(kind, "oom:", 4))
		return 2;
	if (!strncmp(kind, "sticky:", 7))
		return sticky = 700;
	return 218;
}

static int broken_load(void **module, const void *image, unsigned count, int *options,
					   void **values)
{
	const char *what = getenv("BREAK"), *number = what ? strchr(what, ':') : NULL;
	char *end = NULL;
	unsigned long wanted = number ? strtoul(number + 1, &end, 10) : 0;

	if (sticky)
		return sticky;
	if (wanted && is_mine(image, wanted, !strcmp(end, ":once")))
		return strike(what);
	return real_load(module, image, count, options, values);
}

static int broken_synchronize(void)
{
	return sticky ? sticky : real_synchronize();
}

/* Converts an object pointer to a function pointer and back; ISO C has no cast for that. */
static void *instead(void *found, void *keep, const void *ours)
{
	void *address;

	memcpy(keep, &found, sizeof found);
	memcpy(&address, ours, sizeof address);
	return address;
}

void *dlsym(void *handle, const char *name);
void *dlsym(void *handle, const char *name)
{
	static dlsym_fn *real;
	load_fn *load = broken_load;
	synchronize_fn *synchronize = broken_synchronize;
	void *found;

	if (!real) {
		void *address = dlvsym(RTLD_NEXT, "dlsym", "GLIBC_2.34");

		if (!address)
			address = dlvsym(RTLD_NEXT, "dlsym", "GLIBC_2.2.5");
		memcpy(&real, &address, sizeof real);
	}
	found = real(handle, name);
	if (found && getenv("BREAK") && !strcmp(name, "cuModuleLoadDataEx"))
		return instead(found, &real_load, &load);
	if (found && getenv("BREAK") && !strcmp(name, "cuCtxSynchronize"))
		return instead(found, &real_synchronize, &synchronize);
	return found;
}
