/* Commands run in the test's own process, so that no trial starts a process, and each system call
 * fails in its turn. Of the calls that a command makes in the same way, one fails: each call whose
 * innermost callers no earlier command had, and some of the others. Then the status must be one of
 * jitwarm's and must not blame the user. If the status or the output is not the usual one, a line
 * must name the file or give the reason, and the status must not be 0 unless it usually is. JSON is
 * whole, no file is left open, and no memory is left that an undisturbed run would free.
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
#include "cli/cli.h"
#include "cli/language.h"
#include "os/env.h"
#include "struck_place.h"
#include "struck_tree.h"
#include "torture.h"

enum {
	USUAL_KNOWN = 6,  /* of known innermost callers, so many of a command are tried */
	INNER_FRAMES = 8, /* the frames of this file and of torture.c are among them */
	MAX_WAYS = 1 << 16,
	MAX_FRAMES = 64,
	MAX_WORDS = 16,
	MAX_IN_A_WORKER = 150
};
enum {
	MAX_PRINTED = 1 << 20,
	STATUS_LESS = 1, /* some modules are cold, or not everything was done */
	STATUS_FAILED = 3,
	STATUS_WRONG_USAGE = 64,
	STATUS_OWN_FAILURE = 126
};

/* REFUSALS are calls that a file's or a folder's rights may refuse (EACCES). */
enum kind { SYSTEM_CALLS, REFUSALS, KINDS };
static const char *const kind_names[KINDS] = {"call", "refused call"};

/* ---- the failing calls */

static const char *const kind_calls[KINDS] = {NULL, "open,create,stat,mkdir,rename,unlink"};
static struct torture torture = {.is_own = true};
static enum kind failing;
/* The calls that a command makes: first the usual ones, then each kind anew. */
static struct {
	uint64_t sum;
	size_t number;
	bool is_new;
} ways[MAX_WAYS];
static size_t way_count;
static uint64_t inner_ways[KINDS][MAX_WAYS];
static size_t inner_counts[KINDS];
static const char *struck; /* NULL: nothing has failed */
static char struck_path[TORTURE_MAX_PATH];
static void *frames[MAX_FRAMES];
static int depth;
static atomic_long live; /* the number of memory blocks */

void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *old, size_t size);
void __real_free(void *old);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *old, size_t size);
void __wrap_free(void *old);
ssize_t __real___getdelim(char **line, size_t *size, int end, FILE *file);
ssize_t __wrap___getdelim(char **line, size_t *size, int end, FILE *file);

/* jitwarm would wait for a write of another process, and there is none. */
void uv_sleep(unsigned ms)
{
	(void)ms;
}

/* Says whether no earlier command had these innermost callers. */
static bool is_new_inner(void)
{
	const size_t inner = (size_t)(depth < INNER_FRAMES ? depth : INNER_FRAMES);
	const uint64_t way = fnv_update(FNV_START, frames, inner * sizeof *frames);

	for (size_t i = 0; i < inner_counts[failing]; i++)
		if (inner_ways[failing][i] == way)
			return false;
	if (inner_counts[failing] < MAX_WAYS)
		inner_ways[failing][inner_counts[failing]++] = way;
	return true;
}

static bool note_way(unsigned long number, const char *call, const char *path)
{
	uint64_t sum;

	(void)call;
	(void)path;
	depth = backtrace(frames, MAX_FRAMES);
	sum = fnv_update(FNV_START, frames, (size_t)depth * sizeof *frames);
	for (size_t i = 0; i < way_count; i++)
		if (ways[i].sum == sum)
			return false;
	if (way_count < MAX_WAYS) {
		ways[way_count].sum = sum;
		ways[way_count].number = number;
		ways[way_count++].is_new = is_new_inner();
	}
	return false;
}

static bool strikes(unsigned long number, const char *call, const char *path)
{
	(void)number;
	depth = backtrace(frames, MAX_FRAMES);
	struck = call;
	(void)snprintf(struck_path, sizeof struck_path, "%s", path);
	return true;
}

/* getline of glibc's headers; the C library's own allocations are not wrapped. */
ssize_t __wrap___getdelim(char **line, size_t *size, int end, FILE *file)
{
	const bool none = !*line;
	const ssize_t read = __real___getdelim(line, size, end, file);

	live += none && *line;
	return read;
}

void *__wrap_calloc(size_t count, size_t size)
{
	void *made = __real_calloc(count, size);

	live += made != NULL;
	return made;
}

void *__wrap_realloc(void *old, size_t size)
{
	void *made = __real_realloc(old, size);

	live += made && !old;
	return made;
}

void __wrap_free(void *old)
{
	live -= old != NULL;
	__real_free(old);
}

/* Says whether a line names the struck file or its folder, or gives its reason: the failure may be
 * in a folder above it. */
static bool names_it(const char *text)
{
	char path[TORTURE_MAX_PATH];

	memcpy(path, struck_path, sizeof path);
	if (!*path || strstr(text, "Input/output error") || strstr(text, "ermission denied") ||
		strstr(text, "not permitted") || strstr(text, "No space left") ||
		strstr(text, "could not be read") || strstr(text, "unreadable") ||
		strstr(text, "읽을 수 없"))
		return true;
	for (int up = 0; up < 2; up++) {
		char *name = strrchr(path, '/');

		/* The cache's folders have digits as names, which occur in many texts. */
		if (name && strlen(name) > 2 && strstr(text, name + 1))
			return true;
		if (name)
			*name = '\0';
	}
	return false;
}

/* ---- one run */

struct outcome {
	int status;
	uint64_t words; /* a sum of the words on standard output, in any order, without numbers */
	bool is_json;
	long left; /* the number of memory blocks */
};

static int printed[2], own[2];
static char texts[2][MAX_PRINTED];

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
		const ssize_t size = pread(printed[i], texts[i], MAX_PRINTED - 1, 0);

		texts[i][size > 0 ? size : 0] = '\0';
		assert_true(dup2(own[i], i + 1) == i + 1);
	}
}

/* Returns the same sum for texts of the same words: times, sizes and process numbers differ from
 * run to run, and so does the order of two threads' lines. */
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

/* Runs "NAME=VALUE… COMMAND ARGUMENT…". */
static struct outcome run(const char *line)
{
	char text[1024], *words[MAX_WORDS] = {NULL}, *next, program[] = "jitwarm";
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
			OK(os_env_set(why, word, equals + 1));
		} else {
			assert_true(count < MAX_WORDS - 1);
			words[count++] = word;
		}
	}
	struck = NULL;
	take_streams();
	before = live;
	torture_begin(&torture);
	language_open();
	outcome.status = (int)cli_run(count, words);
	language_close();
	torture_end();
	outcome.left = live - before;
	give_streams_back();
	cJSON_InitHooks(NULL);
	outcome.words = words_of(texts[0]);
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

/* Returns what is wrong; NULL if nothing is. */
static const char *judge(const struct struck_line *line, const struct outcome *usual,
						 const struct outcome *now)
{
	const bool is_korean = strstr(line->text, "ko_KR");

	if ((now->status < 0 || now->status > STATUS_FAILED) &&
		(now->status != STATUS_OWN_FAILURE || strncmp(line->text, "run ", 4) != 0))
		/* root is told which folder cannot be examined, and which variable names another one */
		return now->status != STATUS_WRONG_USAGE ? "no status of jitwarm's"
			   : strstr(texts[1], "cannot be examined; jitwarm remembers nothing")
				   ? NULL
				   : "the user is to blame";
	if (strstr(texts[1], "(null)") || strstr(texts[1], "Success"))
		return "a message that says nothing";
	if (now->is_json && strcmp(struck, "write") != 0 && !is_whole_json(texts[0]))
		return "a part of a document";
	if (now->left > usual->left)
		return "memory is not given back";
	/* The completion of a command line prints nothing. */
	if (strstr(line->text, "complete --"))
		return NULL;
	if (now->status == usual->status && now->words == usual->words)
		return NULL;
	/* This place is in memory, which doctor does not report of a cache that the account may only
	 * read: so it looks if the look at the folder's rights fails. */
	if (!strncmp(line->text, "doctor ", strlen("doctor ")) && !strstr(texts[0], "bad-place") &&
		!strcmp(strrchr(struck_path, '/'), "/cache"))
		return NULL;
	if (!now->status && usual->status)
		return "it says that all is well";
	if (names_it(texts[0]) || names_it(texts[1]) || (is_korean && strstr(texts[1], "jitwarm: ")))
		return NULL;
	/* An entry that cannot be read does not exist for the driver either, and its name means nothing
	 * to anybody. A failure at the topmost folder does not show which file below it was wanted. */
	if ((now->status <= STATUS_LESS || now->status == usual->status) &&
		strstr(struck_path, "/cache/"))
		return NULL;
	if (now->status == STATUS_LESS && (strstr(texts[0], "entry that this account cannot read") ||
									   strstr(texts[1], "entry that this account cannot read")))
		return NULL;
	if (now->status == usual->status && (line->looks || !strcmp(strrchr(struck_path, '/'), "/now")))
		return NULL;
	return "another status or output, and the file is not named";
}

static const char *try_failure(const struct struck_line *line, const struct outcome *usual,
							   size_t n, struct outcome *ret_now)
{
	const size_t files = tree_open_files();
	const char *what;

	if (line->writes)
		struck_place_again();
	torture.mode = TORTURE_FAIL;
	torture.wanted = n;
	torture.strikes = strikes;
	*ret_now = run(line->text);
	torture.mode = TORTURE_OFF;
	if (!struck)
		return NULL;
	what = judge(line, usual, ret_now);
	return what || tree_open_files() == files ? what : "a file is left open";
}

/* Runs the line without a failure, more than once: commands also look at the machine, on which
 * other programs work. */
static struct outcome run_untroubled(const struct struck_line *line)
{
	if (line->writes)
		struck_place_again();
	return run(line->text);
}

static bool bears_failure(const struct struck_line *line, struct outcome *usual, size_t n)
{
	struct outcome now;
	const char *what = try_failure(line, usual, n, &now);

	if (what) {
		*usual = run_untroubled(line);
		what = try_failure(line, usual, n, &now);
	}
	if (!what)
		return true;
	check_wrong("%s: %s %zu (%s %s) fails: %s (status %d, usually %d; %ld blocks, usually %ld)",
				line->text, kind_names[failing], n, struck, struck_path, what, now.status,
				usual->status, now.left, usual->left);
	fprintf(stderr, "%s%s", texts[1], texts[0]);
	backtrace_symbols_fd(frames, depth, STDERR_FILENO);
	return false;
}

/* Says whether the i-th way is tried: each new one, and a few of the others. */
static bool is_tried(size_t i)
{
	const char *every = getenv("STRUCK_EVERY");

	if (every)
		return !(i % strtoul(every, NULL, 10));
	return ways[i].is_new || !(i % (way_count / USUAL_KNOWN + 1));
}

static size_t try_line(const struct struck_line *line)
{
	struct outcome usual;
	size_t bad = 0, tried[KINDS] = {0}, of[KINDS];

	struck_place_again();
	(void)run(line->text); /* the first run makes what is made only once */
	for (failing = 0; failing < KINDS; failing++) {
		torture.calls = kind_calls[failing];
		torture.error = failing == REFUSALS ? EACCES : 0;
		torture.mode = TORTURE_COUNT;
		torture.strikes = note_way;
		way_count = 0;
		usual = run_untroubled(line);
		torture.mode = TORTURE_OFF;
		if (usual.status != line->status) {
			check_wrong("%s: status %d, not %d: %s%s", line->text, usual.status, line->status,
						texts[1], texts[0]);
			return 1;
		}
		of[failing] = way_count;
		for (size_t i = 0; i < way_count; i++)
			if (is_tried(i)) {
				bad += !bears_failure(line, &usual, ways[i].number);
				tried[failing]++;
			}
	}
	/* A whole run prints only failures, since test.sh shows the end of the output. */
	if (bad || getenv("STRUCK"))
		print_message("%s: %zu of %zu calls tried, %zu of %zu refused, %zu wrong\n", line->text,
					  tried[0], of[0], tried[1], of[1], bad);
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
	torture.path_part = struck_folder;
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
	(void)backtrace(frames, 1); /* backtrace's first call allocates */
	/* This program is its own worker. */
	if (argc > 1 && !strcmp(argv[1], "worker"))
		return (int)cli_run(argc, argv);
	return check_end(cmocka_run_group_tests(tests, set_up, struck_place_remove));
}
