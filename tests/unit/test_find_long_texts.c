/* The time for a text from outside grows with its size, and not with its square, up to the most
 * bytes that are read: requirement lists, locks, reports of pip, and answers of index.py, filled
 * with one token each. */
#include "check.h"

#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h> /* for Linux alone: tests/unit/CMakeLists.txt */

#include "base/mem.h"
#include "base/text.h"
#include "find/pip.h"
#include "find/pip_answer.h"
#include "os/process.h"

/* Text of MIDDLE bytes may be one line. */
enum { SMALL = PIP_MAX_LINE / 8, MIDDLE = PIP_MAX_LINE, MAX_LIST = 16 << 20 };

struct filled {
	const char *start, *token, *end; /* “\a” in a token: a number, another one each time */
};

/* Fills a text of `size` bytes. */
static char *fill(const struct filled *filled, size_t size)
{
	const char *mark = strchr(filled->token, '\a');
	const size_t length = strlen(filled->token), end = strlen(filled->end);
	char *text = mem_alloc(size + 1);
	size_t used = strlen(filled->start), number = 0;

	memcpy(text, filled->start, used);
	while (used + length + 16 + end < size) {
		if (mark)
			used +=
				(size_t)snprintf(text + used, size - used, "%.*s%zu%s", (int)(mark - filled->token),
								 filled->token, number++, mark + 1);
		else
			memcpy(text + used, filled->token, length), used += length;
	}
	memcpy(text + used, filled->end, end);
	return text;
}

static void read_answer(const char *text)
{
	struct pip_answer answer = {.total_bytes = 0};

	(void)pip_answer_read(NULL, &answer, text, "/tmp/x");
	pip_answer_free(&answer);
}

static void read_list(const char *name, const char *text)
{
	struct pip_lines lines;

	if (!pip_lines_read(NULL, name, text, strlen(text), &lines))
		pip_lines_free(&lines);
}

static void read_requirements(const char *text)
{
	read_list("requirements.txt", text);
}

static void read_lock(const char *text)
{
	read_list("pylock.toml", text);
}

enum {
	LEAST_MS = 1
}; /* on a busy machine less than this is noise, which the next size multiplies */

/* Returns the processor time for a text of `size` bytes, in ms, at least LEAST_MS. */
static double time_ms(void (*reads)(const char *text), const struct filled *filled, size_t size)
{
	char *text = keep(fill(filled, size));
	const clock_t begun = clock();
	double took_ms;

	reads(text);
	took_ms = (double)(clock() - begun) * 1000 / CLOCKS_PER_SEC;
	return took_ms > LEAST_MS ? took_ms : LEAST_MS;
}

/* The address sanitizer measures a whole text in each strstr(), so there only faults count. */
#ifdef __SANITIZE_ADDRESS__
enum { MEASURES = 0 };
#else
enum { MEASURES = 1 };
#endif

/* Three times the proportion is allowed, and some ms for what does not grow. Work that grows with
 * the square takes eight times the proportion in the first step, which so ends soon. */
static void check_growth(void (*reads)(const char *text), const struct filled *cases, size_t count,
						 size_t most)
{
	enum { SLACK_MS = 60, TIMES = 3 };

	for (size_t i = 0; i < count; i++) {
		const double small_ms = time_ms(reads, &cases[i], SMALL),
					 middle_ms = MEASURES ? time_ms(reads, &cases[i], MIDDLE) : 0;
		double most_ms;

		if (!MEASURES)
			continue;
		if (middle_ms > TIMES * small_ms * ((double)MIDDLE / SMALL) + SLACK_MS)
			fail_msg("“%s” at %d bytes takes %.0f ms, and %.0f ms at %d", cases[i].token, SMALL,
					 small_ms, middle_ms, MIDDLE);
		most_ms = time_ms(reads, &cases[i], most);
		if (most_ms > TIMES * middle_ms * ((double)most / MIDDLE) + SLACK_MS)
			fail_msg("“%s” at %d bytes takes %.0f ms, and %.0f ms at %zu", cases[i].token, MIDDLE,
					 middle_ms, most_ms, most);
	}
}

#define CHECK_GROWTH(reads, cases, most)                                                           \
	check_growth((reads), (cases), sizeof(cases) / sizeof *(cases), (most))

TEST(an_answer_is_read_in_one_pass)
{
	static const char systems[] = "{\"file\":\"x.whl\",\"version\":\"1\",\"pythons\":\"py3\","
								  "\"systems\":[\"a\"",
					  required[] = "{\"file\":\"x.whl\",\"version\":\"1\",\"pythons\":\"py3\","
								   "\"requires\":[{}";
	static const struct filled cases[] = {
		{"{\"file\":\"", "x-", ".whl\",\"version\":\"1\",\"pythons\":\"py3\"}"},
		{"{\"file\":\"x.whl\",\"version\":\"", "1.", "1\",\"pythons\":\"py3\"}"},
		{"{\"error\":\"words\",\"reason\":\"", "x ", "\"}"},
		{"{\"error\":\"", "\\u002b", "\"}"},
		{systems, ",\"linux\"", "]}"},
		{required, ",{\"name\":\"x\",\"pin\":\"1\"}", "]}"},
		{"{\"end\":", "[", ""},
		{"{\"a\":1", ",\"a\":1", "}"},
		{"{", " ", "}"},
	};

	CHECK_GROWTH(read_answer, cases, OS_MAX_LINE);
}

TEST(a_list_is_read_in_one_pass)
{
	static const struct filled cases[] = {
		{"", " ", "x"},
		{" ", " \\\n", "x"},
		{"", "\\\n", ""},
		{"", "\\\r\n", ""},
		{"x", "\\", ""},
		{"# ", "\\\n", ""},
		{"", "#\\\n", ""},
		{"x", "#", ""},
		{"x", " --hash=sha256:a", ""},
		{"x", "://", ""},
		{"x", "%2b", ""},
		{"x ;", "'a' ", ""},
		{"-i http://", "%2b", ""},
		{"", "--pre\n", ""},
		{"", "-r x\n", ""},
		{"", "x\a\n", ""},
		{"x[", "a,", "]"},
		{"x>=1", ",<2", ""},
		{"", "\n", ""},
		{"", "\r", ""},
	};

	CHECK_GROWTH(read_requirements, cases, MAX_LIST);
}

TEST(a_lock_is_read_in_one_pass)
{
	static const char table[] = "[[packages]]\n";
	static const struct filled cases[] = {
		{"", "[[packages]]\nname='x\a'\n", ""},
		{table, "sha256", ""},
		{"[[packages]]\nname='x'\n",
		 "sha256='aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa'\n", ""},
		{"[[packages]]\nname='", "x", "'"},
		{table, "name = \"", ""},
		{table, "marker='x'\n", ""},
		{table, "[packages.vcs]\n", ""},
		{table, " \\\n", ""},
		{"", " ", "x"},
		{"", "\n", ""},
	};

	CHECK_GROWTH(read_lock, cases, MAX_LIST);
}

TEST(a_report_of_pip_is_read_in_one_pass)
{
	static const char address[] = "{\"install\":[{\"metadata\":{\"name\":\"x\",\"version\":\"1\"},"
								  "\"download_info\":{\"url\":\"https://h/",
					  address_end[] = ".whl\"}}]}";
	static const struct filled cases[] = {
		{address, "%2b", address_end},
		{address, "/", address_end},
		{address, "://", address_end},
		{address, "\\\\", address_end},
		{address, "\\u002b", address_end},
		{"{\"install\":[{}", ",{\"metadata\":{\"name\":\"x\a\",\"version\":\"1\"}}", "]}"},
		{"{\"install\":[{\"metadata\":{\"name\":\"x\",\"version\":\"", "1.", "\"}}]}"},
		{"{\"install\":", "[", ""},
		{"{\"a\":1", ",\"a\":1", ",\"install\":[]}"},
		{"{\"install\":[", "1", "]}"},
		{"{\"install\":[1", ",1", "]}"},
		{"{", " ", "}"},
	};

	CHECK_GROWTH(read_requirements, cases, MAX_LIST);
}

RUN_TESTS(NULL, NULL)
