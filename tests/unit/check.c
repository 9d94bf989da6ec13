/* Prints failures of tests, and runs the tests of a file. */
#include "check.h"

#include <fcntl.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#ifdef _WIN32
#include <windows.h>
#endif

static char said[4096]; /* written by the first failure */
struct jw_error why[1];

static void say(const char *text)
{
	if (!*said)
		(void)snprintf(said, sizeof said, "%s", text);
	for (char *at = said; (at = strchr(at, '\n'));)
		*at = ' ';
	print_error("%s\n", text);
}

_Noreturn void check_fail(const char *file, int line, const char *format, ...)
{
	char text[sizeof said];
	va_list args;
	int at = snprintf(text, sizeof text, "%s:%d: ", file, line);

	va_start(args, format);
	(void)vsnprintf(text + at, sizeof text - (size_t)at, format, args);
	va_end(args);
	say(text);
	_fail(file, line);
	abort();
}

void check_wrong(const char *format, ...)
{
	char text[sizeof said];
	va_list args;

	va_start(args, format);
	(void)vsnprintf(text, sizeof text, format, args);
	va_end(args);
	say(text);
}

int check_end(int failed)
{
	if (failed && *said)
		(void)fprintf(stderr, "%s\n", said);
	else if (failed)
		(void)fprintf(stderr, "a set-up fails, or a signal came; the last error: %s\n",
					  why->message);
	return failed;
}

void check_ok(const char *file, int line, const char *call, int result)
{
	if (result)
		check_fail(file, line, "%s fails (%d): %s", call, result, why->message);
}

void check_gives(const char *file, int line, const char *texts[2], enum jw_code code, int result)
{
	const enum jw_code is = result ? why->code : JW_OK;

	if (is != code || (result && !*why->message))
		check_fail(file, line, "%s gives %d, not %d (%s): %s", texts[0], (int)is, (int)code,
				   texts[1], result ? why->message : "");
}

void check_integers(const char *file, int line, const char *texts[2], intmax_t is, intmax_t wanted)
{
	const bool is_plain = !texts[1][strspn(texts[1], "-0123456789")];

	if (is != wanted)
		check_fail(file, line, "%s is %lld, not %lld%s%s", texts[0], (long long)is,
				   (long long)wanted, is_plain ? "" : ", which is ", is_plain ? "" : texts[1]);
}

void check_range(const char *file, int line, const char *text, uintmax_t is, uintmax_t least,
				 uintmax_t most)
{
	if (is < least || is > most)
		check_fail(file, line, "%s is %llu, not %llu to %llu", text, (unsigned long long)is,
				   (unsigned long long)least, (unsigned long long)most);
}

/* Fails if two strings differ. For longer texts it prints only the first line that differs. */
void check_strings(const char *file, int line, const char *text, const char *is, const char *wanted)
{
	size_t start = 0;

	if (!is || !wanted)
		check_fail(file, line, "%s is %s, not %s", text, is ? is : "NULL",
				   wanted ? wanted : "NULL");
	if (!strcmp(is, wanted))
		return;
	for (size_t i = 0; is[i] == wanted[i]; i++)
		if (is[i] == '\n')
			start = i + 1;
	check_fail(file, line, "%s is \"%.*s\", not \"%.*s\"", text, (int)strcspn(is + start, "\n"),
			   is + start, (int)strcspn(wanted + start, "\n"), wanted + start);
}

void check_bytes(const char *file, int line, const char *text, const void *is, const void *wanted,
				 size_t size)
{
	const uint8_t *a = is, *b = wanted;

	for (size_t i = 0; i < size; i++)
		if (a[i] != b[i])
			check_fail(file, line, "%s: byte %zu of %zu is 0x%02x, not 0x%02x", text, i, size, a[i],
					   b[i]);
}

void *keep(void *memory)
{
	static struct kept {
		struct kept *next;
		void *memory;
	} * _Atomic all;
	struct kept *one = malloc(sizeof *one);

	assert_non_null(one);
	*one = (struct kept){all, memory};
	while (!atomic_compare_exchange_weak(&all, &one->next, one))
		continue;
	return memory;
}

int check_skip(const char *reason)
{
	printf("skipped: %s\n", reason);
	return 77;
}

#ifdef _WIN32
void check_set_mtime(const char *path, int64_t mtime_ns)
{
	uint64_t ticks = (uint64_t)(mtime_ns / 100 + INT64_C(116444736000000000));
	FILETIME time = {(DWORD)ticks, (DWORD)(ticks >> 32)};
	HANDLE file = CreateFileA(path, FILE_WRITE_ATTRIBUTES, FILE_SHARE_READ | FILE_SHARE_WRITE, NULL,
							  OPEN_EXISTING, 0, NULL);

	assert_true(SetFileTime(file, NULL, NULL, &time));
	CloseHandle(file);
}
#else
void check_set_mtime(const char *path, int64_t mtime_ns)
{
	const struct timespec times[2] = {
		{.tv_nsec = UTIME_OMIT},
		{.tv_sec = mtime_ns / 1000000000, .tv_nsec = mtime_ns % 1000000000}};

	assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
}
#endif
