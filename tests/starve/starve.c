/* starve [-c KEPT FOLDER] ARGUMENT…: runs a command of jitwarm again and again; each time one
 * allocation fails, and each time it is another.
 *
 * A first run notes by which calls it came to each allocation. Of those that it came to in the same
 * way one is tried, in a process of its own, with FOLDER as a copy of KEPT; with $STARVE_EVERY=N
 * only each N-th of them. Then must hold: no crash and no sanitizer's report; the status is one of
 * jitwarm's, and does not blame the user; where the status is another or something else is printed,
 * a line on standard error says why.
 *
 * 0: so it was; 1: it was not; 2: the command cannot be tried. */
#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <sodium.h>

#include "base/hash.h"
#include "cli/command.h"

enum { MOST_ALLOCATIONS = 1 << 20, MOST_FRAMES = 64, MOST_TEXT = 1 << 20, MOST_PATH = 4096 };
enum { STATUS_CANNOT = 2, STATUS_WRONG_USAGE = 64, STATUS_MOST = 100, STATUS_OWN_FAILURE = 126 };

/* What a process and its parent both see. */
struct counted {
	size_t count;
	bool struck;
	uint64_t ways[MOST_ALLOCATIONS];
	void *frames[MOST_FRAMES]; /* of the allocation that failed */
	int depth;
};
struct outcome {
	int status;     /* of the process; -1 if a signal ended it */
	bool speaks;    /* of memory, on standard output */
	uint64_t words; /* a sum of the words on standard output, in any order and without numbers */
	char *errors;
};

static struct counted *counted;
static uint64_t wanted;          /* the way to the allocation that fails; 0: none does */
static int outer;                /* frames around the command, which say nothing of the way */
static _Thread_local bool armed; /* only the first thread counts */

void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *old, size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *old, size_t size);

/* The first allocation to which the process comes in the wanted way. */
static bool must_fail(void)
{
	uint64_t way;
	int depth;

	if (!armed || counted->struck || counted->count == MOST_ALLOCATIONS)
		return false;
	armed = false;
	depth = backtrace(counted->frames, MOST_FRAMES);
	armed = true;
	way = fnv_update(FNV_START, counted->frames, (size_t)(depth - outer) * sizeof *counted->frames);
	counted->ways[counted->count++] = way;
	if (way != wanted)
		return false;
	counted->struck = true;
	counted->depth = depth;
	errno = ENOMEM;
	return true;
}

void *__wrap_calloc(size_t count, size_t size)
{
	return must_fail() ? NULL : __real_calloc(count, size);
}

void *__wrap_realloc(void *old, size_t size)
{
	return must_fail() ? NULL : __real_realloc(old, size);
}

static void stop(const char *what)
{
	(void)fprintf(stderr, "starve: %s: %s\n", what, strerror(errno));
	exit(2);
}

/* A file without a name for what the process prints. */
static int nameless(void)
{
	int fd = memfd_create("printed", MFD_CLOEXEC);

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

/* Times, sizes and process numbers differ from run to run, and so does the order in which two
 * threads speak. */
static uint64_t words_of(const char *text)
{
	uint64_t sum = 0, word = FNV_START;

	for (; *text; text++)
		if (*text == ' ' || *text == '\n') {
			sum += word;
			word = FNV_START;
		} else if (*text < '0' || *text > '9') {
			word = fnv_update(word, text, 1);
		}
	return sum + word;
}

/* No part of its callers, so that what is inside has the same frames each time. */
static __attribute__((noinline)) void run_child(int argc, char **argv, uint64_t fail, int out,
												int errors)
{
	if (dup2(out, STDOUT_FILENO) < 0 || dup2(errors, STDERR_FILENO) < 0)
		exit(2);
	outer = backtrace(counted->frames, MOST_FRAMES);
	wanted = fail;
	armed = true;
	argc = (int)cli_run(argc, argv);
	armed = false;
	exit(argc);
}

static struct outcome run_once(int argc, char **argv, uint64_t fail)
{
	const int out = nameless(), errors = nameless();
	struct outcome outcome;
	int status;
	pid_t child;
	char *text;

	counted->count = 0;
	counted->struck = false;
	(void)fflush(NULL);
	child = fork();
	if (!child)
		run_child(argc, argv, fail, out, errors);
	if (child < 0 || waitpid(child, &status, 0) != child)
		stop("fork");
	text = text_of(out);
	outcome = (struct outcome){.status = WIFEXITED(status) ? WEXITSTATUS(status) : -1,
							   .speaks = strstr(text, "out of memory") != NULL,
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

/* For addr2line: this program's own functions alone. */
static void show(const char *name, size_t n, const char *what, const struct outcome *outcome)
{
	extern const char __executable_start[], etext[];

	printf("%s, allocation %zu: %s (status %d)\n%.2000s  addr2line -fipe %s", name, n, what,
		   outcome->status, outcome->errors, program_invocation_name);
	for (int i = 0; i < counted->depth; i++) {
		const char *at = counted->frames[i];

		if (at > __executable_start && at < etext)
			printf(" 0x%zx", (size_t)(at - __executable_start) - 1);
	}
	printf("\n");
}

static int try_all(int argc, char **argv, const char *kept, const char *folder)
{
	static uint64_t ways[MOST_ALLOCATIONS];
	struct outcome usual;
	const char *given = getenv("STARVE_EVERY");
	const size_t every = given ? strtoul(given, NULL, 10) : 1;
	size_t count, tried = 0, wrong = 0, distinct = 0;

	if (kept)
		copy(kept, folder);
	usual = run_once(argc, argv, 0);
	count = counted->count;
	memcpy(ways, counted->ways, count * sizeof *ways);
	if (usual.status < 0 || usual.status >= STATUS_CANNOT || !count) {
		(void)fprintf(stderr, "starve: status %d, %zu allocations: %s\n", usual.status, count,
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
		tried += counted->struck;
		what = judge(&usual, &starved);
		if (what)
			show(argv[1], n, what, &starved);
		wrong += what != NULL;
		free(starved.errors);
	}
	printf("%s %s: %zu of %zu allocations tried, %zu wrong\n", argv[1], argc > 2 ? argv[2] : "",
		   tried, count, wrong);
	free(usual.errors);
	return wrong || !tried;
}

int main(int argc, char **argv)
{
	const char *kept = NULL, *folder = NULL;
	void *frames[1];

	if (sodium_init() < 0)
		stop("sodium_init");
	/* The program is its own worker. */
	if (argc > 1 && !strcmp(argv[1], "worker"))
		return (int)cli_run(argc, argv);
	if (argc > 3 && !strcmp(argv[1], "-c")) {
		kept = argv[2];
		folder = argv[3];
		argv += 3;
		argc -= 3;
	}
	if (argc < 2)
		return 2;
	(void)backtrace(frames, 1); /* whose first call allocates */
	counted =
		mmap(NULL, sizeof *counted, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (counted == MAP_FAILED)
		stop("mmap");
	return try_all(argc, argv, kept, folder);
}
