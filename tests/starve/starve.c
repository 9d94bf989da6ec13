/* starve [-s] [-w] [-c KEPT FOLDER] ARGUMENT…: runs a command of jitwarm again and again; each time
 * one allocation fails, and each time it is another. With -s one call of the system fails instead
 * (tests/torture/calls.h); with -w it does so in a worker, whose program this one is, too.
 *
 * A first run notes by which calls it came to each of them. Of those that it came to in the same
 * way one is tried, in a process of its own, with FOLDER as a copy of KEPT; with $STARVE_EVERY=N
 * only each N-th of them. Then must hold: no crash, no hang and no sanitizer's report; the status
 * is one of jitwarm's, and does not blame the user; where the status is another or something else
 * is printed, a line on standard error says why. $STARVE_PATH: only calls for a path with this
 * text in it, or without a path.
 *
 * 0: so it was; 1: it was not; 2: the command cannot be tried. */
#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <sodium.h>

#include "base/hash.h"
#include "cli/command.h"
#include "starve.h"
#include "words.h"

/* The C library has it since 2.27 alone. */
#ifndef MFD_CLOEXEC
#define MFD_CLOEXEC 1U
#endif

enum { MOST_ALLOCATIONS = 1 << 20, MOST_FRAMES = 64, MOST_TEXT = 1 << 20, MOST_PATH = 4096 };
enum { STATUS_CANNOT = 2, STATUS_WRONG_USAGE = 64, STATUS_MOST = 100, STATUS_OWN_FAILURE = 126 };
enum { LIMIT_S = 100 };

/* What a process, its workers and their parent see. */
struct counted {
	size_t count;
	bool struck;
	bool calls;      /* of the system; else allocations */
	uint64_t wanted; /* the way to what fails; 0: nothing does */
	uint64_t ways[MOST_ALLOCATIONS];
	uintptr_t frames[MOST_FRAMES]; /* of what failed: offsets in this program */
	int depth;
};
struct outcome {
	int status;     /* of the process; -1 if a signal ended it */
	bool speaks;    /* of what failed, on standard output */
	uint64_t words; /* a sum of the words on standard output, in any order and without numbers */
	char *errors;
};

static struct counted *counted;
static bool in_workers;
static int outer;                /* frames around the command, which say nothing of the way */
static _Thread_local bool armed; /* only the first thread counts */

void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *old, size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *old, size_t size);

/* This program's own functions, by which it came here: the same numbers in each of its processes.
 */
static int own_frames(uintptr_t *ret_frames)
{
	extern const char __executable_start[], etext[];
	void *frames[MOST_FRAMES];
	const int depth = backtrace(frames, MOST_FRAMES) - outer;
	int count = 0;

	for (int i = 0; i < depth; i++)
		if ((const char *)frames[i] > __executable_start && (const char *)frames[i] < etext)
			ret_frames[count++] = (uintptr_t)frames[i] - (uintptr_t)__executable_start;
	return count;
}

/* The first time that the process comes here in the wanted way. */
static bool must_fail(bool call)
{
	uintptr_t frames[MOST_FRAMES];
	uint64_t way;
	int depth;

	if (!armed || counted->calls != call || counted->struck || counted->count == MOST_ALLOCATIONS)
		return false;
	armed = false;
	depth = own_frames(frames);
	armed = true;
	way = fnv_update(FNV_START, frames, (size_t)depth * sizeof *frames);
	counted->ways[counted->count++] = way;
	if (way != counted->wanted)
		return false;
	counted->struck = true;
	memcpy(counted->frames, frames, sizeof frames);
	counted->depth = depth;
	errno = ENOMEM;
	return true;
}

void *__wrap_calloc(size_t count, size_t size)
{
	return must_fail(false) ? NULL : __real_calloc(count, size);
}

void *__wrap_realloc(void *old, size_t size)
{
	return must_fail(false) ? NULL : __real_realloc(old, size);
}

bool starve_strikes(const char *call)
{
	(void)call;
	return must_fail(true);
}

static void stop(const char *what)
{
	(void)fprintf(stderr, "starve: %s: %s\n", what, strerror(errno));
	exit(2);
}

/* A file without a name for what the process prints. */
static int nameless(void)
{
	int fd = (int)syscall(SYS_memfd_create, "printed", MFD_CLOEXEC);

	if (fd < 0)
		stop("memfd_create");
	return fd;
}

static char *text_of(int fd)
{
	char *text = calloc(1, MOST_TEXT);
	ssize_t size = text ? pread(fd, text, MOST_TEXT - 1, 0) : -1;

	if (size < 0)
		stop("pread");
	(void)close(fd);
	return text;
}

static bool speaks_of_it(const char *text)
{
	return strstr(text, "out of memory") ||
		   (counted->calls && (strstr(text, "damaged") || strstr(text, strerror(EIO)) ||
							   strstr(text, strerror(ENOSPC)) || strstr(text, "unusable") ||
							   strstr(text, "the cache's index is not a file") ||
							   strstr(text, "cannot be written to") || strstr(text, "\"closed\"")));
}

/* No part of its callers, so that what is inside has the same frames each time. */
static __attribute__((noinline)) void run_child(int argc, char **argv, int out, int errors)
{
	void *frames[MOST_FRAMES];

	if (dup2(out, STDOUT_FILENO) < 0 || dup2(errors, STDERR_FILENO) < 0)
		exit(2);
	(void)alarm(LIMIT_S);
	outer = backtrace(frames, MOST_FRAMES);
	armed = !in_workers;
	argc = (int)cli_run(argc, argv);
	armed = false;
	exit(argc);
}

static struct outcome run_once(int argc, char **argv, uint64_t fail)
{
	const int out = nameless(), errors = nameless();
	struct outcome outcome;
	int status = 0;
	pid_t child;
	char *text;

	counted->count = 0;
	counted->struck = false;
	counted->wanted = fail;
	(void)fflush(NULL);
	child = fork();
	if (!child)
		run_child(argc, argv, out, errors);
	if (child < 0 || waitpid(child, &status, 0) != child)
		stop("fork");
	text = text_of(out);
	outcome = (struct outcome){.status = WIFEXITED(status) ? WEXITSTATUS(status) : -1,
							   .speaks = speaks_of_it(text),
							   .words = words_of(text),
							   .errors = text_of(errors)};
	free(text);
	return outcome;
}

/* What is wrong; NULL: nothing. */
static const char *judge(const struct outcome *usual, const struct outcome *starved)
{
	if (starved->status < 0)
		return "a signal ended it";
	if (strstr(starved->errors, "Sanitizer") || strstr(starved->errors, "runtime error"))
		return "a sanitizer's report";
	/* The last is that of commands that run another. */
	if (starved->status > STATUS_MOST && starved->status != STATUS_OWN_FAILURE)
		return "a status that is none of jitwarm's";
	if (starved->status == STATUS_WRONG_USAGE)
		return "the user is to blame";
	if (strstr(starved->errors, "(null)") || strstr(starved->errors, "Success"))
		return "a message that says nothing";
	if (starved->speaks || strstr(starved->errors, "jitwarm: "))
		return NULL;
	/* Not all of it is there: that is what it says. */
	if (counted->calls && starved->status == 1 && usual->status == 0)
		return NULL;
	if (starved->status != usual->status)
		return "another status without a word";
	return starved->words != usual->words ? "another output without a word" : NULL;
}

/* The working directory is the folder, which is another one afterwards. */
static void copy(const char *kept, const char *folder)
{
	char command[2 * MOST_PATH];

	if (snprintf(command, sizeof command, "rm -rf '%s' && cp -a '%s' '%s'", folder, kept, folder) >=
			(int)sizeof command ||
		chdir("/") || system(command) || chdir(folder))
		stop(folder);
}

/* Whether none of the ways before `at` is the same; moves it to the distinct ones at the front. */
static bool is_new(uint64_t *ways, size_t *distinct, size_t at)
{
	for (size_t i = 0; i < *distinct; i++)
		if (ways[i] == ways[at])
			return false;
	ways[(*distinct)++] = ways[at];
	return true;
}

/* For addr2line. */
static void show(const char *name, size_t n, const char *what, const struct outcome *outcome)
{
	printf("%s, %zu: %s (status %d)\n%.2000s  addr2line -fipe %s", name, n, what, outcome->status,
		   outcome->errors, program_invocation_name);
	for (int i = 0; i < counted->depth; i++)
		printf(" 0x%zx", (size_t)counted->frames[i] - 1);
	printf("\n");
}

static int try_all(int argc, char **argv, const char *kept, const char *folder)
{
	static uint64_t ways[MOST_ALLOCATIONS];
	struct outcome usual;
	const char *given = getenv("STARVE_EVERY");
	const size_t every = given ? strtoul(given, NULL, 10) : 1;
	size_t count, struck = 0, wrong = 0, distinct = 0;

	if (kept)
		copy(kept, folder);
	usual = run_once(argc, argv, 0);
	count = counted->count;
	memcpy(ways, counted->ways, count * sizeof *ways);
	if (usual.status < 0 || usual.status >= STATUS_CANNOT || !count) {
		(void)fprintf(stderr, "starve: status %d, %zu counted: %s\n", usual.status, count,
					  usual.errors);
		return 2;
	}
	for (size_t n = 1; n <= count; n++) {
		struct outcome starved;
		const char *what;

		if (!is_new(ways, &distinct, n - 1) || (distinct - 1) % (every ? every : 1))
			continue;
		if (kept)
			copy(kept, folder);
		starved = run_once(argc, argv, ways[distinct - 1]);
		struck += counted->struck;
		what = judge(&usual, &starved);
		if (what)
			show(argv[1], n, what, &starved);
		wrong += what != NULL;
		free(starved.errors);
	}
	printf("%s %s: %zu of %zu %s tried, %zu wrong\n", argv[1], argc > 2 ? argv[2] : "", struck,
		   count, counted->calls ? "calls" : "allocations", wrong);
	free(usual.errors);
	return wrong || !struck;
}

/* Workers are other programs: they find by this name what all of them see. */
static void share(void)
{
	const char *name = getenv("STARVE_SHARED");
	char made[64];
	int fd = name ? open(name, O_RDWR | O_CLOEXEC) : (int)syscall(SYS_memfd_create, "counted", 0);

	if (fd < 0 || (!name && ftruncate(fd, sizeof *counted)))
		stop("counted");
	counted = mmap(NULL, sizeof *counted, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (counted == MAP_FAILED)
		stop("mmap");
	(void)snprintf(made, sizeof made, "/proc/%d/fd/%d", (int)getpid(), fd);
	if (!name && in_workers && setenv("STARVE_SHARED", made, 1))
		stop("setenv");
}

/* The program is its own worker. */
static int work(int argc, char **argv)
{
	if (getenv("STARVE_SHARED")) {
		share();
		armed = true;
	}
	argc = (int)cli_run(argc, argv);
	armed = false;
	return argc;
}

int main(int argc, char **argv)
{
	const char *kept = NULL, *folder = NULL;
	bool calls = false;
	void *frames[1];

	if (sodium_init() < 0)
		stop("sodium_init");
	(void)backtrace(frames, 1); /* whose first call allocates */
	if (argc > 1 && !strcmp(argv[1], "worker"))
		return work(argc, argv);
	if (argc > 1 && !strcmp(argv[1], "-s")) {
		calls = true;
		argv++;
		argc--;
	}
	if (argc > 1 && !strcmp(argv[1], "-w")) {
		in_workers = true;
		argv++;
		argc--;
	}
	if (argc > 3 && !strcmp(argv[1], "-c")) {
		kept = argv[2];
		folder = argv[3];
		argv += 3;
		argc -= 3;
	}
	if (argc < 2)
		return 2;
	share();
	counted->calls = calls;
	return try_all(argc, argv, kept, folder);
}
