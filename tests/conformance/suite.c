/* conformance [--json FILE] [NAME...] | --list: runs the cases whose names begin with one of NAME,
 * or all of them. Writes the outcomes to FILE as one JSON document. */
#include "suite.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct suite suite;

static const char *const words[] = {"ok", "FAIL", "skip"};
static FILE *json; /* NULL: none was requested */

static char reason[512];

enum outcome case_failed(const char *file, int line, const char *what)
{
	const char *name = strrchr(file, '/');

	snprintf(reason, sizeof reason, "%s:%d: %s", name ? name + 1 : file, line, what);
	return FAILED;
}

enum outcome case_differs(const char *file, int line, const char *what, long long is,
						  long long should)
{
	const char *name = strrchr(file, '/');

	snprintf(reason, sizeof reason, "%s:%d: %s is %lld, should be %lld", name ? name + 1 : file,
			 line, what, is, should);
	return FAILED;
}

enum outcome case_skipped(const char *why)
{
	snprintf(reason, sizeof reason, "%s", why);
	return SKIPPED;
}

static struct client *ordinary_client(void)
{
	char cache[320];
	const char *settings[] = {cache, NULL};

	snprintf(cache, sizeof cache, "CUDA_CACHE_PATH=%s", suite.cache);
	return client_start(settings);
}

/* The stamp is at the head of the first entry's key; every case builds on it. */
static bool learn(void)
{
	struct entry entry = {0};
	bool learnt;

	cache_clear();
	suite.client = ordinary_client();
	client_ask(suite.client, &suite.cuda, suite.sm);
	if (!suite.cuda)
		return false;
	learnt = load(module(1)).result == 0 && only_entry(&entry) && entry.key_size > 19;
	if (learnt)
		memcpy(suite.stamp, entry.key, 19);
	entry_free(&entry);
	return learnt;
}

static bool wanted(const char *name, char **names, int count)
{
	for (int i = 0; i < count; i++)
		if (strncmp(name, names[i], strlen(names[i])) == 0)
			return true;
	return count == 0;
}

static void json_text(const char *text)
{
	putc('"', json);
	for (; *text; text++)
		if (*text == '"' || *text == '\\')
			fprintf(json, "\\%c", *text);
		else
			fprintf(json, (unsigned char)*text < ' ' ? "\\u%04x" : "%c", (unsigned char)*text);
	putc('"', json);
}

static void json_head(void)
{
	fprintf(json,
			"{\"cuda\": \"%d.%d\", \"date\": \"%.11s\", \"time\": \"%.8s\", \"gpus\": [\"sm_%d\"",
			suite.cuda / 1000, suite.cuda % 1000 / 10, suite.stamp, suite.stamp + 11, suite.sm[0]);
	if (suite.sm[1])
		fprintf(json, ", \"sm_%d\"", suite.sm[1]);
	fputs("],\n \"cases\": [", json);
}

static void json_case(const struct test_case *test, enum outcome outcome, bool first)
{
	fputs(first ? "\n  {\"name\": " : ",\n  {\"name\": ", json);
	json_text(test->name);
	fprintf(json, ", \"outcome\": \"%s\", \"why\": ", words[outcome]);
	json_text(reason);
	putc('}', json);
}

static char first_failed[600];

static void run(const struct test_case *test, unsigned counts[3])
{
	struct timespec before, after;
	enum outcome outcome;

	cache_clear();
	*reason = '\0';
	clock_gettime(CLOCK_MONOTONIC, &before);
	outcome = test->run ? test->run() : test->run_at(test->where);
	clock_gettime(CLOCK_MONOTONIC, &after);
	if (json)
		json_case(test, outcome, counts[PASSED] + counts[FAILED] + counts[SKIPPED] == 0);
	counts[outcome]++;
	if (outcome == FAILED && !*first_failed)
		(void)snprintf(first_failed, sizeof first_failed, ": %s (%s)", test->name, reason);
	printf("%-4s %s%s%s%s\n", words[outcome], test->name, *reason ? " (" : "", reason,
		   *reason ? ")" : "");
	if (getenv("CONFORMANCE_TIMES"))
		printf("     %.2f s\n", (double)(after.tv_sec - before.tv_sec) +
									(double)(after.tv_nsec - before.tv_nsec) / 1e9);
	if (load(module(999)).result == -1) {
		/* The case ended its client, so it gets a new one. */
		client_stop(suite.client);
		suite.client = ordinary_client();
	}
}

int main(int argc, char **argv)
{
	static const struct test_case *const families[] = {
		key_cases,  lookup_cases,  damage_cases, insert_cases,      limit_cases,    lock_cases,
		disk_cases, setting_cases, choice_cases, relocatable_cases, compiler_cases, loading_cases};
	const char *temporary = getenv("TMPDIR");
	unsigned counts[3] = {0, 0, 0};

	if (argc == 2 && strcmp(argv[1], "--client") == 0)
		return client_main();
	if (argc == 2 && strcmp(argv[1], "--list") == 0) {
		for (size_t i = 0; i < sizeof families / sizeof *families; i++)
			for (const struct test_case *test = families[i]; test->name; test++)
				puts(test->name);
		return 0;
	}
	if (argc > 2 && strcmp(argv[1], "--json") == 0) {
		json = fopen(argv[2], "we");
		if (!json) {
			perror(argv[2]);
			return 3;
		}
		argv += 2;
		argc -= 2;
	}
	signal(SIGPIPE, SIG_IGN); /* clients may die */
	setvbuf(stdout, NULL, _IOLBF, 0);
	snprintf(suite.scratch, sizeof suite.scratch, "%.200s/conformance-XXXXXX",
			 temporary ? temporary : "/tmp");
	if (!mkdtemp(suite.scratch)) {
		perror(suite.scratch);
		return 3;
	}
	snprintf(suite.cache, sizeof suite.cache, "%s/cache", suite.scratch);
	unsetenv("CUDA_CACHE_MAXSIZE");
	unsetenv("CUDA_CACHE_DISABLE");
	if (!learn()) {
		fputs("conformance: no entry in the cache after a first load: no driver, or no cache\n",
			  stderr);
		remove_tree(suite.scratch);
		return 3;
	}
	printf("# CUDA %d.%d, stamp %.11s %.8s, sm_%d\n", suite.cuda / 1000, suite.cuda % 1000 / 10,
		   suite.stamp, suite.stamp + 11, suite.sm[0]);
	if (json)
		json_head();
	for (size_t i = 0; i < sizeof families / sizeof *families; i++)
		for (const struct test_case *test = families[i]; test->name; test++)
			if (wanted(test->name, argv + 1, argc - 1))
				run(test, counts);
	client_stop(suite.client);
	remove_tree(suite.scratch);
	if (json && (fputs("\n]}\n", json) == EOF || fclose(json))) {
		perror("conformance: the JSON file");
		return 3;
	}
	printf("%u passed, %u failed", counts[PASSED], counts[FAILED]);
	if (counts[SKIPPED])
		printf(", %u skipped", counts[SKIPPED]);
	puts(first_failed);
	return counts[FAILED] != 0;
}
