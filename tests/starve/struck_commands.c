/* Commands in the test's own process, in which one allocation or one call of the system fails, each
 * in its turn: no process is started for a trial. Of those that a command comes to in the same way
 * one is tried. Then must hold: the status is one of jitwarm's and does not blame the user; where
 * the status is another or something else is printed, a line says why; what is printed as JSON is
 * whole; no file is left open, and no memory that an untroubled run would give back.
 *
 * $STRUCK_EVERY: only each so many-th way; $STRUCK: only commands with this text in their line. */
#include "check.h"

#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cjson/cJSON.h>
#include <sodium.h>
#include <uv.h>

#include "base/hash.h"
#include "cli/command.h"
#include "cli/language.h"
#include "os/env.h"
#include "starve.h"
#include "struck_place.h"
#include "struck_tree.h"
#include "words.h"

enum { USUAL_EVERY = 80, MOST_WAYS = 1 << 16, MOST_FRAMES = 64, MOST_WORDS = 16 };
enum { MOST_PRINTED = 1 << 20, STATUS_FAILED = 3, STATUS_WRONG_USAGE = 64 };

enum kind { ALLOCATIONS, SYSTEM_CALLS, KINDS };
static const char *const kind_names[KINDS] = {"allocation", "call"};

/* ---- what fails */

static _Thread_local bool armed; /* only the first thread counts */
static bool noting;
static enum kind failing;
static size_t fail_at, counts[KINDS], way_counts[KINDS];
static uint64_t ways[KINDS][MOST_WAYS];
static size_t firsts[KINDS][MOST_WAYS]; /* the number of the first that is come to in that way */
static const char *struck;              /* NULL: nothing has failed */
static void *frames[MOST_FRAMES];
static int depth;
static atomic_long live; /* blocks of memory */

void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *old, size_t size);
void __real_free(void *old);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *old, size_t size);
void __wrap_free(void *old);
bool __wrap_mem_has_lacked(void);

/* Waiting for what another process may write: there is none. */
void uv_sleep(unsigned ms)
{
	(void)ms;
}

static void note_way(enum kind kind)
{
	const uint64_t way = fnv_update(FNV_START, frames, (size_t)depth * sizeof *frames);

	for (size_t i = 0; i < way_counts[kind]; i++)
		if (ways[kind][i] == way)
			return;
	if (way_counts[kind] == MOST_WAYS)
		return;
	ways[kind][way_counts[kind]] = way;
	firsts[kind][way_counts[kind]++] = counts[kind];
}

static bool must_fail(enum kind kind, const char *what)
{
	if (!armed)
		return false;
	counts[kind]++;
	if (!noting && (kind != failing || counts[kind] != fail_at))
		return false;
	armed = false;
	depth = backtrace(frames, MOST_FRAMES);
	if (noting)
		note_way(kind);
	else
		struck = what;
	armed = true;
	errno = noting ? errno : ENOMEM;
	return !noting;
}

void *__wrap_calloc(size_t count, size_t size)
{
	void *made = must_fail(ALLOCATIONS, "alloc") ? NULL : __real_calloc(count, size);

	live += made != NULL;
	return made;
}

void *__wrap_realloc(void *old, size_t size)
{
	void *made = must_fail(ALLOCATIONS, "alloc") ? NULL : __real_realloc(old, size);

	live += made && !old;
	return made;
}

void __wrap_free(void *old)
{
	live -= old != NULL;
	__real_free(old);
}

/* Of this run, not of those before it. */
bool __wrap_mem_has_lacked(void)
{
	return struck && !strcmp(struck, "alloc");
}

bool starve_strikes(const char *call)
{
	return must_fail(SYSTEM_CALLS, call);
}

/* ---- one run */

struct outcome {
	int status;
	uint64_t words; /* of standard output, in any order, without numbers */
	bool speaks, is_json;
	long left; /* blocks of memory */
};

static int printed[2], own[2];
static char texts[2][MOST_PRINTED];

static void take_streams(void)
{
	(void)fflush(NULL);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(ftruncate(printed[i], 0), 0);
		assert_true(lseek(printed[i], 0, SEEK_SET) == 0);
		assert_true(dup2(printed[i], i + 1) == i + 1);
	}
}

static void give_streams_back(void)
{
	(void)fflush(NULL);
	clearerr(stdout);
	clearerr(stderr);
	for (int i = 0; i < 2; i++) {
		const ssize_t size = pread(printed[i], texts[i], MOST_PRINTED - 1, 0);

		texts[i][size > 0 ? size : 0] = '\0';
		assert_true(dup2(own[i], i + 1) == i + 1);
	}
}

static bool speaks_of_it(const char *text)
{
	static const char *const words[] = {"out of memory", "Input/output error", "No space left",
										"damaged",       "unusable",           "cannot be",
										"\"closed\"",    "ermission denied",   "not permitted"};
	bool speaks = false;

	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		speaks = speaks || strstr(text, words[i]);
	return speaks;
}

/* "NAME=VALUE… COMMAND ARGUMENT…" */
static struct outcome run(const char *line)
{
	char text[1024], *words[MOST_WORDS] = {NULL}, *next, program[] = "jitwarm";
	struct outcome outcome;
	long before;
	int count = 0;

	struck_place_renew();
	(void)snprintf(text, sizeof text, "%s", line);
	words[count++] = program;
	for (char *word = strtok_r(text, " ", &next); word; word = strtok_r(NULL, " ", &next)) {
		char *equals = count == 1 ? strchr(word, '=') : NULL;

		if (equals) {
			*equals = '\0';
			assert_int_equal(os_env_set(NULL, word, equals + 1), 0);
		} else {
			assert_true(count < MOST_WORDS - 1);
			words[count++] = word;
		}
	}
	memset(counts, 0, sizeof counts);
	struck = NULL;
	take_streams();
	before = live;
	armed = true;
	language_open();
	outcome.status = (int)cli_run(count, words);
	language_close();
	armed = false;
	outcome.left = live - before;
	give_streams_back();
	cJSON_InitHooks(NULL);
	outcome.words = words_of(texts[0]);
	outcome.speaks = speaks_of_it(texts[0]);
	outcome.is_json = strstr(line, "--json") && texts[0][0] == '{';
	return outcome;
}

static bool is_whole_json(const char *text)
{
	cJSON *document = cJSON_Parse(text);
	const bool whole = cJSON_IsObject(document);

	cJSON_Delete(document);
	return whole;
}

static bool says_memory(const char *text)
{
	return strstr(text, "out of memory") || strstr(text, "메모리");
}

/* What is wrong; NULL: nothing. */
static const char *judge(const struct struck_line *line, const struct outcome *usual,
						 const struct outcome *now, bool calls)
{
	if (now->status < 0 || now->status > STATUS_FAILED)
		return now->status == STATUS_WRONG_USAGE ? "the user is to blame"
												 : "no status of jitwarm's";
	if (strstr(texts[1], "(null)") || strstr(texts[1], "Success"))
		return "a message that says nothing";
	if (now->is_json && strcmp(struck, "write") != 0 && !is_whole_json(texts[0]))
		return "a part of a document";
	if (now->left > usual->left)
		return "memory is not given back";
	/* What completes a command line is silent */
	if (strstr(line->text, "complete --"))
		return NULL;
	if (!calls && (now->status != STATUS_FAILED || !says_memory(texts[1])))
		return "memory is short, and that is not said";
	if (now->speaks || strstr(texts[1], "jitwarm: "))
		return NULL;
	/* Not all of it is there: that is what it says. */
	if (calls && now->status == 1 && usual->status == 0)
		return NULL;
	if (now->status != usual->status)
		return "another status without a word";
	if (line->looks && calls)
		return NULL;
	return now->words != usual->words ? "another output without a word" : NULL;
}

static bool bears_failure(const struct struck_line *line, const struct outcome *usual, size_t n)
{
	const size_t files = tree_open_files();
	struct outcome now;
	const char *what;

	fail_at = n;
	if (line->writes)
		struck_place_again();
	now = run(line->text);
	if (!struck)
		return true;
	what = judge(line, usual, &now, failing == SYSTEM_CALLS);
	what = what || tree_open_files() == files ? what : "a file is left open";
	if (!what)
		return true;
	fprintf(stderr,
			"%s: %s %zu (%s) fails: %s (status %d, usually %d; %ld blocks, usually %ld)\n%s",
			line->text, kind_names[failing], n, struck, what, now.status, usual->status, now.left,
			usual->left, texts[1]);
	if (getenv("STRUCK"))
		fprintf(stderr, "%s", texts[0]);
	backtrace_symbols_fd(frames, depth, STDERR_FILENO);
	return false;
}

static size_t try_line(const struct struck_line *line)
{
	const char *given = getenv("STRUCK_EVERY");
	const size_t every = given ? strtoul(given, NULL, 10) : USUAL_EVERY;
	struct outcome usual;
	size_t bad = 0, tried[KINDS] = {0};

	struck_place_again();
	(void)run(line->text); /* what is made once */
	if (line->writes)
		struck_place_again();
	memset(way_counts, 0, sizeof way_counts);
	noting = true;
	usual = run(line->text);
	noting = false;
	if (usual.status != line->status) {
		fprintf(stderr, "%s: status %d, not %d: %s%s", line->text, usual.status, line->status,
				texts[0], texts[1]);
		return 1;
	}
	for (failing = 0; failing < KINDS; failing++)
		for (size_t i = 0; i < way_counts[failing]; i++)
			if (!every || !((i + (size_t)line->status) % every)) {
				bad += !bears_failure(line, &usual, firsts[failing][i]);
				tried[failing]++;
			}
	print_message("%s: %zu of %zu allocations, %zu of %zu calls tried, %zu wrong\n", line->text,
				  tried[0], way_counts[0], tried[1], way_counts[1], bad);
	return bad;
}

static void what_fails_is_said(void **unused)
{
	const char *wanted = getenv("STRUCK");
	size_t bad = 0;

	(void)unused;
	for (const struct struck_line *line = struck_lines; line->text; line++)
		if (!wanted || strstr(line->text, wanted))
			bad += try_line(line);
	assert_int_equal(bad, 0);
}

static int set_up(void **unused)
{
	if (struck_place_make(unused))
		return -1;
	for (int i = 0; i < 2; i++) {
		own[i] = dup(i + 1);
		printed[i] = memfd_create("printed", MFD_CLOEXEC);
		if (own[i] < 0 || printed[i] < 0)
			return -1;
	}
	for (const char *const *line = struck_before; *line; line++)
		if (run(*line).status > 1)
			fail_msg("%s: %s%s", *line, texts[0], texts[1]);
	struck_place_keep();
	return 0;
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(what_fails_is_said)};

	if (sodium_init() < 0)
		return 1;
	(void)backtrace(frames, 1); /* whose first call allocates */
	/* The program is its own worker. */
	if (argc > 1 && !strcmp(argv[1], "worker"))
		return (int)cli_run(argc, argv);
	return cmocka_run_group_tests(tests, set_up, struck_place_remove);
}
